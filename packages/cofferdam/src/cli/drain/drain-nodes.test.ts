import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Lease, Namespace, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { leases, namespaces, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import {
  changedApi,
  container,
  node,
  openScenario,
  type Scenario,
} from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { installDefinitions } from '../../ledger/store/testing/ledger-fixture.ts'
import { type NodeDisruption, nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { inProcess, runUntil } from '../testing/run-command.ts'
import { createDrainCommand } from './drain.ts'
import type { DrainBatch, PlannedDrain } from './drain-result.ts'
import { createUncordonCommand } from './uncordon.ts'

const controlPlane = { 'node-role.kubernetes.io/control-plane': '' }

let scenario: Scenario
beforeEach(async () => {
  scenario = openScenario()
  const { api } = scenario
  await installDefinitions(api)
  for (const number of [1, 2, 3]) await api.create(nodes, node(number))
  for (const number of [4, 5]) {
    const { metadata, ...rest } = node(number)
    await api.create(nodes, { ...rest, metadata: { ...metadata, labels: { ...metadata.labels, ...controlPlane } } })
    const body = { status: { conditions: [{ type: 'Ready', status: 'True' }] } }
    await api.patch(nodes, { name: metadata.name }, { type: 'merge', body }, { subresource: 'status' })
  }
  await api.create<Namespace>(namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: operatorAccount.namespace },
  })
  await api.create<Lease>(leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { ...operatorAccount },
    spec: { holderIdentity: 'pod-1', leaseDurationSeconds: 36_000, renewTime: '2026-01-01T00:00:00.000000Z' },
  })
})
afterEach(() => scenario.stop())

function start(name: 'drain' | 'uncordon', argv: readonly string[], api: KubeApi = scenario.api) {
  const { connect } = inProcess(api)
  const ports = { connect, clock: scenario.clock, requester: () => 'ann@desk' }
  const command = name === 'drain' ? createDrainCommand(ports) : createUncordonCommand(ports)
  return runUntil(new AbortController().signal, command as never, name, ...argv)
}
const drain = (...argv: string[]) => start('drain', argv)
const uncordon = (...argv: string[]) => start('uncordon', argv)

const asked = async () => (await scenario.list(nodeDisruptions)).map(({ spec }) => spec.nodeName)

/** Plays the operator: the request for the node comes to have this status. */
async function record(nodeName: string, status: NonNullable<NodeDisruption['status']>): Promise<void> {
  const all = await scenario.list(nodeDisruptions)
  const disruption = all.find(({ spec }) => spec.nodeName === nodeName)
  if (disruption === undefined) throw new Error(`there is no request for ${nodeName}`)
  await scenario.api.update(nodeDisruptions, { ...disruption, status }, { subresource: 'status' })
  await scenario.seconds(2)
}

const barePod = (name: string, nodeName: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { nodeName, containers: [container] },
})

describe('drain of several nodes', () => {
  it('makes a request for each, follows all, and ends when every one is drained or over', async () => {
    const running = drain('node-1', 'node/node-2', 'node-1')
    await scenario.seconds(1)
    expect(await asked()).toEqual(['node-1', 'node-2'])
    await record('node-1', { phase: 'Drained' })
    await record('node-1', { phase: 'Recovering' })
    await record('node-1', { phase: 'Completed' })
    await record('node-2', { phase: 'Drained' })
    const { code, out, err } = await running
    expect(code).toBe(0)
    expect(err).toContain('wave 1    node-1, node-2\n')
    expect(err).toContain('node-1  Drained    node-1 is drained and can be rebooted now.')
    expect(out).toContain('node/node-1  over: ')
    expect(out).toContain('node/node-2  drained: ')
    // A node that is back must not be rebooted once more.
    expect(out.match(/can be rebooted now; run/g)).toHaveLength(1)
  })

  it('counts one that recovers after its reboot as drained, and does not ask for another reboot', async () => {
    const running = drain('node-1', 'node-2')
    await scenario.seconds(1)
    await record('node-1', { phase: 'Drained' })
    await record('node-1', { phase: 'Recovering' })
    await record('node-2', { phase: 'Drained' })
    const { code, out } = await running
    expect(code).toBe(0)
    expect(out).toContain('node/node-1  drained: node-1 is back or released.')
    expect(out).not.toContain('node-1 is drained and can be rebooted now')
  })

  const chosen: Record<string, { given: string[]; then: string[] }> = {
    'a selector chooses by labels': {
      given: ['-l', 'kubernetes.io/hostname in (node-1,node-3)'],
      then: ['node-1', 'node-3'],
    },
    'a selector may exclude': {
      given: ['--selector', '!node-role.kubernetes.io/control-plane'],
      then: ['node-1', 'node-2', 'node-3'],
    },
    'a node of the control plane is asked for as every other': {
      given: ['-l', 'kubernetes.io/hostname=node-4'],
      then: ['node-4'],
    },
    'all leaves no node out': {
      given: ['--all'],
      then: ['node-1', 'node-2', 'node-3', 'node-4', 'node-5'],
    },
  }
  it.each(Object.entries(chosen))('%s', async (_sentence, { given, then }) => {
    await drain(...given, '--no-wait')
    expect(await asked()).toEqual(then)
  })

  const refused: Record<string, { given: string[]; code: number; says: string }> = {
    'a node that is not there is named with the closest one': {
      given: ['node-1', 'node-22'],
      code: 1,
      says: 'there is no Node node-22',
    },
    'every node that is not there is named': {
      given: ['node-1', 'mars', 'venus'],
      code: 1,
      says: 'there are no Nodes mars, venus',
    },
    'a selector that chooses no node is an error, not a drain of none': {
      given: ['-l', 'moon=full'],
      code: 1,
      says: 'no node has the labels moon=full',
    },
    'a selector that cannot be read is wrong usage': {
      given: ['-l', 'a=b=c'],
      code: 2,
      says: '-l a=b=c is not a label',
    },
    'names and a selector together are wrong usage': {
      given: ['node-1', '-l', 'a=b'],
      code: 2,
      says: 'only one of them',
    },
    'no node at all is wrong usage': { given: [], code: 2, says: 'no node is named' },
    'an object of another kind is no node': {
      given: ['pod/web'],
      code: 2,
      says: '"pod/web" is not the name of a node',
    },
    'pods that are left out by a selector would be on a drained node': {
      given: ['node-1', '--pod-selector', 'app=web'],
      code: 2,
      says: 'the node would be reported as drained with them on it',
    },
    'pods are never deleted past their budgets': {
      given: ['node-1', '--disable-eviction'],
      code: 2,
      says: 'it deletes pods without asking their budgets',
    },
    'a pod that terminates may still write': {
      given: ['node-1', '--skip-wait-for-delete-timeout', '60'],
      code: 2,
      says: 'may still run and write',
    },
    'a grace period is a number': {
      given: ['node-1', '--grace-period', '30s'],
      code: 2,
      says: 'whole number of seconds',
    },
  }
  it.each(Object.entries(refused))(
    '%s, and no request is made for any node',
    async (_sentence, { given, code, says }) => {
      const ended = await drain(...given)
      expect(ended.code).toBe(code)
      expect(ended.err).toContain(says)
      expect(await asked()).toEqual([])
    },
  )

  it('makes no request at all where pods of one node would be destroyed: half a wave is not what was asked', async () => {
    await scenario.api.create(pods, barePod('bare', 'node-2'))
    const { code, out } = await drain('node-1', 'node-2')
    expect(code).toBe(3)
    expect(out).toContain('node/node-2  refused: ')
    expect(out).toContain('No request was created for any node.')
    expect(await asked()).toEqual([])
    expect((await drain('node-1', 'node-2', '--force=false', '--no-wait')).code).toBe(3)
    expect((await drain('node-1', 'node-2', '--force=true', '--wait=false')).code).toBe(0)
    expect(await asked()).toEqual(['node-1', 'node-2'])
  })

  it('makes no request at all where one under way for a node does not cover what is asked', async () => {
    await drain('node-2', '--no-wait')
    const { code, err } = await drain('node-1', 'node-2', '--intent', 'remove')
    expect([code, err]).toEqual([1, expect.stringContaining('intent is Reboot, asked for Remove')])
    expect(await asked()).toEqual(['node-2'])
  })

  it('ends with 3 if one is rejected, though another is only not done in time', async () => {
    const running = drain('node-1', 'node-2', '--timeout', '10s')
    await scenario.seconds(1)
    await record('node-1', { phase: 'Rejected' })
    await scenario.seconds(10)
    expect((await running).code).toBe(3)
  })

  it('counts one whose request was deleted after it was drained as cancelled: nothing is held for it any more', async () => {
    const running = drain('node-1', 'node-2')
    await scenario.seconds(1)
    await record('node-1', { phase: 'Drained' })
    await scenario.api.delete(nodeDisruptions, { name: 'node-1-20260101-000000' })
    await record('node-2', { phase: 'Drained' })
    const { code, out } = await running
    expect([code, out]).toEqual([3, expect.stringContaining('node/node-1  cancelled: ')])
  })

  it('without the right to read budgets asks for the nodes as they were named', async () => {
    const api = changedApi(scenario.api, {
      list: (type, query) =>
        type.plural === 'poddisruptionbudgets'
          ? Promise.reject(new ApiError('Forbidden', 'budgets are not yours'))
          : scenario.api.list(type, query),
    })
    expect((await start('drain', ['node-2', 'node-1', '--no-wait'], api)).code).toBe(0)
    expect((await asked()).sort()).toEqual(['node-1', 'node-2'])
  })
})

describe('flags of kubectl', () => {
  it('mean what they mean there, and are carried into the request', async () => {
    const argv = ['--ignore-daemonsets', '--chunk-size=500', '--grace-period=15', '--skip-wait-for-delete-timeout=0']
    expect((await drain('node-1', ...argv, '--wait=false')).code).toBe(0)
    const [made] = await scenario.list(nodeDisruptions)
    expect(made?.spec.gracePeriodSeconds).toBe(15)
  })

  it('-1 leaves every pod its own grace period, and 0 is warned of', async () => {
    await drain('node-1', '--grace-period', '-1', '--no-wait')
    const [made] = await scenario.list(nodeDisruptions)
    expect(made?.spec).not.toHaveProperty('gracePeriodSeconds')
    const { err } = await drain('node-2', '--grace-period', '0', '--no-wait')
    expect(err).toContain('warning: with --grace-period 0')
  })

  it('no timeout is no limit: it ended at once', async () => {
    const running = drain('node-1', '--timeout', '0')
    await scenario.seconds(7200)
    await record('node-1', { phase: 'Drained' })
    expect((await running).code).toBe(0)
  })

  it('a request that is not blocked is followed to its end with --fail-if-blocked', async () => {
    const running = drain('node-1', '--fail-if-blocked')
    await scenario.seconds(1)
    await record('node-1', { phase: 'Draining' })
    await record('node-1', { phase: 'Drained' })
    expect((await running).code).toBe(0)
  })

  it('--dry-run before the name of a node does not take it for its value', async () => {
    const { code, out } = await drain('--dry-run', 'node-1', '-o', 'json')
    expect(code).toBe(0)
    expect((JSON.parse(out) as PlannedDrain).plan.node).toBe('node-1')
    expect(await asked()).toEqual([])
  })

  it('--dry-run=server shows what the server answers, and stores nothing', async () => {
    await scenario.api.create(pods, barePod('web', 'node-1'))
    const api = changedApi(scenario.api, {
      createSubresource: () => Promise.reject(new ApiError('TooManyRequests', 'not now')),
    })
    const { code, out } = await start('drain', ['node-1', '--force', '--dry-run=server'], api)
    expect(code).toBe(3)
    expect(out).toContain('server    accepts nodedisruption/node-1-20260101-000000')
    expect(out).toContain('server    grants 0 of 1 evictions now')
    expect(out).toContain('server    refuses pod/default/web: not now (TooManyRequests)')
    expect((await drain('node-1', '--force', '--dry-run=server')).out).toContain('grants 1 of 1 evictions now')
    expect(await asked()).toEqual([])
    expect(await scenario.list(pods)).toHaveLength(1)
  })

  it('--dry-run of several nodes shows the waves and every plan, nodes of the control plane one at a time, and nothing is made', async () => {
    const { code, out } = await drain('--all', '--dry-run', '-o', 'json')
    const { waves, drains } = JSON.parse(out) as DrainBatch
    expect(code).toBe(0)
    expect(waves).toEqual([['node-1', 'node-2', 'node-3', 'node-4'], ['node-5']])
    expect(drains).toHaveLength(5)
    expect(await asked()).toEqual([])
  })
})

describe('uncordon of several nodes', () => {
  const cordoned = { type: 'merge', body: { spec: { unschedulable: true } } } as const
  const openNodes = async () =>
    (await scenario.list(nodes)).filter(({ spec }) => spec?.unschedulable !== true).map(({ metadata }) => metadata.name)

  it('releases all before it waits for one: a node that recovers slowly kept the others cordoned', async () => {
    await drain('node-1', '--no-wait')
    for (const name of ['node-1', 'node-2']) await scenario.api.patch(nodes, { name }, cordoned)
    await record('node-1', { phase: 'Drained', cordonedBy: 'nodedisruption/node-1-20260101-000000' })
    const running = uncordon('node-1', 'node-2', '--timeout', '10s')
    await scenario.seconds(1)
    expect(await openNodes()).toEqual(['node-1', 'node-2', 'node-3', 'node-4', 'node-5'])
    const storage = {
      object: 'storage/rook-ceph/rook-ceph',
      holder: 'failure domain zone-a',
      reason: 'StorageRecovering',
      wayOut: 'osd.2 down, node-3 being drained.',
    }
    await record('node-1', { phase: 'Recovering', blockedBy: [storage] })
    await scenario.seconds(10)
    const { code, out, err } = await running
    expect(code).toBe(4)
    expect(err).toContain('node/node-1 is uncordoned')
    expect(err).toContain('waiting until nothing is held for node-1')
    expect(err).not.toContain('can be rebooted')
    expect(err).toContain(
      'node-1             waits for storage/rook-ceph/rook-ceph (StorageRecovering), held by failure domain zone-a. osd.2 down, node-3 being drained.',
    )
    expect(out).toContain('node/node-1  not done yet: ')
    expect(out).toContain('node/node-2  released: ')
  })

  it('takes a selector, and says so where no operator runs', async () => {
    await drain('node-1', '--no-wait')
    await record('node-1', { phase: 'Recovering' })
    await scenario.api.delete(leases, operatorAccount)
    const running = uncordon('-l', 'kubernetes.io/hostname=node-1')
    await scenario.seconds(1)
    await record('node-1', { phase: 'Completed' })
    const { code, err } = await running
    expect(code).toBe(0)
    expect(err).toContain('warning: no operator is running')
  })
})
