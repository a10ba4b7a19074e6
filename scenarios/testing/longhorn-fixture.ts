import type { Event } from '@cofferdam/kubernetes/api/core.ts'
import { budgetsOf, isOutsideBudgets } from '@cofferdam/kubernetes/api/disruption-rules.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import {
  type LonghornReplica,
  type LonghornVolume,
  longhornNamespace,
  longhornNodes,
  longhornReplicas,
  longhornSettings,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import {
  customResourceDefinitions,
  events,
  namespaces,
  nodes,
  podDisruptionBudgets,
  pods,
  statefulSets,
} from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { manageAnnotation } from '@cofferdam/product/capabilities/longhorn-drain/domain/drain-settings.ts'
import { drainPolicySetting } from '@cofferdam/product/capabilities/longhorn-drain/domain/policy.ts'
import { installOperator } from '@cofferdam/product/cli/demo/install-operator.ts'
import { type NodeDisruption, nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import type { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { longhornDefinitions } from '@cofferdam/simulator/cluster-file/longhorn-definitions.ts'
import type { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import type { LonghornControls } from '@cofferdam/simulator/world/longhorn/longhorn-controls.ts'
import type { LonghornDescription } from '@cofferdam/simulator/world/longhorn/longhorn-description.ts'
import { createSimulatedLonghorn } from '@cofferdam/simulator/world/longhorn/simulated-longhorn.ts'
import { createdAt } from '@cofferdam/simulator/world/pod-facts.ts'
import { startWorld, type World } from '@cofferdam/simulator/world/start-world.ts'
import { node, statefulSet } from '@cofferdam/simulator/world/testing/scenario.ts'
import { openLine } from './cut-line.ts'
import { type Drain, startDrain } from './drainer.ts'
import { openGuardedServer } from './guarded-server.ts'
import type { StagedOperator } from './lock-fixture.ts'
import { dryRunEviction } from './longhorn-agreement.ts'
import { isHold, isManagerPod, type LonghornOracle, nodeOfBudget, watchLonghorn } from './longhorn-oracle.ts'
import { plain, recordLonghorn } from './longhorn-recorder.ts'
import { watchOwnWrites } from './longhorn-writes.ts'
import { settled } from './settled.ts'
import { type OperateOptions, openOperators } from './staged-operators.ts'
import { openTrace, type Trace } from './trace.ts'

export interface StagedDrain extends Drain {
  /** Its process is ended, as with Ctrl-C: nothing is taken back. */
  giveUp(): void
}

export interface LonghornFixture {
  readonly server: ApiServer
  readonly api: KubeApi
  readonly clock: VirtualClock
  readonly world: World
  readonly views: Views
  readonly trace: Trace
  readonly oracle: LonghornOracle
  readonly controls: LonghornControls
  /** Lets time pass; the oracle looks on. */
  seconds(count: number): Promise<void>
  /** Lets time pass until it holds; fails the scenario when it does not in time. */
  until(what: string, holds: () => boolean | Promise<boolean>, withinSeconds?: number): Promise<void>
  operate(options?: OperateOptions): StagedOperator
  /** A pod that uses the volume, on one of these nodes; the volume is attached when this returns. */
  use(volume: string, ...on: readonly string[]): Promise<void>
  /** Nobody uses it any more; it is detached when this returns. */
  disuse(volume: string): Promise<void>
  cordon(nodeName: string, on?: boolean): Promise<void>
  drain(nodeName: string): StagedDrain
  /** The same by somebody who begins anew ten seconds after a drain gave up: over when one got through. */
  drainAgain(nodeName: string): StagedDrain
  /** Drains it to the end, as somebody who waits for it does. */
  drained(nodeName: string, withinSeconds?: number): Promise<void>
  setPolicy(policy: string): Promise<void>
  /** Annotations of the setting `node-drain-policy`. */
  annotate(annotations: JsonObject): Promise<void>
  request(name: string, spec: Partial<NodeDisruption['spec']> & { readonly nodeName: string }): Promise<void>
  phaseOf(name: string): string
  volume(name: string): LonghornVolume
  replicasOf(volume: string): readonly LonghornReplica[]
  replicaOn(volume: string, nodeName: string): string
  /** Nodes of its replicas, sorted. */
  placesOf(volume: string): string[]
  robustnessOf(volume: string): string
  /** Every robustness a volume had since then, in order and once each. */
  robustnessSince(volume: string, sinceMs: number): string[]
  /** Nodes that hold a replica that was told to go, as `db on node-1`. */
  flags(): string[]
  autoEvicting(): string[]
  /** Nodes whose instance managers are covered by a budget, whosever it is, sorted. */
  guarded(): string[]
  /** Nodes whose instance managers are held by a budget of Cofferdam, sorted. */
  held(): string[]
  /** Disks that Longhorn is asked to empty, as `default-disk on node-1`. */
  askedDisks(): string[]
  /** What the setting `node-drain-policy` says now. */
  policyInForce(): string
  /** Reasons of the operator's own events about an object, or about all of them, in order. */
  told(name?: string): Promise<string[]>
  /** The notes of the operator's own events about an object. */
  notes(name: string): Promise<string[]>
  /** Reasons of Longhorn's events about an object, in order. */
  toldByLonghorn(name: string): Promise<string[]>
  /** Longhorn's own controllers stand still from now on; what it runs goes on. */
  stopLonghorn(): void
  isIntact(...volumes: readonly string[]): boolean
  close(): Promise<void>
}

export interface LonghornFixtureOptions {
  readonly nodeCount?: number
  readonly seed?: number
  readonly policy?: string
  readonly annotations?: JsonObject
}

const stepMs = 500
const askAgainMs = 5_000
const shop = 'shop'

/** Nodes with a Longhorn on them that decides as released, its volumes made, held by us once an operator has come. */
export async function openLonghornFixture(
  description: LonghornDescription = {},
  { nodeCount = 3, seed = 1, policy = 'block-for-eviction', annotations = {} }: LonghornFixtureOptions = {},
): Promise<LonghornFixture> {
  const { namespace = longhornNamespace } = description
  const { clock, random, guard, server, api } = openGuardedServer(seed)
  for (const name of [shop, namespace])
    await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  const operatorApi = await installOperator(server, { longhorn: [namespace] })
  for (let number = 1; number <= nodeCount; number += 1) await api.create(nodes, node(number))
  for (const definition of longhornDefinitions()) await api.create(customResourceDefinitions, definition)
  const world = startWorld({
    api,
    clock,
    random,
    kubelet: { readySeconds: 2, terminationSeconds: 2 },
    keepEvents: 'none',
  })
  const { views } = world
  const volumes = (description.volumes ?? []).map((volume) => ({
    claim: { namespace: shop, name: volume.name },
    ...volume,
  }))
  const settings = { [drainPolicySetting]: policy, ...description.settings }
  const { controls, stop: stopLonghorn } = createSimulatedLonghorn(
    { api, clock, random, views, isOn: world.kubelet.isOn },
    { ownDrainHandling: true, ...description, volumes, settings },
  )
  const trace = openTrace(clock)
  const tell = (line: string) => trace.tell(plain(line, views))
  const operators = openOperators({
    server,
    api: watchOwnWrites(operatorApi, {
      namespace,
      blame: (sentence) => oracle.blame(sentence),
      removes: (replica) => oracle.lookAtRemoval(replica),
    }),
    clock,
    random,
    guard,
    tell,
    settledAfterMs: 5_000,
    diesAtEvents: true,
  })
  const oracle = watchLonghorn({
    namespace,
    views,
    clock,
    isOn: world.kubelet.isOn,
    verify: controls.verify,
    isAttended: operators.isAttended,
    tell,
  })
  const settingKey = { namespace, name: drainPolicySetting }

  async function seconds(count: number): Promise<void> {
    const end = clock.now() + count * 1_000
    while (clock.now() < end) {
      await clock.advance(Math.min(stepMs, end - clock.now()))
      oracle.look()
      operators.look()
      if (operators.isGuarded()) await lookAtDoubled()
      else answered.clear()
    }
  }

  /** A pod is asked for again when it or its budgets have changed, and every few seconds: the guard may have forgotten them. */
  const answered = new Map<string, { readonly versions: string; readonly atMs: number }>()

  /** A pod under two budgets is answered with 500, at which a drain gives up; the guard answers before that. */
  async function lookAtDoubled(): Promise<void> {
    // The guard has not heard of a younger one yet.
    const heardMs = clock.now() - operators.lagMs() - stepMs
    const budgets = [...views.of(podDisruptionBudgets).values()].filter((one) => createdAt(one) <= heardMs)
    const doubled = [...views.of(pods).values()].filter(
      (pod) => isManagerPod(pod) && !isOutsideBudgets(pod) && budgetsOf(pod, budgets).length > 1,
    )
    for (const pod of doubled) {
      const versions = [pod, ...budgetsOf(pod, budgets)].map(({ metadata }) => metadata.resourceVersion).join()
      const last = answered.get(pod.metadata.name)
      if (last?.versions === versions && clock.now() - last.atMs < askAgainMs) continue
      answered.set(pod.metadata.name, { versions, atMs: clock.now() })
      const asking = dryRunEviction(api, pod)
      // The guard may wait a moment for what it has not heard yet.
      await settled(clock, asking)
      const code = await asking
      if (code !== 429 && code !== 404)
        oracle.blame(
          `the instance manager of ${pod.spec.nodeName} is under two budgets, and its eviction answered with ${code}`,
        )
    }
  }

  async function until(what: string, holds: () => boolean | Promise<boolean>, withinSeconds = 300): Promise<void> {
    const end = clock.now() + withinSeconds * 1_000
    while (!(await holds())) {
      if (clock.now() >= end) throw new Error(`not within ${withinSeconds} s: ${what}\n${trace.text()}`)
      await seconds(stepMs / 1_000)
    }
  }

  async function annotate(changes: JsonObject): Promise<void> {
    await api.patch(longhornSettings, settingKey, { type: 'merge', body: { metadata: { annotations: changes } } })
  }

  const volumeOf = (name: string): LonghornVolume => {
    const volume = views.of(longhornVolumes).get(`${namespace}/${name}`)
    if (volume === undefined) throw new Error(`no volume ${name}`)
    return volume
  }
  const replicasOf = (volume: string) =>
    [...views.of(longhornReplicas).values()]
      .filter(({ spec }) => spec?.volumeName === volume)
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  const eventsOf = async (component: RegExp, name?: string): Promise<Event[]> => {
    const { items } = await api.list(events)
    return items
      .filter(
        ({ source, involvedObject }) =>
          component.test(source?.component ?? '') && (name === undefined || involvedObject.name === name),
      )
      .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
  }

  const ownEvents = (name?: string) => eventsOf(/^cofferdam$/, name)

  function drain(nodeName: string): StagedDrain {
    const line = openLine()
    const started = startDrain({ api: line.api(api), clock, tell }, nodeName)
    started.ended.catch((error: Error) => {
      // Of a budget that is made in the very moment of an eviction no guard can have heard.
      const made = [...views.of(podDisruptionBudgets).values()].filter(
        (one) => isHold(one) && nodeOfBudget(one) === nodeName,
      )
      const isNew = made.some((one) => createdAt(one) > clock.now() - 1_000 - operators.lagMs() - stepMs)
      if (!line.isCut && operators.isGuarded() && !isNew)
        oracle.blame(`the drain of ${nodeName} gave up: ${error.message}`)
    })
    return { ...started, giveUp: () => line.cut() }
  }

  function drainAgain(nodeName: string): StagedDrain {
    let latest = drain(nodeName)
    let isOver = false
    let isGivenUp = false
    const follow = async (): Promise<void> => {
      const isDone = await latest.ended.then(
        () => true,
        () => false,
      )
      if (isDone) isOver = true
      if (isDone || isGivenUp) return
      await sleep(clock, 10_000)
      if (isGivenUp) return
      latest = drain(nodeName)
      await follow()
    }
    const ended = follow()
    return {
      isOver: () => isOver,
      ended,
      giveUp() {
        isGivenUp = true
        latest.giveUp()
      },
    }
  }

  const covered = (isOne: (budget: PodDisruptionBudget) => boolean): string[] => {
    const found = [...views.of(podDisruptionBudgets).values()].filter(isOne).flatMap((one) => nodeOfBudget(one) ?? [])
    return [...new Set(found)].sort()
  }

  views.of(longhornReplicas)
  await clock.advance(1_000)
  const placed = (name: string) => {
    const wanted = volumes.find((volume) => volume.name === name)?.numberOfReplicas ?? 3
    return replicasOf(name).length >= Math.min(wanted, nodeCount)
  }
  await until('all volumes have their replicas', () => volumes.every(({ name }) => placed(name)), 60)
  if (settings[drainPolicySetting] !== null) await annotate({ [manageAnnotation]: 'hold', ...annotations })
  const stopRecording = recordLonghorn(views, trace)

  return {
    server,
    api,
    clock,
    world,
    views,
    trace,
    oracle,
    controls,
    seconds,
    until,
    operate: operators.operate,
    async use(volume, ...on) {
      const affinity = {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In' as const, values: [...on] }] },
            ],
          },
        },
      }
      const mounts = [{ name: 'data', persistentVolumeClaim: { claimName: volume } }]
      const set = statefulSet(volume, {
        replicas: 1,
        pod: { volumes: mounts, ...(on.length === 0 ? {} : { affinity }) },
      })
      await api.create(statefulSets, { ...set, metadata: { name: volume, namespace: shop } })
      await until(`${volume} is attached`, () => volumeOf(volume).status?.state === 'attached', 60)
      await until(`${volume} is healthy`, () => volumeOf(volume).status?.robustness === 'healthy', 60)
    },
    async disuse(volume) {
      await api.delete(statefulSets, { namespace: shop, name: volume })
      await until(`${volume} is detached`, () => volumeOf(volume).status?.state === 'detached', 60)
    },
    async cordon(nodeName, on = true) {
      const body = { spec: { unschedulable: on ? true : null } }
      await api.patch(nodes, { name: nodeName }, { type: 'merge', body })
    },
    drain,
    drainAgain,
    async drained(nodeName, withinSeconds) {
      const started = drain(nodeName)
      await until(`the drain of ${nodeName} is over`, started.isOver, withinSeconds)
      await started.ended
    },
    async setPolicy(value) {
      await api.patch(longhornSettings, settingKey, { type: 'merge', body: { value } as never })
    },
    annotate,
    async request(name, spec) {
      await api.create(nodeDisruptions, {
        apiVersion: 'cofferdam.io/v1alpha1',
        kind: 'NodeDisruption',
        metadata: { name },
        spec: { intent: 'Reboot', honourSkipDrain: true, ...spec },
      })
    },
    phaseOf: (name) => views.of(nodeDisruptions).get(name)?.status?.phase ?? 'Pending',
    volume: volumeOf,
    replicasOf,
    replicaOn: (volume, nodeName) =>
      replicasOf(volume).find(({ spec }) => spec?.nodeID === nodeName)?.metadata.name ?? '',
    placesOf: (volume) =>
      replicasOf(volume)
        .map(({ spec }) => spec?.nodeID ?? '')
        .sort(),
    robustnessOf: (name) => volumeOf(name).status?.robustness ?? '',
    robustnessSince(name, sinceMs) {
      const own = oracle.history.filter(({ volume }) => volume === name)
      const before = own.filter(({ atMs }) => atMs < sinceMs).slice(-1)
      const after = own.filter(({ atMs }) => atMs >= sinceMs)
      return [...new Set([...before, ...after].map(({ robustness }) => robustness))]
    },
    flags: () =>
      [...views.of(longhornReplicas).values()]
        .filter(({ spec }) => spec?.evictionRequested === true)
        .map(({ spec }) => `${spec?.volumeName} on ${spec?.nodeID}`)
        .sort(),
    autoEvicting: () =>
      [...views.of(longhornNodes).values()]
        .filter(({ status }) => status?.autoEvicting === true)
        .map(({ metadata }) => metadata.name)
        .sort(),
    guarded: () => covered(() => true),
    held: () => covered(isHold),
    askedDisks: () =>
      [...views.of(longhornNodes).values()]
        .flatMap(({ metadata, spec }) =>
          Object.entries(spec?.disks ?? {})
            .filter(([, disk]) => disk.evictionRequested === true)
            .map(([disk]) => `${disk} on ${metadata.name}`),
        )
        .sort(),
    policyInForce: () => views.of(longhornSettings).get(`${namespace}/${drainPolicySetting}`)?.value ?? '',
    told: async (name) => (await ownEvents(name)).map(({ reason }) => reason ?? ''),
    notes: async (name) => (await ownEvents(name)).map(({ message }) => message ?? ''),
    toldByLonghorn: async (name) => (await eventsOf(/^longhorn-/, name)).map(({ reason }) => reason ?? ''),
    stopLonghorn,
    isIntact: (...names) => names.every((name) => controls.verify(name).isIntact),
    async close() {
      const ended = operators.stop()
      await settled(clock, ended)
      stopRecording()
      oracle.stop()
      stopLonghorn()
      world.stop()
      server.stop()
    },
  }
}
