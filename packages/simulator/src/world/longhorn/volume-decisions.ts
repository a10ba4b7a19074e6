import { decideSurplus } from './replica-balance.ts'
import { isHealthy, type ReplicaFacts, robustnessOf, type VolumeFacts } from './volume-health.ts'

/** After so many tries a replica is not rebuilt any more; new ones are born with as many. */
export const mostRetries = 5

/**
 * The one replica to delete now, if any.
 *
 * Guarantees: what stays includes a healthy replica wherever there was one before; of data that may be the last, nothing goes.
 */
export function decideDeletion(
  facts: VolumeFacts,
  options: { readonly nowMs: number; readonly staleMs: number },
): string | undefined {
  if (facts.isMigrating) return undefined
  return decideEvictedDeletion(facts) ?? decideFailedDeletion(facts, options) ?? decideSurplus(facts)
}

function decideEvictedDeletion({ replicas, isAttached, wantedCount }: VolumeFacts): string | undefined {
  const healthy = replicas.filter((replica) => isHealthy(replica, isAttached))
  if (healthy.length <= wantedCount) return undefined
  const evicting = replicas.filter(({ isEvicting, isDeleting }) => isEvicting && !isDeleting)
  const hasOther = healthy.some(({ isEvicting }) => !isEvicting)
  const kept = hasOther ? undefined : healthy.find(({ isEvicting }) => isEvicting)?.name
  return evicting.find(({ name }) => name !== kept)?.name
}

function decideFailedDeletion(
  { replicas, isAttached }: VolumeFacts,
  { nowMs, staleMs }: { readonly nowMs: number; readonly staleMs: number },
): string | undefined {
  const hasHealthy = replicas.some((replica) => isHealthy(replica, isAttached))
  return replicas.find((replica) => {
    if (!replica.isFailed || replica.isDeleting) return false
    if (!hasHealthy) return false
    return replica.retryCount >= mostRetries || nowMs - replica.failedAtMs >= staleMs
  })?.name
}

export type Replenishment =
  | { readonly kind: 'none'; readonly because: string }
  | { readonly kind: 'wait'; readonly forMs: number }
  | { readonly kind: 'reuse'; readonly replica: string }
  /** `mayIgnoreReusable`: the time to wait for replicas that could come back is over. */
  | { readonly kind: 'create'; readonly mayIgnoreReusable: boolean }

/** Whether the volume needs one more replica now, and which. */
export function decideReplenishment(
  facts: VolumeFacts & { readonly isStrictLocalV2: boolean },
  options: {
    readonly nowMs: number
    readonly rebuildLimit: number
    /** When the volume became degraded; 0: it is not. */
    readonly degradedAtMs: number
    readonly waitMs: number
    /** A replica that failed while it was rebuilt rests for a while. */
    readonly mayTry: (replica: string) => boolean
  },
): Replenishment {
  const { replicas } = facts
  const none = (because: string): Replenishment => ({ kind: 'none', because })
  const because = whyNoneNow(facts, options.rebuildLimit)
  if (because !== undefined) return none(because)
  if (facts.isStrictLocalV2) return none('its replica cannot leave its node')
  const robustness = robustnessOf(facts)
  if (!isOneMissing(facts, robustness === 'healthy')) return none('there are enough')

  const reusable = replicas
    .filter((replica) => facts.mayReuse && mayComeBack(replica))
    .sort((a, b) => b.failedAtMs - a.failedAtMs)
  const ready = reusable.find(({ name, canRun }) => canRun && options.mayTry(name))
  if (ready !== undefined) return { kind: 'reuse', replica: ready.name }
  if (robustness !== 'degraded') return { kind: 'create', mayIgnoreReusable: false }
  const leftMs = options.degradedAtMs + options.waitMs - options.nowMs
  if (reusable.length > 0 && leftMs > 0) return { kind: 'wait', forMs: leftMs }
  return { kind: 'create', mayIgnoreReusable: true }
}

/** Why no copy can be made now, whatever it is wanted for. */
export function whyNoneNow(facts: VolumeFacts, rebuildLimit: number): string | undefined {
  const { isAttached, isMigrating, replicas } = facts
  if (!isAttached) return 'the volume is not attached'
  if (isMigrating) return 'the volume is migrating'
  if (facts.isLinkedClone === true) return 'a linked clone keeps the replicas that it began with'
  if (rebuildLimit === 0) return 'rebuilds are switched off'
  if (replicas.some(({ mode }) => mode === 'ERR' || mode === 'WO')) return 'a rebuild is under way'
  const isAwaited = replicas.some(
    ({ isFailed, isPlaced, isActive, mode }) => !isFailed && isPlaced && isActive && mode === undefined,
  )
  if (isAwaited) return 'a replica waits for its rebuild'
  return robustnessOf(facts) === 'faulted' ? 'no replica is healthy' : undefined
}

function isOneMissing({ replicas, wantedCount }: VolumeFacts, isWholeVolume: boolean): boolean {
  if (!isWholeVolume) {
    return (
      replicas.filter(({ isFailed, isEvicting, isActive }) => !isFailed && !isEvicting && isActive).length < wantedCount
    )
  }
  const staying = replicas.filter(({ mode, isFailed, isEvicting }) => mode === 'RW' && !isFailed && !isEvicting).length
  return staying < wantedCount && !replicas.some(({ isUsed, isFailed }) => !isUsed && !isFailed)
}

/** Failed, and good for another try where it is. */
export function mayComeBack({
  isFailed,
  isPlaced,
  isEvicting,
  isActive,
  isDeleting,
  retryCount,
  hasData,
}: ReplicaFacts): boolean {
  return isFailed && isPlaced && !isEvicting && isActive && !isDeleting && hasData && retryCount < mostRetries
}
