import type { Step } from '../../../shared/steps.ts'
import type { BudgetOfCluster } from './budget-update.ts'
import type { Fence, FencingDecision, GateChange, LabelChange, WantedMachineBudget } from './decision.ts'
import type { OutageNote } from './planned-outages.ts'

/** What one pass over all machines does. */
export type FencingStep = AskBefore | AskAgain | KeepHolds | FencingWrite | ReportFencing | ReportBlind

export interface BudgetKey {
  readonly namespace: string
  readonly name: string
}

/**
 * Read the ledger and the pods of OSDs at the API server before anything is announced: what a late watch shows would be announced and taken back
 * over and over, each write beginning the next pass.
 */
export interface AskBefore extends Step {
  readonly do: 'ask'
  readonly what: 'before'
}

/** Read them again: whoever took the storage meanwhile has seen what was announced, or is seen. */
export interface AskAgain extends Step {
  readonly do: 'ask'
  readonly what: 'again'
  /** Budgets whose opening, or whose fences that are over, were announced in this pass. */
  readonly announced: readonly BudgetKey[]
}

/** Hold the storage of fences that are under way; release what no fence needs any more. */
export interface KeepHolds extends Step {
  readonly do: 'hold'
  readonly what: 'hold' | 'release'
  readonly fences: readonly Fence[]
}

export type FencingWrite = WriteLabels | WriteGate | WriteBudget | AnnounceBudget | NoteBudget | NoteOutage | EndBudget

export interface WriteLabels extends Step {
  readonly do: 'write'
  readonly what: 'add-labels' | 'remove-labels'
  readonly change: LabelChange
}

export interface WriteGate extends Step {
  readonly do: 'write'
  readonly what: 'gate'
  readonly change: GateChange
}

/**
 * `close-budget`: make it so that it allows no disruption, the spec first. `keep-budget`: it is as it should be.
 * `open-budget`: let its status say how many disruptions it allows.
 */
export interface WriteBudget extends Step {
  readonly do: 'write'
  readonly what: 'close-budget' | 'keep-budget' | 'open-budget'
  readonly wanted: BudgetOfCluster
}

/**
 * Take fences that are over off the budget, and say in its spec what is about to be allowed. The entry in the status goes before the
 * record: whoever dies in between finds the record, and with it how the fence began.
 */
export interface AnnounceBudget extends Step {
  readonly do: 'write'
  readonly what: 'announce-budget'
  readonly wanted: BudgetOfCluster
  /** What its status says meanwhile. */
  readonly meanwhile: WantedMachineBudget
}

/** Write on the budget what was decided, for whoever explains. It lets nobody through and keeps nobody. */
export interface NoteBudget extends Step {
  readonly do: 'write'
  readonly what: 'note-budget'
  readonly budget: BudgetKey
  readonly notes: Readonly<Record<string, string>>
}

/** Write on a request since when its node is away, so that its time is counted from then in every process. */
export interface NoteOutage extends Step {
  readonly do: 'write'
  readonly what: 'note-outage'
  readonly note: OutageNote
}

/** `shut-budget`: whatever else stands there, it allows no disruption. */
export interface EndBudget extends Step {
  readonly do: 'write'
  readonly what: 'shut-budget' | 'delete-budget'
  readonly budget: BudgetKey
}

export interface ReportFencing extends Step {
  readonly do: 'report'
  readonly what: 'decision'
  readonly decision: FencingDecision
  /** Problems besides those of the decision. */
  readonly problems: FencingDecision['problems']
}

export interface ReportBlind extends Step {
  readonly do: 'report'
  readonly what: 'blind'
  readonly unread: readonly string[]
}
