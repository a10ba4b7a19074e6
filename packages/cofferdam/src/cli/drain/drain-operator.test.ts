import { nodes, podDisruptionBudgets, statefulSets } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { budget, openWorld, statefulSet } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { heldKeys } from '../../ledger/store/testing/ledger-fixture.ts'
import { createMetrics } from '../../operator/metrics.ts'
import { type Operator, startOperator } from '../../operator/operator.ts'
import { type NodeDisruption, nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { installOperator } from '../demo/install-operator.ts'
import { createLockCommand } from '../lock/lock.ts'
import { createUnlockCommand } from '../lock/unlock.ts'
import { inProcess, runCommand } from '../testing/run-command.ts'
import { createDrainCommand } from './drain.ts'
import { createUncordonCommand } from './uncordon.ts'

const silent = { info() {}, warn() {}, error() {}, debug() {} } as never
const tolerations = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].map((key) => ({
  key,
  operator: 'Exists' as const,
  effect: 'NoExecute' as const,
  tolerationSeconds: 1_800,
}))
const apart = (app: string) => ({
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { labelSelector: { matchLabels: { app } }, topologyKey: 'kubernetes.io/hostname' },
    ],
  },
})

let scenario: Awaited<ReturnType<typeof openWorld>>
let operate: (...more: string[]) => Operator
let operator: Operator
beforeEach(async () => {
  scenario = await openWorld({ nodeCount: 4 })
  const api = await installOperator(scenario.server)
  const annotations = { 'cofferdam.io/skip-drain': 'true' }
  const pod = { tolerations, affinity: apart('orders') }
  await scenario.api.create(statefulSets, statefulSet('orders', { pod, annotations, podManagementPolicy: 'Parallel' }))
  await scenario.api.create(podDisruptionBudgets, budget('orders', { maxUnavailable: 1 }))
  operate = (...more) =>
    startOperator({
      api,
      clock: scenario.clock,
      random: scenario.random.stream('operator'),
      log: silent,
      metrics: createMetrics(),
      controllers: ['node-disruption', 'disruption-ledger', ...more],
      dryRun: false,
      lease: { ...operatorAccount, identity: 'op-1' },
    })
  operator = operate()
  await scenario.seconds(60)
})
async function stopOperator(): Promise<void> {
  const stopped = operator.stop()
  await scenario.seconds(5)
  await stopped
}
afterEach(async () => {
  await stopOperator()
  scenario.stop()
})

async function run(command: 'drain' | 'lock' | 'uncordon' | 'unlock', ...argv: string[]) {
  const { connect } = inProcess(scenario.api)
  const ports = { connect, clock: scenario.clock, random: scenario.random, requester: () => 'ann@desk' }
  const create = {
    drain: createDrainCommand,
    lock: createLockCommand,
    uncordon: createUncordonCommand,
    unlock: createUnlockCommand,
  }[command]
  let isDone = false
  const ended = runCommand(create(ports) as never, command, ...argv).finally(() => {
    isDone = true
  })
  for (let seconds = 0; !isDone && seconds < 600; seconds += 1) await scenario.seconds(1)
  return ended
}

const nodeOf = async (name: string) =>
  (await scenario.podsOf('orders')).find(({ metadata }) => metadata.name === name)?.spec.nodeName ?? ''
const phases = async () =>
  (await scenario.list<NodeDisruption>(nodeDisruptions)).map(({ spec, status }) => `${spec.nodeName} ${status?.phase}`)

it('drain waits for the lock of an owner, goes on when it ends, and lets the pod stay that asks to', async () => {
  const node = await nodeOf('orders-0')
  await run('lock', 'pdb/orders', '--for', '1h', '--reason', 'rebalancing')
  const blocked = await run('drain', node, '--fail-if-blocked')
  expect(blocked.code).toBe(3)
  expect(blocked.out).toContain('waits for pdb/default/orders (AppLocked), held by ann@desk')
  expect(await heldKeys(scenario.api).catch(() => [])).toEqual([])

  await run('unlock', 'pdb/orders')
  const drained = await run('drain', node)
  expect(drained.code).toBe(0)
  expect(drained.err).toContain('is already in progress and is followed')
  expect(drained.out).toContain('stay      default/orders-0')
  expect(await nodeOf('orders-0')).toBe(node)
})

it('while a node may go its pods count as gone, so a second drain waits and nobody else is evicted', async () => {
  const [first, second] = [await nodeOf('orders-0'), await nodeOf('orders-1')]
  expect((await run('drain', first)).code).toBe(0)
  const waiting = await run('drain', second, '--fail-if-blocked')
  expect(waiting.code).toBe(3)
  expect(waiting.out).toContain(`held by op-1 for nodedisruption/${first}-`)
  await expect(evictPod(scenario.api, { namespace: 'default', name: 'orders-2' })).rejects.toMatchObject({
    reason: 'TooManyRequests',
  })

  expect((await run('uncordon', first)).code).toBe(0)
  expect((await run('drain', second)).code).toBe(0)
  expect(await phases()).toEqual([`${first} Completed`, `${second} Drained`])
})

it('several nodes go one after the other where each has a pod that stays: two replicas of one budget are never down', async () => {
  const names = await Promise.all(['orders-0', 'orders-1', 'orders-2'].map(nodeOf))
  const ended = run('drain', ...names, '--timeout', '10m')
  const rebooted: string[] = []
  let most = 0
  for (let seconds = 0; seconds < 300 && rebooted.length < names.length; seconds += 5) {
    await scenario.seconds(5)
    const made = await scenario.list<NodeDisruption>(nodeDisruptions)
    const drained = made.filter(({ status }) => status?.phase === 'Drained').map(({ spec }) => spec.nodeName)
    most = Math.max(most, drained.length)
    for (const name of drained) {
      if (rebooted.includes(name)) continue
      rebooted.push(name)
      scenario.world.kubelet.reboot(name, 20)
    }
  }
  const { code, err } = await ended
  expect(code).toBe(0)
  expect(most).toBe(1)
  expect(rebooted.toSorted()).toEqual(names.toSorted())
  expect(err).toContain('wave 3    ')
  expect(err).toContain('nodes must be rebooted as soon as they are reported as drained')
  // Every pod stayed where it was.
  expect(await Promise.all(['orders-0', 'orders-1', 'orders-2'].map(nodeOf))).toEqual(names)
})

it('a drain right after the reboot waits until the node has recovered and drains it again: a Job that was tried again failed, or took the old word for the new', async () => {
  const node = await nodeOf('orders-0')
  expect((await run('drain', node)).code).toBe(0)
  // The operator is away while the node is, so its word is older than the reboot.
  await stopOperator()
  scenario.world.kubelet.reboot(node, 20)
  await scenario.seconds(60)
  expect(await phases()).toEqual([`${node} Drained`])
  const ended = run('drain', node)
  await scenario.seconds(5)
  expect(await phases()).toEqual([`${node} Drained`, `${node} undefined`])
  operator = operate()
  const again = await ended
  expect(again.code).toBe(0)
  expect(again.err).toContain('is drained again when nothing is held for it')
  expect(await phases()).toEqual([`${node} Completed`, `${node} Drained`])
  expect((await run('uncordon', node)).code).toBe(0)
  expect(await phases()).toEqual([`${node} Completed`, `${node} Completed`])
})

it('says how long remediation leaves the node alone only where fencing sees to it: a node without that would be fenced in its reboot', async () => {
  const node = await nodeOf('orders-0')
  const unprotected = await run('drain', node)
  expect([unprotected.code, unprotected.out]).toEqual([0, expect.not.stringContaining('remediation')])
  await run('uncordon', node)

  await stopOperator()
  operator = operate('fencing')
  await scenario.seconds(60)
  expect((await run('drain', node)).out).toContain('\n  remediation leaves it alone until 1h after it goes down\n')
  await run('uncordon', node)
  const { out } = await run('drain', node, '--return-within', '4h', '--deadline', '8h')
  expect(out).toMatch(/remediation leaves it alone until 4h after it goes down, at the latest until 2026-01-01T08:/)
  await run('uncordon', node)
  expect((await run('drain', node, '--intent', 'remove')).out).not.toContain('remediation')
})

it('uncordon in the middle of a wait cancels the request, and nothing of it is left', async () => {
  const node = await nodeOf('orders-0')
  await run('lock', 'pdb/orders', '--for', '1h', '--reason', 'rebalancing')
  await run('drain', node, '--fail-if-blocked')
  const { code, out } = await run('uncordon', node)
  expect(code).toBe(0)
  expect(out).toContain('released: Nothing is held for it.')
  expect(await phases()).toEqual([])
  expect((await scenario.api.get(nodes, { name: node })).spec?.unschedulable).toBeUndefined()
})
