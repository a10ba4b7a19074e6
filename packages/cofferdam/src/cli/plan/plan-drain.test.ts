import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { podDisruptionBudgets, pods, statefulSets } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { budget, openWorld, statefulSet } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { createMetrics } from '../../operator/metrics.ts'
import { type Operator, startOperator } from '../../operator/operator.ts'
import { type NodeDisruption, nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { installOperator } from '../demo/install-operator.ts'
import { createDrainCommand } from '../drain/drain.ts'
import { createSnapshotCommand } from '../snapshot/snapshot.ts'
import { inProcess, runCommand } from '../testing/run-command.ts'
import type { DrainPlanFile } from './drain-plan-file.ts'
import { createPlanDrainCommand } from './plan-drain.ts'

const silent = { info() {}, warn() {}, error() {}, debug() {} } as never
const apart = (app: string) => ({
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { labelSelector: { matchLabels: { app } }, topologyKey: 'kubernetes.io/hostname' },
    ],
  },
})
const tolerations = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].map((key) => {
  return { key, operator: 'Exists' as const, effect: 'NoExecute' as const, tolerationSeconds: 1_800 }
})

let scenario: Awaited<ReturnType<typeof openWorld>>
let operator: Operator | undefined
let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'cofferdam-plan-'))
})
afterEach(async () => {
  const stopped = operator?.stop()
  await scenario.seconds(5)
  await stopped
  operator = undefined
  scenario.stop()
  await rm(directory, { recursive: true, force: true })
})

interface App {
  readonly name: string
  readonly replicas: number
  readonly away: number
  readonly stays?: boolean
}

async function openCluster(nodeCount: number, apps: readonly App[]): Promise<void> {
  scenario = await openWorld({ nodeCount })
  const api = await installOperator(scenario.server)
  for (const { name, replicas, away, stays } of apps) {
    const pod = { affinity: apart(name), ...(stays === true && { tolerations }) }
    const annotations = stays === true ? { 'cofferdam.io/skip-drain': 'true' } : {}
    const shape = { replicas, pod, annotations, podManagementPolicy: 'Parallel' as const }
    await scenario.api.create(statefulSets, statefulSet(name, shape))
    await scenario.api.create(podDisruptionBudgets, budget(name, { maxUnavailable: away }))
  }
  operator = startOperator({
    api,
    clock: scenario.clock,
    random: scenario.random.stream('operator'),
    log: silent,
    metrics: createMetrics(),
    controllers: ['node-disruption', 'disruption-ledger'],
    dryRun: false,
    lease: { ...operatorAccount, identity: 'op-1' },
  })
  await scenario.seconds(60)
}

/** Runs a command, and lets a second pass again and again until it has ended. */
async function run(command: 'drain' | 'plan' | 'snapshot', argv: readonly string[], eachSecond = async () => {}) {
  const { connect } = inProcess(scenario.api)
  const ports = { connect, clock: scenario.clock, random: scenario.random, requester: () => 'ann@desk' }
  const create = { drain: createDrainCommand, plan: createPlanDrainCommand, snapshot: createSnapshotCommand }[command]
  const created = create(ports)
  let isDone = false
  const ended = runCommand(created as never, created.name, ...argv).finally(() => {
    isDone = true
  })
  for (let seconds = 0; !isDone && seconds < 3_000; seconds += 1) {
    await scenario.seconds(1)
    await eachSecond()
  }
  return ended
}

async function planAll(...argv: string[]): Promise<DrainPlanFile> {
  return JSON.parse((await run('plan', ['--all', '-o', 'json', ...argv])).out) as DrainPlanFile
}

async function save(name: string, text: string): Promise<string> {
  const path = join(directory, name)
  await writeFile(path, text)
  return path
}

/** Reboots what may be rebooted, once each, and notes every application that has fewer ready pods than its budget demands. */
function maintainer(apps: readonly App[]) {
  const rebooted: string[] = []
  const harmed: string[] = []
  return {
    rebooted,
    harmed,
    async eachSecond() {
      for (const { spec, status } of await scenario.list<NodeDisruption>(nodeDisruptions)) {
        if (status?.phase !== 'Drained' || rebooted.includes(spec.nodeName)) continue
        rebooted.push(spec.nodeName)
        scenario.world.kubelet.reboot(spec.nodeName, 20)
      }
      for (const { name, replicas, away } of apps) {
        const ready = (await scenario.podsOf(name)).filter((pod) => conditionOf(pod, 'Ready')?.status === 'True')
        if (ready.length < replicas - away) harmed.push(`${name} has ${ready.length} of ${replicas}`)
      }
    },
  }
}

const shop: readonly App[] = [
  { name: 'orders', replicas: 3, away: 1, stays: true },
  { name: 'search', replicas: 4, away: 2 },
]

it('a plan says in which waves nodes go, which never can and why, and is the same from a saved cluster', async () => {
  await openCluster(5, [...shop, { name: 'alone', replicas: 1, away: 0 }])
  const { code, out } = await run('plan', ['--all'])
  const [pod] = await scenario.podsOf('alone')
  const held = pod?.spec.nodeName ?? ''
  expect(code).toBe(3)
  expect(out.replaceAll(held, 'HELD')).toMatchInlineSnapshot(`
    "5 nodes  2 waves (no plan has fewer), 1 can never go
    estimate  not known: no completed drain is on record, so how long a node takes is not known
    as of     2026-01-01T00:01:02Z

    wave 1  █·  node-1, node-2
    wave 2  ·█  node-4, node-5

    never as asked: these nodes are in no wave
      HELD
        pdb/default/alone never allows a disruption: 1 of 1 pods must be healthy. Lower minAvailable, or
        add replicas.
    "
  `)
  expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)

  const saved = await save('cluster.json', (await run('snapshot', [])).out)
  const live = await planAll()
  const offline = await planAll('--from', saved)
  expect({ ...offline, observedAt: '' }).toEqual({ ...live, observedAt: '' })
  expect(live.never).toEqual([
    { node: held, why: expect.stringContaining('pdb/default/alone'), reasons: expect.anything() },
  ])
})

it('what is saved has no environment, no command and no foreign annotation in it', async () => {
  await openCluster(3, shop)
  await scenario.api.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'tool', namespace: 'default', annotations: { note: 'hunter2' } },
    spec: {
      nodeName: 'node-1',
      containers: [{ name: 'main', image: 'x', env: [{ name: 'PASSWORD', value: 'hunter2' }], args: ['hunter2'] }],
    },
  } as never)
  const { code, out } = await run('snapshot', [])
  expect(code).toBe(0)
  expect(out).toContain('"name":"tool"')
  expect(out).not.toContain('hunter2')
})

it('a plan is carried out wave by wave, and by a second call from where the first one stopped', async () => {
  await openCluster(5, shop)
  const plan = await planAll('--delete-emptydir-data')
  expect(plan.never).toEqual([])
  const file = await save('plan.json', JSON.stringify(plan))
  const { rebooted, harmed, eachSecond } = maintainer(shop)
  const first = await run('drain', ['--plan', file, '--timeout', '15s'], eachSecond)
  expect(first.code).toBe(4)
  expect(first.out).toContain('The same command continues it.')

  const { code } = await run('drain', ['--plan', file, '--timeout', '0'], eachSecond)
  expect(code).toBe(0)
  expect(rebooted.toSorted()).toEqual(['node-1', 'node-2', 'node-3', 'node-4', 'node-5'])
  expect(harmed).toEqual([])
  const requests = await scenario.list<NodeDisruption>(nodeDisruptions)
  expect(requests.map(({ status }) => status?.phase)).toEqual(requests.map(() => 'Completed'))
  expect(requests).toHaveLength(5)
  const again = await run('drain', ['--plan', file])
  expect({ code: again.code, requests: (await scenario.list(nodeDisruptions)).length }).toEqual({
    code: 0,
    requests: 5,
  })

  const later = await planAll()
  expect(later.estimateSeconds).toBeGreaterThan(20)
  expect(later.estimateRestsOn).toBe('5 completed drains on record, of 5 of these nodes')
})

it('a plan stops with the reason before a wave that could never end, and touches none of its nodes', async () => {
  await openCluster(4, shop)
  const file = await save('plan.json', JSON.stringify(await planAll()))
  await scenario.api.create(statefulSets, statefulSet('alone', { replicas: 4, pod: { affinity: apart('alone') } }))
  await scenario.api.create(podDisruptionBudgets, budget('alone', { maxUnavailable: 0 }))
  await scenario.seconds(60)
  const { code, out } = await run('drain', ['--plan', file])
  expect(code).toBe(3)
  expect(out).toMatch(/^blocked: wave 1 of \d stops: node-\d cannot go any more: pdb\/default\/alone never allows/)
  expect(await scenario.list(nodeDisruptions)).toEqual([])
})

it.each([1, 2, 3])(
  'the waves of a plan harm no application and end, whatever runs in the cluster (%i)',
  async (seed) => {
    const random = seededRandom(seed)
    const whole = (from: number, to: number) => from + Math.floor(random.next() * (to - from + 1))
    const apps = Array.from({ length: whole(2, 5) }, (_, at): App => {
      const replicas = whole(2, 5)
      return { name: `app-${at}`, replicas, away: whole(1, Math.max(1, replicas - 2)), stays: random.next() < 0.4 }
    })
    await openCluster(whole(5, 7), apps)
    const plan = await planAll('--delete-emptydir-data')
    expect(plan.never).toEqual([])
    expect(plan.waves.length / plan.lowerBound).toBeLessThanOrEqual(1.15)
    const { rebooted, harmed, eachSecond } = maintainer(apps)
    const file = await save('plan.json', JSON.stringify(plan))
    const { code } = await run('drain', ['--plan', file, '--timeout', '0'], eachSecond)
    expect({ code, harmed, rebooted: rebooted.length }).toEqual({
      code: 0,
      harmed: [],
      rebooted: plan.waves.flat().length,
    })
  },
)
