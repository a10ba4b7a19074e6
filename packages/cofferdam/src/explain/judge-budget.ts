import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { covers, isOutsideBudgets, refusalOf } from '@cofferdam/kubernetes/api/disruption-rules.ts'
import { conditionOf, controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { isManagedByUs } from '../capabilities/ceph-drain/domain/budget-mark.ts'
import { isStorageBudget } from '../capabilities/ceph-drain/view/blocked-domain.ts'
import { followsOsdsRefusal, isFollowingOsds } from '../capabilities/ceph-drain/view/daemon-budget.ts'
import { quorumRefusal, storageRefusal } from '../capabilities/ceph-drain/view/storage-budget.ts'
import { holdRefusal } from '../capabilities/drain-lock/view/hold-refusal.ts'
import type { HoldView } from '../capabilities/drain-lock/view/hold-view.ts'
import { longhornRefusals } from '../capabilities/longhorn-drain/view/longhorn-budget.ts'
import type { LonghornView } from '../capabilities/longhorn-drain/view/longhorn-view.ts'
import type { Blocker } from '../shared/blocker.ts'
import { lastWriterOf } from '../shared/last-writer.ts'
import { causeOf, explainPodHealth } from '../shared/pod-health.ts'
import { isQuorumBudget } from '../shared/quorum-budget.ts'
import type { Reason } from '../shared/reasons.ts'
import type { Refusal } from '../shared/refusal.ts'
import type { StorageView } from '../shared/storage-view.ts'
import type { BudgetAnswer } from './explanation.ts'
import { elsewhereBlockers } from './judge-elsewhere.ts'

export interface BudgetSnapshot {
  readonly budget: PodDisruptionBudget
  /** Pods of its namespace; those it does not cover are passed over. */
  readonly pods: readonly Pod[]
  readonly storage: readonly StorageView[]
  readonly longhorn?: LonghornView
  readonly holds?: HoldView
  /** What could not be read, each as `WHAT: WHY`. */
  readonly unread?: readonly string[]
}

export interface BudgetJudgement {
  readonly answer: BudgetAnswer
  /** Somebody holds it: whoever asks is refused before the budget is. */
  readonly isHeld: boolean
  /** Present while the budget allows no disruption; who waits for it is filled in by whoever asks. */
  readonly blocker: Blocker | undefined
  /** Where several things hold it, each of them in place of the one. */
  readonly behind?: readonly Blocker[]
}

/** Whether a budget allows a disruption now, and if not, what lies behind it. */
export function judgeBudget(snapshot: BudgetSnapshot): BudgetJudgement {
  const { budget, storage } = snapshot
  const { disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0, expectedPods = 0 } = budget.status ?? {}
  const covered = snapshot.pods.filter((pod) => covers(budget, pod))
  const held = snapshot.holds === undefined ? undefined : holdRefusal(budget, snapshot.holds)
  const isUsedUp = held === undefined && refusalOf(budget)?.kind === 'used-up'
  const replicas = isUsedUp ? longhornRefusals(budget, snapshot.longhorn, snapshot.pods) : undefined
  const own = held ?? (replicas === undefined ? refusalFor({ budget, covered, storage }) : replicas[0])
  const elsewhere = own === undefined ? elsewhereOfAll(snapshot, covered) : undefined
  const refusal = own ?? elsewhere
  const answer = {
    budget: keyText(keyOf(budget)),
    rule: ruleOf(budget),
    allowed: refusal === undefined ? disruptionsAllowed : 0,
    healthy: currentHealthy,
    desired: desiredHealthy,
    expected: expectedPods,
  }
  if (refusal === undefined) {
    const says = disruptionsAllowed === 1 ? 'one pod' : `${disruptionsAllowed} pods`
    const reason: Reason = 'BudgetAllows'
    return {
      answer: { ...answer, reason, explanation: `it allows the eviction of ${says} now` },
      blocker: undefined,
      isHeld: false,
    }
  }
  const { reason, explanation } = refusal
  return {
    isHeld: held !== undefined,
    answer: { ...answer, reason, explanation },
    blocker: { ...refusal, object: `pdb/${answer.budget}`, waiting: [] },
    ...(replicas === undefined ? {} : { behind: replicas.map((each) => ({ ...each, waiting: [] })) }),
    ...(elsewhere === undefined ? {} : { behind: [{ ...elsewhere, waiting: [] }] }),
  }
}

/** A budget that has room is of no use while the eviction guard refuses every pod that it covers. */
function elsewhereOfAll(snapshot: BudgetSnapshot, covered: readonly Pod[]): Blocker | undefined {
  const counted = covered.filter((pod) => !isOutsideBudgets(pod) && pod.metadata.deletionTimestamp === undefined)
  const blockerOf = elsewhereBlockers(snapshot)
  const [first, ...more] = counted
  const blocker = first && blockerOf(first, [snapshot.budget])
  return more.every((pod) => blockerOf(pod, [snapshot.budget]) !== undefined) ? blocker : undefined
}

/** Everything that has to end before the budget allows a disruption. */
export function blockersOf({ blocker, behind }: BudgetJudgement): readonly Blocker[] {
  return behind ?? (blocker === undefined ? [] : [blocker])
}

export function ruleOf({ spec }: PodDisruptionBudget): string {
  return spec.maxUnavailable === undefined
    ? `at least ${spec.minAvailable ?? 0} up`
    : `at most ${spec.maxUnavailable} down`
}

interface Guarded {
  readonly budget: PodDisruptionBudget
  readonly covered: readonly Pod[]
}

function refusalFor({
  storage,
  ...guarded
}: Guarded & { readonly storage: readonly StorageView[] }): Refusal | undefined {
  const { budget, covered } = guarded
  const refusal = refusalOf(budget)
  if (refusal === undefined) return undefined
  if (refusal.kind === 'not-counted') return notCounted(budget)
  const condition = conditionOf(budget, 'DisruptionAllowed')
  if (refusal.kind !== 'used-up') return uncountable(budget, refusal.message)
  if (condition?.reason === 'SyncFailed') return uncountable(budget, condition.message ?? refusal.message)
  if (isStorageBudget(budget)) return storageRefusal({ budget, covered, storage })
  if (isFollowingOsds(budget, covered)) return followsOsdsRefusal(budget, storage)
  if (isQuorumBudget(budget)) return quorumRefusal(budget, covered)
  return impossible(guarded) ?? exhausted(guarded)
}

function notCounted(budget: PodDisruptionBudget): Refusal {
  const reason: Reason = 'BudgetNotCounted'
  return {
    reason,
    explanation: 'it was written or changed, and its pods have not been counted since',
    holder: 'the disruption controller (kube-controller-manager)',
    ...sinceOf(lastWriterOf(budget, ['spec']).time ?? budget.metadata.creationTimestamp),
    causes: [],
    unblocks: 'the count, within seconds; if it does not come, kube-controller-manager is not at work',
    override: deleteBudget(budget),
  }
}

function uncountable(budget: PodDisruptionBudget, why: string): Refusal {
  const reason: Reason = 'BudgetUncountable'
  return {
    reason,
    explanation: `its pods cannot be counted: ${why}`,
    holder: authorOf(budget),
    ...sinceOf(conditionOf(budget, 'DisruptionAllowed')?.lastTransitionTime),
    causes: [],
    unblocks: 'a minAvailable that is a whole number, or a controller of the pods that has a scale',
    override: deleteBudget(budget),
  }
}

/** A budget that allows no disruption even with every pod healthy: waiting does not help. */
function impossible({ budget, covered }: Guarded): Refusal | undefined {
  const { desiredHealthy = 0, expectedPods = 0 } = budget.status ?? {}
  const { maxUnavailable, minAvailable } = budget.spec
  const reason: Reason = 'BudgetImpossible'
  const since = sinceOf(conditionOf(budget, 'DisruptionAllowed')?.lastTransitionTime)
  const shared = { reason, holder: authorOf(budget), ...since, causes: [] }
  const counts = typeof minAvailable === 'number' ? 'minAvailable' : 'replicas'
  if (expectedPods === 0 && counts === 'replicas' && covered.every((pod) => controllerOf(pod) === undefined)) {
    const field = maxUnavailable === undefined ? 'a percentage' : 'maxUnavailable'
    return {
      ...shared,
      explanation: `${field} counts the replicas of a controller, and its pods have none, so it never allows an eviction`,
      unblocks: 'a minAvailable that is a whole number below the number of pods',
      override: patchSpec(budget, { maxUnavailable: null, minAvailable: Math.max(0, covered.length - 1) }),
    }
  }
  if (expectedPods === 0 || desiredHealthy < expectedPods) return undefined
  const wants = maxUnavailable === undefined ? `minAvailable is ${minAvailable}` : `maxUnavailable is ${maxUnavailable}`
  return {
    ...shared,
    explanation: `${wants} with ${counted(expectedPods)}: it never allows an eviction, however healthy they are`,
    unblocks:
      maxUnavailable === undefined
        ? `more than ${desiredHealthy} replicas, or a lower minAvailable`
        : 'a maxUnavailable of at least 1',
    override: patchSpec(budget, { maxUnavailable: 1, minAvailable: null }),
  }
}

function exhausted({ budget, covered }: Guarded): Refusal {
  const { currentHealthy = 0, desiredHealthy = 0, expectedPods = 0, disruptedPods = {} } = budget.status ?? {}
  const reason: Reason = 'BudgetExhausted'
  const namespace = budget.metadata.namespace ?? ''
  const health = covered.map(explainPodHealth)
  const granted = health
    .filter(({ pod, isHealthy }) => isHealthy && Object.hasOwn(disruptedPods, pod.slice(namespace.length + 1)))
    .map(({ pod }) => ({
      object: `pod/${pod}`,
      says: 'its eviction is granted, and it has not terminated yet',
      since: disruptedPods[pod.slice(namespace.length + 1)] as string,
    }))
  const causes = [...health.filter(({ isHealthy }) => !isHealthy).map(causeOf), ...granted]
  const missing = expectedPods - covered.length
  const names = causes.map(({ object }) => object)
  const behind = [...names, ...(missing > 0 ? [`${counted(missing)} not made yet`] : [])]
  const stuck = covered.find((pod) => conditionOf(pod, 'Ready')?.status !== 'True' && !isOutsideBudgets(pod))
  return {
    reason,
    explanation:
      currentHealthy > desiredHealthy
        ? 'all evictions it allows are granted and have not ended yet'
        : `it needs ${counted(desiredHealthy, 'healthy')} and has ${currentHealthy} of ${expectedPods}`,
    holder: behind.length === 0 ? 'its pods, which are being counted' : behind.join(', '),
    ...sinceOf(conditionOf(budget, 'DisruptionAllowed')?.lastTransitionTime),
    causes,
    unblocks: `more than ${counted(desiredHealthy, 'healthy')}`,
    override:
      currentHealthy < desiredHealthy &&
      stuck !== undefined &&
      budget.spec.unhealthyPodEvictionPolicy === undefined &&
      !isManagedByUs(budget)
        ? `${patchSpec(budget, { unhealthyPodEvictionPolicy: 'AlwaysAllow' })} lets those go that are not ready`
        : `kubectl -n ${namespace} delete pod NAME bypasses the budget; ${keyText(keyOf(budget))} then has one healthy pod less`,
  }
}

/** Who the budget belongs to: the controller that owns it, else the tool that wrote its spec. */
export function authorOf(budget: PodDisruptionBudget): string {
  const owner = controllerOf(budget)
  if (owner !== undefined) return `${owner.kind.toLowerCase()}/${budget.metadata.namespace ?? ''}/${owner.name}`
  const { manager } = lastWriterOf(budget, ['spec'])
  return manager === undefined ? 'its author' : `its author (${manager})`
}

export function sinceOf(since: string | undefined): { readonly since?: string } {
  return since === undefined ? {} : { since }
}

function patchSpec({ metadata }: PodDisruptionBudget, spec: Readonly<Record<string, unknown>>): string {
  return `kubectl -n ${metadata.namespace ?? ''} patch pdb ${metadata.name} --type merge -p '${JSON.stringify({ spec })}'`
}

function deleteBudget({ metadata }: PodDisruptionBudget): string {
  return `kubectl -n ${metadata.namespace ?? ''} delete pdb ${metadata.name}; then nothing guards its pods`
}

function counted(count: number, quality?: string): string {
  return `${count}${quality === undefined ? '' : ` ${quality}`} pod${count === 1 ? '' : 's'}`
}
