import { heartbeat } from '@cofferdam/product/capabilities/drain-lock/domain/orphans.ts'
import { apps, drainerIndexes, fencerId, nodeNames, nowMs, podIndex, podName, tickMs, ttl } from './bounds.ts'
import { recount } from './budget-writes.ts'
import { areDrainersDone } from './drainer-observe.ts'
import { isFencerDone } from './fencer.ts'
import { isRestoreDue } from './lost-ledger.ts'
import { type Emit, type Model, normal, withBudget, withNode, withPod, withWorld } from './model.ts'
import type { Pooled } from './pool.ts'
import type { Budget, Drainer, ModelState, ModelStep, Work } from './state.ts'

/** What nobody of us does: pods, nodes and storage go their way. */
export function emitNature(model: Model, state: ModelState, emit: Emit): void {
  emitPods(model, state, emit)
  emitNodes(model, state, emit)
  const { isDirty, nodes } = state.world.value
  const isBack = ({ isUp, isThere }: (typeof nodes)[0]) => isUp || !isThere
  if (isDirty[0] && isBack(nodes[0]) && isBack(nodes[1]))
    emit(() => 'the data of zone-x is in place again', withWorld(model, state, { isDirty: [false, isDirty[1]] }))
  if (isDirty[1] && nodes[2].isUp)
    emit(() => 'the data of zone-y is in place again', withWorld(model, state, { isDirty: [isDirty[0], false] }))
}

export function emitCount(model: Model, state: ModelState, app: 0 | 1, emit: Emit): void {
  const counted = recount(model, state, app)
  if (counted !== state) emit(() => `the disruption controller counts budget ${apps[app]}`, counted)
}

function emitPods(model: Model, state: ModelState, emit: Emit): void {
  for (const node of drainerIndexes) {
    const failing = [podIndex(0, node), podIndex(1, node)].filter((at) => state.pods.value[at]?.state === 'fails')
    if (failing.length === 0 || !state.world.value.nodes[node].isUp) continue
    const next = failing.reduce((before, at) => withPod(model, before, at, { state: 'runs' }), state)
    emit(() => `what stayed on ${nodeNames[node]} runs again`, next)
  }
  for (const app of [0, 1] as const) {
    for (const node of drainerIndexes) {
      const index = podIndex(app, node)
      const name = podName(app, node)
      const is = state.pods.value[index]?.state
      const { isUp, isThere } = state.world.value.nodes[node]
      if (!isThere && (is === 'fails' || is === 'leaves'))
        emit(
          () => `${name} is collected, for its node is gone`,
          withPod(model, state, index, { state: 'missing', isInFlight: false }),
        )
      if (is === 'leaves' && isUp)
        emit(() => `${name} is gone`, withPod(model, state, index, { state: 'missing', isInFlight: false }))
      if (is === 'missing')
        emit(() => `another pod runs in place of ${name}`, withPod(model, state, index, { state: 'elsewhere' }))
    }
  }
}

/** Whoever waits for a drained node goes by the record, and reboots it once. */
function emitNodes(model: Model, state: ModelState, emit: Emit): void {
  const { nodes, isDirty } = state.world.value
  for (const node of drainerIndexes) {
    const { isUp, boots, cordonedBy } = nodes[node]
    const mayGo = state.drainers[node].value.record.value.phase === 'Drained'
    if (mayGo && isUp && boots === 0) {
      let next = withNode(model, state, node, { isUp: false }, { isDirty: [true, isDirty[1]] })
      for (const app of [0, 1]) {
        const index = podIndex(app, node)
        if (next.pods.value[index]?.state === 'runs') next = withPod(model, next, index, { state: 'fails' })
      }
      emit(() => `somebody reboots ${nodeNames[node]}, which may go`, next)
      if (model.bounds.mayGiveBack && cordonedBy !== '')
        emit(() => `somebody opens ${nodeNames[node]} again`, withNode(model, state, node, { cordonedBy: '' }))
    }
  }
  for (const node of [0, 1, 2] as const) {
    const { isUp, boots, isThere } = nodes[node]
    if (!isUp && isThere)
      emit(() => `${nodeNames[node]} is back`, withNode(model, state, node, { isUp: true, boots: boots + 1 }))
  }
}

/** An owner who crashes never takes his lock away: the same as one who does not want to. */
export function emitOwner(model: Model, state: ModelState, app: 0 | 1, emit: Emit): void {
  const { ownerLocksLeft } = state.world.value
  const { ownerLeft } = state.budgets[app].value
  if (ownerLeft > 0) emit(() => `the owner of ${apps[app]} unlocks it`, withBudget(model, state, app, { ownerLeft: 0 }))
  if (ownerLeft === 0 && ownerLocksLeft > 0) {
    const locked = withBudget(model, state, app, { ownerLeft: ttl })
    emit(() => `the owner of ${apps[app]} locks it`, withWorld(model, locked, { ownerLocksLeft: ownerLocksLeft - 1 }))
  }
}

/**
 * A tick is longer than a request to the API server takes, than the disruption controller needs to count, and than processes
 * that run wait between two looks. So all of that is done before it passes, and deadlines fall between ticks as well: a
 * process knows the time from its last look, and does what it decided then. Whoever takes longer is stalled or down.
 */
function isTimeFree(model: Model, state: ModelState): boolean {
  if (state.pods.value.some(({ isInFlight }) => isInFlight)) return false
  if (recount(model, state, 0) !== state || recount(model, state, 1) !== state) return false
  if (isRestoreDue(model, state)) return false
  return isFencerDone(state) && areDrainersDone(model, state)
}

export function emitTime(model: Model, state: ModelState, emit: Emit): void {
  if (!isTimeFree(model, state)) return
  const { age } = state.world.value
  if (age < model.bounds.lastAge) {
    const what = age === 0 ? 'patience with locks ends' : 'the deadline passes'
    emit(() => what, withWorld(model, state, { age: age + 1 }))
  }
  if (model.bounds.guard === 'down' && isReservationAboutToLapse(state)) return
  const { pools, aged } = model
  const { fencer } = state.world.value
  const isTimed = fencer.isSilent && heartbeat(state.ledger.value, fencerId) !== undefined
  const unchanged = isTimed ? Math.min(ttl, fencer.unchanged + 1) : 0
  const next: ModelState = {
    ledger: state.ledger,
    drainers: [
      older(aged.drainers, state.drainers[0], (each) => pools.drainers.of(olderDrainer(model, each))),
      older(aged.drainers, state.drainers[1], (each) => pools.drainers.of(olderDrainer(model, each))),
    ],
    budgets: [
      older(aged.budgets, state.budgets[0], (each) => pools.budgets.of(olderBudget(each))),
      older(aged.budgets, state.budgets[1], (each) => pools.budgets.of(olderBudget(each))),
    ],
    pods: state.pods,
    world:
      unchanged === fencer.unchanged
        ? state.world
        : pools.worlds.of({ ...state.world.value, fencer: { ...fencer, unchanged } }),
  }
  const isSame =
    next.drainers[0] === state.drainers[0] &&
    next.drainers[1] === state.drainers[1] &&
    next.budgets[0] === state.budgets[0] &&
    next.budgets[1] === state.budgets[1] &&
    next.world === state.world
  if (!isSame) emit(() => 'a tick passes', next)
}

function isReservationAboutToLapse({ budgets }: ModelState): boolean {
  return budgets.some(
    ({ value: { hold, disrupted } }) => hold !== undefined && (hold.left === 1 || disrupted.includes(1)),
  )
}

function older<T>(known: Pooled<T>[], before: Pooled<T>, make: (value: T) => Pooled<T>): Pooled<T> {
  const after = known[before.id] ?? make(before.value)
  known[before.id] = after
  return after
}

function olderBudget(budget: Budget): Budget {
  const less = (left: number) => (left > 0 ? left - 1 : left)
  const { disrupted, hold, ownerLeft } = budget
  return {
    ...budget,
    disrupted: [less(disrupted[0]), less(disrupted[1])],
    hold: hold === undefined ? undefined : { ...hold, left: less(hold.left) },
    ownerLeft: less(ownerLeft),
  }
}

function olderDrainer(model: Model, drainer: Drainer): Drainer {
  const { work, old } = drainer
  return normal({
    ...drainer,
    work: olderWork(model, work),
    old: old === undefined ? undefined : olderWork(model, old),
  })
}

function olderWork({ pools }: Model, work: Work): Work {
  if (!work.steps.some(({ value: { step } }) => step === 'lock' || step === 'reserve')) return work
  return { ...work, steps: work.steps.map(({ value }) => pools.steps.of(olderStep(value))) }
}

function olderStep(step: ModelStep): ModelStep {
  if (step.step === 'lock') return { ...step, untilMs: Math.max(nowMs, step.untilMs - tickMs) }
  return step.step === 'reserve' ? { ...step, of: olderStep(step.of) as typeof step.of } : step
}
