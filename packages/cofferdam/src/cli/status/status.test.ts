import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Event, Lease, Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { deployments, leases, namespaces, nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import {
  budget,
  changedApi,
  deployment,
  openWorld,
  type Scenario,
} from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { inProcess, runCommand, runUntil } from '../testing/run-command.ts'
import { isExpectedWarning } from './expected-warning.ts'
import { createStatusCommand } from './status.ts'
import type { Status } from './status-observe.ts'

const emptyNode = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n' },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
}

let scenario: Scenario
beforeEach(async () => {
  scenario = await openWorld({ nodeCount: 3 })
  await scenario.api.create(deployments, deployment('web', { replicas: 2 }))
  await scenario.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 1 }))
  await scenario.seconds(30)
})
afterEach(() => scenario.stop())

async function status(argv: readonly string[] = [], api: KubeApi = scenario.api) {
  const { connect, links } = inProcess(api)
  const result = await runCommand(createStatusCommand({ connect, clock: scenario.clock }), 'status', ...argv)
  expect(links).toEqual({ opened: 1, closed: 1 })
  return result
}

const lead = async (renewTime: string) => {
  const namespace = 'cofferdam-system'
  await scenario.api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const lease: Lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace, name: 'cofferdam-operator' },
    spec: { holderIdentity: 'pod-1', leaseDurationSeconds: 15, acquireTime: '2026-01-01T00:00:00.000000Z', renewTime },
  }
  await scenario.api.create(leases, lease)
}

describe('status', () => {
  it('of a calm cluster is six short lines', async () => {
    await lead('2026-01-01T00:00:30.000000Z')
    expect(await status()).toEqual({
      code: 0,
      err: '',
      out: [
        'Status    nothing is blocked, and no node is drained',
        'Cluster   in-process, 3 nodes, 2 pods',
        'Operator  pod-1 leads for 32s',
        'Nodes     3 ready',
        'Budgets   1, all allow an eviction',
        '',
      ].join('\n'),
    })
  })

  it('of a cluster where things wait names each of them', async () => {
    const [first] = await scenario.podsOf('web')
    await scenario.api.patch(
      nodes,
      { name: 'node-1' },
      { type: 'merge', body: { spec: { unschedulable: true } } },
      { fieldManager: 'kured' },
    )
    await evictPod(scenario.api, { namespace: 'default', name: first?.metadata.name as string })
    const { code, out } = await status()
    expect(code).toBe(0)
    expect(out).toContain('Operator  no operator is running\n')
    expect(out).toContain('Nodes     3 ready, 1 ')
    expect(out).toContain('Budgets   1, 1 allow no eviction\n')
    expect(out).toMatch(/\nNODE {4}STATE\nnode-1 {2}Ready, cordoned by kured for 0s, /)
    expect(out).toMatch(/\nBUDGET +REASON +FOR +HELD BY +WHY\ndefault\/web +BudgetExhausted +0s +pod\/default\/web/)
  })

  it('says when the last leader has not been heard of', async () => {
    await lead('2026-01-01T00:00:05.000000Z')
    expect((await status()).out).toContain(
      'Operator  no operator is running; pod-1 led last, and has not renewed its lease for 27s\n',
    )
  })

  it('goes on without what may not be read, and says so', async () => {
    const api = changedApi(scenario.api, {
      get: (type) => Promise.reject(new ApiError('Forbidden', `${type.plural} is forbidden`)),
    })
    const { code, out } = await status([], api)
    expect(code).toBe(0)
    expect(out).toContain('Operator  unknown: its lease may not be read\n')
    expect(out).toContain('not seen: lease cofferdam-system/cofferdam-operator: leases is forbidden')
  })

  it('of one namespace leaves the others out', async () => {
    expect((await status(['-n', 'elsewhere'])).out).toContain('Cluster   in-process, 3 nodes, 0 pods\n')
  })

  it('as data has the documented fields and no others', async () => {
    await lead('2026-01-01T00:00:30.000000Z')
    const told = JSON.parse((await status(['-o', 'json'])).out) as Status
    expect(told).toEqual({
      observedAt: '2026-01-01T00:00:32Z',
      server: 'in-process',
      headline: { state: 'calm', says: 'nothing is blocked, and no node is drained' },
      operator: {
        isRunning: true,
        leader: 'pod-1',
        since: '2026-01-01T00:00:00.000000Z',
        renewedAt: '2026-01-01T00:00:30.000000Z',
      },
      nodes: ['node-1', 'node-2', 'node-3'].map((name) => ({
        name,
        isReady: true,
        isCordoned: false,
        drain: 'NotCordoned',
      })),
      pods: 2,
      budgets: { total: 1, blocked: [] },
      storage: [],
      drains: [],
      locks: [],
      warnings: [],
      notSeen: [],
    })
  })

  it('without rights says unknown and not none, in few lines', async () => {
    const api = changedApi(scenario.api, {
      get: (type) => Promise.reject(new ApiError('Forbidden', `${type.plural} is forbidden`)),
      list: (type) => Promise.reject(new ApiError('Forbidden', `${type.plural} is forbidden`)),
    })
    const { code, out } = await status([], api)
    expect(code).toBe(0)
    expect(out).toContain('Status    nodes may not be read, so what blocks is not known')
    expect(out).toContain('Cluster   in-process, unknown nodes, unknown pods\n')
    expect(out).toContain('Nodes     unknown\n')
    expect(out).toContain('Budgets   unknown\n')
    expect(out).toContain('not seen: ')
    expect(out.split('\n').filter((line) => line.length > 100)).toEqual([])
    expect(out.split('\n').length).toBeLessThan(16)
  })

  it('of a server without nodes is an error: it would pass for an empty cluster', async () => {
    const api = changedApi(scenario.api, {
      list: (type) => Promise.reject(new ApiError('NotFound', `the server has no ${type.plural}`)),
    })
    const { code, out, err } = await status([], api)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain('error: in-process is not a Kubernetes API server: it serves no nodes\n')
  })

  it('of -A and -n at once is wrong usage', async () => {
    const { connect } = inProcess(scenario.api)
    const command = createStatusCommand({ connect, clock: scenario.clock })
    expect((await runCommand(command, 'status', '-A', '-n', 'shop')).code).toBe(2)
  })

  it('watched is drawn again when something has changed, and only then', async () => {
    const { connect, links } = inProcess(scenario.api)
    const ending = new AbortController()
    const running = runUntil(ending.signal, createStatusCommand({ connect, clock: scenario.clock }), 'status', '-w')
    await scenario.seconds(7)
    await scenario.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { spec: { unschedulable: true } } })
    await scenario.seconds(7)
    ending.abort()
    await scenario.seconds(3)
    const { code, out } = await running
    expect(code).toBe(0)
    expect(links).toEqual({ opened: 1, closed: 1 })
    expect(out.match(/^Nodes {5}.*$/gm)).toEqual(['Nodes     3 ready', 'Nodes     3 ready, 1 cordoned'])
  })
})

describe('a pod that finds no node', () => {
  const away: Node = { ...(emptyNode as Node), spec: { unschedulable: true } }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'shop', name: 'web-1' }, spec: {} } as Pod
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { namespace: 'shop', name: 'web-1.1' },
    involvedObject: { kind: 'Pod', namespace: 'shop', name: 'web-1' },
    reason: 'FailedScheduling',
    message: '0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.',
  } as Event
  const cases: Record<string, { given: Parameters<typeof isExpectedWarning>; then: boolean }> = {
    'because a node is cordoned is expected': { given: [event, { nodes: [away], pods: [pod] }], then: true },
    'though every node is open is a warning: nothing will end it': {
      given: [event, { nodes: [emptyNode as Node], pods: [pod] }],
      then: false,
    },
    'for a reason of its own is a warning, also while a node is cordoned': {
      given: [
        { ...event, message: '0/3 nodes are available: 3 Insufficient cpu.' },
        { nodes: [away], pods: [pod] },
      ],
      then: false,
    },
    'and has found one since is over': {
      given: [event, { nodes: [emptyNode as Node], pods: [{ ...pod, spec: { nodeName: 'n' } } as Pod] }],
      then: true,
    },
    'and is gone is over': { given: [event, { nodes: [emptyNode as Node], pods: [] }], then: true },
    'is not what another warning is about': {
      given: [
        { ...event, reason: 'BackOff' },
        { nodes: [away], pods: [] },
      ],
      then: false,
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { given, then }) => {
    expect(isExpectedWarning(...given)).toBe(then)
  })
})
