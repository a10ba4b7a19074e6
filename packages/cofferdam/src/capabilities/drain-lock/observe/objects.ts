import type { Node, Pod, Toleration } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf, controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { Labels } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { type BudgetView, parseBudgetView } from '../../../shared/budget-view.ts'
import { isCordoned } from '../../../shared/closed-node.ts'
import { cordonMarkOf } from '../../../shared/cordon-mark.ts'
import { followersOf } from '../../../shared/follows-osds.ts'
import { isQuorumBudget } from '../../../shared/quorum-budget.ts'
import { disruptedUntilMs, holdAnnotation, parseBudgetHold } from '../domain/budget-hold.ts'
import { lossesOf } from '../domain/pod-losses.ts'
import { ownResponders } from '../domain/responder-facts.ts'
import type { BudgetFacts, NodeFacts, PodFacts, PodLeaving } from '../domain/snapshot.ts'

export const skipDrainAnnotation = 'cofferdam.io/skip-drain'
/** On a node, by whoever set up its kubelet: how many seconds pods have to end when the machine shuts down. */
export const shutdownGraceAnnotation = 'cofferdam.io/shutdown-grace-seconds'

/** What is kept of a pod on a node. */
export interface HostedPod extends Omit<PodFacts, 'budgetUids' | 'cephDaemon'> {
  readonly nodeName: string
  readonly labels: Labels
}

export function parseHostedPod(pod: Pod): HostedPod {
  const { name, namespace = '', uid = '', labels = {}, annotations = {}, deletionTimestamp } = pod.metadata
  const { evictionResponders } = pod.spec
  const responders = evictionResponders === undefined ? [] : ownResponders(evictionResponders)
  const hosted: HostedPod = {
    namespace,
    name,
    uid,
    nodeName: pod.spec.nodeName ?? '',
    labels,
    kind: kindOf(pod),
    isReady: conditionOf(pod, 'Ready')?.status === 'True',
    isLeaving: deletionTimestamp !== undefined,
    wantsToStay: annotations[skipDrainAnnotation] === 'true',
    toleratesMs: toleratedMs(pod.spec.tolerations ?? []),
    losses: lossesOf(pod),
  }
  if (deletionTimestamp === undefined && responders.length === 0) return hosted
  return {
    ...hosted,
    ...(deletionTimestamp === undefined ? {} : { leaving: leavingOf(pod, deletionTimestamp) }),
    ...(responders.length === 0 ? {} : { responders }),
  }
}

function leavingOf({ metadata }: Pod, deletionTimestamp: string): PodLeaving {
  const { deletionGracePeriodSeconds: graceSeconds, finalizers = [] } = metadata
  const endsMs = parseRfc3339(deletionTimestamp)
  // The time on the object is that of the end, not that of the request.
  const sinceMs = endsMs === undefined || graceSeconds === undefined ? undefined : endsMs - graceSeconds * 1000
  return { sinceMs, endsMs, finalizers }
}

function kindOf(pod: Pod): PodFacts['kind'] {
  const isMirror = pod.metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined
  if (isMirror || controllerOf(pod)?.kind === 'DaemonSet') return 'stays-anyway'
  const phase = pod.status?.phase
  return phase === 'Succeeded' || phase === 'Failed' ? 'finished' : 'ordinary'
}

const absences = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'] as const

/** How long a pod outlives its node being away. As the API server's own controller reckons, the first match counts. */
function toleratedMs(tolerations: readonly Toleration[]): number {
  if (tolerations.length === 0) return 0
  const each = absences.map((key) => {
    const match = tolerations.find((toleration) => doesTolerate(toleration, key))
    if (match === undefined) return 0
    return match.tolerationSeconds === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(0, match.tolerationSeconds) * 1000
  })
  return Math.min(...each)
}

function doesTolerate({ key = '', operator = 'Equal', value = '', effect }: Toleration, taint: string): boolean {
  if (effect !== undefined && effect !== 'NoExecute') return false
  if (key === '') return operator === 'Exists'
  return key === taint && (operator === 'Exists' || value === '')
}

/** What is kept of a node. */
export type HostNode = NodeFacts & Required<Pick<NodeFacts, 'cordonedBy'>>

export function parseHostNode(node: Node): HostNode {
  const { name, uid = '', annotations = {} } = node.metadata
  const grace = Number(annotations[shutdownGraceAnnotation] ?? Number.NaN)
  return {
    name,
    uid,
    bootID: node.status?.nodeInfo?.bootID ?? '',
    isReady: conditionOf(node, 'Ready')?.status === 'True',
    // The field alone: a taint of another tool is no cordon that a request has set, or could lift.
    isCordoned: isCordoned(node),
    shutdownGraceSeconds: Number.isFinite(grace) ? grace : undefined,
    cordonedBy: cordonMarkOf(node),
  }
}

/** Of the very object that was read, which a write can name. */
export function parseSeenNode(node: Node): HostNode {
  return { ...parseHostNode(node), resourceVersion: node.metadata.resourceVersion ?? '' }
}

/** What is kept of a budget. There are as many as pods in some clusters, so their fields are named one by one. */
export interface HoldableBudget extends BudgetView, Omit<BudgetFacts, 'appLock'> {}

export function parseHoldableBudget(budget: PodDisruptionBudget): HoldableBudget {
  const { metadata, status } = budget
  const followers = followersOf(budget)
  const view = parseBudgetView(budget)
  const { lockWrittenMs } = view
  const holdable = {
    namespace: view.namespace,
    name: view.name,
    uid: view.uid,
    isCounted: view.isCounted,
    disruptionsAllowed: view.disruptionsAllowed,
    selector: view.selector,
    isExchanged: view.isExchanged,
    mayHoldStorage: view.mayHoldStorage,
    ownerUid: view.ownerUid,
    annotations: view.annotations,
    resourceVersion: metadata.resourceVersion ?? '',
    currentHealthy: status?.currentHealthy ?? 0,
    desiredHealthy: status?.desiredHealthy ?? 0,
    expectedPods: status?.expectedPods ?? 0,
    disruptedUntilMs: disruptedUntilMs(status),
    hold: parseBudgetHold(metadata.annotations?.[holdAnnotation]).hold,
  }
  const isQuorum = isQuorumBudget(budget)
  if (lockWrittenMs === undefined && followers === undefined && !isQuorum) return holdable
  return {
    ...holdable,
    ...(lockWrittenMs !== undefined && { lockWrittenMs }),
    ...(followers && { followers }),
    ...(isQuorum && { isQuorum }),
  }
}

export function createdMs({ creationTimestamp = '' }: { readonly creationTimestamp?: string }): number {
  return parseRfc3339(creationTimestamp) ?? 0
}
