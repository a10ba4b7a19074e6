import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { deletionTimeoutMs } from '@cofferdam/product/capabilities/drain-lock/domain/budget-hold.ts'
import type { DisruptionStep } from '@cofferdam/product/capabilities/drain-lock/domain/decision.ts'
import { apps, budgetReference, desiredHealthy, nowMs, podIndex, podName, replicas, tickMs } from './bounds.ts'
import { type Model, withBudget } from './model.ts'
import { idSpan } from './pool.ts'
import type { Budget, ModelState, Unlock } from './state.ts'

type BudgetStatus = Parameters<Model['parts']['reservedStatus']>[0]
type Lock = DisruptionStep & { readonly step: 'lock' }

export function appOf({ budget }: Lock | Unlock): 0 | 1 {
  return budget.name === apps[0] ? 0 : 1
}

/** Another budget has its name by now. */
function isAnother(state: ModelState, { budget }: Lock | Unlock): boolean {
  const app = budget.name === apps[0] ? 0 : 1
  return budget.uid !== budgetReference(app, state.budgets[app].value.times).uid
}

/*
 * As the operator writes them: each write is made again on what is true then when somebody was faster, so it is one moment
 * in the life of the budget. What a later process of the same request has marked stays. Undefined: that is so.
 */
export function lockBudget(model: Model, state: ModelState, lock: Lock, requestId: string): ModelState | undefined {
  const { hold } = state.budgets[appOf(lock)].value
  if (isAnother(state, lock)) return undefined
  if (hold?.requestId === requestId && hold.epoch > lock.epoch) return undefined
  const left = Math.max(0, Math.round((lock.untilMs - nowMs) / tickMs))
  return withBudget(model, state, appOf(lock), { hold: { requestId, epoch: lock.epoch, left } })
}

/** Over a mark that somebody wrote meanwhile, the own one is written again. */
export function reserveBudget(
  model: Model,
  state: ModelState,
  lock: Lock,
  requestId: string,
): { readonly next: ModelState; readonly isDone: boolean } {
  const app = appOf(lock)
  const marked = lockBudget(model, state, lock, requestId)
  if (marked === undefined) return { next: state, isDone: false }
  const { isCounted, disrupted } = marked.budgets[app].value
  const isNew = lock.pods.some((pod) => disrupted.every((left, node) => left < 0 || podName(app, node) !== pod))
  if (isNew && !isCounted) return { next: marked, isDone: false }
  const reserved = model.parts.reservedStatus(statusOf(marked.budgets[app].value, app), lock.pods, lock.untilMs)
  if (reserved === undefined) return { next: marked, isDone: false }
  return { next: withBudget(model, marked, app, fromStatus(reserved, app)), isDone: true }
}

/** Undefined: another request holds it, or a later process of the same, and it stays as it is. */
export function unreserveBudget(
  model: Model,
  state: ModelState,
  unlock: Unlock,
  requestId: string,
): ModelState | undefined {
  const app = appOf(unlock)
  const budget = state.budgets[app].value
  const { hold } = budget
  if (isAnother(state, unlock)) return undefined
  if (hold !== undefined && (hold.requestId !== requestId || hold.epoch > unlock.upTo)) return undefined
  const pods = [0, 1].filter((node) => isDatedAhead(budget, node)).map((node) => podName(app, node))
  const status = statusOf(budget, app)
  return withBudget(model, state, app, fromStatus(model.parts.unreservedStatus(status, pods), app))
}

/** What was reserved meanwhile is given back too: the write is refused then, and begun anew. */
export function unmarkBudget(model: Model, state: ModelState, unlock: Unlock, requestId: string): ModelState {
  const next = unreserveBudget(model, state, unlock, requestId)
  return next === undefined ? state : withBudget(model, next, appOf(unlock), { hold: undefined })
}

/** What is reserved is dated as an eviction would be by now, and the mark is gone: it lapses by itself. */
export function isUnlockInVain(model: Model, state: ModelState, unlock: Unlock, requestId: string): boolean {
  const app = appOf(unlock)
  const { hold } = state.budgets[app].value
  if (isAnother(state, unlock)) return true
  if (hold !== undefined) return hold.requestId !== requestId || hold.epoch > unlock.upTo
  return unreserveBudget(model, state, unlock, requestId)?.budgets[app] === state.budgets[app]
}

/** A reservation ends when the mark says, or is dated ahead of any eviction. */
function isDatedAhead({ hold, disrupted }: Budget, node: number): boolean {
  const left = disrupted[node] as number
  return left >= 0 && (left * tickMs > deletionTimeoutMs || left === hold?.left)
}

/** The disruption controller counts: what is named in the status is not healthy until it goes, or its time has passed. */
export function recount(model: Model, state: ModelState, app: 0 | 1): ModelState {
  const { budgets, pods } = state
  const known = model.counted[app].get(budgets[app].id * idSpan + pods.id)
  const counted = known ?? recountAnew(model, state, app).budgets[app]
  if (known === undefined) model.counted[app].set(budgets[app].id * idSpan + pods.id, counted)
  if (counted === budgets[app]) return state
  return { ...state, budgets: app === 0 ? [counted, budgets[1]] : [budgets[0], counted] }
}

function recountAnew(model: Model, state: ModelState, app: 0 | 1): ModelState {
  const { disrupted } = state.budgets[app].value
  let healthy = 0
  const kept = disrupted.map((left, node) => {
    const pod = state.pods.value[podIndex(app, node)]
    const isCounted = left > 0 && (pod?.state === 'runs' || pod?.state === 'fails')
    if (pod?.state === 'elsewhere' || (pod?.state === 'runs' && !isCounted)) healthy += 1
    return isCounted ? left : -1
  }) as [number, number]
  const allowed = Math.max(0, healthy - desiredHealthy)
  const before = state.budgets[app].value
  const isSame =
    before.isCounted &&
    before.healthy === healthy &&
    before.allowed === allowed &&
    String(before.disrupted) === String(kept)
  return isSame ? state : withBudget(model, state, app, { healthy, allowed, disrupted: kept, isCounted: true })
}

function statusOf({ allowed, healthy, disrupted }: Budget, app: 0 | 1): BudgetStatus {
  const disruptedPods: Record<string, string> = {}
  for (const [node, left] of disrupted.entries()) {
    if (left >= 0) disruptedPods[podName(app, node)] = rfc3339(nowMs + left * tickMs - deletionTimeoutMs)
  }
  return { disruptionsAllowed: allowed, currentHealthy: healthy, desiredHealthy, expectedPods: replicas, disruptedPods }
}

function fromStatus({ disruptionsAllowed, disruptedPods = {} }: BudgetStatus, app: 0 | 1): Partial<Budget> {
  const left = (node: number) => {
    const text = disruptedPods[podName(app, node)]
    if (text === undefined) return -1
    return Math.max(0, Math.round(((parseRfc3339(text) ?? 0) + deletionTimeoutMs - nowMs) / tickMs))
  }
  return { allowed: disruptionsAllowed, disrupted: [left(0), left(1)] }
}
