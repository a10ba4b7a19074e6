import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { Blocker } from './blocker.ts'
import type { Reason } from './reasons.ts'

/** Whether the budget follows the quorum: its number is how many monitors may be away, not what somebody chose. */
export function isQuorumBudget({ metadata, spec }: Pick<PodDisruptionBudget, 'metadata' | 'spec'>): boolean {
  return metadata.name === 'rook-ceph-mon-pdb' && spec.selector?.matchLabels?.['app'] === 'rook-ceph-mon'
}

/** Why such a budget allows no eviction: how many of its pods are healthy is not it. */
export const quorumAtRisk = {
  reason: 'QuorumAtRisk' satisfies Reason,
  explanation: 'a monitor is out of quorum, or the quorum is not known; with one more gone Ceph could stop',
  holder: 'the monitors of Ceph',
  unblocks: 'every monitor back in quorum',
} as const satisfies Pick<Blocker, 'reason' | 'explanation' | 'holder' | 'unblocks'>
