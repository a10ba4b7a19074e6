import type { EvictionToken } from '@cofferdam/product/ledger/rules/decide-eviction.ts'
import { known } from '@cofferdam/product/shared/observed.ts'
import { apps, budgetReference, desiredHealthy, nodeNames, nowMs, podName, realParts } from './bounds.ts'
import { type Emit, type Model, withBudget, withPod, withWorld } from './model.ts'
import { glassOf, ownerLock } from './observe.ts'
import type { ModelState } from './state.ts'

/** Admission comes first and is asked once; the budget is looked at later. */
export function isAdmitted(
  model: Model,
  state: ModelState,
  app: 0 | 1,
  index: number,
  token: EvictionToken | undefined,
): boolean {
  if (model.bounds.guard === 'down') return true
  const { ledger, budgets } = state
  const appLock = ownerLock(model.parts, budgets[app].value, app)
  const glass = glassOf(state, token?.requestId)?.untilMs
  const key = `admit/${ledger.id}/${app}/${index}/${budgets[app].value.times}${appLock === undefined}/${token?.requestId}/${token?.epoch}/${glass}`
  const before = model.admitted.get(key)
  if (before !== undefined) return before
  const name = podName(app, index % 2)
  const { allowed } = model.parts.decideEviction({
    nowMs,
    target: { namespace: 'shop', name },
    pod: known({
      namespace: 'shop',
      name,
      uid: name,
      nodeName: nodeNames[index % 2] ?? '',
      isLeaving: false,
      isCounted: true,
    }),
    budgets: known([{ ...budgetReference(app, budgets[app].value.times), appLock }]),
    ledger: known(ledger.value),
    token,
    asker: 'operator',
    operatorUser: known('operator'),
    breakGlass: glassOf(state, token?.requestId),
    isStrict: true,
    dryRun: false,
  })
  model.admitted.set(key, allowed)
  return allowed
}

/** Nothing that an owner has locked is evicted while the lock lasts, by whomever but a request that breaks glass. */
export function passesOwner(state: ModelState, app: 0 | 1, requestId?: string): string | undefined {
  const { budgets } = state
  if ((glassOf(state, requestId)?.untilMs ?? 0) > nowMs) return undefined
  const lock = ownerLock(realParts, budgets[app].value, app)
  return lock === undefined ? undefined : 'I15 owner: an eviction passes a lock of the owner'
}

export function mayNotEvict(
  model: Model,
  state: ModelState,
  app: 0 | 1,
  index: number,
  token: EvictionToken | undefined,
): boolean {
  const { allowed, healthy, isCounted } = state.budgets[app].value
  if (!isCounted) return true
  const isSpared = allowed > 0 || (state.pods.value[index]?.state === 'fails' && healthy >= desiredHealthy)
  return !isSpared || !isAdmitted(model, state, app, index, token)
}

/** Somebody with kubectl asks, and the API server goes on with what was admitted. */
export function emitEvictions(model: Model, state: ModelState, emit: Emit): void {
  const { evictionsLeft } = state.world.value
  for (const [index, pod] of state.pods.value.entries()) {
    const app = index < 2 ? 0 : 1
    const name = `${apps[app]}-${index % 2}`
    const isThere = pod.state === 'runs' || pod.state === 'fails'
    if (evictionsLeft > 0 && isThere && !pod.isInFlight && isAdmitted(model, state, app, index, undefined)) {
      const next = withWorld(model, withPod(model, state, index, { isInFlight: true }), {
        evictionsLeft: evictionsLeft - 1,
      })
      const violation = model.bounds.guard === 'down' ? undefined : passesOwner(state, app)
      emit(() => `somebody asks to evict ${name}, and is let through to its budget`, next, { violation })
    }
    if (pod.isInFlight) {
      const next = conclude(model, state, index)
      emit(
        () => `the API server ${next.pods.value[index]?.state === 'leaves' ? 'evicts' : 'refuses to evict'} ${name}`,
        next,
      )
    }
  }
}

/** Takes the disruption from the budget by compare-and-swap, and deletes the pod. */
function conclude(model: Model, state: ModelState, index: number): ModelState {
  const app = index < 2 ? 0 : 1
  const { allowed, healthy, disrupted, isCounted } = state.budgets[app].value
  const pod = state.pods.value[index]
  if (pod === undefined || pod.state === 'leaves') return withPod(model, state, index, { isInFlight: false })
  const evicted = withPod(model, state, index, { state: 'leaves', isInFlight: false })
  // The API server refuses while a budget has not been counted since it was made.
  if (!isCounted) return withPod(model, state, index, { isInFlight: false })
  if (pod.state === 'fails' && healthy >= desiredHealthy) return evicted
  if (allowed <= 0) return withPod(model, state, index, { isInFlight: false })
  const taken = disrupted.map((left, node) => (node === index % 2 ? 1 : left)) as [number, number]
  return withBudget(model, evicted, app, { allowed: allowed - 1, disrupted: taken })
}
