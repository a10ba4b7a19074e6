import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { MachineDisruptionBudget } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { buildMachineBudget } from '@cofferdam/product/capabilities/fencing/domain/budget-object.ts'
import {
  type BudgetOfCluster,
  buildBudgetStatus,
  buildBudgetUpdate,
} from '@cofferdam/product/capabilities/fencing/domain/budget-update.ts'
import {
  fenceRequestId,
  neededHolds,
  unneededHolds,
} from '@cofferdam/product/capabilities/fencing/domain/hold-fence.ts'
import type { FencingStep, FencingWrite, KeepHolds } from '@cofferdam/product/capabilities/fencing/domain/steps.ts'
import { releaseHold } from '@cofferdam/product/ledger/rules/hold-rules.ts'
import { entriesOf, type Ledger } from '@cofferdam/product/ledger/rules/ledger.ts'
import { type FencingParts, type FencingState, type FencingWork, machineName, nowMs } from './fencing-state.ts'
import { passOf } from './observe-fencing.ts'

/** The steps of a pass that begins now. */
export function beginPass(parts: FencingParts, state: FencingState): FencingState {
  const { steps } = parts.decideFencingPass(passOf(parts, state, undefined), parts.decideFencing)
  return withSteps({ ...state, work: { steps: [], budget: state.budget, ended: [] } }, steps)
}

/** Whether a whole pass would change nothing. */
export function isQuiet(parts: FencingParts, state: FencingState): boolean {
  let next = beginPass(parts, state)
  while (next.work !== undefined) next = performNext(parts, next)
  return isSameJson(next as never, state as never)
}

/** Performs the first step that is left of the pass. A write that is refused is passed over. */
export function performNext(parts: FencingParts, state: FencingState): FencingState {
  const work = state.work as FencingWork
  const [step, ...rest] = work.steps
  const left = withSteps(state, rest)
  if (step === undefined) return left
  if (step.do === 'ask') {
    const again = { ...state, work: { ...work, steps: [] } }
    const announced = step.what === 'again' ? step.announced : undefined
    return withSteps(again, parts.decideFencingPass(passOf(parts, again, announced), parts.decideFencing).steps)
  }
  if (step.do === 'hold') return keepHolds(parts, left, step)
  return step.do === 'write' ? write(left, step) : left
}

/** Reports and notes for people change nothing that anybody goes by. */
function withSteps(state: FencingState, steps: readonly FencingStep[]): FencingState {
  const left = steps.filter(
    (step) =>
      step.do !== 'report' && !(step.do === 'write' && (step.what === 'note-budget' || step.what === 'keep-budget')),
  )
  if (left.length === 0) return { ...state, work: undefined }
  return { ...state, work: { ...(state.work as FencingWork), steps: left } }
}

function keepHolds(parts: FencingParts, state: FencingState, { what, fences }: KeepHolds): FencingState {
  const needed = neededHolds(fences)
  if (what === 'release') {
    const freed = unneededHolds(state.ledger, needed).reduce<Ledger>((left, id) => {
      const own = entriesOf(left, id)
      return releaseHold(left, own, own[0]?.epoch)
    }, state.ledger)
    return { ...state, ledger: freed }
  }
  const ended = fences.map(fenceRequestId).filter((id) => !needed.has(id))
  const held = [...needed].reduce<Ledger>((left, [id, wanted]) => {
    const epoch = entriesOf(left, id)[0]?.epoch
    return parts.holdFence(left, { id, wanted, epoch, now: rfc3339(nowMs) }).ledger
  }, state.ledger)
  const ledger = { ...held, entries: held.entries.map((entry) => ({ ...entry, renewSequence: 0 })) }
  const work = state.work && { ...state.work, ended: [...new Set([...state.work.ended, ...ended])].sort() }
  return { ...state, ledger, work }
}

function write(state: FencingState, step: FencingWrite): FencingState {
  switch (step.what) {
    case 'add-labels':
    case 'remove-labels': {
      const isLabelled = step.what === 'add-labels'
      const put = (at: 0 | 1) =>
        machineName(at) === step.change.machine ? { ...state.nodes[at], isLabelled } : state.nodes[at]
      return { ...state, nodes: [put(0), put(1)] }
    }
    case 'gate':
      return { ...state, isPaused: step.change.kind === 'pause' || (step.change.kind !== 'resume' && state.isPaused) }
    case 'note-outage':
      return { ...state, isNoted: step.note.awaySinceMs !== undefined }
    case 'close-budget':
      return writeStatus(writeSpec(state, step.wanted), step.wanted)
    case 'announce-budget':
      return writeSpec(writeStatus(state, { ...step.wanted, budget: step.meanwhile }), step.wanted)
    case 'open-budget':
      return writeStatus(state, step.wanted)
    default:
      return state
  }
}

function writeSpec(state: FencingState, of: BudgetOfCluster): FencingState {
  const { notes: _, ...wanted } = of
  const seen = seenBudget(state)
  if (seen === undefined) return swapped(state, { ...buildMachineBudget(wanted.budget, wanted.cluster) })
  const update = buildBudgetUpdate(seen, wanted)
  return update === undefined ? state : swapped(state, update)
}

function writeStatus(state: FencingState, wanted: BudgetOfCluster): FencingState {
  const seen = seenBudget(state)
  const status = seen && buildBudgetStatus(seen, wanted)
  return seen === undefined || status === undefined ? state : swapped(state, { ...seen, status })
}

function seenBudget({ work, budget }: FencingState): MachineDisruptionBudget | undefined {
  return work === undefined ? budget : work.budget
}

/** By compare-and-swap on what this pass saw or wrote last. A generation matters only by whether it was counted. */
function swapped(state: FencingState, next: MachineDisruptionBudget): FencingState {
  const { work, budget: present } = state
  const seen = seenBudget(state)
  if (!isSameJson((present ?? null) as never, (seen ?? null) as never)) return state
  const isSpecNew = !isSameJson((seen?.spec ?? null) as never, (next.spec ?? null) as never)
  const isCounted =
    next.status !== undefined &&
    (isSpecNew ? false : next.status.observedGeneration === (next.metadata.generation ?? 0))
  const budget: MachineDisruptionBudget = {
    ...next,
    metadata: { ...next.metadata, generation: 1 },
    ...(next.status === undefined ? {} : { status: { ...next.status, observedGeneration: isCounted ? 1 : 0 } }),
  }
  return { ...state, budget, work: work && { ...work, budget } }
}
