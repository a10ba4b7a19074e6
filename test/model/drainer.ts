import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { DisruptionStep } from '@cofferdam/product/capabilities/drain-lock/domain/decision.ts'
import type { LedgerStep } from '@cofferdam/product/capabilities/drain-lock/domain/ledger-step.ts'
import { blank } from '@cofferdam/product/capabilities/drain-lock/domain/testing/fixture.ts'
import { entriesOf, type Ledger } from '@cofferdam/product/ledger/rules/ledger.ts'
import {
  apps,
  type DrainerIndex,
  drainerIndexes,
  holderOf,
  isOver,
  nowMs,
  podIndex,
  podName,
  requestIds,
} from './bounds.ts'
import { breaksBadly, withBroken } from './break-glass.ts'
import { appOf, lockBudget, reserveBudget, unmarkBudget, unreserveBudget } from './budget-writes.ts'
import { hasNothing } from './drainer-observe.ts'
import { isAdmitted, passesOwner } from './evictions.ts'
import { changesBadly, passesLimit } from './invariants.ts'
import { beginsBlindly, readLedger, withRemembered } from './lost-ledger.ts'
import {
  type Emit,
  type Model,
  recordOf,
  withDrainer,
  withFate,
  withLedger,
  withNode,
  withPod,
  withWorld,
} from './model.ts'
import { type ModelState, type ModelStep, nodeText, noWork, type Pod, type Work } from './state.ts'
import { inWords } from './words.ts'

/**
 * The process of a request stops, and another one takes over when it starts. One that holds nothing and has nothing to do
 * leaves no trace: its successor can do no more than it could.
 */
export function emitCrash(model: Model, state: ModelState, index: DrainerIndex, emit: Emit): void {
  const { work, process } = state.drainers[index].value
  const { crashesLeft } = state.world.value
  if ((crashesLeft[index] as number) > 0 && !(work.steps.length === 0 && hasNothing(state, index))) {
    const next = withDrainer(model, state, index, {
      work: noWork,
      old: model.bounds.mayWakeUp ? work : undefined,
      process: process + 1,
      isDown: true,
    })
    const left = crashesLeft.map((count, at) => (at === index ? count - 1 : count)) as [number, number, number]
    emit(
      () =>
        `${holderOf(index, process)} stalls with ${work.steps.length} steps to do; process ${process + 1} takes over`,
      withWorld(model, next, { crashesLeft: left }),
      { isFault: true },
    )
  }
}

/**
 * Without a process that may wake up, a request has one process at a time, and nobody else reads its record but for whether
 * the node may go and whether it is over. So what it writes on record besides is written as soon as it is decided: a crash
 * before is a crash before the look.
 */
export function withRecordWritten(model: Model, state: ModelState): ModelState {
  if (model.bounds.mayWakeUp) return state
  let next = state
  for (const index of drainerIndexes) {
    for (;;) {
      const { work, process, record } = next.drainers[index].value
      const step = work.steps[0]?.value
      if (step === undefined || (step.step !== 'record' && step.step !== 'close')) break
      if (isPublic(step.record.phase) || isPublic(record.value.phase)) break
      next = perform({ model, index, side: 'work', process, doing: work }, next, step).next
    }
  }
  return next
}

function isPublic(phase: string): boolean {
  return phase === 'Drained' || isOver(phase)
}

/**
 * Forgets what a stalled process could only be refused for, now and ever: an epoch that is void stays void, and a record
 * that somebody else has written is not the one that was looked at. What comes after such a step is never reached.
 */
export function withoutVoidSteps(model: Model, state: ModelState): ModelState {
  let next = state
  for (const index of drainerIndexes) {
    const { old, process } = state.drainers[index].value
    if (old === undefined) continue
    const actor = { model, index, side: 'old', process: process - 1, doing: old } as const
    const end = old.steps.findIndex(({ value }) => isVoid(actor, state, value))
    if (end >= 0) next = withDrainer(model, next, index, { old: { ...old, steps: old.steps.slice(0, end) } })
  }
  return next
}

/** A node is cordoned on the very version that was seen: once it has changed, that is refused, and the round ends there. */
export function withoutVoidCordons(model: Model, before: ModelState, after: ModelState): ModelState {
  return drainerIndexes.reduce((state, index) => {
    const [was, is] = [before.world.value.nodes[index], state.world.value.nodes[index]]
    if (was === is || nodeText(was) === nodeText(is)) return state
    return (['work', 'old'] as const).reduce((left, side) => {
      const work = left.drainers[index].value[side]
      const at = work?.steps.findIndex(({ value }) => value.step === 'cordon') ?? -1
      if (work === undefined || at < 0) return left
      return withDrainer(model, left, index, { [side]: { ...work, steps: work.steps.slice(0, at) } })
    }, state)
  }, after)
}

function isVoid(actor: Actor, { ledger: { value: ledger } }: ModelState, step: ModelStep): boolean {
  if (step.step === 'record' || step.step === 'close') return actor.doing.isOvertaken
  if (step.step !== 'intend' && step.step !== 'release' && step.step !== 'renew') return false
  // What was put back as it was may be in force again.
  if (actor.model.bounds.ledgerLoss !== 'never') return false
  const isInForce = entriesOf(ledger, requestIds[actor.index]).some(({ epoch }) => epoch === step.epoch)
  return !isInForce && !ledgerAfter(actor, ledger, step).isDone
}

export type Side = 'work' | 'old'

export function emitStep(model: Model, state: ModelState, index: DrainerIndex, side: Side, emit: Emit): void {
  const { work, old, process } = state.drainers[index].value
  const doing = side === 'work' ? work : (old as Work)
  const step = (doing.steps[0] as Work['steps'][number]).value
  const actor = { model, index, side, process: side === 'work' ? process : process - 1, doing }
  const { next, violation, isDone } = perform(actor, state, step)
  const label = () => `${holderOf(index, actor.process)} does: ${inWords(step)}${isDone ? '' : ', and fails'}`
  emit(label, next, { violation })
}

interface Actor {
  readonly model: Model
  readonly index: DrainerIndex
  readonly side: Side
  readonly process: number
  readonly doing: Work
}

interface Performed {
  readonly next: ModelState
  readonly isDone: boolean
  readonly violation?: string | undefined
}

function perform(actor: Actor, state: ModelState, step: ModelStep): Performed {
  const { model, index, doing } = actor
  switch (step.step) {
    case 'record':
    case 'close':
      return writeRecord(actor, state, step.record)
    case 'lock': {
      const next = lockBudget(model, state, step, requestIds[index])
      if (next === undefined) return failed(actor, state)
      if (model.parts.settings.mode !== 'reserve') return done(actor, next)
      return { next: withSteps(actor, next, [{ step: 'reserve', of: step }, ...rest(doing)]), isDone: true }
    }
    case 'reserve': {
      const { next, isDone } = reserveBudget(model, state, step.of, requestIds[index])
      return isDone ? done(actor, next) : failed(actor, next)
    }
    case 'unlock': {
      const next = unreserveBudget(model, state, step, requestIds[index])
      if (next === undefined) return done(actor, state)
      if (state.budgets[appOf(step)].value.hold === undefined) return done(actor, next)
      return { next: withSteps(actor, next, [{ step: 'unmark', of: step }, ...rest(doing)]), isDone: true }
    }
    case 'unmark':
      return done(actor, unmarkBudget(model, state, step.of, requestIds[index]))
    case 'cordon': {
      const isOpen = state.world.value.nodes[index].cordonedBy === ''
      return done(actor, isOpen ? withNode(model, state, index, { cordonedBy: requestIds[index] }) : state)
    }
    case 'uncordon':
      return uncordon(actor, state)
    case 'forget-cordon':
      // Here a cordon is its mark, and goes with it.
      return done(actor, state)
    case 'evict':
      return evictNext(actor, state, step)
    case 'finish': {
      const record = recordOf(model, { ...blank, phase: 'Rejected' })
      const next = withDrainer(model, state, index, { record, work: noWork, old: undefined })
      return { next: withFate(model, next, index, { deletion: 'gone' }), isDone: true }
    }
    default:
      return changeLedger(actor, state, step)
  }
}

/** By compare-and-swap on the version that was looked at. The API server lets no list of budgets shrink. */
function writeRecord(actor: Actor, state: ModelState, record: ReturnType<typeof recordOf>['value']): Performed {
  const { model, index, side, doing } = actor
  if (doing.isOvertaken) return failed(actor, state)
  const { value } = state.drainers[index]
  const other = side === 'work' ? value.old : value.work
  const overtaken = other === undefined ? {} : { [side === 'work' ? 'old' : 'work']: { ...other, isOvertaken: true } }
  const next = withDrainer(model, state, index, { record: recordOf(model, record), ...overtaken })
  const isNew = record.phase === 'Drained' && value.record.value.phase !== 'Drained'
  const left = isNew ? podsLeft(state, index, record.skippedPods) : []
  const violation = left.length === 0 ? undefined : `I14 drained: ${left.join(' and ')} would go down unasked`
  return { ...done(actor, next), violation }
}

/** Pods on the node that its drain removes, and has not removed. */
function podsLeft({ pods }: ModelState, index: DrainerIndex, stay: readonly { readonly name: string }[]): string[] {
  return apps.flatMap((_, app) => {
    const pod = pods.value[podIndex(app, index)]
    const isThere = pod?.state === 'runs' || pod?.state === 'fails' || pod?.state === 'leaves'
    const name = podName(app, index)
    return isThere && !stay.some((each) => each.name === name) ? [name] : []
  })
}

function uncordon(actor: Actor, state: ModelState): Performed {
  const { model, index } = actor
  const isOurs = state.world.value.nodes[index].cordonedBy === requestIds[index]
  if (!isOurs) return done(actor, state)
  const { phase } = state.drainers[index].value.record.value
  const violation = phase === 'Draining' || phase === 'Drained' ? 'I11 uncordon: the drain is under way' : undefined
  return { ...done(actor, withNode(model, state, index, { cordonedBy: '' })), violation }
}

/** One pod after the other, each in a request of its own that goes on by itself once it was admitted. */
function evictNext(actor: Actor, state: ModelState, step: DisruptionStep & { step: 'evict' }): Performed {
  const { model, index, doing } = actor
  const [pod, ...more] = step.pods
  const left: ModelStep[] = more.length === 0 ? rest(doing) : [{ ...step, pods: more }, ...rest(doing)]
  const app = apps.findIndex((name) => pod?.name.startsWith(name)) as 0 | 1
  const at = podIndex(app, index)
  const { state: is, isInFlight } = state.pods.value[at] as Pod
  const isThere = (is === 'runs' || is === 'fails') && !isInFlight
  const token = { requestId: requestIds[index], epoch: step.epoch }
  if (!isThere || !isAdmitted(model, state, app, at, token)) {
    return { next: withSteps(actor, state, left), isDone: true }
  }
  const isCurrent = entriesOf(state.ledger.value, token.requestId).every(({ epoch }) => epoch === step.epoch)
  return {
    next: withSteps(actor, withPod(model, state, at, { isInFlight: true }), left),
    isDone: true,
    violation:
      model.bounds.guard === 'down'
        ? undefined
        : isCurrent
          ? (passesOwner(state, app, token.requestId) ?? evictsBroken(state, index))
          : 'I2 epochs: evicted under an epoch that is void',
  }
}

function evictsBroken({ world }: ModelState, index: DrainerIndex): string | undefined {
  const { broken } = world.value.fates[index]
  return broken.length === 0 ? undefined : `I17 break-glass: ${requestIds[index]} evicts without its keys`
}

function changeLedger(actor: Actor, state: ModelState, step: LedgerStep): Performed {
  const { model, index } = actor
  const { ledger: before, lost } = readLedger(model, state)
  if (lost.length > 0) return failed(actor, state)
  const { ledger, isDone } = ledgerAfter(actor, before, step)
  const written = ledger === before ? state : withRemembered(model, withLedger(model, state, ledger))
  const requestId = requestIds[index]
  if (step.step === 'break') {
    const next = withBroken(model, written, before, step, requestId)
    return { ...done(actor, next), violation: breaksBadly(before, ledger, step, requestId) }
  }
  const epoch = 'epoch' in step ? step.epoch : undefined
  const violation =
    changesBadly(before, ledger, { requestId, step: step.step, epoch }) ??
    beginsBlindly(state, before, ledger, index) ??
    passesLimit(model.bounds, before, ledger) ??
    reusesEpoch(state, before, ledger, index)
  const isReleased = isDone && step.step === 'release' && model.bounds.ledgerLoss !== 'never'
  const next = isReleased ? withFate(model, written, index, { hasReleased: true }) : written
  return { ...(isDone ? done(actor, next) : failed(actor, next)), violation }
}

/** No epoch is given out that a process of the request may still act under, or that is on its record or on a budget. */
function reusesEpoch(state: ModelState, before: Ledger, after: Ledger, index: DrainerIndex): string | undefined {
  const given = entriesOf(after, requestIds[index])[0]?.epoch ?? 0
  if (given < before.nextEpoch || given === 0) return undefined
  const { drainers, budgets } = state
  const seen = drainers[index].epochs | budgets[0].epochs | budgets[1].epochs
  return seen >> (given - 1) === 0 ? undefined : 'I2 epochs: an epoch was given out again'
}

function ledgerAfter(
  { model, index, process }: Actor,
  ledger: Ledger,
  step: LedgerStep,
): { ledger: Ledger; isDone: boolean } {
  const { parts } = model
  const by = { requestId: requestIds[index], holder: holderOf(index, process) }
  switch (step.step) {
    case 'take': {
      const answer = parts.grant(ledger, { ...by, claims: step.claims, now: rfc3339(nowMs) })
      return { ledger: answer.ledger, isDone: answer.granted }
    }
    case 'queue': {
      const { claims, aside } = step
      const request = { ...by, claims, now: rfc3339(nowMs), ...(aside === undefined ? {} : { aside }) }
      return { ledger: parts.enqueue(ledger, request), isDone: true }
    }
    case 'adopt': {
      const adopted = parts.adopt(ledger, by)
      return { ledger: adopted?.ledger ?? ledger, isDone: adopted !== undefined }
    }
    case 'release-budgets': {
      const changed = parts.releaseKeys(ledger, { ...by, epoch: step.epoch, keys: step.keys })
      return { ledger: changed.ok ? changed.ledger : ledger, isDone: changed.ok }
    }
    case 'step-back': {
      const { epoch, aside } = step
      const changed = parts.stepBack(ledger, { ...by, epoch, ...(aside === undefined ? {} : { aside }) })
      return { ledger: changed.ok ? changed.ledger : ledger, isDone: changed.ok }
    }
    case 'withdraw':
      return { ledger: parts.withdraw(ledger, by.requestId), isDone: true }
    case 'intend':
    case 'release':
    case 'renew': {
      const epochs = { ...by, ...step }
      const changed =
        step.step === 'intend' ? parts.intend(ledger, { ...by, ...step }) : parts[step.step](ledger, epochs)
      return { ledger: changed.ok ? changed.ledger : ledger, isDone: changed.ok }
    }
    case 'break': {
      const { keys, by: who, reason } = step
      const order = { keys, by: who, reason, at: rfc3339(nowMs), sparing: by.requestId }
      return { ledger: parts.breakLocks(ledger, order), isDone: true }
    }
  }
}

function rest({ steps }: Work): ModelStep[] {
  return steps.slice(1).map(({ value }) => value)
}

function done(actor: Actor, state: ModelState): Performed {
  return { next: withWork(actor, state, { ...workIn(actor, state), steps: actor.doing.steps.slice(1) }), isDone: true }
}

/** The round ends, and nothing of what was left of it is done. */
function failed(actor: Actor, state: ModelState): Performed {
  return { next: withWork(actor, state, noWork), isDone: false }
}

function workIn({ index, side }: Actor, state: ModelState): Work {
  const { work, old } = state.drainers[index].value
  return side === 'work' ? work : (old as Work)
}

function withSteps(actor: Actor, state: ModelState, steps: readonly ModelStep[]): ModelState {
  const pooled = steps.map((step) => actor.model.pools.steps.of(step))
  return withWork(actor, state, { ...workIn(actor, state), steps: pooled })
}

function withWork({ model, index, side }: Actor, state: ModelState, work: Work): ModelState {
  return withDrainer(model, state, index, side === 'work' ? { work } : { old: work })
}
