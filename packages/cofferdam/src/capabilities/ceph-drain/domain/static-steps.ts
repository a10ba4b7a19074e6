import type { BudgetWrite } from '@cofferdam/kubernetes/api/budget-write.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import type { Step } from '../../../shared/steps.ts'
import type { StaticBudgetDecision } from './static-budgets.ts'

/** What a pass of ceph-static-budgets does, in this order; which of them, `decideStaticPass` says. */
export type StaticBudgetStep = AskQuorum | EnterTurn | WriteStaticBudgets | LeaveTurn | ReportProblems

/** Which monitors are in the quorum. */
export interface AskQuorum extends Step {
  readonly do: 'ask'
  readonly name: 'quorum'
}

/** From here on nobody else works on the budgets of the cluster: whose turn it is has to be read after that. */
export interface EnterTurn extends Step {
  readonly do: 'hold'
  readonly name: 'enter-turn'
}

export interface WriteStaticBudgets extends Step {
  readonly do: 'write'
  readonly name: 'budgets'
  readonly writes: readonly BudgetWrite[]
}

/** The budgets stand: others may work on those of the cluster. */
export interface LeaveTurn extends Step {
  readonly do: 'hold'
  readonly name: 'leave-turn'
  readonly daemonBudgets: StaticBudgetDecision['daemonBudgets']
  /** Nodes whose mon or mgr may go; undefined: as was known before. */
  readonly looseNodes: readonly string[] | undefined
}

export interface ReportProblems extends Step {
  readonly do: 'report'
  readonly name: 'report'
  readonly problems: readonly ObjectProblem[]
}
