import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { LabelSelector, Labels } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { type BreakGlass, parseBreakGlass } from '../ledger/rules/break-glass.ts'
import { type AnnotatedBudget, lockWritten } from '../shared/app-lock-annotation.ts'
import { breakGlassAnnotation } from '../shared/break-glass-annotation.ts'
import { parseBudgetView } from '../shared/budget-view.ts'
import { isClosedToPods } from '../shared/closed-node.ts'
import type { NodeDisruption } from '../shared/kinds/node-disruption.ts'

/** What the guard keeps of a pod; there are many. */
export interface GuardedPod {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly nodeName: string
  readonly labels: Labels
  readonly isReady: boolean
  readonly isLeaving: boolean
  /** False before it has started and once it has finished: no budget counts on it then. */
  readonly isCounted: boolean
}

/** What the guard keeps of a budget. */
export interface GuardedBudget extends AnnotatedBudget {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Absent: it covers no pod. Empty: it covers every pod of its namespace. */
  readonly selector: LabelSelector | undefined
  /** Put up and taken down while a failure domain of a Ceph cluster is away. */
  readonly isExchanged: boolean
  /** Allows no disruption, and may be one of those that follow the health of storage. */
  readonly mayHoldStorage: boolean
  /** Only Cofferdam's annotations. */
  readonly annotations: Readonly<Record<string, string>>
}

/** What the guard keeps of a node. */
export interface GuardedNode {
  readonly name: string
  readonly isClosed: boolean
}

/** What the guard keeps of a request to take a node out. */
export interface GuardedDisruption {
  readonly requestId: string
  readonly breakGlass: BreakGlass | undefined
}

export function parseGuardedPod(pod: Pod): GuardedPod {
  const { name, namespace = '', uid = '', labels = {}, deletionTimestamp } = pod.metadata
  const phase = pod.status?.phase
  return {
    namespace,
    name,
    uid,
    nodeName: pod.spec.nodeName ?? '',
    labels,
    isReady: conditionOf(pod, 'Ready')?.status === 'True',
    isLeaving: deletionTimestamp !== undefined,
    isCounted: phase !== 'Pending' && phase !== 'Succeeded' && phase !== 'Failed',
  }
}

export function parseGuardedBudget(budget: PodDisruptionBudget): GuardedBudget {
  const { namespace, name, uid, selector, isExchanged, mayHoldStorage, annotations } = parseBudgetView(budget)
  return { namespace, name, uid, selector, isExchanged, mayHoldStorage, annotations, ...lockWritten(budget) }
}

export function parseGuardedNode(node: Node): GuardedNode {
  return { name: node.metadata.name, isClosed: isClosedToPods(node) }
}

export function parseGuardedDisruption({ metadata }: NodeDisruption): GuardedDisruption {
  const { breakGlass } = parseBreakGlass(metadata.annotations?.[breakGlassAnnotation])
  return { requestId: metadata.uid ?? '', breakGlass }
}
