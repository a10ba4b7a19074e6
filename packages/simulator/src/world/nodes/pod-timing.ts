import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'

export interface PodTimingOptions {
  /** From the start of a pod to its readiness. A pod's own `cofferdam.io/ready-after-seconds` goes before. */
  readonly readySeconds?: number
  /** Chance moves the readiness by up to this share, so that pods do not march in step. */
  readonly readyJitter?: number
  /** How long pods of Jobs run. A pod's own `cofferdam.io/run-seconds` goes before, for any pod. */
  readonly runSeconds?: number
}

/** When pods that nothing stands behind do what their containers would do. Undefined: never. */
export interface PodTiming {
  readyAt(pod: Pod): number | undefined
  finishAt(pod: Pod): number | undefined
}

const readyAfter = 'cofferdam.io/ready-after-seconds'
const runFor = 'cofferdam.io/run-seconds'
const crashPauseMs = 10_000
const longestCrashPauseMs = 300_000

export function createPodTiming(
  { clock, random }: { clock: Clock; random: Random },
  options: PodTimingOptions,
): PodTiming {
  const { readySeconds = 2, readyJitter = 0.5, runSeconds = 10 } = options
  return {
    readyAt(pod) {
      const asked = pod.metadata.annotations?.[readyAfter]
      if (asked === 'never') return undefined
      const share = 1 + readyJitter * (random.stream(pod.spec.nodeName ?? '').next() - 0.5)
      const seconds = asked === undefined ? readySeconds * share : Number.parseFloat(asked) || 0
      return clock.now() + Math.round(seconds * 1_000)
    },
    finishAt(pod) {
      const asked = pod.metadata.annotations?.[runFor]
      if (asked === undefined && controllerOf(pod)?.kind !== 'Job') return undefined
      const seconds = asked === undefined ? runSeconds : Number.parseFloat(asked) || 0
      return clock.now() + Math.round(seconds * 1_000)
    },
  }
}

/** How long a kubelet waits before it starts a container again that has crashed so often before. */
export function crashPause(crashesBefore: number): number {
  return Math.min(crashPauseMs * 2 ** Math.min(crashesBefore, 5), longestCrashPauseMs)
}
