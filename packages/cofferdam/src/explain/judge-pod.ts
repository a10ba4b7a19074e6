import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { budgetsOf, isOutsideBudgets, mayEvictUnready } from '@cofferdam/kubernetes/api/disruption-rules.ts'
import { conditionOf, controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { isStorageBudget } from '../capabilities/ceph-drain/view/blocked-domain.ts'
import { isReleased } from '../capabilities/ceph-drain/view/storage-budget.ts'
import { lossesOf, lossFlags } from '../capabilities/drain-lock/domain/pod-losses.ts'
import type { StayAnswer, StayOf } from '../capabilities/drain-lock/view/explain-stay.ts'
import { isHoldBudget, isOverInstanceManager } from '../capabilities/longhorn-drain/domain/budget-object.ts'
import type { Blocker } from '../shared/blocker.ts'
import { parsePodOnNode } from '../shared/pod-on-node.ts'
import type { Reason } from '../shared/reasons.ts'
import type { StorageView } from '../shared/storage-view.ts'
import type { DrainFlag, PodAnswer, PodVerdict } from './explanation.ts'
import { authorOf, type BudgetJudgement, blockersOf } from './judge-budget.ts'

export interface PodJudgement {
  readonly answer: PodAnswer
  readonly blockers: readonly Blocker[]
  /** Of a pod that asks to stay: what keeps its budget from counting it as gone. No drain ends before that has ended. */
  readonly staysAfter: readonly Blocker[]
  /** The budget that one disruption is taken from when it goes. */
  readonly takesFrom: PodDisruptionBudget | undefined
}

/** Whether the pod may be evicted now, by the rules of the eviction API. */
export function judgePod(
  pod: Pod,
  cluster: {
    readonly budgets: readonly PodDisruptionBudget[]
    readonly storage: readonly StorageView[]
    readonly judge: (budget: PodDisruptionBudget) => BudgetJudgement
    /** What the eviction guard says of it beside its budgets; left out where no guard is asked. */
    readonly elsewhereOf?: (pod: Pod, budgets: readonly PodDisruptionBudget[]) => Blocker | undefined
    readonly stayOf?: StayOf
  },
): PodJudgement {
  const budgets = budgetsOf(pod, cluster.budgets)
  const { nodeName } = pod.spec
  const name = keyText(keyOf(pod))
  const stayAnswer = cluster.stayOf?.(pod)
  const refused = stayAnswer?.mayStay === false ? stayAnswer.says : undefined
  const answer = (verdict: PodVerdict, reason: Reason, explanation: string): PodAnswer => ({
    pod: name,
    ...(nodeName ? { node: nodeName } : {}),
    verdict,
    reason,
    explanation: refused === undefined ? explanation : `${explanation}; ${refused}`,
    budgets: budgets.map((budget) => keyText(keyOf(budget))),
    needs: verdict === 'leaving' ? [] : flagsFor(pod),
    ...(stayAnswer === undefined ? {} : { stay: stayAnswer }),
  })
  const free = (verdict: PodVerdict, reason: Reason, explanation: string): PodJudgement => ({
    answer: answer(verdict, reason, explanation),
    blockers: [],
    staysAfter: [],
    takesFrom: undefined,
  })
  const waiting = (blockers: readonly Blocker[]) => blockers.map((each) => ({ ...each, waiting: [`pod/${name}`] }))

  const stay = whyItStays(pod, stayAnswer)
  if (stay !== undefined) {
    const staysAfter = parsePodOnNode(pod).mustLeave ? budgets.flatMap((each) => blockersOf(cluster.judge(each))) : []
    return { ...free('stays', 'PodStays', stay), staysAfter: waiting(staysAfter) }
  }
  if (pod.metadata.deletionTimestamp !== undefined) return free('leaving', 'PodIsLeaving', leavingText(pod))
  if (isOutsideBudgets(pod)) return free('goes', 'PodNotCounted', 'it has not started, so no budget applies')
  const held = budgets
    .map((each) => ({ name: each.metadata.name, ...cluster.judge(each) }))
    .find(({ isHeld }) => isHeld)
  if (held?.blocker !== undefined) {
    const says = `budget ${held.name}: ${held.answer.explanation}`
    return {
      answer: { ...answer('waits', 'HeldByRequest', says), reason: held.answer.reason },
      blockers: waiting([held.blocker]),
      staysAfter: [],
      takesFrom: undefined,
    }
  }
  const isLonghorns = budgets.every(isOverInstanceManager)
  // Longhorn's budget comes before one of ours over the same pod: both wait for the same, and Longhorn's goes later.
  const ordered = isLonghorns ? [...budgets].sort(longhornsFirst) : budgets
  const [budget, second] = isLonghorns ? heldFirst(ordered, cluster.judge) : ordered
  if (budget === undefined) {
    const isAway = isReleased(pod, cluster.storage)
    return free(
      'goes',
      'NoBudget',
      isAway ? 'no budget holds it: its failure domain may be away' : 'no budget covers it',
    )
  }
  if (second !== undefined && (!isLonghorns || cluster.judge(budget).blocker === undefined)) {
    const blocker = overlap(budgets, name)
    return { ...free('waits', 'BudgetOverlap', blocker.explanation), blockers: [blocker] }
  }
  const isUnready = conditionOf(pod, 'Ready')?.status !== 'True' && mayEvictUnready(budget)
  const judged = cluster.judge(budget)
  const elsewhere = isUnready || judged.blocker === undefined ? cluster.elsewhereOf?.(pod, budgets) : undefined
  if (elsewhere !== undefined) {
    return {
      answer: { ...answer('waits', 'OtherDomainDown', elsewhere.explanation), reason: elsewhere.reason },
      blockers: [elsewhere],
      staysAfter: [],
      takesFrom: undefined,
    }
  }
  if (isUnready) {
    return free('goes', 'PodNotCounted', `it is not ready, and budget ${budget.metadata.name} does not count on it`)
  }
  const says = `budget ${budget.metadata.name}: ${whyOf(budget, judged)}`
  const verdict = judged.blocker === undefined ? 'goes' : 'waits'
  return {
    answer: { ...answer(verdict, 'BudgetAllows', says), reason: judged.answer.reason },
    blockers: waiting(blockersOf(judged)),
    staysAfter: [],
    takesFrom: judged.blocker === undefined ? budget : undefined,
  }
}

/** Under two budgets a pod stays for as long as one of them holds it. */
function heldFirst(
  budgets: readonly PodDisruptionBudget[],
  judge: (budget: PodDisruptionBudget) => BudgetJudgement,
): readonly PodDisruptionBudget[] {
  if (budgets.length < 2) return budgets
  const held = budgets.filter((budget) => judge(budget).blocker !== undefined)
  return [...held, ...budgets.filter((budget) => !held.includes(budget))]
}

function longhornsFirst(left: PodDisruptionBudget, right: PodDisruptionBudget): number {
  return Number(isHoldBudget(left)) - Number(isHoldBudget(right))
}

/** What is explained at length elsewhere gets a short text for each pod. */
function whyOf(budget: PodDisruptionBudget, { answer, blocker, behind = [] }: BudgetJudgement): string {
  if (blocker === undefined) return answer.explanation
  if (isStorageBudget(budget)) return `its failure domain is held (${answer.reason})`
  return behind.some(({ object }) => !object.startsWith('pdb/'))
    ? `Longhorn needs its node (${answer.reason})`
    : answer.explanation
}

function whyItStays(pod: Pod, stay: StayAnswer | undefined): string | undefined {
  if (stay?.mayStay === false) return undefined
  if (stay !== undefined) return stay.says
  const { mustLeave, wantsToStay, isLeaving } = parsePodOnNode(pod)
  if (mustLeave && (!wantsToStay || isLeaving)) return undefined
  const { annotations = {} } = pod.metadata
  if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return 'it has finished: nothing is lost'
  if (controllerOf(pod)?.kind === 'DaemonSet') return 'it belongs to a DaemonSet'
  if (annotations['kubernetes.io/config.mirror'] !== undefined) return 'it is a mirror of a static pod'
  return 'it asks to stay (cofferdam.io/skip-drain); plain kubectl drain ignores that'
}

function leavingText({ metadata }: Pod): string {
  const finalizers = metadata.finalizers ?? []
  return finalizers.length === 0 ? 'it is terminating' : `it is terminating, held by ${finalizers.join(', ')}`
}

function flagsFor(pod: Pod): DrainFlag[] {
  const isFinished = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
  if (!isFinished && controllerOf(pod)?.kind === 'DaemonSet') return ['--ignore-daemonsets']
  return lossesOf(pod).map((loss) => lossFlags[loss])
}

function overlap(budgets: readonly PodDisruptionBudget[], pod: string): Blocker {
  const reason: Reason = 'BudgetOverlap'
  const names = budgets.map((budget) => keyText(keyOf(budget)))
  const [namespace = '', podName = ''] = pod.split('/')
  const isSwap = budgets.every(isStorageBudget)
  const later = budgets.at(-1) as PodDisruptionBudget
  return {
    object: `pdb/${names[0]}`,
    reason,
    explanation: `budgets ${names.join(' and ')} cover it, and the eviction API refuses pods with more than one`,
    holder: [...new Set(budgets.map(authorOf))].join(' and '),
    causes: names.slice(1).map((name) => ({ object: `pdb/${name}`, says: 'covers it too' })),
    unblocks: isSwap
      ? 'the end of the swap between the two, within seconds'
      : `selectors that do not overlap, or one budget less: kubectl -n ${namespace} delete pdb ${later.metadata.name}`,
    override: `kubectl -n ${namespace} delete pod ${podName} bypasses the budget`,
    waiting: [`pod/${pod}`],
  }
}
