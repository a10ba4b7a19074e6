import type { Node, Pod } from '../api/core.ts'
import { controllerOf } from '../api/kube-object.ts'
import { pods } from '../api/resources.ts'
import { timestamp } from '../runtime/clock.ts'
import { deleteExactly, type Stage, writeStatus } from './actor.ts'
import { buildPodStatus, type PodStage } from './kubelet-pod-status.ts'
import type { Machine } from './machine.ts'
import type { PodAddresses } from './pod-addresses.ts'
import { isFinished, isReady, isTerminating } from './pod-facts.ts'
import type { View } from './view.ts'

export interface PodRunnerOptions {
  /** From the start of a pod to its readiness. A pod's own `cofferdam.io/ready-after-seconds` goes before. */
  readonly readySeconds?: number
  /** Chance moves the readiness by up to this share, so that pods do not march in step. */
  readonly readyJitter?: number
  /** Pods stop after their grace period, but never later than this. */
  readonly terminationSeconds?: number
  /** How long pods of Jobs run. A pod's own `cofferdam.io/run-seconds` goes before, for any pod. */
  readonly runSeconds?: number
}

export interface PodRunner {
  wake(key: string): void
  setReady(key: string, ready: boolean): void
}

/** What the machine knows of one pod that it runs. */
interface Run {
  readonly uid: string
  readonly node: string
  bootID: string
  stage: PodStage
  restarts: number
  startedAt: string | undefined
  podIP: string | undefined
  /** When the stage ends: creating becomes ready, running becomes finished. */
  dueAt: number | undefined
  stopAt: number | undefined
}

const readyAfter = 'cofferdam.io/ready-after-seconds'
const runFor = 'cofferdam.io/run-seconds'
const exitWith = 'cofferdam.io/exit-code'
/** `false` on a running pod makes its readiness probe fail, for whoever has only kubectl at hand. */
const readyWish = 'cofferdam.io/ready'
const crashPauseMs = 10_000

/** Runs the pods of all machines that are on. */
export function createPodRunner({
  stage,
  addresses,
  nodeView,
  podView,
  options,
  machineOf,
}: {
  stage: Stage
  addresses: PodAddresses
  nodeView: View<Node>
  podView: View<Pod>
  options: PodRunnerOptions
  machineOf: (node: string) => Machine | undefined
}): PodRunner {
  const { readySeconds = 2, readyJitter = 0.5, terminationSeconds = 2, runSeconds = 10 } = options
  const runs = new Map<string, Run>()
  const queue = stage.queue({ needs: [nodeView, podView], work: reconcile, concurrency: 32 })

  async function reconcile(key: string): Promise<void> {
    const pod = podView.get(key)
    const held = runs.get(key)
    if (held !== undefined && held.uid !== pod?.metadata.uid) forget(key, held)
    if (pod === undefined || pod.spec.nodeName === undefined || pod.spec.nodeName === '') return
    const machine = machineOf(pod.spec.nodeName)
    if (machine === undefined || machine.power !== 'on') return
    const run = runs.get(key) ?? begin(key, pod, machine)
    if (isTerminating(pod)) return terminate(key, pod, run)
    if (isFinished(pod)) return
    if (run.bootID !== machine.bootID) restartAfterBoot(pod, run, machine)
    if (run.dueAt !== undefined && run.dueAt <= stage.clock.now()) advance(pod, run)
    if (run.dueAt !== undefined) queue.addAfter(key, run.dueAt - stage.clock.now())
    await report(pod, run)
  }

  function begin(key: string, pod: Pod, machine: Machine): Run {
    const isKnown = pod.status?.phase === 'Running'
    const { podIP } = pod.status ?? {}
    if (podIP !== undefined) addresses.keep(machine.name, podIP)
    const restarts = Math.max(0, ...(pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount))
    const run: Run = {
      uid: pod.metadata.uid as string,
      node: machine.name,
      bootID: machine.bootID,
      stage: isKnown && isReady(pod) ? 'ready' : 'creating',
      restarts,
      startedAt: pod.status?.containerStatuses?.[0]?.state?.running?.startedAt,
      podIP,
      dueAt: undefined,
      stopAt: undefined,
    }
    run.dueAt = run.stage === 'ready' ? finishAt(pod) : readyAt(pod)
    runs.set(key, run)
    return run
  }

  function forget(key: string, run: Run): void {
    runs.delete(key)
    if (run.podIP !== undefined) addresses.free(run.node, run.podIP)
  }

  function readyAt(pod: Pod): number | undefined {
    const asked = pod.metadata.annotations?.[readyAfter]
    if (asked === 'never') return undefined
    const share = 1 + readyJitter * (stage.random.next() - 0.5)
    const seconds = asked === undefined ? readySeconds * share : Number.parseFloat(asked) || 0
    return stage.clock.now() + Math.round(seconds * 1_000)
  }

  function finishAt(pod: Pod): number | undefined {
    const asked = pod.metadata.annotations?.[runFor]
    if (asked === undefined && controllerOf(pod)?.kind !== 'Job') return undefined
    const seconds = asked === undefined ? runSeconds : Number.parseFloat(asked) || 0
    return stage.clock.now() + Math.round(seconds * 1_000)
  }

  /** Nothing survives a boot: containers start again, unless the pod is one that runs only once. */
  function restartAfterBoot(pod: Pod, run: Run, machine: Machine): void {
    run.bootID = machine.bootID
    const hadStarted = pod.status?.phase === 'Running'
    run.stage = hadStarted && pod.spec.restartPolicy === 'Never' ? 'failed' : 'creating'
    if (hadStarted) run.restarts += 1
    run.dueAt = run.stage === 'creating' ? readyAt(pod) : undefined
  }

  function advance(pod: Pod, run: Run): void {
    if (run.stage === 'creating' || run.stage === 'waiting') {
      if (run.stage === 'waiting') run.restarts += 1
      run.stage = 'ready'
      run.startedAt = timestamp(stage.clock)
      run.podIP ??= isOnHostNetwork(pod) ? hostIpOf(run.node) : addresses.take(run.node)
      run.dueAt = finishAt(pod)
      recordStart(pod, run)
      return
    }
    const exitCode = exitCodeOf(pod)
    const policy = pod.spec.restartPolicy ?? 'Always'
    if (policy === 'Never' || (policy === 'OnFailure' && exitCode === 0)) {
      run.stage = exitCode === 0 ? 'succeeded' : 'failed'
      run.dueAt = undefined
      return
    }
    run.stage = 'waiting'
    run.dueAt = stage.clock.now() + Math.min(crashPauseMs * 2 ** Math.min(run.restarts, 5), 300_000)
    stage.recorderOn(run.node).record(pod, 'Warning', 'BackOff', 'Back-off restarting failed container')
  }

  function recordStart(pod: Pod, run: Run): void {
    const recorder = stage.recorderOn(run.node)
    for (const { image } of pod.spec.containers) {
      const present = `Container image "${image}" already present on machine and can be accessed by the pod`
      recorder.record(pod, 'Normal', 'Pulled', present)
      recorder.record(pod, 'Normal', 'Created', 'Container created')
      recorder.record(pod, 'Normal', 'Started', 'Container started')
    }
  }

  async function report(pod: Pod, run: Run): Promise<void> {
    const hostIP = hostIpOf(run.node)
    const status = buildPodStatus(pod, {
      stage: run.stage === 'ready' && pod.metadata.annotations?.[readyWish] === 'false' ? 'unready' : run.stage,
      restarts: run.restarts,
      now: timestamp(stage.clock),
      exitCode: run.stage === 'failed' ? exitCodeOf(pod) || 255 : 0,
      ...(run.startedAt === undefined ? {} : { startedAt: run.startedAt }),
      ...(run.podIP === undefined ? {} : { podIP: run.podIP }),
      ...(hostIP === undefined ? {} : { hostIP }),
    })
    if (!isSameStatus(pod, status)) await writeStatus(stage, pods, pod, status)
  }

  async function terminate(key: string, pod: Pod, run: Run): Promise<void> {
    const { deletionGracePeriodSeconds = 30, finalizers = [] } = pod.metadata
    if (deletionGracePeriodSeconds === 0 && finalizers.length > 0 && isFinished(pod)) return
    const nowMs = stage.clock.now()
    const graceMs = isFinished(pod) ? 0 : Math.min(deletionGracePeriodSeconds, terminationSeconds) * 1_000
    if (run.stopAt === undefined && !isFinished(pod)) recordKilling(pod, run)
    run.stopAt = Math.min(run.stopAt ?? Number.POSITIVE_INFINITY, nowMs + graceMs)
    if (run.stopAt > nowMs) return queue.addAfter(key, run.stopAt - nowMs)
    let last = pod
    if (finalizers.length > 0 && !isFinished(pod)) {
      // Whoever holds the pod by a finalizer wants to know how it ended.
      run.stage = 'failed'
      const now = timestamp(stage.clock)
      const ended = { stage: run.stage, restarts: run.restarts, now, exitCode: 137 }
      last = await writeStatus(stage, pods, pod, buildPodStatus(pod, ended))
    }
    await deleteExactly(stage, pods, last, { gracePeriodSeconds: 0 })
  }

  function recordKilling(pod: Pod, run: Run): void {
    for (const { name } of pod.spec.containers) {
      stage.recorderOn(run.node).record(pod, 'Normal', 'Killing', `Stopping container ${name}`)
    }
  }

  function hostIpOf(node: string): string | undefined {
    return nodeView.get(node)?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
  }

  stage.onStop(podView.subscribe(({ key, after }) => (isOurs(key, after) ? queue.add(key) : undefined)))

  function isOurs(key: string, pod: Pod | undefined): boolean {
    return runs.has(key) || (pod?.spec.nodeName ?? '') !== ''
  }

  return {
    wake: (key) => queue.add(key),
    setReady(key, ready) {
      const run = runs.get(key)
      if (run === undefined || (run.stage !== 'ready' && run.stage !== 'unready')) return
      run.stage = ready ? 'ready' : 'unready'
      queue.add(key)
    },
  }
}

function exitCodeOf(pod: Pod): number {
  return Number.parseInt(pod.metadata.annotations?.[exitWith] ?? '0', 10) || 0
}

function isOnHostNetwork(pod: Pod): boolean {
  return (pod.spec as { hostNetwork?: boolean }).hostNetwork === true
}

/** The parts of a status that a kubelet answers for; what others put beside them is theirs. */
function isSameStatus(pod: Pod, next: NonNullable<Pod['status']>): boolean {
  const held = pod.status
  if (held === undefined || held.phase !== next.phase || held.podIP !== next.podIP || held.hostIP !== next.hostIP) {
    return false
  }
  return held.conditions === next.conditions && hasSameContainers(held, next)
}

function hasSameContainers(a: NonNullable<Pod['status']>, b: NonNullable<Pod['status']>): boolean {
  const summary = ({ containerStatuses = [] }: NonNullable<Pod['status']>) =>
    containerStatuses.map(({ ready, restartCount, state }) => [ready, restartCount, Object.keys(state ?? {})])
  return JSON.stringify(summary(a)) === JSON.stringify(summary(b))
}
