import type { Node, Pod, Taint } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { cordonManager, cordonMarkOf } from './cordon-mark.ts'
import { lastWriterOf, type Writer } from './last-writer.ts'

/**
 * Tools that empty a node without cordoning it, by the key of the taint with which they close it. What counts is the key: the effect
 * and the value differ between versions.
 *
 * Not here is `DeletionCandidateOfClusterAutoscaler`: the autoscaler only considers such a node, and pods are still placed on it.
 */
const drainTools: ReadonlyMap<string, string> = new Map([
  ['karpenter.sh/disrupted', 'Karpenter'],
  // Before its version 1.
  ['karpenter.sh/disruption', 'Karpenter'],
  ['ToBeDeletedByClusterAutoscaler', 'cluster autoscaler'],
  ['medik8s.io/drain', 'medik8s'],
])

/** The taint that Kubernetes itself puts on a cordoned node. */
export const cordonTaint = 'node.kubernetes.io/unschedulable'

/** Why a node is closed to new pods. At least one of the three holds. */
export interface NodeClosing {
  /** `spec.unschedulable`, as `kubectl cordon` sets it: the only sign that Longhorn and Rook go by. */
  readonly isCordoned: boolean
  /** The taint of a tool that drains. */
  readonly taint: ClosingTaint | undefined
  /** Why its taints cannot be read. */
  readonly unreadable: string | undefined
}

export interface ClosingTaint {
  readonly key: string
  /** `Karpenter` */
  readonly tool: string
}

/**
 * Whether and why a node is closed to new pods: the one decision by which every capability takes a node for one that is being emptied.
 * Undefined: it is open.
 *
 * Fails closed: a node whose taints cannot be read counts as closed.
 */
export function closingOf(node: Pick<Node, 'spec'>): NodeClosing | undefined {
  const taints: unknown = node.spec?.taints ?? []
  const isReadable = Array.isArray(taints) && taints.every(isTaint)
  const key = isReadable ? taints.find((taint) => drainTools.has(taint.key))?.key : undefined
  const closing: NodeClosing = {
    isCordoned: isCordoned(node),
    taint: key === undefined ? undefined : { key, tool: drainTools.get(key) as string },
    unreadable: isReadable ? undefined : 'spec.taints is not a list of taints',
  }
  const isClosed = closing.isCordoned || closing.taint !== undefined || closing.unreadable !== undefined
  return isClosed ? closing : undefined
}

export function isClosedToPods(node: Pick<Node, 'spec'>): boolean {
  return closingOf(node) !== undefined
}

/** Whether the scheduler found no node for the pod, one that is closed among those it asked. */
export function waitsForClosedNode(pod: Pod): boolean {
  const scheduled = conditionOf(pod, 'PodScheduled')
  return !pod.spec.nodeName && scheduled?.status === 'False' && scheduled.message?.includes('unschedulable') === true
}

/** What closes the node, each by a name: `cordon`, `taint karpenter.sh/disrupted (Karpenter)`. */
export function closingSigns({ isCordoned: hasCordon, taint, unreadable }: NodeClosing): string[] {
  return [
    ...(hasCordon ? [cordonSign] : []),
    ...(taint === undefined ? [] : [taintText(taint)]),
    ...(unreadable === undefined ? [] : [`taints that cannot be read (${unreadable})`]),
  ]
}

export const cordonSign = 'cordon'

/** As it follows the name of a node and "is": `closed by taint karpenter.sh/disrupted (Karpenter)`. */
export function closingText(closing: NodeClosing): string {
  return closingSigns(closing)
    .map((sign) => (sign === cordonSign ? 'cordoned' : `closed by ${sign}`))
    .join(' and ')
}

export function taintText({ key, tool }: ClosingTaint): string {
  return `taint ${key} (${tool})`
}

/** Whether a taint is that of a tool that drains, or that of the cordon: then it is reported as the closing of the node. */
export function isClosingTaint({ key }: Pick<Taint, 'key'>): boolean {
  return key === cordonTaint || drainTools.has(key)
}

/**
 * Whether `spec.unschedulable` is set. Only for what is about this field and nothing else: setting and lifting a cordon, and what programs
 * do that see nothing but a cordon. Whether a node is being emptied is `closingOf`.
 */
export function isCordoned({ spec }: Pick<Node, 'spec'>): boolean {
  return spec?.unschedulable === true
}

/** Which client cordoned the node, and when, as far as its managed fields say. */
export function cordonWriterOf(node: Node): Writer {
  return lastWriterOf(node, ['spec', 'unschedulable'])
}

/**
 * Whether it is still Cofferdam that keeps the node cordoned. A mark outlives an uncordon and a cordon of others that were not seen; the managed
 * fields then name another writer.
 */
export function isCordonedByCofferdam(node: Node): boolean {
  const { manager = cordonManager } = cordonWriterOf(node)
  return isCordoned(node) && manager === cordonManager && cordonMarkOf(node) !== ''
}

/** The taint that came with the cordon, or that of the tool. */
export function closingTaintOf({ spec }: Pick<Node, 'spec'>): Taint | undefined {
  const taints: unknown = spec?.taints
  return Array.isArray(taints) ? taints.filter(isTaint).find(isClosingTaint) : undefined
}

/** What a slim copy of a node must keep for the decision. */
export function closingFieldsOf({
  spec,
}: Pick<Node, 'spec'>): Pick<NonNullable<Node['spec']>, 'unschedulable' | 'taints'> {
  return {
    ...(spec?.unschedulable === undefined ? {} : { unschedulable: spec.unschedulable }),
    ...(spec?.taints === undefined ? {} : { taints: spec.taints }),
  }
}

function isTaint(taint: unknown): taint is Taint {
  return typeof taint === 'object' && taint !== null && typeof (taint as { readonly key?: unknown }).key === 'string'
}
