import type { MachineDisruptionBudget } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { FencingDecision } from './decision.ts'
import type { FencingSnapshot } from './snapshot.ts'
import type { BudgetKey } from './steps.ts'

type Problems = FencingDecision['problems']

/** What one pass over all machines is decided on. */
export type FencingPassSnapshot = BlindFencing | SeenFencing

/** Something cannot be read without which nothing can be said of any machine. */
export interface BlindFencing {
  readonly state: 'blind'
  readonly unread: readonly string[]
  readonly budgets: readonly MachineDisruptionBudget[]
}

export interface SeenFencing {
  readonly state: 'seen'
  readonly seen: FencingSnapshot
  /** All budgets, as this pass last wrote them or as they were seen. */
  readonly budgets: readonly MachineDisruptionBudget[]
  /** Budgets of ours that somebody else had changed when the pass began. */
  readonly foreign: readonly BudgetKey[]
  /** Label keys that some machine could not be given in this pass. */
  readonly unlabelled: ReadonlySet<string>
  /** The ledger and the pods of OSDs were read at the API server in this pass. */
  readonly isFresh: boolean
  /** What was announced in this pass; undefined: nothing was, and they were not read again. */
  readonly announced: readonly BudgetKey[] | undefined
  /** Storage that could not be held in this pass. */
  readonly unheld: Problems
  /** What is wrong with those who should listen, and when to reconcile again for it. */
  readonly heard: { readonly problems: Problems; readonly recheckAfterSeconds: number | undefined }
}
