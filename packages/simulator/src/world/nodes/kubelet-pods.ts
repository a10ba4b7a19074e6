import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type ActorTools, deleteExactly, writeStatus } from '../actor.ts'
import { isFinished, isTerminating } from '../pod-facts.ts'
import type { View } from '../view.ts'
import type { ContainerRuntime } from './container-runtime.ts'
import { buildPodStatus, isSamePodStatus } from './kubelet-pod-status.ts'
import type { Machine } from './machine.ts'
import type { PodAddresses } from './pod-addresses.ts'
import { type PodContainer, PodContainers } from './pod-containers.ts'
import { recordBackOff, recordFailed, recordKilling, recordStarted } from './pod-events.ts'
import { beginRun, type PodRun } from './pod-run.ts'
import { crashPause, createPodTiming, type PodTimingOptions } from './pod-timing.ts'

export interface PodRunnerOptions extends PodTimingOptions {
  /** Pods stop after their grace period, but never later than this. */
  readonly terminationSeconds?: number
  /** What really runs behind pods. The times above are for pods that it has nothing for. */
  readonly runtime?: ContainerRuntime
}

export interface PodRunner {
  wake(key: string): void
  setReady(key: string, ready: boolean): void
  /** What runs on this machine is gone at once. */
  cutPower(node: string): void
  /** Kills what still runs there for pods that the cluster has given up meanwhile. */
  clearStrays(node: string): void
}

const exitWith = 'cofferdam.io/exit-code'
/** `false` on a running pod makes its readiness probe fail, for whoever has only kubectl at hand. */
const readyWish = 'cofferdam.io/ready'
/** The first end of a container is taken for an accident. */
const accidentPauseMs = 1_000
/** One that ran this long has left its earlier crashes behind. */
const steadyMs = 600_000

/** Runs the pods of all machines that are on. */
export function createPodRunner({
  tools,
  addresses,
  nodeView,
  podView,
  options,
  machineOf,
}: {
  tools: ActorTools
  addresses: PodAddresses
  nodeView: View<Node>
  podView: View<Pod>
  options: PodRunnerOptions
  machineOf: (node: string) => Machine | undefined
}): PodRunner {
  const { terminationSeconds = 2 } = options
  const timing = createPodTiming(tools, options)
  const runs = new Map<string, PodRun>()
  const queue = tools.queue({ needs: [nodeView, podView], work: reconcile, concurrency: 32 })
  const { clock, fail } = tools
  const containers =
    options.runtime === undefined
      ? undefined
      : new PodContainers({ runtime: options.runtime, clock, wake: (key) => queue.add(key), onFailure: fail })

  async function reconcile(key: string): Promise<void> {
    const pod = podView.get(key)
    const held = runs.get(key)
    if (held !== undefined && held.uid !== pod?.metadata.uid) forget(key, held)
    if (pod === undefined || pod.spec.nodeName === undefined || pod.spec.nodeName === '') return
    const machine = machineOf(pod.spec.nodeName)
    if (machine === undefined || machine.power !== 'on') return
    const run = runs.get(key) ?? begin(key, pod, machine)
    if (isTerminating(pod)) return terminate(key, pod, run)
    if (isFinished(pod)) {
      // Somebody else may have called it failed, while what it ran went on.
      containers?.kill(run.container)
      return
    }
    if (run.bootID !== machine.bootID) restartAfterBoot(pod, run, machine)
    if (run.isBacked !== false) followContainer(key, pod, run)
    if (run.isBacked === false && run.dueAt !== undefined && run.dueAt <= clock.now()) advance(pod, run)
    if (run.dueAt !== undefined) queue.addAfter(key, run.dueAt - clock.now())
    await report(pod, run)
  }

  function begin(key: string, pod: Pod, machine: Machine): PodRun {
    const run = beginRun(pod, machine, containers === undefined ? false : undefined)
    if (run.podIP !== undefined) addresses.keep(machine.name, run.podIP)
    run.dueAt = run.stage === 'ready' ? timing.finishAt(pod) : timing.readyAt(pod)
    runs.set(key, run)
    return run
  }

  function forget(key: string, run: PodRun): void {
    runs.delete(key)
    // A machine that is cut off has not heard of it; what it finds when it hears again is a stray.
    if (machineOf(run.node)?.power !== 'disconnected') containers?.kill(run.container)
    if (run.podIP !== undefined) addresses.free(run.node, run.podIP)
  }

  /** Nothing survives a boot: containers start again, unless the pod is one that runs only once. */
  function restartAfterBoot(pod: Pod, run: PodRun, machine: Machine): void {
    run.bootID = machine.bootID
    const hadStarted = pod.status?.phase === 'Running'
    run.stage = hadStarted && pod.spec.restartPolicy === 'Never' ? 'failed' : 'creating'
    if (hadStarted) run.restarts += 1
    run.dueAt = run.stage === 'creating' ? timing.readyAt(pod) : undefined
    containers?.kill(run.container)
    run.container = undefined
    run.crashes = 0
  }

  /** Brings the run of a pod to where its container is. */
  function followContainer(key: string, pod: Pod, run: PodRun): void {
    const { container } = run
    if (container === undefined) {
      launch(key, pod, run)
    } else if (container.isGone) {
      endContainer(pod, run, container)
    } else if (run.awaitsReady && container.isReady) {
      run.awaitsReady = false
      run.stage = 'ready'
    }
  }

  function launch(key: string, pod: Pod, run: PodRun): void {
    const isPausing = run.stage === 'waiting' && run.dueAt !== undefined && run.dueAt > clock.now()
    if (isPausing || run.stage === 'succeeded' || run.stage === 'failed') return
    const container = containers?.start(key, pod, run.node)
    if (container === 'occupied') {
      run.dueAt = undefined
      return
    }
    run.isBacked = container !== undefined
    if (container === undefined) {
      run.dueAt ??= timing.readyAt(pod)
      return
    }
    if (run.stage === 'waiting') run.restarts += 1
    run.dueAt = undefined
    if (container.isGone) {
      endContainer(pod, run, container)
      return
    }
    run.container = container
    run.awaitsReady = true
    markStarted(pod, run, 'unready')
  }

  function endContainer(pod: Pod, run: PodRun, { exitCode, fault, startedAt }: PodContainer): void {
    if (fault !== undefined) recordFailed(tools.recorderOn(run.node), pod, fault)
    run.container = undefined
    run.awaitsReady = false
    run.crashes = clock.now() - startedAt >= steadyMs ? 1 : run.crashes + 1
    run.lastEnd = { exitCode, finishedAt: timestamp(clock) }
    finish(pod, run, { exitCode, pauseMs: run.crashes === 1 ? accidentPauseMs : crashPause(run.crashes - 2) })
  }

  function advance(pod: Pod, run: PodRun): void {
    if (run.stage === 'creating' || run.stage === 'waiting') {
      if (run.stage === 'waiting') run.restarts += 1
      markStarted(pod, run, 'ready')
      run.dueAt = timing.finishAt(pod)
      return
    }
    finish(pod, run, { exitCode: exitCodeOf(pod), pauseMs: crashPause(run.restarts) })
  }

  function markStarted(pod: Pod, run: PodRun, as: 'ready' | 'unready'): void {
    run.stage = as
    run.startedAt = timestamp(clock)
    run.podIP ??= isOnHostNetwork(pod) ? hostIpOf(run.node) : addresses.take(run.node)
    recordStarted(tools.recorderOn(run.node), pod)
  }

  function finish(pod: Pod, run: PodRun, { exitCode, pauseMs }: { exitCode: number; pauseMs: number }): void {
    const policy = pod.spec.restartPolicy ?? 'Always'
    if (policy === 'Never' || (policy === 'OnFailure' && exitCode === 0)) {
      run.stage = exitCode === 0 ? 'succeeded' : 'failed'
      run.dueAt = undefined
      return
    }
    run.stage = 'waiting'
    run.dueAt = clock.now() + pauseMs
    recordBackOff(tools.recorderOn(run.node), pod)
  }

  async function report(pod: Pod, run: PodRun): Promise<void> {
    const hostIP = hostIpOf(run.node)
    const status = buildPodStatus(pod, {
      stage: run.stage === 'ready' && pod.metadata.annotations?.[readyWish] === 'false' ? 'unready' : run.stage,
      restarts: run.restarts,
      now: timestamp(clock),
      exitCode: run.stage === 'failed' ? (run.lastEnd?.exitCode ?? exitCodeOf(pod)) || 255 : 0,
      ...(run.lastEnd === undefined ? {} : { lastEnd: run.lastEnd }),
      ...(run.startedAt === undefined ? {} : { startedAt: run.startedAt }),
      ...(run.podIP === undefined ? {} : { podIP: run.podIP }),
      ...(hostIP === undefined ? {} : { hostIP }),
    })
    if (!isSamePodStatus(pod, status)) await writeStatus(tools, pods, pod, status)
  }

  async function terminate(key: string, pod: Pod, run: PodRun): Promise<void> {
    const { deletionGracePeriodSeconds = 30, finalizers = [] } = pod.metadata
    if (deletionGracePeriodSeconds === 0 && finalizers.length > 0 && isFinished(pod)) return
    if (run.container !== undefined && !run.container.isGone) {
      return stopContainer(key, pod, { run, container: run.container, graceMs: deletionGracePeriodSeconds * 1_000 })
    }
    const nowMs = clock.now()
    const isOver = isFinished(pod) || run.isBacked === true
    const graceMs = isOver ? 0 : Math.min(deletionGracePeriodSeconds, terminationSeconds) * 1_000
    if (run.stopAt === undefined && !isFinished(pod)) recordKilling(tools.recorderOn(run.node), pod)
    run.stopAt = Math.min(run.stopAt ?? Number.POSITIVE_INFINITY, nowMs + graceMs)
    if (run.stopAt > nowMs) return queue.addAfter(key, run.stopAt - nowMs)
    let last = pod
    if (finalizers.length > 0 && !isFinished(pod)) {
      // Whoever holds the pod by a finalizer wants to know how it ended.
      run.stage = 'failed'
      const now = timestamp(clock)
      const ended = { stage: run.stage, restarts: run.restarts, now, exitCode: run.container?.exitCode ?? 137 }
      last = await writeStatus(tools, pods, pod, buildPodStatus(pod, ended))
    }
    await deleteExactly(tools, pods, last, { gracePeriodSeconds: 0 })
  }

  /** The pod stays in the API until its container is gone, which wakes it. A grace that is made shorter later counts. */
  function stopContainer(
    key: string,
    pod: Pod,
    { run, container, graceMs }: { run: PodRun; container: PodContainer; graceMs: number },
  ): void {
    const nowMs = clock.now()
    if (run.stopAt === undefined) {
      recordKilling(tools.recorderOn(run.node), pod)
      containers?.stop(key, container, graceMs / 1_000)
    }
    run.stopAt = Math.min(run.stopAt ?? Number.POSITIVE_INFINITY, nowMs + graceMs)
    if (run.stopAt > nowMs) queue.addAfter(key, run.stopAt - nowMs)
    else containers?.kill(container)
  }

  function hostIpOf(node: string): string | undefined {
    return nodeView.get(node)?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
  }

  tools.onStop(podView.subscribe(({ key, after }) => (isOurs(key, after) ? queue.add(key) : undefined)))

  function isOurs(key: string, pod: Pod | undefined): boolean {
    return runs.has(key) || (pod?.spec.nodeName ?? '') !== ''
  }

  return {
    wake: (key) => queue.add(key),
    setReady(key, ready) {
      const run = runs.get(key)
      if (run === undefined || run.awaitsReady || (run.stage !== 'ready' && run.stage !== 'unready')) return
      run.stage = ready ? 'ready' : 'unready'
      queue.add(key)
    },
    cutPower: (node) => containers?.killOn(node),
    clearStrays(node) {
      if (containers === undefined) return
      const wanted = new Set(Array.from(podView.values(), ({ metadata }) => metadata.uid))
      containers.killOn(node, (uid) => !wanted.has(uid))
    },
  }
}

function exitCodeOf(pod: Pod): number {
  return Number.parseInt(pod.metadata.annotations?.[exitWith] ?? '0', 10) || 0
}

function isOnHostNetwork(pod: Pod): boolean {
  return (pod.spec as { hostNetwork?: boolean }).hostNetwork === true
}
