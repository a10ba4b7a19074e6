import type { MachineDisruptionBudget } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { budgetNotes } from './budget-notes.ts'
import { type BudgetOfCluster, buildBudgetStatus, buildBudgetUpdate, buildNotedBudget } from './budget-update.ts'
import { isHold } from './decide-gates.ts'
import type { ClusterAnswer, FencingDecision, WantedMachineBudget } from './decision.ts'
import { parseMachineBudget } from './parse-budget.ts'
import type { BlindFencing, FencingPassSnapshot, SeenFencing } from './pass-snapshot.ts'
import type { FencedCluster, FencingSnapshot } from './snapshot.ts'
import type { BudgetKey, EndBudget, FencingStep, NoteBudget, ReportFencing } from './steps.ts'

export interface FencingPass {
  readonly steps: readonly FencingStep[]
  readonly recheckAfterSeconds: number
}

type Answer = ClusterAnswer & { readonly budget: WantedMachineBudget }

/** How soon to reconcile again for what cannot be read. */
const blindRecheckSeconds = 5

/**
 * Everything that one pass does, in order. What protects comes before what is held in the ledger, and that before what releases. What
 * releases is announced, and decided again on the ledger and the OSDs as they are after that.
 *
 * Guarantees: nothing lets anybody through who was kept before, but where it was announced in this pass and the ledger and the pods of OSDs
 * were read after that: an OSD that leaves later is one that leaves while the budget is open. Fails closed: while something cannot be read, whatever is open is closed, and everything else is left as it is.
 */
export function decideFencingPass(
  snapshot: FencingPassSnapshot,
  decide: (seen: FencingSnapshot) => FencingDecision,
): FencingPass {
  if (snapshot.state === 'blind') return decideBlind(snapshot)
  const decision = decide(snapshot.seen)
  const { recheckAfterSeconds: listenSeconds = decision.recheckAfterSeconds } = snapshot.heard
  const recheckAfterSeconds = Math.min(decision.recheckAfterSeconds, listenSeconds)
  const steps = snapshot.announced === undefined ? protect(snapshot, decision) : release(snapshot, decision)
  return { steps, recheckAfterSeconds }
}

function decideBlind({ unread, budgets }: BlindFencing): FencingPass {
  const steps: FencingStep[] = [...shut(budgets, () => true), { do: 'report', what: 'blind', unread }]
  return { steps, recheckAfterSeconds: blindRecheckSeconds }
}

/** Labels that are missing, gates that hold, budgets that allow no disruption, what is held; then what is announced. */
function protect(snapshot: SeenFencing, decision: FencingDecision): FencingStep[] {
  const { fences, labels, gates } = decision
  const steps: FencingStep[] = []
  for (const change of labels) {
    if (Object.keys(change.add).length > 0) steps.push({ do: 'write', what: 'add-labels', change })
  }
  for (const change of gates) if (isHold(change)) steps.push({ do: 'write', what: 'gate', change })
  for (const note of decision.outageNotes) steps.push({ do: 'write', what: 'note-outage', note })
  const answers = answersOf(decision).map((answer) => ({ answer, ...standingOf(snapshot, decision, answer) }))
  const announced = answers.filter(({ isAnnounced }) => isAnnounced)
  const isLetting = announced.length > 0 || lets(decision)
  for (const { wanted, isKept } of answers) {
    const meant = isLetting && !snapshot.isFresh ? untilRead(snapshot, wanted) : wanted
    steps.push({ do: 'write', what: isKept ? 'keep-budget' : 'close-budget', wanted: meant })
  }
  steps.push(...shutFormer(snapshot, decision), { do: 'hold', what: 'hold', fences })
  if (!isLetting) {
    return [
      ...steps,
      { do: 'hold', what: 'release', fences },
      // Those that are closed were given theirs with it.
      ...notesOf(
        snapshot,
        answers.filter(({ isKept }) => isKept).map(({ answer }) => answer),
      ),
      reportOf(snapshot, decision),
    ]
  }
  if (!snapshot.isFresh) return [...steps, { do: 'ask', what: 'before' }]
  for (const { answer, isOpen } of announced) {
    const meanwhile = isOpen ? answer.budget : closed(answer.budget)
    const wanted = { cluster: answer, budget: answer.budget, fences, notes: noteFor(snapshot, answer) }
    steps.push({ do: 'write', what: 'announce-budget', wanted, meanwhile })
  }
  return [...steps, { do: 'ask', what: 'again', announced: announced.map(({ answer }) => keyOf(answer.budget)) }]
}

/** Whether it lets somebody through who was kept before, budgets aside. */
function lets({ orphanBudgets, labels, gates }: FencingDecision): boolean {
  return (
    orphanBudgets.length > 0 ||
    labels.some(({ remove }) => remove.length > 0) ||
    gates.some((change) => !isHold(change))
  )
}

interface Standing {
  /** The budget that allows no disruption. Fences that are over stay on record: they are taken off where things are released. */
  readonly wanted: BudgetOfCluster
  /** The budget may stay open, and is as it should be. */
  readonly isKept: boolean
  readonly isOpen: boolean
  /** The budget is to be opened, or a record of a fence is to be removed. */
  readonly isAnnounced: boolean
}

function standingOf(snapshot: SeenFencing, { fences }: FencingDecision, answer: Answer): Standing {
  const { uid, budget } = answer
  const seen = find(snapshot.budgets, budget)
  const mayStayOpen = budget.maxUnavailable === 1
  const kept = { cluster: answer, budget, fences: fences.map((fence) => ({ ...fence, isOver: false })) }
  const isKept = mayStayOpen && seen !== undefined && buildBudgetUpdate(seen, kept) === undefined
  const isEnding = fences.some(({ cluster, isOver }) => isOver && cluster.uid === uid)
  const isAsWanted = isKept && buildBudgetStatus(seen, { cluster: answer, budget, fences }) === undefined
  const isAnnounced = isEnding || (mayStayOpen && !isAsWanted)
  return {
    wanted: { ...kept, budget: closed(budget), notes: noteFor(snapshot, answer) },
    isKept,
    isOpen: isKept && (seen.status?.disruptionsAllowed ?? 0) > 0,
    isAnnounced,
  }
}

/**
 * What may be decided otherwise once the ledger and the OSDs were read is not said before: which machines count, and why. Where they
 * cannot be read, each pass would write both, and each of these would begin the next. That it is closed does not wait.
 */
function untilRead({ budgets }: SeenFencing, wanted: BudgetOfCluster): BudgetOfCluster {
  const { status } = find(budgets, wanted.budget) ?? {}
  const { budget } = wanted
  if (status === undefined) return { ...wanted, notes: {} }
  const { currentHealthy, desiredHealthy, expectedMachines } = status
  const counts = { ...budget.status, currentHealthy, desiredHealthy, expectedMachines }
  return { ...wanted, notes: {}, budget: { ...budget, status: counts } }
}

/**
 * Everything that lets somebody through, as decided after it was announced. A budget is opened only where it was announced and is
 * still to be opened; else what was announced is taken back.
 */
function release(snapshot: SeenFencing, decision: FencingDecision): FencingStep[] {
  const { budgets, unlabelled, announced = [] } = snapshot
  const { fences, labels, gates, orphanBudgets } = decision
  const steps: FencingStep[] = []
  // What has to be kept since it was announced must be kept before anything that kept it until now goes.
  for (const change of gates) if (isHold(change)) steps.push({ do: 'write', what: 'gate', change })
  for (const key of announced) {
    const answer = answersOf(decision).find(({ budget }) => isSame(budget, key))
    const seen = find(budgets, key)
    if (answer === undefined || seen === undefined) continue
    const { budget } = answer
    const isOpened = seen.spec?.maxUnavailable === 1 && budget.maxUnavailable === 1 && !unlabelled.has(budget.labelKey)
    const kept = fences.map((fence) => ({ ...fence, isOver: false }))
    steps.push(
      isOpened
        ? { do: 'write', what: 'open-budget', wanted: { cluster: answer, budget, fences } }
        : { do: 'write', what: 'close-budget', wanted: { cluster: answer, budget: closed(budget), fences: kept } },
    )
  }
  for (const change of labels) if (change.remove.length > 0) steps.push({ do: 'write', what: 'remove-labels', change })
  for (const change of gates) if (!isHold(change)) steps.push({ do: 'write', what: 'gate', change })
  for (const budget of orphanBudgets) steps.push({ do: 'write', what: 'delete-budget', budget })
  return [
    ...steps,
    { do: 'hold', what: 'release', fences },
    ...notesOf(snapshot, answersOf(decision)),
    reportOf(snapshot, decision),
  ]
}

/** What was decided, on the budgets that do not say it yet. */
function notesOf(snapshot: SeenFencing, answers: readonly Answer[]): NoteBudget[] {
  return answers.flatMap((answer) => {
    const notes = noteFor(snapshot, answer)
    const seen = find(snapshot.budgets, answer.budget)
    const isSaid = seen !== undefined && buildNotedBudget(seen, notes) === undefined
    return isSaid ? [] : [{ do: 'write', what: 'note-budget', budget: keyOf(answer.budget), notes }]
  })
}

function noteFor({ seen }: SeenFencing, answer: Answer): Readonly<Record<string, string>> {
  const { namespace, name } = answer
  const cluster = seen.clusters.find((each) => each.namespace === namespace && each.name === name) as FencedCluster
  return budgetNotes(cluster, answer, seen.nowMs)
}

/** A budget that a cluster had before stays until it has another, and allows no disruption meanwhile. */
function shutFormer({ budgets }: SeenFencing, decision: FencingDecision): EndBudget[] {
  const wanted = [...answersOf(decision).map(({ budget }) => budget), ...decision.orphanBudgets]
  return shut(budgets, (key) => !wanted.some((each) => isSame(each, key)))
}

function shut(budgets: readonly MachineDisruptionBudget[], isMeant: (key: BudgetKey) => boolean): EndBudget[] {
  return budgets
    .map((budget) => parseMachineBudget(budget).view)
    .filter(({ isOurs, maxUnavailable, status }) => isOurs && (maxUnavailable !== 0 || status.disruptionsAllowed > 0))
    .filter(isMeant)
    .map((view) => ({ do: 'write', what: 'shut-budget', budget: keyOf(view) }))
}

function reportOf({ foreign, unheld, heard }: SeenFencing, decision: FencingDecision): ReportFencing {
  const putRight = answersOf(decision)
    .filter(({ budget }) => foreign.some((key) => isSame(budget, key)))
    .map(({ budget: { namespace, name } }) => ({
      object: `machinedisruptionbudget/${namespace}/${name}`,
      problem: 'another client changed it; it was restored',
    }))
  return { do: 'report', what: 'decision', decision, problems: [...putRight, ...unheld, ...heard.problems] }
}

function closed(budget: WantedMachineBudget): WantedMachineBudget {
  if (budget.maxUnavailable === 0) return budget
  const { status } = budget
  return {
    ...budget,
    maxUnavailable: 0,
    status: { ...status, disruptionsAllowed: 0, desiredHealthy: status.expectedMachines },
  }
}

function answersOf({ clusters }: FencingDecision): Answer[] {
  return clusters.filter((answer): answer is Answer => answer.budget !== undefined)
}

function find(budgets: readonly MachineDisruptionBudget[], key: BudgetKey): MachineDisruptionBudget | undefined {
  return budgets.find(({ metadata: { namespace = '', name } }) => isSame({ namespace, name }, key))
}

function isSame(a: BudgetKey, b: BudgetKey): boolean {
  return a.namespace === b.namespace && a.name === b.name
}

function keyOf({ namespace, name }: BudgetKey): BudgetKey {
  return { namespace, name }
}
