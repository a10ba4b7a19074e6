import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes, podDisruptionBudgets, statefulSets } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import {
  budget,
  inDefault,
  openWorld,
  type Scenario,
  statefulSet,
} from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { grant, intend, type LedgerChange, orphan } from '../../ledger/rules/ledger.ts'
import { settingsAnnotation, settingsText } from '../../ledger/rules/published-settings.ts'
import { createLedgerStore } from '../../ledger/store/ledger-store.ts'
import { createDisruption, installDefinitions } from '../../ledger/store/testing/ledger-fixture.ts'
import { disruptionLedgers, ledgerName } from '../../shared/kinds/disruption-ledger.ts'
import { createDrainCommand } from '../drain/drain.ts'
import type { PlannedDrain } from '../drain/drain-result.ts'
import { createExplainCommand } from '../explain/explain.ts'
import type { Explained } from '../explain/question.ts'
import { createStatusCommand } from '../status/status.ts'
import type { Status } from '../status/status-observe.ts'
import { inProcess, runCommand } from '../testing/run-command.ts'
import { createLockCommand } from './lock.ts'

const { signal } = new AbortController()
const absences = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
const patient = (tolerationSeconds: number) =>
  absences.map((key) => ({ key, operator: 'Exists' as const, effect: 'NoExecute' as const, tolerationSeconds }))
const spread = (app: string) => ({
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { labelSelector: { matchLabels: { app } }, topologyKey: 'kubernetes.io/hostname' },
    ],
  },
})

let scenario: Scenario
beforeEach(async () => {
  scenario = await openWorld({ nodeCount: 3 })
  await installDefinitions(scenario.api)
  for (const [app, seconds] of [
    ['orders', 1_800],
    ['hasty', 60],
  ] as const) {
    const pod = { tolerations: patient(seconds), affinity: spread(app) }
    const annotations = { 'cofferdam.io/skip-drain': 'true' }
    await scenario.api.create(statefulSets, statefulSet(app, { pod, annotations, podManagementPolicy: 'Parallel' }))
    await scenario.api.create(podDisruptionBudgets, budget(app, { maxUnavailable: 1 }))
  }
  await scenario.seconds(60)
})
afterEach(() => scenario.stop())

function run(name: 'drain' | 'explain' | 'lock' | 'status', ...argv: string[]) {
  const { connect } = inProcess(scenario.api)
  const ports = { connect, clock: scenario.clock, random: scenario.random, requester: () => 'ann@desk' }
  const command = {
    drain: createDrainCommand,
    explain: createExplainCommand,
    lock: createLockCommand,
    status: createStatusCommand,
  }[name]
  return runCommand(command(ports) as never, name, ...argv)
}

const at = '2026-01-01T00:01:00Z'

/** Another request holds these keys; with `isActing` its node may go. */
async function hold(requestId: string, keys: readonly string[], { isActing = true, isGone = false } = {}) {
  const holder = `op-1 for nodedisruption/${requestId}`
  const uids = new Map(
    (await scenario.list(nodes)).map(({ metadata }) => [`node/${metadata.name}`, metadata.uid ?? '']),
  )
  const claims = keys.map((key) => ({ key, uid: uids.get(key) ?? '', scope: '' }))
  await createLedgerStore(scenario).change(
    'hold',
    (ledger) => {
      const granted = grant(ledger, { requestId, holder, claims, now: at })
      if (!granted.granted) throw new Error('it is held')
      const begun: LedgerChange = intend(granted.ledger, { requestId, epoch: granted.epoch, bootID: 'boot-1' })
      const acting = isActing && begun.ok ? begun.ledger : granted.ledger
      return { ledger: isGone ? orphan(acting, requestId) : acting, value: undefined }
    },
    signal,
  )
}

describe('explain tells who holds what', () => {
  it('a budget that its owner has locked is blocked, with the owner, the end and the way round it', async () => {
    await run('lock', 'pdb/orders', '--for', '2h', '--reason', 'rebalancing')
    for (const object of ['pdb/default/orders', 'pod/default/orders-0']) {
      const { code, out } = await run('explain', object)
      // One of its pods asks to stay, and is not evicted by a drain at all.
      expect({ object, code }).toEqual({ object, code: object.startsWith('pdb') ? 3 : 0 })
      expect(out).toContain('ann@desk')
      expect(out).toContain('rebalancing')
      expect(out).toContain('2026-01-01T02:01:02Z')
    }
    const { out } = await run('explain', 'pdb/default/orders')
    expect(out).toContain('pdb/default/orders  AppLocked for 0s\n')
    expect(out).toContain('override  cofferdam unlock pdb/default/orders --force')
    expect(out).toContain('no eviction guard is registered')
    expect(out).toContain(
      '  estimate  in 2h, at 2026-01-01T02:01:02Z: the end of the lock, unless its owner renews it\n',
    )
  })

  it('a budget that another request holds is blocked by that request, since then', async () => {
    await hold('reboot-node-2', ['node/node-2', 'pdb/default/hasty'])
    const { code, out } = await run('explain', 'pod/default/hasty-0', '-o', 'json')
    expect(code).toBe(3)
    const { blockers, holds } = JSON.parse(out) as Explained
    expect(blockers).toEqual([
      {
        object: 'pdb/default/hasty',
        reason: 'HeldByRequest',
        explanation: 'op-1 for nodedisruption/reboot-node-2 holds it: its node may go down at any time, or is down',
        holder: 'op-1 for nodedisruption/reboot-node-2',
        since: at,
        causes: [],
        unblocks: 'its node back with all its pods ready, or the request cancelled with cofferdam uncordon',
        override: 'cofferdam drain NODE --break-glass --reason TEXT --for 30m takes it; the holder is notified',
        waiting: ['pod/default/hasty-0'],
      },
    ])
    expect(holds.map(({ key, state }) => [key, state])).toEqual([['pdb/default/hasty', 'Acting']])
  })

  it('a pod that stays says for how long it outlives its node, and what a shutdown does to it', async () => {
    const { spec } = (await scenario.podsOf('orders'))[0] ?? {}
    const body = { metadata: { annotations: { 'cofferdam.io/shutdown-grace-seconds': '30' } } }
    await scenario.api.patch(nodes, { name: spec?.nodeName ?? '' }, { type: 'merge', body })
    const { out } = await run('explain', 'pod/default/orders-0', '-o', 'json')
    const explained = JSON.parse(out) as Explained & { kind: 'pod' }
    expect(explained.pod.verdict).toBe('stays')
    expect(explained.pod.stay).toEqual({
      mayStay: true,
      says: 'it stays through a reboot with cofferdam drain, and tolerates its node being away for 1800 s; plain kubectl drain evicts it; its kubelet ends it within 30 s when the machine shuts down, and its controller creates a new one',
      toleratesSeconds: 1_800,
      shutdownGraceSeconds: 30,
    })
  })

  it('a pod that asks to stay and may not says why, and is judged like any other', async () => {
    const { code, out } = await run('explain', 'pod/default/hasty-0')
    expect(code).toBe(0)
    expect(out).toContain(
      'budget hasty: it allows the eviction of one pod now; it asks to stay and would be evicted: it tolerates an unreachable or unready node for 60 s, and 900 s are needed (BudgetAllows)',
    )
    await evictPod(scenario.api, inDefault('hasty-0') as { namespace: string; name: string })
  })

  it('a node shows the request that is under way for it, and every key that concerns it', async () => {
    await createDisruption(scenario.api, 'reboot-node-1', 'node-1', { phase: 'Waiting', phaseSince: at })
    await hold('reboot-node-2', ['node/node-2', 'pdb/default/orders'])
    const { out } = await run('explain', 'node/node-1')
    expect(out).toContain('request   nodedisruption/reboot-node-1, to reboot: Waiting for ')
    // Its pod on this node would stay, and its budget counts one of node-2 as gone already.
    expect(out).toContain('node/node-1  blocked: It may not be drained now.\n')
    expect(out).toMatch(/\npdb\/default\/orders +HeldByRequest /)
    expect(out).toContain('\n  held by   op-1 for nodedisruption/reboot-node-2\n')
    expect(out).not.toContain('node/node-2')
  })

  it('a request tells its phase, who stays and leaves, and what it waits for; blocked it ends with 3', async () => {
    await createDisruption(scenario.api, 'reboot-node-1', 'node-1', {
      phase: 'Waiting',
      phaseSince: at,
      skippedPods: [{ namespace: 'default', name: 'orders-0', uid: 'u' }],
      warnings: [{ object: 'pod/default/hasty-0', says: 'asks to stay but is evicted: it is hasty' }],
      blockedBy: [
        { object: 'pdb/default/orders', holder: 'ann@desk', since: at, reason: 'AppLocked', wayOut: 'It ends soon.' },
      ],
    })
    const { code, out } = await run('explain', 'nd/reboot-node-1')
    expect(code).toBe(3)
    expect(out.replaceAll(/for \d+s/g, 'for a while')).toBe(
      [
        'nodedisruption/reboot-node-1  blocked: Waiting: Request for node-1 is queued. It holds nothing while it waits.',
        '',
        '  node      node-1, to reboot',
        '  phase     Waiting for a while',
        '  stay      default/orders-0',
        '            warning: pod/default/hasty-0 asks to stay but is evicted: it is hasty',
        '',
        'pdb/default/orders  AppLocked for a while',
        '  why       The owner of the application has locked the budget for a limited time.',
        '  held by   ann@desk',
        '  ends with It ends soon.',
        '  override  cofferdam drain node-1 --break-glass --reason TEXT --for 30m; cofferdam uncordon node-1 cancels the request',
        '  waiting   node/node-1',
        '',
      ].join('\n'),
    )
  })

  it('what a vanished holder left still blocks, and says what it waits for', async () => {
    await hold('gone', ['node/node-2', 'pdb/default/hasty'], { isGone: true })
    expect((await run('explain', 'pdb/default/hasty')).out).toContain(
      'op-1 for nodedisruption/gone held it and is gone: the hold counts until what it started has ended',
    )
  })
})

describe('status', () => {
  it('shows every drain with what blocks it, every lock with its end, and warns of those that are broken or orphaned', async () => {
    await createDisruption(scenario.api, 'reboot-node-1', 'node-1', {
      phase: 'Waiting',
      phaseSince: at,
      blockedBy: [
        { object: 'pdb/default/orders', holder: 'ann@desk', since: at, reason: 'AppLocked', wayOut: 'It ends soon.' },
      ],
    })
    await run('lock', 'pdb/orders', '--for', '2h', '--reason', 'rebalancing')
    const body = { metadata: { annotations: { 'cofferdam.io/lock': 'for ever!' } } }
    await scenario.api.patch(podDisruptionBudgets, inDefault('hasty'), { type: 'merge', body })
    await scenario.api.patch(nodes, { name: 'node-2' }, { type: 'merge', body: { spec: { unschedulable: true } } })
    const { bootID = '' } = (await scenario.api.get(nodes, { name: 'node-2' })).status?.nodeInfo ?? {}
    expect(bootID).not.toBe('')
    await hold('gone', ['node/node-2'], { isGone: true })
    const { out } = await run('status', '-o', 'wide')
    expect(out).toMatch(/^Status {4}the drain of node-1 is blocked by pdb\/default\/orders \(AppLocked, ann@desk\)/)
    expect(out).toContain('Drains    1 under way, 1 blocked\n')
    expect(out).toContain('Locks     1 budget locked by owners, 1 key orphaned, 1 lock ignored\n')
    expect(out).toMatch(/\nnode-1 +reboot-node-1 +Waiting +\d+s +pdb\/default\/orders \(AppLocked, ann@desk\) /)
    expect(out).toMatch(
      /\npdb\/default\/orders +locked +ann@desk +0s +2026-01-01T02:01:\d\dZ +has locked it: rebalancing /,
    )
    expect(out).toMatch(/\npdb\/default\/hasty +ignored +nobody +annotation cofferdam.io\/lock of hasty is not JSON/)
    expect(out).toMatch(/\nnode\/node-2 +orphaned +op-1 for nodedisruption\/gone /)
  })

  it('of one namespace leaves the locks of others out', async () => {
    await hold('reboot-node-2', ['node/node-2', 'pdb/default/orders'])
    const locks = async (namespace: string) =>
      (JSON.parse((await run('status', '-n', namespace, '-o', 'json')).out) as Status).locks.map(({ key }) => key)
    expect(await locks('default')).toEqual(['pdb/default/orders'])
    expect(await locks('elsewhere')).toEqual([])
  })
})

describe('drain --dry-run', () => {
  it('names who stays, who leaves and what is needed, and asks for nothing', async () => {
    const { code, out } = await run('drain', 'node-1', '--dry-run')
    expect(code).toBe(0)
    const onNode = (app: string) => async () =>
      (await scenario.podsOf(app)).find(({ spec }) => spec.nodeName === 'node-1')?.metadata.name
    const [orders, hasty] = [await onNode('orders')(), await onNode('hasty')()]
    expect(out).toBe(
      [
        'node/node-1  can start: nothing blocks it now, 1 pod is evicted, 1 pod stays.',
        `  stay      default/${orders}`,
        `  leave     default/${hasty}`,
        '  needs     node/node-1, pdb/default/orders',
        `  warning: pod/default/${hasty} asks to stay but is evicted: it tolerates an unreachable or unready node for 60 s, and 900 s are needed`,
        '  not seen: settings of the operator: not published; the defaults are taken',
        '  dry run: no request was created',
        '',
      ].join('\n'),
    )
    expect((await run('status', '-o', 'json')).out).toContain('"drains": []')
  })

  it('that would have to wait ends with 3 and says for whom', async () => {
    await hold('reboot-node-2', ['node/node-2', 'pdb/default/orders'])
    const { code, out } = await run('drain', 'node-1', '--dry-run', '-o', 'json')
    expect(code).toBe(3)
    const { plan } = JSON.parse(out) as PlannedDrain
    expect(plan.blockedBy.map(({ object, holder, reason }) => ({ object, holder, reason }))).toEqual([
      { object: 'pdb/default/orders', holder: 'op-1 for nodedisruption/reboot-node-2', reason: 'HeldByRequest' },
    ])
  })

  it('of a node to be removed leaves nobody on it', async () => {
    const { out } = await run('drain', 'node-1', '--dry-run', '--intent', 'remove', '-o', 'json')
    const { plan } = JSON.parse(out) as PlannedDrain
    expect(plan).toMatchObject({ stays: [], keys: ['node/node-1'], mayBegin: true })
    expect(plan.leaves).toHaveLength(2)
  })

  it('rehearses the request that is under way', async () => {
    await createDisruption(scenario.api, 'reboot-node-1', 'node-1')
    const { out } = await run('drain', 'node-1', '--dry-run')
    expect(out).toContain('request   nodedisruption/reboot-node-1 is in progress')
  })
})

describe('the settings that the operator has published', () => {
  const publish = (text: string) =>
    scenario.api.create(disruptionLedgers, {
      apiVersion: apiVersionOf(disruptionLedgers),
      kind: disruptionLedgers.kind,
      metadata: { name: ledgerName, annotations: { [settingsAnnotation]: text } },
    })
  const hours = (count: number) => count * 3_600_000
  const own = settingsText({
    drainLock: { mode: 'reserve', minTolerationMs: 30_000, fallbackAfterMs: 60_000 },
    appLocks: { maxTtlMs: hours(6), maxHoldMs: hours(24), maxPerNamespace: 1 },
  })
  const lock = (budgetName: string, time: string) => run('lock', budgetName, '--for', time, '--reason', 'backup')

  it('are what lock judges by: longer or shorter, more or fewer than by default', async () => {
    await publish(own)
    const long = await lock('pdb/orders', '5h')
    expect(long.code).toBe(0)
    expect(long.out).not.toContain('defaults')
    await scenario.seconds(1)
    expect((await lock('pdb/hasty', '1h')).out).toContain('its namespace has 1 locks already, and may have 1: orders.')
    expect((await lock('pdb/orders', '7h')).err).toContain('--for 7h is more than the 6h that a lock may last')
  })

  it('are what explain and status judge by', async () => {
    await publish(own)
    await lock('pdb/orders', '5h')
    const { locks, notSeen } = JSON.parse((await run('status', '-o', 'json')).out) as Status
    expect(locks.map(({ key, until }) => ({ key, until }))).toEqual([
      { key: 'pdb/default/orders', until: '2026-01-01T05:01:02Z' },
    ])
    expect(notSeen).toEqual([])
    expect((await run('explain', 'pdb/default/orders')).out).toContain('2026-01-01T05:01:02Z')
  })

  it('are what drain --dry-run judges by: a pod that is patient enough for this operator stays', async () => {
    await publish(own)
    const { plan, notSeen } = JSON.parse((await run('drain', 'node-1', '--dry-run', '-o', 'json')).out) as PlannedDrain
    expect({ keys: plan.keys, leaves: plan.leaves, notSeen }).toEqual({
      keys: ['node/node-1', 'pdb/default/hasty', 'pdb/default/orders'],
      leaves: [],
      notSeen: [],
    })
  })

  it('where they cannot be read, the defaults are taken and that is said', async () => {
    await publish('{}')
    const why = 'what is published cannot be read: "mode" is none of reserve, spec, settle; the defaults are taken'
    expect((await lock('pdb/orders', '5h')).err).toContain('--for 5h is more than the 4h')
    expect((await lock('pdb/orders', '2h')).out).toContain(`warning: limits of the operator: ${why}`)
    for (const argv of [['status'], ['explain', 'node/node-1'], ['drain', 'node-1', '--dry-run']] as const) {
      const { out } = await run(argv[0], ...argv.slice(1))
      expect(out.replaceAll(/\s+/g, ' ').split(`not seen: settings of the operator: ${why}`)).toHaveLength(2)
    }
  })
})
