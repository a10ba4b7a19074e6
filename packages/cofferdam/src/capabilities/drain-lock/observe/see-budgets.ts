import { type AppLockQuestion, judgeAppLocks } from '../../../ledger/rules/app-lock.ts'
import { budgetKey } from '../../../ledger/rules/keys.ts'
import { holdAnnotation, parseBudgetHold } from '../domain/budget-hold.ts'
import type { DisruptionWarning } from '../domain/decision.ts'
import type { BudgetFacts, RequestView } from '../domain/snapshot.ts'
import { byName, coveringBudgets } from './covering-budgets.ts'
import type { HoldableBudget, HostedPod } from './objects.ts'

export interface SeenBudget {
  readonly facts: BudgetFacts
  /** Annotations that cannot be used. */
  readonly faults: readonly DisruptionWarning[]
}

export interface SeenBudgets {
  /** In the order of their names. */
  readonly budgets: readonly SeenBudget[]
  /** Uids of those that cover each of the pods, in the order of these. */
  readonly uidsOf: readonly (readonly string[])[]
}

/** The budgets that cover the pods, and those on record. */
export function seeBudgets(
  hosted: readonly HostedPod[],
  about: LockQuestion & {
    readonly request: RequestView
    readonly budgetsIn: (namespace: string) => readonly HoldableBudget[]
  },
): SeenBudgets {
  const { request, budgetsIn, records, policy, nowMs } = about
  const question = { records, policy, nowMs }
  const seen = new Set<HoldableBudget>()
  const uidsOf = hosted.map((pod) => {
    const covering = coveringBudgets(pod, budgetsIn(pod.namespace))
    if (covering.length === 0) return none
    for (const budget of covering) seen.add(budget)
    return covering.map(({ uid }) => uid)
  })
  for (const { namespace, name } of request.record.lockedBudgets) {
    for (const budget of budgetsIn(namespace)) if (budget.name === name) seen.add(budget)
  }
  const budgets = [...seen].sort(byName).map((budget) => {
    const { namespace } = budget
    return seenOf(judgedOf(namespace, budgetsIn(namespace), question), budget)
  })
  return { budgets, uidsOf }
}

const none: readonly string[] = []

type LockQuestion = Omit<AppLockQuestion, 'namespace' | 'budgets'>

/** What is seen of the budgets of one namespace at one time. Limits and quota of locks are those of a namespace, so all are judged together. */
interface JudgedBudgets {
  readonly of: LockQuestion
  readonly locks: ReturnType<typeof judgeAppLocks>
  readonly seen: Map<HoldableBudget, SeenBudget>
}

/** What was seen last of a list of budgets: asked about many nodes at one time, it is the same. */
const judgedLast = new WeakMap<object, JudgedBudgets>()

function judgedOf(namespace: string, budgets: readonly HoldableBudget[], question: LockQuestion): JudgedBudgets {
  const last = judgedLast.get(budgets)
  const { records, policy, nowMs } = question
  if (last?.of.records === records && last.of.policy === policy && last.of.nowMs === nowMs) return last
  const judged = { of: question, locks: judgeAppLocks({ ...question, namespace, budgets }), seen: new Map() }
  judgedLast.set(budgets, judged)
  return judged
}

function seenOf({ locks, seen }: JudgedBudgets, budget: HoldableBudget): SeenBudget {
  const before = seen.get(budget)
  if (before !== undefined) return before
  const { lock, problem } = locks.get(budget.name) ?? {}
  const facts = budgetFacts(budget, lock)
  const now = { facts, faults: budgetFaults(budget, problem) }
  seen.set(budget, now)
  return now
}

const noFaults: readonly DisruptionWarning[] = []

function budgetFaults(
  { namespace, name, annotations }: HoldableBudget,
  lockProblem: string | undefined,
): readonly DisruptionWarning[] {
  const hold = annotations[holdAnnotation]
  if (lockProblem === undefined && hold === undefined) return noFaults
  const problems = [lockProblem, parseBudgetHold(hold).problem]
  return problems.flatMap((says) => (says === undefined ? [] : { object: budgetKey({ namespace, name }), says }))
}

function budgetFacts(budget: HoldableBudget, appLock: BudgetFacts['appLock']): BudgetFacts {
  const { namespace, name, uid, resourceVersion, isCounted, disruptionsAllowed } = budget
  const { currentHealthy, desiredHealthy, expectedPods, disruptedUntilMs, hold, followers, isQuorum } = budget
  const facts = {
    namespace,
    name,
    uid,
    resourceVersion,
    isCounted,
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    disruptedUntilMs,
    hold,
    appLock,
  }
  if (followers === undefined && isQuorum === undefined) return facts
  return { ...facts, ...(followers && { followers }), ...(isQuorum && { isQuorum }) }
}
