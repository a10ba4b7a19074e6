import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { DaemonSet } from '@cofferdam/kubernetes/api/apps.ts'
import type { ObjectKey } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import { type Actor, type ActorPorts, openTools } from '../actor.ts'
import type { Kubelet } from '../nodes/kubelet.ts'
import { runNodeDrain, setCordon } from './kubectl-drain.ts'
import { type KuredLock, openKuredLock } from './kured-lock.ts'

export const kuredInProgressAnnotation = 'weave.works/kured-reboot-in-progress'
const kuredNeededAnnotation = 'weave.works/kured-most-recent-reboot-needed'

/** Flags of kured; what is left out is as kured has it. */
export interface KuredOptions {
  readonly daemonSet?: ObjectKey
  readonly concurrency?: number
  readonly periodMs?: number
  readonly drainTimeoutMs?: number
  readonly drainPodSelector?: string
  readonly forceReboot?: boolean
  readonly annotateNodes?: boolean
  readonly lockTtlMs?: number
  /** How long a machine is away for its reboot. */
  readonly downSeconds?: number
}

export interface KuredPorts extends ActorPorts {
  readonly kubelet: Pick<Kubelet, 'reboot' | 'isOn'>
  readonly random: Random
}

export interface SimulatedKured extends Actor {
  /** Puts the sentinel on the node; a reboot takes it away. */
  requireReboot(nodeName: string): void
  /** Takes the sentinel away without a reboot. */
  forgetReboot(nodeName: string): void
  isRebootRequired(nodeName: string): boolean
  /** Whether its drain there has left out a pod whose eviction failed: it waits for the others, which may wait for that one. */
  hasGivenUpPods(nodeName: string): boolean
  /** The pod on the node is replaced, as in a rollout. */
  restartPod(nodeName: string): void
  /** Nodes that were rebooted, in their order. */
  readonly rebooted: readonly string[]
}

const kubeSystemKured = { namespace: 'kube-system', name: 'kured' }
const startTickMs = 60_000

/** As its manifest has it, with these flags. */
export function buildKuredDaemonSet(options: KuredOptions = {}): DaemonSet {
  const { daemonSet = kubeSystemKured, concurrency = 1, periodMs = 3_600_000, drainTimeoutMs = 0 } = options
  const { drainPodSelector = '', forceReboot = false, annotateNodes = false, lockTtlMs = 0 } = options
  const command = [
    '/usr/bin/kured',
    '--reboot-sentinel=/sentinel/reboot-required',
    `--period=${periodMs / 1_000}s`,
    ...(concurrency === 1 ? [] : [`--concurrency=${concurrency}`]),
    ...(drainTimeoutMs === 0 ? [] : [`--drain-timeout=${drainTimeoutMs / 1_000}s`]),
    ...(drainPodSelector === '' ? [] : [`--drain-pod-selector=${drainPodSelector}`]),
    ...(lockTtlMs === 0 ? [] : [`--lock-ttl=${lockTtlMs / 1_000}s`]),
    ...(forceReboot ? ['--force-reboot'] : []),
    ...(annotateNodes ? ['--annotate-nodes'] : []),
  ]
  const labels = { name: 'kured' }
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: daemonSet,
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'kured', image: 'kubereboot/kured:1.23.0', command }] },
      },
    },
  }
}

/**
 * kured on every node, by its source of version 1.23: once after its start it ends the reboot that it holds the lock for, then it checks for
 * the sentinel in every period, annotates the node, acquires the lock, cordons, drains and reboots. A drain that fails gives the lock and
 * the cordon back, or is passed over with --force-reboot.
 */
export function startKured(ports: KuredPorts, options: KuredOptions = {}): SimulatedKured {
  const { daemonSet = kubeSystemKured, concurrency = 1, periodMs = 3_600_000, drainTimeoutMs = 0 } = options
  const { drainPodSelector = '', forceReboot = false, annotateNodes = false, lockTtlMs = 0, downSeconds = 60 } = options
  const { kubelet } = ports
  const tools = openTools('kured', ports)
  const { api, clock } = tools
  const sentinels = new Set<string>()
  const rebooted: string[] = []
  /** Which process runs on a node: none, or the last that was started. */
  const processes = new Map<string, { readonly boot: string }>()
  /** Nodes whose drain has given up a pod and still waits for others. */
  const incomplete = new Set<string>()
  const view = tools.views.of(nodes)

  function start(name: string, boot: string): void {
    const process = { boot }
    processes.set(name, process)
    incomplete.delete(name)
    const isAlive = () => processes.get(name) === process && kubelet.isOn(name)
    const lock = openKuredLock(tools, { daemonSet, nodeName: name, concurrency, ttlMs: lockTtlMs })
    run(name, lock, isAlive).catch((error: unknown) => {
      if (!isAlive()) return
      // It crashes, and its container is started again.
      if (!hasReason(error, 'NotFound')) tools.fail(name, error)
      start(name, boot)
    })
  }

  /** The first tick comes after half a period to one and a half. */
  const firstTick = (name: string, ms: number) => sleep(clock, ms / 2 + ms * tools.random.stream(name).next())

  async function run(name: string, lock: KuredLock, isAlive: () => boolean): Promise<void> {
    await firstTick(name, startTickMs)
    while (isAlive() && !(await endReboot(name, lock))) await sleep(clock, startTickMs)
    await firstTick(name, periodMs)
    for (; isAlive(); await sleep(clock, periodMs)) {
      if (sentinels.has(name) && (await rebootIfAllowed(name, lock, isAlive))) return
    }
  }

  /** What a process does first if the lock is its node's. False: it has to be tried again. */
  async function endReboot(name: string, lock: KuredLock): Promise<boolean> {
    const held = await lock.holding()
    if (held === undefined) return true
    const node = await api.get(nodes, { name })
    if (held.metadata?.unschedulable !== true) await setCordon(tools, name, false)
    if (annotateNodes && !sentinels.has(name) && node.metadata.annotations?.[kuredInProgressAnnotation] !== undefined) {
      const path = `/metadata/annotations/${kuredInProgressAnnotation.replaceAll('/', '~1')}`
      await api.patch(nodes, { name }, { type: 'json', body: [{ op: 'remove', path }] })
    }
    return lock.release()
  }

  /** Whether the machine goes down. */
  async function rebootIfAllowed(name: string, lock: KuredLock, isAlive: () => boolean): Promise<boolean> {
    const node = await api.get(nodes, { name })
    if (annotateNodes && node.metadata.annotations?.[kuredInProgressAnnotation] === undefined) {
      const since = rfc3339(clock.now())
      const body = { metadata: { annotations: { [kuredInProgressAnnotation]: since, [kuredNeededAnnotation]: since } } }
      await api.patch(nodes, { name }, { type: 'strategic', body })
    }
    const isHeld = (await lock.holding()) !== undefined || (await lock.acquire(node.spec?.unschedulable === true))
    if (!isHeld) return false
    await setCordon(tools, name, true)
    const limit = drainTimeoutMs === 0 ? {} : { timeoutMs: drainTimeoutMs }
    const onRefused = () => void (isAlive() && incomplete.add(name))
    const problem = await runNodeDrain(tools, name, { ...limit, podSelector: drainPodSelector, isAlive, onRefused })
    if (!isAlive()) return true
    incomplete.delete(name)
    if (problem !== undefined && !forceReboot) {
      await lock.release()
      await setCordon(tools, name, false)
      return false
    }
    sentinels.delete(name)
    rebooted.push(name)
    kubelet.reboot(name, downSeconds)
    return true
  }

  tools.onStop(
    view.subscribe(({ key, after }) => {
      const boot = after?.status?.nodeInfo?.bootID
      if (after === undefined) processes.delete(key)
      else if (boot !== undefined && boot !== processes.get(key)?.boot) start(key, boot)
    }),
  )
  tools.onStop(() => processes.clear())

  return {
    stop: tools.stop,
    requireReboot: (name) => void sentinels.add(name),
    forgetReboot: (name) => void sentinels.delete(name),
    isRebootRequired: (name) => sentinels.has(name),
    hasGivenUpPods: (name) => incomplete.has(name),
    restartPod: (name) => start(name, view.get(name)?.status?.nodeInfo?.bootID ?? ''),
    rebooted,
  }
}
