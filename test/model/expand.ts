import { emptyLedger } from '../../src/domain/drain-lock/ledger.ts'
import { signOfLife } from '../../src/domain/drain-lock/orphans.ts'
import type { DisruptionRecord } from '../../src/domain/drain-lock/snapshot.ts'
import {
  type Bounds,
  desiredHealthy,
  drainerIndexes,
  fencerId,
  isOver,
  type Parts,
  replicas,
  requestIds,
} from './bounds.ts'
import { appOf, recount } from './budget-writes.ts'
import { createCanonical } from './canonical.ts'
import { emitCrash, emitLook, emitStep, mayLook, withoutVoidSteps, withRecordWritten } from './drainer.ts'
import { emitEvictions } from './evictions.ts'
import { emitFencer, emitKeeper } from './fencer.ts'
import { emitCount, emitNature, emitOwner, emitTime } from './happenings.ts'
import { createModelOf, type Emit, type Model, type Transition, withWorld } from './model.ts'
import { replay } from './replay.ts'
import { createPools, type ModelState, type ModelStep, noWork, type Pools } from './state.ts'

export interface LockModel {
  readonly bounds: Bounds
  readonly pools: Pools
  readonly initial: ModelState
  canonical(state: ModelState): ModelState
  expand(state: ModelState): readonly Transition[]
  /** Every request has ended, and nothing is held for it. */
  hasEnded(state: ModelState): boolean
}

const blank: DisruptionRecord = {
  phase: 'Pending',
  epoch: undefined,
  lockedBudgets: [],
  skippedPods: [],
  evictedPods: [],
  cordonedBy: undefined,
  nodeUid: undefined,
  bootIDBefore: undefined,
  bootIDAfter: undefined,
  hasFallenBack: false,
  lockedAtMs: undefined,
}

export function createLockModel(bounds: Bounds, parts: Parts): LockModel {
  const pools = createPools()
  const model = createModelOf(bounds, parts, pools)
  return {
    bounds,
    pools,
    initial: initialState(bounds, pools),
    canonical: createCanonical(pools, bounds),
    expand: (state) => expand(model, state),
    hasEnded,
  }
}

function initialState(bounds: Bounds, pools: Pools): ModelState {
  const drainer = (phase: DisruptionRecord['phase']) =>
    pools.drainers.of({
      record: pools.records.of({ ...blank, phase }),
      work: noWork,
      old: undefined,
      process: 0,
      isDown: false,
    })
  const budget = pools.budgets.of({
    allowed: replicas - desiredHealthy,
    healthy: replicas,
    disrupted: [-1, -1],
    hold: undefined,
    ownerLeft: 0,
  })
  const pod = { state: 'runs', isInFlight: false } as const
  const node = { isUp: true, cordonedBy: '', boots: 0 }
  return {
    ledger: pools.ledgers.of(emptyLedger),
    drainers: [drainer('Pending'), drainer(bounds.drainers === 2 ? 'Pending' : 'Completed')],
    budgets: [budget, budget],
    pods: pools.pods.of([pod, pod, pod, pod]),
    world: pools.worlds.of({
      nodes: [node, bounds.isCordonedBefore ? { ...node, cordonedBy: 'somebody' } : node, node],
      isDirty: [false, false],
      age: 0,
      fencer: { at: bounds.hasFencer ? 'idle' : 'done', epoch: 0, isSilent: false, unchanged: 0 },
      ownerLocksLeft: bounds.ownerLocks,
      evictionsLeft: bounds.evictions,
      crashesLeft: bounds.hasFencer ? bounds.crashes : [bounds.crashes[0], bounds.crashes[1], 0],
    }),
  }
}

function expand(model: Model, state: ModelState): Transition[] {
  const found: Transition[] = []
  const emit: Emit = (label, next, { isFault = false, violation } = {}) => {
    found.push({ label, next: settled(model, state, next), isFault, violation })
  }
  for (const index of drainerIndexes) {
    const { value } = state.drainers[index]
    if (mayLook(value)) emitLook(model, state, index, emit)
    for (const side of ['work', 'old'] as const) {
      const step = value[side]?.steps[0]?.value
      if (step === undefined) continue
      const key = `${side}${index}/${state.drainers[index].id}/${whatStepReads(state, step)}`
      replay(model, key, state, emit, (note) => emitStep(model, state, index, side, note))
    }
    if ((state.world.value.crashesLeft[index] as number) > 0) emitCrash(model, state, index, emit)
  }
  const { ledger, budgets, pods, world, drainers } = state
  emitEvictions(model, state, emit)
  const over = drainers.map(({ value }) => (isOver(value.record.value.phase) ? 1 : 0)).join('')
  replay(model, `f${world.id}/${ledger.id}/${over}`, state, emit, (note) => {
    emitFencer(model, state, note)
    emitKeeper(model, state, note)
  })
  const mayGo = drainers.map(({ value }) => (value.record.value.phase === 'Drained' ? 1 : 0)).join('')
  replay(model, `n${world.id}/${pods.id}/${mayGo}`, state, emit, (note) => emitNature(model, state, note))
  for (const app of [0, 1] as const) {
    replay(model, `c${app}/${budgets[app].id}/${pods.id}`, state, emit, (note) => emitCount(model, state, app, note))
    replay(model, `o${app}/${budgets[app].id}/${world.id}`, state, emit, (note) => emitOwner(model, state, app, note))
  }
  emitTime(model, state, emit)
  return found
}

/** By number: all that the outcome of a step depends on besides the process that takes it. */
function whatStepReads({ ledger, budgets, pods, world }: ModelState, step: ModelStep): string {
  switch (step.step) {
    case 'record':
    case 'close':
      return ''
    case 'lock':
    case 'unlock':
      return String(budgets[appOf(step)].id)
    case 'reserve':
    case 'unmark':
      return String(budgets[appOf(step.of)].id)
    case 'cordon':
    case 'uncordon':
      return String(world.id)
    case 'evict':
      return `${ledger.id}/${budgets[0].id}/${budgets[1].id}/${pods.id}`
    default:
      return String(ledger.id)
  }
}

/** What follows at once, and what makes no difference any more. */
function settled(model: Model, before: ModelState, after: ModelState): ModelState {
  let next = withSilenceTimed(model, before, withoutVoidSteps(model, withRecordWritten(model, after)))
  if (model.bounds.isCountPrompt) next = recount(model, recount(model, next, 0), 1)
  return withoutIdleCrashes(model, next)
}

/** Who has ended and holds nothing cannot crash in any way that matters. */
function withoutIdleCrashes(model: Model, state: ModelState): ModelState {
  const [first, second, fencer] = state.world.value.crashesLeft
  const isIdle = (index: 0 | 1) => {
    const { record, work } = state.drainers[index].value
    return isOver(record.value.phase) && work.steps.length === 0 && !holdsKeys(state, index)
  }
  const isLess =
    (first > 0 && isIdle(0)) || (second > 0 && isIdle(1)) || (fencer > 0 && state.world.value.fencer.at === 'done')
  if (!isLess) return state
  return withWorld(model, state, {
    crashesLeft: [isIdle(0) ? 0 : first, isIdle(1) ? 0 : second, state.world.value.fencer.at === 'done' ? 0 : fencer],
  })
}

function holdsKeys({ ledger }: ModelState, index: 0 | 1): boolean {
  return ledger.value.entries.some(({ requestId }) => requestId === requestIds[index])
}

/** The keeper of the ledger follows it: a change of the fencer's sign of life starts its count anew. */
function withSilenceTimed(model: Model, before: ModelState, next: ModelState): ModelState {
  const { fencer } = next.world.value
  if (!fencer.isSilent || fencer.unchanged === 0 || next.ledger === before.ledger) return next
  const isSame = signOfLife(before.ledger.value, fencerId) === signOfLife(next.ledger.value, fencerId)
  return isSame ? next : withWorld(model, next, { fencer: { ...fencer, unchanged: 0 } })
}

function hasEnded(state: ModelState): boolean {
  const { drainers } = state
  return drainerIndexes.every((index) => isOver(drainers[index].value.record.value.phase) && !holdsKeys(state, index))
}
