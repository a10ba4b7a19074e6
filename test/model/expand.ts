import type { DisruptionStep } from '@cofferdam/product/capabilities/drain-lock/domain/decision.ts'
import { isLedgerStep } from '@cofferdam/product/capabilities/drain-lock/domain/ledger-step.ts'
import { heartbeat } from '@cofferdam/product/capabilities/drain-lock/domain/orphans.ts'
import type { DisruptionRecord } from '@cofferdam/product/capabilities/drain-lock/domain/snapshot.ts'
import { blank } from '@cofferdam/product/capabilities/drain-lock/domain/testing/fixture.ts'
import { emptyLedger } from '@cofferdam/product/ledger/rules/ledger.ts'
import {
  type Bounds,
  type DrainerIndex,
  desiredHealthy,
  drainerIndexes,
  fencerId,
  isOver,
  type Parts,
  replicas,
  requestIds,
} from './bounds.ts'
import { emitPerson } from './break-glass.ts'
import { appOf, recount } from './budget-writes.ts'
import { createCanonical } from './canonical.ts'
import { emitCrash, emitStep, type Side, withoutVoidCordons, withoutVoidSteps, withRecordWritten } from './drainer.ts'
import { emitLook } from './drainer-observe.ts'
import { emitEvictions } from './evictions.ts'
import { emitFencer, emitKeeper } from './fencer.ts'
import { emitCount, emitNature, emitOwner, emitTime } from './happenings.ts'
import { emitLedgerLoss, emitRestore } from './lost-ledger.ts'
import { createModelOf, type Emit, type Model, type Transition, withWorld } from './model.ts'
import { idSpan } from './pool.ts'
import { emitRemadeBudget, emitRemadeNodes } from './remade.ts'
import { replay, replaysOf } from './replay.ts'
import { createPools, type ModelState, type ModelStep, noWork, type Pools, plainFate } from './state.ts'

export interface LockModel {
  readonly bounds: Bounds
  readonly pools: Pools
  readonly initial: ModelState
  canonical(state: ModelState): ModelState
  expand(state: ModelState): readonly Transition[]
  /** Every request has ended, and nothing is held for it. */
  hasEnded(state: ModelState): boolean
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
    times: 0,
    isCounted: true,
  })
  const pod = { state: 'runs', isInFlight: false } as const
  const node = { isUp: true, cordonedBy: '', boots: 0, times: 0, isThere: true }
  return {
    ledger: pools.ledgers.of(bounds.ledgerLoss === 'wiped' ? { ...emptyLedger, nextEpoch: 2 } : emptyLedger),
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
      fates: [plainFate, plainFate],
      glassesLeft: bounds.glasses,
      ledgerLossesLeft: bounds.ledgerLoss === 'never' ? 0 : 1,
      backup: undefined,
      remadeNodesLeft: bounds.remadeNodes,
      remadeBudgetsLeft: bounds.remadeBudgets,
    }),
  }
}

function expand(model: Model, state: ModelState): Transition[] {
  const found: Transition[] = []
  const emit: Emit = (label, next, { isFault = false, violation } = {}) => {
    found.push({ label, next: settled(model, state, next), isFault, violation })
  }
  for (const index of drainerIndexes) {
    if (state.drainers[index].value.work.steps.length === 0) emitLook(model, state, index, emit)
    for (const side of ['work', 'old'] as const) emitNextStep(model, state, index, side, emit)
    if ((state.world.value.crashesLeft[index] as number) > 0) emitCrash(model, state, index, emit)
  }
  const { ledger, budgets, pods, world } = state
  emitEvictions(model, state, emit)
  const told = (kind: string, one: number, other: number, more = 0) => {
    return { what: replaysOf(model, kind), key: (one * idSpan + other) * 4 + more }
  }
  replay(told('keys', world.id, ledger.id, phaseBits(state, isOver)), state, emit, (note) => {
    emitFencer(model, state, note)
    emitKeeper(model, state, note)
  })
  const mayGo = phaseBits(state, (phase) => phase === 'Drained')
  replay(told('nature', world.id, pods.id, mayGo), state, emit, (note) => {
    emitNature(model, state, note)
    emitRemadeNodes(model, state, note)
  })
  for (const app of [0, 1] as const) {
    replay(told('count', budgets[app].id, pods.id, app), state, emit, (note) => emitCount(model, state, app, note))
    replay(told('owner', budgets[app].id, world.id, app), state, emit, (note) => emitOwner(model, state, app, note))
    emitRemadeBudget(model, state, app, emit)
  }
  emitPerson(model, state, emit)
  emitLedgerLoss(model, state, emit)
  emitRestore(model, state, emit)
  emitTime(model, state, emit)
  return found
}

function phaseBits({ drainers }: ModelState, is: (phase: string) => boolean): number {
  return (is(drainers[0].value.record.value.phase) ? 1 : 0) + (is(drainers[1].value.record.value.phase) ? 2 : 0)
}

function emitNextStep(model: Model, state: ModelState, index: DrainerIndex, side: Side, emit: Emit): void {
  const { id, value } = state.drainers[index]
  const step = value[side]?.steps[0]?.value
  if (step === undefined) return
  const isLedgerLost = model.bounds.ledgerLoss !== 'never' && isLedgerStep(step as DisruptionStep)
  if (step.step === 'evict' || step.step === 'break' || step.step === 'finish' || isLedgerLost) {
    emitStep(model, state, index, side, emit)
    return
  }
  const asked = {
    what: replaysOf(model, side),
    key: (id * idSpan + whatStepReads(state, step)) * 2 + index,
  }
  replay(asked, state, emit, (note) => emitStep(model, state, index, side, note))
}

/** By number: the one thing that the outcome of a step depends on besides the process that takes it. */
function whatStepReads({ ledger, budgets, pods, world }: ModelState, step: ModelStep): number {
  switch (step.step) {
    case 'record':
    case 'close':
      return step.record.phase === 'Drained' ? pods.id : 0
    case 'lock':
    case 'unlock':
      return budgets[appOf(step)].id
    case 'reserve':
    case 'unmark':
      return budgets[appOf(step.of)].id
    case 'cordon':
    case 'uncordon':
      return world.id
    default:
      return ledger.id
  }
}

/** What follows at once, and what makes no difference any more. */
function settled(model: Model, before: ModelState, after: ModelState): ModelState {
  const current = withoutVoidCordons(model, before, withRecordWritten(model, after))
  let next = withSilenceTimed(model, before, withoutVoidSteps(model, current))
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
  const isSame = heartbeat(before.ledger.value, fencerId) === heartbeat(next.ledger.value, fencerId)
  return isSame ? next : withWorld(model, next, { fencer: { ...fencer, unchanged: 0 } })
}

function hasEnded(state: ModelState): boolean {
  const { drainers } = state
  return drainerIndexes.every((index) => isOver(drainers[index].value.record.value.phase) && !holdsKeys(state, index))
}
