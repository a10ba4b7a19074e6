/** Every reason a decision can give. Conditions, events, the command line and the documents use these words and no others. */
export const reasons = {
  BudgetAllows: 'The budget can spare a pod now.',
  BudgetExhausted: 'The budget can spare no pod until more of its pods are healthy.',
  BudgetImpossible: 'The budget never spares a pod, however healthy its pods are.',
  BudgetNotCounted: 'The budget is new or changed, and its pods have not been counted since.',
  BudgetOverlap: 'More than one budget covers the pod, and the eviction API refuses such pods.',
  BudgetUncountable: "The budget's pods cannot be counted, so it spares none.",
  CordonedOnly: 'The node is cordoned, and nobody has begun to evict its pods.',
  DrainCompleted: 'The node is cordoned and every pod that a drain removes has gone.',
  NoBudget: 'No budget covers the pod.',
  NoPods: 'The budget covers no pod.',
  NodeNotReady: "The node's kubelet does not answer, so evicted pods would not finish leaving.",
  NotCordoned: 'The node takes new pods.',
  PodIsLeaving: 'The pod is going already.',
  PodNotCounted: 'No budget counts on the pod in its present state.',
  PodStays: 'A drain leaves the pod where it is.',
  PodsLeaving: 'Pods of the cordoned node are being evicted.',
  PodsRemain: 'Pods that a drain removes are still on the node.',
  StorageUndecided: 'No decision about the Ceph cluster is on record.',
} as const satisfies Record<string, string>

export type Reason = keyof typeof reasons
