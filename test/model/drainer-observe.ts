import type { DisruptionStep } from '@cofferdam/product/capabilities/drain-lock/domain/decision.ts'
import {
  apps,
  type DrainerIndex,
  drainerIndexes,
  holderOf,
  isOver,
  nowMs,
  podIndex,
  realParts,
  requestIds,
} from './bounds.ts'
import { isUnlockInVain } from './budget-writes.ts'
import { mayNotEvict } from './evictions.ts'
import { readLedger } from './lost-ledger.ts'
import { type DecidedWork, type Emit, type Model, recordOf, withDrainer } from './model.ts'
import { glassOf, ownerLock, snapshotFor } from './observe.ts'
import { idSpan } from './pool.ts'
import { touchesAnother } from './remade.ts'
import { fateText, type ModelState, type ModelStep, nodeText, noLimit, type Work } from './state.ts'
import { inWords } from './words.ts'

export function emitLook(model: Model, state: ModelState, index: DrainerIndex, emit: Emit): void {
  if (state.world.value.fates[index].deletion === 'gone') return
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
    if (state.world.value.fates[index].deletion === 'gone') return true
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
  const { drainers, budgets, pods, world } = state
  const { record, process } = drainers[index].value
  const ledger = ledgerSeen(model, state)
  const whose = ((record.id * 4 + process * 2 + index) * idSpan + ledger) * 64 + podsSeen(model, pods, index)
  const seen = (budgets[0].id * idSpan + budgets[1].id) * 4096 + worldSeen(model, world, index)
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

/** By number; the last there can be when the ledger is not known. */
function ledgerSeen(model: Model, state: ModelState): number {
  const { ledger, lost } = readLedger(model, state)
  if (lost.length > 0) return idSpan - 1
  return ledger === state.ledger.value ? state.ledger.id : model.pools.ledgers.of(ledger).id
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
  const { nodes, fates, isDirty, age } = value
  const found = seen.worldViews.of(`${nodeText(nodes[index])}/${isDirty.join()}/${age}/${fateText(fates[index])}`).id
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
  const { phase } = before.value
  const hasBegun = phase === 'Draining' || phase === 'Drained' || phase === 'Recovering'
  const begins = !hasBegun && decision.steps.some(({ step }) => step === 'take' || step === 'intend')
  const isLocked = begins && !breaksGlass(state, index) && isOwnerPassed(state, index)
  const isWaitingForNothing = steps.length === 0 && !isOver(closing.value.phase) && decision.blockedBy.length === 0
  return {
    work: { steps: steps.map((step) => model.pools.steps.of(step)), isOvertaken: false },
    after: new Map(),
    violation: isLocked
      ? 'I15 owner: a drain begins on what the owner has locked'
      : isWaitingForNothing
        ? 'named waits: it waits and does not say for what'
        : (goesOnBroken(state, index, decision.steps) ?? touchesAnother(state, index, decision.steps)),
    says: `${decision.reason}; will ${steps.map(inWords).join(', ') || 'do nothing'}`,
  }
}

function breaksGlass(state: ModelState, index: DrainerIndex): boolean {
  return (glassOf(state, requestIds[index])?.untilMs ?? 0) > nowMs
}

/** Whoever had begun and lost a key of it by break-glass stands still. */
function goesOnBroken(state: ModelState, index: DrainerIndex, steps: readonly DisruptionStep[]): string | undefined {
  const { world } = state
  if (!breaksGlass(state, index) && steps.some(({ step }) => step === 'break'))
    return `I17 break-glass: ${requestIds[index]} breaks keys without leave`
  if (world.value.fates[index].broken.length === 0) return undefined
  const found = steps.find(({ step }) => step === 'evict' || step === 'cordon')
  return found && `I17 break-glass: ${requestIds[index]} goes on without its keys`
}

/** Whether a pod on the node has a budget that its owner has locked. */
function isOwnerPassed(state: ModelState, index: DrainerIndex): boolean {
  return ([0, 1] as const).some((app) => {
    const pod = state.pods.value[podIndex(app, index)]?.state
    return (pod === 'runs' || pod === 'fails') && ownerLock(realParts, state.budgets[app].value, app) !== undefined
  })
}

export function hasNothing({ ledger: { value }, budgets }: ModelState, index: DrainerIndex): boolean {
  const isOwn = ({ requestId }: { readonly requestId: string }) => requestId === requestIds[index]
  if (value.entries.some(isOwn) || value.tickets.some(isOwn)) return false
  return !budgets.some(({ value: { hold, disrupted } }) => (hold !== undefined && isOwn(hold)) || disrupted[index] >= 0)
}
