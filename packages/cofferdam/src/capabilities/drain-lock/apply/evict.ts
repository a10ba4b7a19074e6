import { ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { pods as podType } from '@cofferdam/kubernetes/api/resources.ts'
import { isWithin, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { PodReference } from '../../../shared/object-references.ts'
import { type Reason, reasons } from '../../../shared/reasons.ts'
import type { DisruptionBlocker } from '../domain/decision.ts'
import { retryMs } from '../domain/disruption-view.ts'
import { buildEvictionToken, evictionTokenAnnotation } from '../domain/eviction-token.ts'
import { podName } from '../domain/plan-pods.ts'
import type { EvictPods } from '../domain/steps.ts'

/** `gone`: there is no such pod any more. `overtaken`: another pod has its name, or somebody changed it meanwhile. */
export type EvictionResult = 'granted' | 'refused' | 'gone' | 'overtaken'

export interface PodEvictorOptions {
  readonly api: Pick<KubeApi, 'createSubresource'>
  readonly clock: Pick<Clock, 'now'>
  readonly count: (result: EvictionResult) => void
}

interface Attempt {
  readonly atMs: number
  /** Since when it has been refused. */
  readonly sinceMs: number
  readonly blocker: DisruptionBlocker | undefined
}

const atOnce = 16

/** Asks for the eviction of pods, many at a time, and of each no more often than every few seconds. */
export class PodEvictor {
  readonly #options: PodEvictorOptions
  readonly #attempts = new Map<string, ReadonlyMap<string, Attempt>>()
  readonly #granted = new Map<string, Map<string, PodReference>>()

  constructor(options: PodEvictorOptions) {
    this.#options = options
  }

  /** What keeps the pods that were last asked for, in the words of the API server. */
  refusals(requestId: string): readonly DisruptionBlocker[] {
    return [...(this.#attempts.get(requestId)?.values() ?? [])].flatMap(({ blocker }) => blocker ?? [])
  }

  /** Returns what keeps them, in the words of the API server. */
  async evict(asked: Omit<EvictPods, 'do'>, signal: AbortSignal): Promise<readonly DisruptionBlocker[]> {
    const { pods, token } = asked
    const { requestId } = token
    const before = this.#attempts.get(requestId)
    const made = new Map<string, Attempt>()
    const failures: unknown[] = []
    const waiting = [...pods]
    const work = async () => {
      for (let pod = waiting.shift(); pod !== undefined && !signal.aborted; pod = waiting.shift()) {
        const last = before?.get(pod.uid)
        try {
          const isTooSoon = last !== undefined && isWithin(this.#options.clock.now(), last.atMs, retryMs)
          made.set(pod.uid, isTooSoon ? last : await this.#ask(pod, asked, last, signal))
        } catch (error) {
          failures.push(error)
        }
      }
    }
    await Promise.all(Array.from({ length: Math.min(atOnce, waiting.length) }, work))
    this.#attempts.set(requestId, made)
    if (failures.length > 0) throw failures[0]
    return pods.flatMap(({ uid }) => made.get(uid)?.blocker ?? [])
  }

  /** The pods that the API server agreed to evict, also those that have gone since. */
  granted(requestId: string): readonly PodReference[] {
    return [...(this.#granted.get(requestId)?.values() ?? [])]
  }

  forget(requestId: string): void {
    this.#attempts.delete(requestId)
    this.#granted.delete(requestId)
  }

  async #ask(
    pod: PodReference,
    { token, gracePeriodSeconds }: Omit<EvictPods, 'do'>,
    last: Attempt | undefined,
    signal: AbortSignal,
  ): Promise<Attempt> {
    const { api, clock, count } = this.#options
    const { namespace, name, uid } = pod
    const body = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace, annotations: { [evictionTokenAnnotation]: buildEvictionToken(token) } },
      deleteOptions: { ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }), preconditions: { uid } },
    }
    const atMs = clock.now()
    try {
      await api.createSubresource(podType, { namespace, name }, 'eviction', body, { signal })
      count('granted')
      const granted = this.#granted.get(token.requestId) ?? new Map<string, PodReference>()
      this.#granted.set(token.requestId, granted.set(uid, { namespace, name, uid }))
      return { atMs, sinceMs: atMs, blocker: undefined }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const result = resultOf(error)
      count(result)
      if (result !== 'refused') return { atMs, sinceMs: atMs, blocker: undefined }
      const sinceMs = last?.blocker === undefined ? atMs : last.sinceMs
      return { atMs, sinceMs, blocker: blockerOf(pod, error, sinceMs) }
    }
  }
}

function resultOf(error: ApiError): Exclude<EvictionResult, 'granted'> {
  // The budget may have vanished while it was asked; only a pod that is not found is gone.
  if (hasReason(error, 'NotFound') && error.details?.kind === 'pods') return 'gone'
  return hasReason(error, 'Conflict') ? 'overtaken' : 'refused'
}

function blockerOf(pod: PodReference, error: ApiError, sinceMs: number): DisruptionBlocker {
  const [cause] = error.details?.causes ?? []
  return {
    object: podName(pod),
    holder: cause?.field ?? 'the API server',
    since: rfc3339(sinceMs),
    reason: reasonOf(error),
    wayOut: `Retried every ${retryMs / 1000} s; refused with: ${cause?.message ?? error.message}`,
  }
}

function reasonOf(error: ApiError): Reason {
  const [cause] = error.details?.causes ?? []
  if (error.reason === 'TooManyRequests') {
    if (cause?.reason !== undefined && Object.hasOwn(reasons, cause.reason)) return cause.reason as Reason
    return cause?.field?.startsWith('pdb/') === true ? 'HeldByRequest' : 'BudgetExhausted'
  }
  if (error.message.includes('more than one PodDisruptionBudget')) return 'BudgetOverlap'
  if (error.reason === 'Forbidden') {
    return error.details?.kind?.startsWith('poddisruptionbudget') === true ? 'BudgetUncountable' : 'RightsMissing'
  }
  return 'HoldUnknown'
}
