import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { known, type Observed, unknown } from '../shared/observed.ts'
import { type GuardedPod, parseGuardedPod } from './guarded-objects.ts'

export interface PodReaderOptions {
  readonly read: (key: { namespace: string; name: string }, signal: AbortSignal) => Promise<Pod>
  readonly clock: Clock
  /** How long one answer may take. Default 1 s. */
  readonly patienceMs?: number
  /** How many pods are read at once; beyond that the answer is that it is not known. Default 16. */
  readonly mostUnderWay?: number
}

/** Asks the API server itself for a pod that the guard's own copy does not have: it may be too new for it. */
export function createPodReader({ read, clock, patienceMs = 1_000, mostUnderWay = 16 }: PodReaderOptions) {
  let underWay = 0

  async function readInTime(key: { namespace: string; name: string }): Promise<Observed<GuardedPod | undefined>> {
    const ended = new AbortController()
    const late = sleep(clock, patienceMs, ended.signal).then(() =>
      unknown('the API server did not give the pod in time'),
    )
    try {
      return await Promise.race([read(key, ended.signal).then((pod) => known(parseGuardedPod(pod))), late])
    } catch (error) {
      if (hasReason(error, 'NotFound')) return known(undefined)
      return unknown(`the pod could not be read: ${error instanceof Error ? error.message : String(error)}`)
    } finally {
      ended.abort()
    }
  }

  return async (key: { namespace: string; name: string }): Promise<Observed<GuardedPod | undefined>> => {
    if (underWay >= mostUnderWay) return unknown('too many pods are being read at the moment')
    underWay += 1
    try {
      return await readInTime(key)
    } finally {
      underWay -= 1
    }
  }
}
