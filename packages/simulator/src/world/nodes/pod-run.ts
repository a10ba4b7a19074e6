import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isReady } from '../pod-facts.ts'
import type { ContainerEnd, PodStage } from './kubelet-pod-status.ts'
import type { Machine } from './machine.ts'
import type { PodContainer } from './pod-containers.ts'

/** What the machine knows of one pod that it runs. */
export interface PodRun {
  readonly uid: string
  readonly node: string
  bootID: string
  stage: PodStage
  restarts: number
  startedAt: string | undefined
  podIP: string | undefined
  /** When the phase ends: creating becomes ready, running becomes finished, waiting becomes another start. */
  dueAt: number | undefined
  /** When it is over with a pod that was deleted: its own end, or when its container is killed. */
  stopAt: number | undefined
  /** Whether a container stands behind it; undefined until the runtime was asked. */
  isBacked: boolean | undefined
  container: PodContainer | undefined
  /** Its container was started and has not been ready since. */
  awaitsReady: boolean
  /** Ends of its container in a row, each soon after the start. */
  crashes: number
  lastEnd: ContainerEnd | undefined
}

/** Goes on from what the cluster says of the pod, for it may have run before we knew of it. */
export function beginRun(pod: Pod, machine: Machine, isBacked: boolean | undefined): PodRun {
  const { phase, podIP, containerStatuses = [] } = pod.status ?? {}
  return {
    uid: pod.metadata.uid as string,
    node: machine.name,
    bootID: machine.bootID,
    stage: phase === 'Running' && isReady(pod) ? 'ready' : 'creating',
    restarts: Math.max(0, ...containerStatuses.map(({ restartCount }) => restartCount)),
    startedAt: containerStatuses[0]?.state?.running?.startedAt,
    podIP,
    dueAt: undefined,
    stopAt: undefined,
    isBacked,
    container: undefined,
    awaitsReady: false,
    crashes: 0,
    lastEnd: undefined,
  }
}
