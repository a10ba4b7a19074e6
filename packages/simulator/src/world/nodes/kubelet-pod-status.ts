import type { Container, ContainerStatus, Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { Condition } from '@cofferdam/kubernetes/api/kube-object.ts'
import { withCondition } from '../conditions.ts'

/** What the containers of a pod do, as far as its status says. */
export type PodStage = 'creating' | 'ready' | 'unready' | 'waiting' | 'succeeded' | 'failed'

export interface PodReport {
  readonly stage: PodStage
  readonly restarts: number
  readonly now: string
  readonly startedAt?: string
  readonly podIP?: string
  readonly hostIP?: string
  readonly exitCode?: number
  /** How the start before this one ended, where that is known. */
  readonly lastEnd?: ContainerEnd
}

export interface ContainerEnd {
  readonly exitCode: number
  readonly finishedAt: string
}

type PodStatus = NonNullable<Pod['status']>

const phases = {
  creating: 'Pending',
  ready: 'Running',
  unready: 'Running',
  waiting: 'Running',
  succeeded: 'Succeeded',
  failed: 'Failed',
} as const

/** The status that a kubelet posts for a pod. Equal reports give equal statuses, times aside that did not move. */
export function buildPodStatus(pod: Pod, report: PodReport): PodStatus {
  const { stage, restarts, now, podIP, hostIP } = report
  const held = pod.status
  const names = pod.spec.containers.map(({ name }) => name).join(' ')
  const isUp = stage === 'ready'
  const isOver = stage === 'succeeded' || stage === 'failed'
  const why = isUp
    ? {}
    : isOver
      ? { reason: stage === 'succeeded' ? 'PodCompleted' : 'PodFailed' }
      : { reason: 'ContainersNotReady', message: `containers with unready status: [${names}]` }
  const state = isUp ? 'True' : 'False'
  const conditions: Condition[] = [
    { type: 'PodReadyToStartContainers', status: stage === 'creating' || isOver ? 'False' : 'True' },
    { type: 'Initialized', status: 'True', ...(stage === 'succeeded' ? { reason: 'PodCompleted' } : {}) },
    { type: 'Ready', status: state, ...why },
    { type: 'ContainersReady', status: state, ...why },
    { type: 'PodScheduled', status: 'True' },
  ]
  return {
    ...held,
    phase: restarts > 0 && stage === 'creating' ? 'Running' : phases[stage],
    conditions: conditions.reduce<readonly Condition[]>(
      (all, condition) => withCondition(all, { ...condition, lastTransitionTime: now }),
      held?.conditions ?? [],
    ),
    ...(hostIP === undefined ? {} : { hostIP, hostIPs: [{ ip: hostIP }] }),
    ...(podIP === undefined ? {} : { podIP, podIPs: [{ ip: podIP }] }),
    startTime: held?.startTime ?? now,
    containerStatuses: pod.spec.containers.map((container) => containerStatus(pod, container, report)),
    qosClass: held?.qosClass ?? qualityOf(pod),
  }
}

function containerStatus(pod: Pod, container: Container, report: PodReport): ContainerStatus {
  const { stage, restarts, lastEnd } = report
  const isStarted = stage === 'ready' || stage === 'unready'
  const image = container.image ?? ''
  const hasRun = stage !== 'creating' || restarts > 0
  return {
    name: container.name,
    ready: stage === 'ready',
    started: isStarted,
    restartCount: restarts,
    image,
    imageID: hasRun ? `docker.io/library/${image}` : '',
    ...(hasRun ? { containerID: `containerd://${pod.metadata.uid}-${container.name}-${restarts}` } : {}),
    state: containerState(report),
    ...(lastEnd === undefined ? {} : { lastState: { terminated: terminated(lastEnd) } }),
  }
}

function containerState({ stage, now, startedAt = now, exitCode = 0 }: PodReport): ContainerStatus['state'] & object {
  switch (stage) {
    case 'creating':
      return { waiting: { reason: 'ContainerCreating' } }
    case 'waiting':
      return { waiting: { reason: 'CrashLoopBackOff' } }
    case 'ready':
    case 'unready':
      return { running: { startedAt } }
    case 'succeeded':
    case 'failed':
      return { terminated: terminated({ exitCode, finishedAt: now }) }
  }
}

function terminated({ exitCode, finishedAt }: ContainerEnd) {
  return { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', finishedAt }
}

function qualityOf({ spec }: Pod): string {
  const parts = spec.containers.flatMap(({ resources }) =>
    ['cpu', 'memory'].map((name) => ({ request: resources?.requests?.[name], limit: resources?.limits?.[name] })),
  )
  if (parts.every(({ limit, request = limit }) => limit !== undefined && request === limit)) return 'Guaranteed'
  return parts.every(({ request, limit }) => request === undefined && limit === undefined) ? 'BestEffort' : 'Burstable'
}

/** Whether a pod says already what a fresh report says. What others put beside it is theirs. */
export function isSamePodStatus(pod: Pod, next: PodStatus): boolean {
  const held = pod.status
  if (held === undefined || held.phase !== next.phase || held.podIP !== next.podIP || held.hostIP !== next.hostIP) {
    return false
  }
  return held.conditions === next.conditions && hasSameContainers(held, next)
}

function hasSameContainers(a: PodStatus, b: PodStatus): boolean {
  const summary = ({ containerStatuses = [] }: PodStatus) =>
    containerStatuses.map(({ ready, restartCount, state }) => [ready, restartCount, Object.keys(state ?? {})])
  return JSON.stringify(summary(a)) === JSON.stringify(summary(b))
}
