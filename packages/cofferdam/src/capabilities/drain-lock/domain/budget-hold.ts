import { isJsonObject, type Json } from '@cofferdam/kubernetes/api/json.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { harmlessJson } from '../../../shared/harmless-text.ts'
import type { BudgetHold } from './snapshot.ts'

export const holdAnnotation = 'cofferdam.io/held-by'

/** What the annotation says; `problem` when it says nothing that can be understood. */
export interface ParsedBudgetHold {
  readonly hold?: BudgetHold
  readonly problem?: string
}

export function formatBudgetHold(hold: BudgetHold): string {
  const { requestId, request, epoch, untilMs, reason, formerLimit } = hold
  const fields = { requestId, request, epoch, until: rfc3339(untilMs), reason }
  return harmlessJson(JSON.stringify({ ...fields, ...(formerLimit === undefined ? {} : { formerLimit }) }))
}

/** Guarantees: never throws, whatever somebody wrote there. */
export function parseBudgetHold(text: string | undefined): ParsedBudgetHold {
  if (text === undefined) return {}
  let fields: unknown
  try {
    fields = JSON.parse(text)
  } catch {
    return { problem: `annotation ${holdAnnotation} is not JSON` }
  }
  if (!isJsonObject(fields)) return { problem: `annotation ${holdAnnotation} is no JSON object` }
  const { requestId, request, epoch, until, reason } = fields
  const untilMs = typeof until === 'string' ? parseRfc3339(until) : undefined
  if (typeof requestId !== 'string' || requestId === '' || !isWhole(epoch) || untilMs === undefined) {
    return { problem: `annotation ${holdAnnotation} lacks a requestId, an epoch or an end` }
  }
  const formerLimit = limitOf(fields['formerLimit'])
  return {
    hold: {
      requestId,
      request: typeof request === 'string' ? request : '',
      epoch,
      untilMs,
      reason: typeof reason === 'string' ? reason : '',
      ...(formerLimit === undefined ? {} : { formerLimit }),
    },
  }
}

function limitOf(value: Json | undefined): BudgetHold['formerLimit'] | undefined {
  if (!isJsonObject(value)) return undefined
  const { minAvailable, maxUnavailable } = value
  return {
    ...(isLimit(minAvailable) ? { minAvailable } : {}),
    ...(isLimit(maxUnavailable) ? { maxUnavailable } : {}),
  }
}

function isLimit(value: Json | undefined): value is number | string {
  return (isWhole(value) && value >= 0) || (typeof value === 'string' && /^\d{1,9}%$/.test(value))
}

function isWhole(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value)
}

type BudgetStatus = NonNullable<PodDisruptionBudget['status']>
type BudgetSpec = PodDisruptionBudget['spec']

/** How long the disruption controller counts a pod as gone after the time that stands beside its name. */
export const deletionTimeoutMs = 120_000

const none: Readonly<Record<string, number>> = {}

/** Until when each pod that stands in the status is counted as gone. */
export function disruptedUntilMs(status: BudgetStatus | undefined): Readonly<Record<string, number>> {
  if (status?.disruptedPods === undefined) return none
  const until: Record<string, number> = {}
  for (const [pod, text] of Object.entries(status.disruptedPods)) {
    const ms = parseRfc3339(text)
    if (ms !== undefined) until[pod] = ms + deletionTimeoutMs
  }
  return until
}

/**
 * The status with the disruption of each pod taken, as the eviction API takes it, until `untilMs`. Undefined when the budget
 * allows fewer disruptions than are needed.
 *
 * Guarantees: all pods or none; a pod that stands there already costs nothing more, and no sooner lapses than before.
 * Assumes: the status answers for the present spec, and is written back only over the very version it was read from.
 */
export function reservedStatus(
  status: BudgetStatus,
  pods: readonly string[],
  untilMs: number,
): BudgetStatus | undefined {
  const before = status.disruptedPods ?? {}
  const wanted = new Set(pods)
  const fresh = [...wanted].filter((pod) => !Object.hasOwn(before, pod)).length
  if (fresh > 0 && status.disruptionsAllowed < fresh) return undefined
  const atMs = untilMs - deletionTimeoutMs
  const dated = [...wanted].map((pod) => [pod, laterOf(before[pod], atMs)])
  return {
    ...status,
    disruptionsAllowed: status.disruptionsAllowed - fresh,
    disruptedPods: { ...before, ...Object.fromEntries(dated) },
  }
}

/** Whoever was stalled and is late must not cut short what its successor has taken since. */
function laterOf(before: string | undefined, atMs: number): string {
  const beforeMs = before === undefined ? undefined : parseRfc3339(before)
  return before !== undefined && beforeMs !== undefined && beforeMs > atMs ? before : rfc3339(atMs)
}

/** The status without these pods. How many disruptions it allows then is for the disruption controller to count. */
export function unreservedStatus(status: BudgetStatus, pods: readonly string[]): BudgetStatus {
  const before = status.disruptedPods ?? {}
  const gone = new Set(pods)
  const left = Object.entries(before).filter(([pod]) => !gone.has(pod))
  return left.length === Object.keys(before).length ? status : { ...status, disruptedPods: Object.fromEntries(left) }
}

/** The spec that allows no disruption, and what it allowed before. A spec that somebody lowered for us keeps what `hold` remembers. */
export function loweredSpec(
  spec: BudgetSpec,
  hold: BudgetHold | undefined,
): { readonly spec: BudgetSpec; readonly formerLimit: NonNullable<BudgetHold['formerLimit']> } {
  if (hold?.formerLimit !== undefined && isLowered(spec)) return { spec, formerLimit: hold.formerLimit }
  const { minAvailable, maxUnavailable, ...rest } = spec
  return {
    spec: { ...rest, maxUnavailable: 0 },
    formerLimit: {
      ...(minAvailable === undefined ? {} : { minAvailable }),
      ...(maxUnavailable === undefined ? {} : { maxUnavailable }),
    },
  }
}

/** The spec as it was. One that somebody has changed meanwhile is theirs, and stays. */
export function restoredSpec(spec: BudgetSpec, formerLimit: BudgetHold['formerLimit']): BudgetSpec {
  if (formerLimit === undefined || !isLowered(spec)) return spec
  const { maxUnavailable: _lowered, ...rest } = spec
  return { ...rest, ...formerLimit }
}

function isLowered({ minAvailable, maxUnavailable }: BudgetSpec): boolean {
  return minAvailable === undefined && maxUnavailable === 0
}
