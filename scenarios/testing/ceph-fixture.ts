import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { isRetired } from '@cofferdam/product/capabilities/ceph-drain/domain/retire-budget.ts'
import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import { observeCeph } from '@cofferdam/product/ceph/observe-ceph.ts'
import { installOperator } from '@cofferdam/product/cli/demo/install-operator.ts'
import { controllerNames } from '@cofferdam/product/operator/controller-names.ts'
import { guardAt } from '@cofferdam/product/operator/guard.ts'
import { createLog } from '@cofferdam/product/operator/log.ts'
import { createMetrics, type Metrics } from '@cofferdam/product/operator/metrics.ts'
import { type Operator, startOperator } from '@cofferdam/product/operator/operator.ts'
import { countedMap } from '@cofferdam/product/safety/ignored-pools.ts'
import { type ClusterName, trustsAlone } from '@cofferdam/product/shared/ceph-trust/named-clusters.ts'
import { known } from '@cofferdam/product/shared/observed.ts'
import { buildCephDescription } from '@cofferdam/simulator/cluster-file/build-ceph-description.ts'
import { parseClusterFile } from '@cofferdam/simulator/cluster-file/cluster-file.ts'
import type { CephClusterDescription } from '@cofferdam/simulator/cluster-file/describe-ceph.ts'
import { seedCluster } from '@cofferdam/simulator/cluster-file/seed-cluster.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import { startRookBudgets } from '@cofferdam/simulator/world/ceph/rook/budget-controller.ts'
import { createSimulatedCeph, type SimulatedCeph } from '@cofferdam/simulator/world/ceph/simulated-ceph.ts'
import type { Kubelet } from '@cofferdam/simulator/world/nodes/kubelet.ts'
import { isActive, isReady } from '@cofferdam/simulator/world/pod-facts.ts'
import { startWorld } from '@cofferdam/simulator/world/start-world.ts'
import { openScenario, type Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import type { EvictionPace } from '@cofferdam/simulator/world/tools/kubectl-drain.ts'
import { openLine } from './cut-line.ts'
import { type Drain, daemonName, startDrain } from './drainer.ts'
import { createGuardService } from './guard-service.ts'
import type { StagedOperator } from './lock-fixture.ts'
import { type Oracle, watchOver } from './oracle.ts'
import { budgetText, recordCluster, recordCommands, recordHealth } from './recorder.ts'
import { settled } from './settled.ts'
import { type OperateOptions, openOperators } from './staged-operators.ts'
import { openTrace, type Trace } from './trace.ts'

export interface CephFixture extends Pick<Scenario, 'api' | 'clock' | 'server'> {
  readonly views: Views
  readonly trace: Trace
  readonly oracle: Oracle
  readonly ceph: SimulatedCeph
  /** Lets time pass; the oracle looks on. */
  seconds(count: number): Promise<void>
  /** Lets time pass until it holds; fails the scenario when it does not in time. */
  until(what: string, holds: () => boolean | Promise<boolean>, withinSeconds?: number): Promise<void>
  drain(node: string, pace?: EvictionPace): Drain
  cordon(node: string): Promise<void>
  uncordon(node: string): Promise<void>
  /** A process that may die, and another that comes in its place; instead of the one that is started and stopped by hand. */
  operate(options?: OperateOptions): StagedOperator
  /** With all controllers, but for those that are left out. */
  startOperator(without?: readonly string[]): void
  stopOperator(): Promise<void>
  /** What the operator measures. */
  readonly metrics: Metrics
  /** Cuts the operator off in the middle of what it does: after so many more writes nothing of it gets through. */
  killOperatorAfter(writes: number): void
  /** What can be done to machines; Kubernetes and Ceph notice when they do. */
  readonly machines: Pick<Kubelet, 'powerOff' | 'powerOn' | 'setReady' | 'reboot' | 'isOn'>
  /** Commands that operators sent to Ceph, by their prefix. */
  readonly asked: string[]
  /** The pod of this OSD stays and is never ready again, as with a disk that is gone. */
  failOsd(id: number): void
  /** Commands to Ceph go unanswered until it may answer again. */
  silenceCeph(): void
  letCephAnswer(): void
  /** Names of the OSD budgets that are there. */
  osdBudgets(): string[]
  /** `maxUnavailable 1, without osd 1`; undefined when there is no such budget. */
  budgetText(name: string): string | undefined
  runningOsds(): number[]
  /** `osd.0` ... that are on this node and not about to leave it. */
  osdsOn(node: string): string[]
  nooutBuckets(): Promise<string[]>
  close(): Promise<void>
}

const stepMs = 500
/** A new operator reads the cluster first. */
const settlingMs = 5_000

function osdPods(views: Views): Pod[] {
  return [...views.of(pods).values()].filter(({ metadata }) => metadata.labels?.['app'] === 'rook-ceph-osd')
}

/** A Ceph cluster on the embedded API server with all that lives on it, up and clean, before any operator has come. */
export async function openCephFixture(
  file: string,
  {
    seed = 1,
    alsoNamed = [],
    ignoredPools = [],
    isGuarded = false,
  }: {
    readonly seed?: number
    /** Whether the operator is an eviction guard too. */
    readonly isGuarded?: boolean
    readonly alsoNamed?: readonly ClusterName[]
    /** Pools that the oracle lets lose their copies, as the administrator of the scenario says. */
    readonly ignoredPools?: readonly string[]
  } = {},
): Promise<CephFixture> {
  const description = parseClusterFile(file, 'the scenario')
  const described = description.ceph as CephClusterDescription
  const guard = createGuardService()
  const scenario = openScenario(seed, {
    ...(isGuarded && { callWebhook: guard.call, resolveWebhookService: () => guard.url }),
  })
  const { server, api, clock, random, failures } = scenario
  const { pace } = description
  const world = startWorld({
    api,
    clock,
    random,
    onFailure: (failure) => failures.push(failure),
    // What actors tell of each pod is read by nobody here.
    keepEvents: 'warnings',
    kubelet: { readySeconds: pace.readyAfterSeconds, terminationSeconds: pace.terminationSeconds },
  })
  const { views } = world
  const ceph = createSimulatedCeph(
    { api, clock, random, views, isOn: world.kubelet.isOn },
    buildCephDescription(described),
  )
  // With `rook: true` in the file; then only what its administrator hands over is ours.
  const domain = described.rados[0]?.failureDomain ?? 'host'
  const rook = described.rook
    ? startRookBudgets(
        { api, clock, random, views, onFailure: (failure) => failures.push(failure) },
        { cluster: described, commands: ceph.commands, failureDomainType: domain },
      )
    : undefined
  await seedCluster(api, description)
  const operatorApi = await installOperator(server, { ceph: [described.namespace] })
  await scenario.seconds(60)

  const trust = { ...trustsAlone([described, ...alsoNamed]), ...(described.rook && { own: [] }) }
  let startedMs = Number.POSITIVE_INFINITY
  let line = openLine()
  const cephLine = openLine()

  let metrics = createMetrics()

  const trace = openTrace(clock)
  const stopRecording = recordCluster(views, trace)
  const lookAtHealth = recordHealth(ceph.commands, trace)
  const lined = cephLine.commands(recordCommands(ceph.commands, trace))
  const operators = openOperators({
    api: operatorApi,
    server,
    clock,
    random,
    guard,
    trust,
    ceph: () => lined,
    tell: trace.tell,
    settledAfterMs: settlingMs,
    diesAtEvents: true,
  })
  const domainLabel = `topology-location-${domain}`
  const oracle = watchOver({
    views,
    domainLabel,
    observeCeph: async () => {
      const map = await observeCeph(ceph.commands)
      const ignored = ignoredPools.map((name) => ({ name, reason: 'the scenario says so' }))
      return map.known ? known(countedMap(map.value, ignored)) : map
    },
    isUnattended: () =>
      operators.newest() === undefined ? line.isCut || clock.now() < startedMs + settlingMs : !operators.isAttended(),
  })
  let operator: Operator | undefined
  const asked: string[] = []

  async function seconds(count: number): Promise<void> {
    const end = clock.now() + count * 1_000
    while (clock.now() < end) {
      await clock.advance(Math.min(stepMs, end - clock.now()))
      oracle.look()
      lookAtHealth()
      operators.look()
    }
  }

  async function stopOperator(): Promise<void> {
    let isStopped = operator === undefined
    const stopped = operator?.stop().finally(() => {
      isStopped = true
    })
    // A guard that ends is called for a moment longer, and what a controller has begun comes to its end first.
    for (let second = 0; second < 60; second += 1) {
      await clock.advance(second === 0 ? 1 : 1_000)
      if (isStopped) break
    }
    await stopped
  }

  const schedulable = (name: string, unschedulable: boolean) =>
    api.patch(nodes, { name }, { type: 'merge', body: { spec: { unschedulable: unschedulable || null } } })

  return {
    server,
    api,
    clock,
    views,
    trace,
    oracle,
    ceph,
    seconds,
    async until(what, holds, withinSeconds = 300) {
      const end = clock.now() + withinSeconds * 1_000
      while (!(await holds())) {
        if (clock.now() >= end) throw new Error(`not within ${withinSeconds} s: ${what}\n${trace.text()}`)
        await seconds(stepMs / 1_000)
      }
    },
    drain: (node, pace) => startDrain({ api, clock, tell: trace.tell }, node, pace),
    cordon: async (node) => void (await schedulable(node, true)),
    uncordon: async (node) => void (await schedulable(node, false)),
    operate: operators.operate,
    startOperator(without = []) {
      line = openLine()
      startedMs = clock.now()
      metrics = createMetrics()
      const recorded = recordCommands(ceph.commands, trace)
      const counted: CephCommands = {
        ...recorded,
        run(command, options) {
          asked.push(command.prefix)
          return recorded.run(command, options)
        },
      }
      const commands = cephLine.commands(line.commands(counted))
      const listen = guard.listenFor(() => line.isCut)
      operator = startOperator({
        api: line.api(operatorApi),
        clock,
        random: random.stream('operator'),
        log: createLog('silent'),
        metrics,
        controllers: controllerNames.filter((name) => !without.includes(name)),
        dryRun: false,
        ...(isGuarded && { guard: { ...guardAt({ port: 9443 }), lingerMs: 0, listen } }),
        ceph: () => commands,
        trust,
      })
    },
    async stopOperator() {
      await stopOperator()
      operator = undefined
    },
    get metrics() {
      return metrics
    },
    machines: world.kubelet,
    asked,
    killOperatorAfter: (writes) => line.cutAfter(writes),
    failOsd(id) {
      const pod = osdPods(views).find(({ metadata }) => metadata.labels?.['osd'] === String(id))
      if (pod === undefined) throw new Error(`there is no pod of osd.${id}`)
      world.kubelet.setPodReady({ namespace: described.namespace, name: pod.metadata.name }, false)
    },
    silenceCeph: () => cephLine.cut(),
    letCephAnswer: () => cephLine.mend(),
    osdBudgets: () =>
      [...views.of(podDisruptionBudgets).values()]
        .filter((budget) => !isRetired(budget))
        .map(({ metadata }) => metadata.name)
        .filter((name) => name.startsWith('rook-ceph-osd'))
        .sort(),
    budgetText(name) {
      const budget = views.of(podDisruptionBudgets).get(`${described.namespace}/${name}`)
      return budget && budgetText(budget)
    },
    runningOsds: () =>
      osdPods(views)
        .filter((pod) => isActive(pod) && isReady(pod))
        .map(({ metadata }) => Number(metadata.labels?.['osd']))
        .sort((a, b) => a - b),
    osdsOn: (node) =>
      osdPods(views)
        .filter((pod) => pod.spec.nodeName === node && isActive(pod))
        .map(daemonName),
    async nooutBuckets() {
      const { out } = await ceph.commands.run({ prefix: 'osd dump', format: 'json' })
      const { crush_node_flags: flags } = JSON.parse(out) as { crush_node_flags: Record<string, string[]> }
      return Object.keys(flags).filter((bucket) => flags[bucket]?.includes('noout'))
    },
    async close() {
      await stopOperator()
      await settled(clock, operators.stop())
      stopRecording()
      oracle.stop()
      rook?.stop()
      ceph.stop()
      world.stop()
      scenario.stop()
    },
  }
}
