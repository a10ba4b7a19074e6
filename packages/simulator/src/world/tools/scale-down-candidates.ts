import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf, controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { amountsOf, podRequests } from '../nodes/pod-requests.ts'
import { isFinished } from '../pod-facts.ts'

export const toBeDeletedTaint = 'ToBeDeletedByClusterAutoscaler'
const scaleDownDisabled = 'cluster-autoscaler.kubernetes.io/scale-down-disabled'
const safeToEvict = 'cluster-autoscaler.kubernetes.io/safe-to-evict'

export interface CandidateRules {
  /** `--scale-down-utilization-threshold` */
  readonly threshold: number
  /** `--skip-nodes-with-local-storage` */
  readonly skipsLocalStorage: boolean
}

/** Why the autoscaler leaves a node alone; undefined: it is not needed. */
export function unremovableReason(
  node: Node,
  { pods, budgets }: { readonly pods: readonly Pod[]; readonly budgets: readonly PodDisruptionBudget[] },
  rules: CandidateRules,
): string | undefined {
  if (node.spec?.taints?.some(({ key }) => key === toBeDeletedTaint)) return 'CurrentlyBeingDeleted'
  if (node.metadata.annotations?.[scaleDownDisabled] === 'true') return 'ScaleDownDisabledAnnotation'
  if (utilization(node, pods) > rules.threshold) return 'NotUnderutilized'
  const moving = podsToMove(pods)
  if (moving.some((pod) => isBlocking(pod, rules))) return 'BlockedByPod'
  const isShort = budgets.some((budget) => covered(budget, moving) > (budget.status?.disruptionsAllowed ?? 0))
  return isShort ? 'NotEnoughPdb' : undefined
}

/** Pods that have to run elsewhere: neither of a DaemonSet, nor of the node itself, nor at their end. */
export function podsToMove(pods: readonly Pod[]): readonly Pod[] {
  return pods.filter((pod) => !isFinished(pod) && !isDaemonPod(pod) && !isMirrorPod(pod))
}

export function isDaemonPod(pod: Pod): boolean {
  return controllerOf(pod)?.kind === 'DaemonSet'
}

export function isMirrorPod({ metadata }: Pod): boolean {
  return metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined
}

export function isReadyNode(node: Node): boolean {
  return conditionOf(node, 'Ready')?.status === 'True'
}

/** The larger of the shares of cpu and memory that are asked for. */
function utilization({ status }: Node, pods: readonly Pod[]): number {
  const allocatable = amountsOf(status?.allocatable)
  const shares = ['cpu', 'memory'].map((name) => {
    const asked = pods
      .filter((pod) => !isFinished(pod))
      .reduce((sum, { spec }) => sum + (podRequests(spec).get(name) ?? 0), 0)
    const whole = allocatable.get(name) ?? 0
    return whole === 0 ? 0 : asked / whole
  })
  return Math.max(...shares)
}

function isBlocking(pod: Pod, { skipsLocalStorage }: CandidateRules): boolean {
  const wish = pod.metadata.annotations?.[safeToEvict]
  if (wish === 'true') return false
  const isLocal = (pod.spec.volumes ?? []).some((volume) => 'emptyDir' in volume || 'hostPath' in volume)
  return wish === 'false' || controllerOf(pod) === undefined || (skipsLocalStorage && isLocal)
}

function covered({ metadata, spec }: PodDisruptionBudget, pods: readonly Pod[]): number {
  const { selector } = spec
  if (selector === undefined) return 0
  return pods.filter(
    (pod) => pod.metadata.namespace === metadata.namespace && isSelected(selector, pod.metadata.labels ?? {}),
  ).length
}
