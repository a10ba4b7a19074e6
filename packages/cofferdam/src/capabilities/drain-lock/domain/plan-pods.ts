import type { PodReference } from '../../../shared/object-references.ts'
import type { DisruptionWarning } from './decision.ts'
import { desiredWhenFree } from './judge-budget-hold.ts'
import type { BudgetFacts, DisruptionSnapshot, PodFacts } from './snapshot.ts'

/** What becomes of the pods on the node. */
export interface PodPlan {
  readonly stays: readonly PodFacts[]
  /** To be evicted. */
  readonly leaves: readonly PodFacts[]
  /** Terminating already. */
  readonly going: readonly PodFacts[]
  /** What has to hold for the pods that stay, by key of the budget. */
  readonly locks: readonly BudgetLock[]
  readonly warnings: readonly DisruptionWarning[]
}

export interface BudgetLock {
  readonly budget: BudgetFacts
  /** The names of the pods that stay, sorted. */
  readonly pods: readonly string[]
}

export interface PodPlanQuestion {
  readonly seen: Pick<DisruptionSnapshot, 'request' | 'node' | 'pods' | 'budgets' | 'settings'>
  readonly hasFallenBack: boolean
  /** Once the intent is written, nothing more may stay than was on record then. */
  readonly bound: readonly PodReference[] | undefined
  /** A budget that could allow more disruptions than pods stay, and does not, is not waited for any longer. */
  readonly isPatienceOver: boolean
}

/**
 * Which pods stay for a short reboot, and which leave.
 *
 * Guarantees: a pod stays only if it may; one that wants to and may not is named with the reason.
 */
export function planPods(question: PodPlanQuestion): PodPlan {
  const stays: PodFacts[] = []
  const leaves: PodFacts[] = []
  const going: PodFacts[] = []
  const warnings: DisruptionWarning[] = []
  for (const pod of question.seen.pods) {
    if (pod.kind === 'stays-anyway' || hasStayedToItsEnd(pod, question)) continue
    if (pod.isLeaving) {
      going.push(pod)
      continue
    }
    const mayStay = pod.kind === 'ordinary' ? answerFor(pod, question) : false
    if (mayStay === true) stays.push(pod)
    else leaves.push(pod)
    if (typeof mayStay === 'string')
      warnings.push({ object: podName(pod), says: `asks to stay but is evicted: ${mayStay}` })
  }
  const locks = locksFor(stays, question.seen.budgets)
  const selfBlocking = locks.filter((lock) => isInOwnWay(lock, leaves, question))
  for (const { pods, budget } of selfBlocking) {
    for (const name of pods) {
      const pod = stays.find((each) => each.name === name && each.namespace === budget.namespace) as PodFacts
      stays.splice(stays.indexOf(pod), 1)
      leaves.push(pod)
      const says = `asks to stay but is evicted: others of ${budget.name} leave the node, and it does not allow both`
      warnings.push({ object: podName(pod), says })
    }
  }
  if (stays.length > 0) warnings.push(...shutdownWarning(question))
  return { stays, leaves, going, locks: locks.filter((lock) => !selfBlocking.includes(lock)), warnings }
}

/** The disruptions that a budget allows for the pods that stay may be all that the others of the same node wait for. */
function isInOwnWay({ budget, pods }: BudgetLock, leaves: readonly PodFacts[], question: PodPlanQuestion): boolean {
  const { bound, seen, isPatienceOver } = question
  const waits = ({ kind, budgetUids }: PodFacts) =>
    kind === 'ordinary' && budgetUids.length === 1 && budgetUids[0] === budget.uid
  if (!leaves.some(waits)) return false
  // Whoever is away cannot leave any more.
  if (bound !== undefined && seen.node?.isReady !== true) return false
  const allowsMore = budget.expectedPods - desiredWhenFree(budget) > pods.length
  return allowsMore ? isPatienceOver && budget.disruptionsAllowed <= 0 : budget.isCounted
}

export function podName({ namespace, name }: PodReference): string {
  return `pod/${namespace}/${name}`
}

/** True: it stays. False: nobody wants it to. Text: why it does not although it should. */
function answerFor(pod: PodFacts, question: PodPlanQuestion): boolean | string {
  const { bound, hasFallenBack } = question
  if (bound !== undefined && !hasFallenBack) {
    if (bound.some(({ uid }) => uid === pod.uid)) return true
    if (!pod.wantsToStay) return false
    return refusalFor(pod, question) ?? (needsNoLock(pod) ? true : 'it came after the locks were taken')
  }
  return pod.wantsToStay ? (refusalFor(pod, question) ?? true) : false
}

function refusalFor(pod: PodFacts, { seen, hasFallenBack }: PodPlanQuestion): string | undefined {
  const { request, settings, budgets } = seen
  if (request.intent !== 'Reboot') return `the node is to be ${request.intent === 'Remove' ? 'removed' : 'replaced'}`
  if (!request.honourSkipDrain) return 'the request does not honour skip-drain'
  if (!(pod.toleratesMs >= settings.minTolerationMs)) {
    const [has, needs] = [pod.toleratesMs, settings.minTolerationMs].map((ms) => `${Math.floor(ms / 1000)} s`)
    return `it tolerates an unreachable or unready node for ${has}, and ${needs} are needed`
  }
  if (needsNoLock(pod)) return undefined
  if (hasFallenBack) return 'not all locks were acquired in time'
  if (!pod.isReady) return 'it is not ready'
  if (pod.budgetUids.length > 1)
    return `${pod.budgetUids.length} budgets cover it, and none of them can answer for it alone`
  const [budgetUid] = pod.budgetUids
  if (budgetUid !== undefined && !budgets.some(({ uid }) => uid === budgetUid)) return 'its budget cannot be seen'
  return undefined
}

/** Evicting it would take back for a moment that the node may go, just when the Job that asked for the drain has ended and gives the node back. */
function hasStayedToItsEnd(pod: PodFacts, question: PodPlanQuestion): boolean {
  if (pod.kind !== 'finished' || pod.isLeaving || !pod.wantsToStay || !needsNoLock(pod)) return false
  return refusalFor(pod, question) === undefined
}

/** No budget counts on it, ready or not: it can be the pod of a Job that asked for this very drain, and waits in an init container. */
function needsNoLock({ budgetUids }: PodFacts): boolean {
  return budgetUids.length === 0
}

function shutdownWarning({ seen: { request, node } }: PodPlanQuestion): DisruptionWarning[] {
  const seconds = node?.shutdownGraceSeconds ?? 0
  if (seconds <= 0) return []
  const says = `its kubelet ends pods within ${seconds} s when the machine shuts down, including those that stay; their controllers create new ones`
  return [{ object: `node/${request.nodeName}`, says }]
}

function locksFor(stays: readonly PodFacts[], budgets: readonly BudgetFacts[]): readonly BudgetLock[] {
  const locks: { budget: BudgetFacts; pods: string[] }[] = []
  for (const { name, budgetUids } of stays) {
    if (budgetUids.length !== 1) continue
    const [uid] = budgetUids
    const lock = locks.find(({ budget }) => budget.uid === uid)
    const budget = lock === undefined ? budgets.find((each) => each.uid === uid) : undefined
    if (lock !== undefined) lock.pods.push(name)
    else if (budget !== undefined) locks.push({ budget, pods: [name] })
  }
  for (const { pods } of locks) pods.sort()
  return locks.sort((a, b) =>
    `${a.budget.namespace}/${a.budget.name}` < `${b.budget.namespace}/${b.budget.name}` ? -1 : 1,
  )
}
