import type { Node, Taint } from '@cofferdam/kubernetes/api/core.ts'

/** Set by tools that empty a node without cordoning it: Karpenter, the cluster autoscaler, medik8s. */
const drainTaints: ReadonlySet<string> = new Set([
  'karpenter.sh/disrupted',
  'ToBeDeletedByClusterAutoscaler',
  'medik8s.io/drain',
])

/** Whether somebody closed the node to new pods: by a cordon, or by the taint of a tool that drains. */
export function isClosedToPods({ spec }: Pick<Node, 'spec'>): boolean {
  return spec?.unschedulable === true || (spec?.taints ?? []).some(({ key }) => drainTaints.has(key))
}

/** The taint that came with the cordon, or that of the tool. */
export function closingTaintOf({ spec }: Pick<Node, 'spec'>): Taint | undefined {
  return spec?.taints?.find(({ key }) => key === 'node.kubernetes.io/unschedulable' || drainTaints.has(key))
}
