/** Every reason a decision can give. Conditions, events, the command line and the documents use these words and no others. */
export const reasons = {
  CordonedOnly: 'The node is cordoned, and nobody has begun to evict its pods.',
  DrainCompleted: 'The node is cordoned and every pod that a drain removes has gone.',
  NotCordoned: 'The node takes new pods.',
  PodsLeaving: 'Pods of the cordoned node are being evicted.',
  PodsRemain: 'Pods that a drain removes are still on the node.',
} as const satisfies Record<string, string>

export type Reason = keyof typeof reasons
