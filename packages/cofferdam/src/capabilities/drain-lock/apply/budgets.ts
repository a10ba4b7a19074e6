import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { DrainLockSettings } from '../../../ledger/rules/drain-lock-settings.ts'
import type { BudgetReference } from '../../../shared/object-references.ts'
import {
  deletionTimeoutMs,
  formatBudgetHold,
  holdAnnotation,
  loweredSpec,
  parseBudgetHold,
  reservedStatus,
  restoredSpec,
  unreservedStatus,
} from '../domain/budget-hold.ts'
import type { BudgetHold } from '../domain/snapshot.ts'

type BudgetApi = Pick<KubeApi, 'get' | 'update' | 'patch'>

export interface BudgetLockOrder {
  readonly budget: BudgetReference
  readonly pods: readonly string[]
  readonly hold: Omit<BudgetHold, 'formerLimit'>
  readonly mode: DrainLockSettings['mode']
}

const mostConflicts = 6

/**
 * Makes a budget hold for the pods that stay. False: it cannot be had, or is another budget by now.
 *
 * Guarantees: whoever sees the budget held sees by whom; what is taken from it is taken from the very state that was read.
 */
export async function lockBudget(api: BudgetApi, order: BudgetLockOrder, signal: AbortSignal): Promise<boolean> {
  return withFreshBudget(api, order.budget, signal, async (budget) => {
    if (budget === undefined || isLater(holdOn(budget), order.hold.requestId, order.hold.epoch)) return false
    const { spec, text } = markFor(budget, order)
    let marked = budget
    if (budget.metadata.annotations?.[holdAnnotation] !== text || spec !== budget.spec) {
      marked = await patchBudget(api, budget, { text, spec }, signal)
    }
    if (order.mode !== 'reserve') return true
    const { status } = marked
    if (status === undefined) return false
    const isNew = order.pods.some((pod) => !Object.hasOwn(status.disruptedPods ?? {}, pod))
    if (isNew && (status.observedGeneration ?? 0) < (marked.metadata.generation ?? 0)) return false
    const reserved = reservedStatus(status, order.pods, order.hold.untilMs)
    if (reserved === undefined) return false
    await api.update(podDisruptionBudgets, { ...marked, status: reserved }, { subresource: 'status', signal })
    return true
  })
}

function holdOn({ metadata }: PodDisruptionBudget): BudgetHold | undefined {
  return parseBudgetHold(metadata.annotations?.[holdAnnotation]).hold
}

/** Whether whoever took the request over since has marked the budget by now. */
function isLater(hold: BudgetHold | undefined, requestId: string, epoch: number): boolean {
  return hold !== undefined && hold.requestId === requestId && hold.epoch > epoch
}

function markFor(budget: PodDisruptionBudget, { hold, mode }: BudgetLockOrder) {
  const before = holdOn(budget)
  if (mode === 'spec') {
    const { spec, formerLimit } = loweredSpec(budget.spec, before)
    return { spec, text: formatBudgetHold({ ...hold, formerLimit }) }
  }
  // Whoever lowered it under another mode, or lost it since, has not restored it.
  const formerLimit = before?.formerLimit === undefined ? {} : { formerLimit: before.formerLimit }
  return { spec: budget.spec, text: formatBudgetHold({ ...hold, ...formerLimit }) }
}

/** Longer than clocks in one cluster differ: what is dated further ahead is no eviction. */
const skewMs = 30_000

/**
 * Takes away what a request left on a budget, in whichever mode. What another request holds, or a later process of the same,
 * and another budget of the same name, stay as they are.
 *
 * Guarantees: the disruption of a pod that is really being evicted stays counted.
 */
export async function unlockBudget(
  api: BudgetApi,
  order: {
    readonly budget: BudgetReference
    readonly requestId: string
    /** The highest that had been given out when it was decided. */
    readonly epoch: number
    readonly nowMs: number
  },
  signal: AbortSignal,
): Promise<void> {
  await withFreshBudget(api, order.budget, signal, async (budget) => {
    if (budget === undefined) return true
    const text = budget.metadata.annotations?.[holdAnnotation]
    const hold = holdOn(budget)
    if (hold !== undefined && hold.requestId !== order.requestId) return true
    if (isLater(hold, order.requestId, order.epoch)) return true
    let left = budget
    if (budget.status !== undefined) {
      const status = unreservedStatus(budget.status, reservedPods(budget.status, hold, order.nowMs))
      if (status !== budget.status) {
        left = await api.update(podDisruptionBudgets, { ...budget, status }, { subresource: 'status', signal })
      }
    }
    if (text === undefined) return true
    await patchBudget(api, left, { text: null, spec: restoredSpec(left.spec, hold?.formerLimit) }, signal)
    return true
  })
}

/** Which of the disruptions were taken by us: an eviction is dated when it is granted, a reservation ahead of that. */
function reservedPods(
  { disruptedPods = {} }: NonNullable<PodDisruptionBudget['status']>,
  hold: BudgetHold | undefined,
  nowMs: number,
): string[] {
  const at = hold === undefined ? undefined : rfc3339(hold.untilMs - deletionTimeoutMs)
  return Object.entries(disruptedPods)
    .filter(([, text]) => text === at || (parseRfc3339(text) ?? 0) > nowMs + skewMs)
    .map(([pod]) => pod)
}

function patchBudget(
  api: BudgetApi,
  budget: PodDisruptionBudget,
  { text, spec }: { readonly text: string | null; readonly spec: PodDisruptionBudget['spec'] },
  signal: AbortSignal,
): Promise<PodDisruptionBudget> {
  const { namespace = '', name, resourceVersion = '' } = budget.metadata
  const { minAvailable = null, maxUnavailable = null } = spec
  const body: JsonObject = {
    metadata: { resourceVersion, annotations: { [holdAnnotation]: text } },
    ...(spec === budget.spec ? {} : { spec: { minAvailable, maxUnavailable } }),
  }
  return api.patch(podDisruptionBudgets, { namespace, name }, { type: 'merge', body }, { signal })
}

/** Undefined: there is none, or another one has its name. Done again on what is true then when somebody was faster. */
async function withFreshBudget(
  api: BudgetApi,
  { namespace, name, uid }: BudgetReference,
  signal: AbortSignal,
  attempt: (budget: PodDisruptionBudget | undefined) => Promise<boolean>,
): Promise<boolean> {
  for (let conflicts = 0; ; conflicts += 1) {
    const budget = await getBudget(api, { namespace, name }, signal)
    try {
      return await attempt(budget?.metadata.uid === uid ? budget : undefined)
    } catch (error) {
      if (hasReason(error, 'NotFound')) continue
      if (!hasReason(error, 'Conflict') || conflicts >= mostConflicts) throw error
    }
  }
}

async function getBudget(
  api: Pick<KubeApi, 'get'>,
  key: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<PodDisruptionBudget | undefined> {
  try {
    return await api.get(podDisruptionBudgets, key, { signal })
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}
