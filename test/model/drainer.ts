import { rfc3339 } from '../../src/domain/ceph-drain/timestamp.ts'
import type { DisruptionStep } from '../../src/domain/drain-lock/decision.ts'
import { entriesOf, type Ledger } from '../../src/domain/drain-lock/ledger.ts'
import { apps, type DrainerIndex, drainerIndexes, holderOf, isOver, nowMs, podIndex, requestIds } from './bounds.ts'
import { appOf, isUnlockInVain, lockBudget, reserveBudget, unmarkBudget, unreserveBudget } from './budget-writes.ts'
import { isAdmitted, mayNotEvict } from './evictions.ts'
import { changesBadly } from './invariants.ts'
import { snapshotFor } from './look.ts'
import {
  type DecidedWork,
  type Emit,
  idSpan,
  type Model,
  recordOf,
  withDrainer,
  withLedger,
  withNode,
  withPod,
  withWorld,
} from './model.ts'
import { type ModelState, type ModelStep, noLimit, noWork, type Pod, type Work } from './state.ts'
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

function hasNothing({ ledger: { value }, budgets }: ModelState, index: DrainerIndex): boolean {
  const isOwn = ({ requestId }: { readonly requestId: string }) => requestId === requestIds[index]
  if (value.entries.some(isOwn) || value.tickets.some(isOwn)) return false
  return !budgets.some(({ value: { hold, disrupted } }) => (hold !== undefined && isOwn(hold)) || disrupted[index] >= 0)
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

export function emitLook(model: Model, state: ModelState, index: DrainerIndex, emit: Emit): void {
  const decided = decide(model, state, index)
  const { process, work, isDown } = state.drainers[index].value
  const isIdle = !isDown && work.steps.length === 0 && isInVain(model, state, index, decided.work)
  if (isIdle && decided.violation === undefined) return
  emit(() => `${holderOf(index, process)} looks: ${decided.says}`, afterLook(model, state, index, decided), {
    violation: decided.violation,
  })
}

function afterLook(model: Model, state: ModelState, index: DrainerIndex, { work, after }: DecidedWork): ModelState {
  const { id } = state.drainers[index]
  const known = after.get(id)
  const drainer = known ?? withDrainer(model, state, index, { work, isDown: false }).drainers[index]
  if (known === undefined) after.set(id, drainer)
  return { ...state, drainers: index === 0 ? [drainer, state.drainers[1]] : [state.drainers[0], drainer] }
}

/** Nothing would come of it now: evictions are asked for again that are refused, or a lock is given back that is gone. */
function isInVain(model: Model, state: ModelState, index: DrainerIndex, { steps }: Work): boolean {
  return steps.every(({ value: step }) => {
    if (step.step === 'unlock') return isUnlockInVain(model, state, step, requestIds[index])
    if (step.step !== 'evict') return false
    const token = { requestId: requestIds[index], epoch: step.epoch }
    return step.pods.every(({ name }) => {
      const app = apps.findIndex((each) => name.startsWith(each)) as 0 | 1
      const at = podIndex(app, index)
      return state.pods.value[at]?.isInFlight === true || mayNotEvict(model, state, app, at, token)
    })
  })
}

/** Whether every process that runs has done what it can before time goes on. One that is slower counts as stalled. */
export function areDrainersDone(model: Model, state: ModelState): boolean {
  return drainerIndexes.every((index) => {
    const { work, isDown, record } = state.drainers[index].value
    // A request that nobody has looked at yet may as well be made later.
    const isUntouched = record.value.phase === 'Pending' && hasNothing(state, index)
    if (isDown || (work.steps.length === 0 && isUntouched)) return true
    return work.steps.length === 0 && isInVain(model, state, index, decide(model, state, index).work)
  })
}

/** Many states look the same to one process. */
function decide(model: Model, state: ModelState, index: DrainerIndex): DecidedWork {
  const last = model.last[index]
  if (last.state === state && last.decided !== undefined) return last.decided
  const { ledger, drainers, budgets, pods, world } = state
  const { record, process } = drainers[index].value
  const whose = ((record.id * 4 + process * 2 + index) * idSpan + ledger.id) * 64 + podsSeen(model, pods, index)
  const seen = (budgets[0].id * idSpan + budgets[1].id) * 256 + worldSeen(model, world, index)
  let others = model.decided.get(whose)
  if (others === undefined) {
    others = new Map()
    model.decided.set(whose, others)
  }
  let decided = others.get(seen)
  if (decided === undefined) {
    decided = decideAnew(model, state, index)
    others.set(seen, decided)
  }
  last.state = state
  last.decided = decided
  return decided
}

function podsSeen({ seen }: Model, { id, value }: ModelState['pods'], index: DrainerIndex): number {
  const known = seen.pods[index][id]
  if (known !== undefined) return known
  const found = seen.views.of(`${value[index].state} ${value[podIndex(1, index)]?.state}`).id
  seen.pods[index][id] = found
  return found
}

function worldSeen({ seen }: Model, { id, value }: ModelState['world'], index: DrainerIndex): number {
  const known = seen.worlds[index][id]
  if (known !== undefined) return known
  const { isUp, cordonedBy, boots } = value.nodes[index]
  const found = seen.worldViews.of(`${isUp}${cordonedBy}${boots}/${value.isDirty}/${value.age}`).id
  seen.worlds[index][id] = found
  return found
}

function decideAnew(model: Model, state: ModelState, index: DrainerIndex): DecidedWork {
  const before = state.drainers[index].value.record
  const decision = model.parts.decideDisruption(snapshotFor(model, state, index))
  // Without a process that may wake up, nobody is late.
  const upTo = model.bounds.mayWakeUp ? state.ledger.value.nextEpoch - 1 : noLimit
  const steps = decision.steps.map((step): ModelStep => (step.step === 'unlock' ? { ...step, upTo } : step))
  const written = decision.steps.findLast(({ step }) => step === 'record')
  const standing = written?.step === 'record' ? recordOf(model, written.record) : before
  const closing = recordOf(model, decision.record)
  if (closing !== standing) steps.push({ step: 'close', record: decision.record })
  const isWaitingForNothing = steps.length === 0 && !isOver(closing.value.phase) && decision.blockedBy.length === 0
  return {
    work: { steps: steps.map((step) => model.pools.steps.of(step)), isOvertaken: false },
    after: new Map(),
    violation: isWaitingForNothing ? 'named waits: it waits and does not say for what' : undefined,
    says: `${decision.reason}; will ${steps.map(inWords).join(', ') || 'do nothing'}`,
  }
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

function isVoid(actor: Actor, { ledger: { value: ledger } }: ModelState, step: ModelStep): boolean {
  if (step.step === 'record' || step.step === 'close') return actor.doing.isOvertaken
  if (step.step !== 'intend' && step.step !== 'release' && step.step !== 'renew') return false
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
    case 'evict':
      return evictNext(actor, state, step)
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
  return done(actor, next)
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
      isCurrent || model.bounds.guard === 'down' ? undefined : 'I2 epochs: evicted under an epoch that is void',
  }
}

type LedgerStep = DisruptionStep & {
  step: 'take' | 'adopt' | 'renew' | 'intend' | 'release' | 'withdraw' | 'break' | 'finish'
}

function changeLedger(actor: Actor, state: ModelState, step: LedgerStep): Performed {
  const { model } = actor
  const before = state.ledger.value
  const { ledger, isDone } = ledgerAfter(actor, before, step)
  const next = withLedger(model, state, ledger)
  const requestId = requestIds[actor.index]
  const violation = changesBadly(before, ledger, {
    requestId,
    step: step.step,
    epoch: 'epoch' in step ? step.epoch : undefined,
  })
  return { ...(isDone ? done(actor, next) : failed(actor, next)), violation }
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
    case 'adopt': {
      const adopted = parts.adopt(ledger, by)
      return { ledger: adopted?.ledger ?? ledger, isDone: adopted !== undefined }
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
    default:
      throw new Error(`nobody breaks glass here: ${step.step}`)
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
