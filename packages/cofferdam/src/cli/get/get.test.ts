import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { deployments, nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
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
import { createDisruption, installDefinitions } from '../../ledger/store/testing/ledger-fixture.ts'
import { nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { createLockCommand } from '../lock/lock.ts'
import { inProcess, runCommand, runUntil } from '../testing/run-command.ts'
import type { Drains } from './drains-observe.ts'
import { createGetCommand } from './get.ts'
import type { Locks } from './locks-observe.ts'

let scenario: Scenario
beforeEach(async () => {
  scenario = await openWorld({ nodeCount: 3 })
  await installDefinitions(scenario.api)
  await scenario.api.create(deployments, deployment('web', { replicas: 2 }))
  await scenario.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 1 }))
  await scenario.seconds(60)
})
afterEach(() => scenario.stop())

async function get(argv: readonly string[], api: KubeApi = scenario.api) {
  const { connect, links } = inProcess(api)
  const result = await runCommand(createGetCommand({ connect, clock: scenario.clock }), 'get', ...argv)
  expect(links.opened).toBe(links.closed)
  return result
}

const lock = () => {
  const { connect } = inProcess(scenario.api)
  const ports = { connect, clock: scenario.clock, random: scenario.random, requester: () => 'ann@desk' }
  return runCommand(createLockCommand(ports), 'lock', 'pdb/default/web', '--for', '2h', '--reason', 'rebalancing')
}

const blockedRequest = () =>
  createDisruption(scenario.api, 'reboot-2', 'node-2', {
    phase: 'Waiting',
    phaseSince: '2026-01-01T00:00:32Z',
    blockedBy: [
      { object: 'pdb/default/web', reason: 'AppLocked', holder: 'ann@desk', wayOut: 'wait until 02:00' },
      { object: 'node/node-1', reason: 'HeldByRequest', holder: 'op-1', wayOut: 'wait' },
    ],
  })

async function cordonAsKubectl(name: string) {
  const body = { spec: { unschedulable: true } }
  await scenario.api.patch(nodes, { name }, { type: 'merge', body }, { fieldManager: 'kubectl-drain' })
}

describe('get drains', () => {
  it('of a calm cluster says so', async () => {
    expect(await get(['drains'])).toEqual({ code: 0, out: 'No drains.\n', err: '' })
  })

  it('lists requests with what blocks them, the first in full', async () => {
    await blockedRequest()
    const { code, out } = await get(['drains'])
    expect(code).toBe(0)
    expect(out).toMatch(/^NODE +REQUEST +PHASE +FOR +ASKED BY +BLOCKED BY\n/)
    expect(out).toMatch(/\nnode-2 +reboot-2 +Waiting +30s +pdb\/default\/web \(AppLocked, ann@desk\) and 1 more\n/)
  })

  it('lists a kubectl drain of a node that no request is about: it is a drain all the same', async () => {
    const [first] = await scenario.podsOf('web')
    const node = first?.spec.nodeName as string
    await cordonAsKubectl(node)
    await evictPod(scenario.api, { namespace: 'default', name: first?.metadata.name as string })
    const { otherDrains } = JSON.parse((await get(['drains', '-o', 'json'])).out) as Drains
    expect(otherDrains).toMatchObject([{ name: node, cordonedBy: 'kubectl-drain', drain: 'PodsLeaving' }])
  })

  it('leaves out a node that is only cordoned: no pod leaves it', async () => {
    const [first] = await scenario.podsOf('web')
    await cordonAsKubectl(first?.spec.nodeName as string)
    expect((await get(['drains'])).out).toBe('No drains.\n')
  })

  it('fits 100 columns, and is wide where that is asked for', async () => {
    await blockedRequest()
    const widest = (text: string) => Math.max(...text.split('\n').map((line) => line.length))
    expect(widest((await get(['drains'])).out)).toBeLessThanOrEqual(100)
    const wide = (await get(['drains', '-o', 'wide'])).out
    expect(wide).toMatch(/INTENT +PURPOSE +REQUESTER +WAY OUT/)
    expect(wide).toContain('wait until 02:00')
  })

  it('that may not be read are unknown, and not none', async () => {
    const api = changedApi(scenario.api, {
      list: (type) => Promise.reject(new ApiError('Forbidden', `${type.plural} is forbidden`)),
    })
    const { out } = await get(['drains'], api)
    expect(out).toContain('Unknown: not everything may be read.\n')
    expect(out).toContain('not seen: nodes: nodes is forbidden\n')
  })

  it('watched in a pipe are printed again when they have changed, and only then', async () => {
    const { connect } = inProcess(scenario.api)
    const ending = new AbortController()
    const command = createGetCommand({ connect, clock: scenario.clock })
    const running = runUntil(ending.signal, command, 'get', 'drains', '-w')
    await scenario.seconds(7)
    await blockedRequest()
    await scenario.seconds(7)
    ending.abort()
    await scenario.seconds(3)
    const { code, out } = await running
    expect(code).toBe(0)
    expect(out.match(/No drains\./g)).toHaveLength(1)
    expect(out.match(/reboot-2/g)).toHaveLength(1)
  })
})

describe('get locks', () => {
  it('of owners have their holder, end and reason', async () => {
    await lock()
    const { code, out } = await get(['locks'])
    expect(code).toBe(0)
    expect(out).toMatch(/^LOCK +STATE +BY +FOR +UNTIL +WHAT\n/)
    expect(out).toMatch(
      /\npdb\/default\/web +locked +ann@desk +\d+s +2026-01-01T02:01:\d\dZ +has locked it: rebalancing/,
    )
  })

  it('of another namespace are left out with -n, and -A is all', async () => {
    await lock()
    expect((await get(['locks', '-n', 'elsewhere'])).out).toBe('No locks.\n')
    expect((JSON.parse((await get(['locks', '-A', '-o', 'json'])).out) as Locks).locks).toHaveLength(1)
    expect((await get(['locks', '-A', '-n', 'shop'])).code).toBe(2)
  })

  it('name a break-glass override that is in force, and none that has ended', async () => {
    await createDisruption(scenario.api, 'reboot-2', 'node-2')
    const override = (until: string) =>
      scenario.api.patch(
        nodeDisruptions,
        { name: 'reboot-2' },
        {
          type: 'merge',
          body: {
            metadata: {
              annotations: { 'cofferdam.io/break-glass': JSON.stringify({ by: 'ann', reason: 'fire', until }) },
            },
          },
        },
      )
    await override('2026-01-01T00:30:00Z')
    expect((await get(['locks'])).out).toContain(
      'break-glass: reboot-2 (node-2) overrides locks until 2026-01-01T00:30:00Z; ann: fire\n',
    )
    await override('2026-01-01T00:00:30Z')
    expect((await get(['locks'])).out).not.toContain('break-glass')
  })
})
