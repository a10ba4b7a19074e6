import type { LonghornReplica } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { ReplicaFacts } from './volume-health.ts'

export function replicaFacts(
  replica: LonghornReplica,
  seen: Pick<ReplicaFacts, 'mode' | 'canRun' | 'zone'>,
): ReplicaFacts {
  const { metadata, spec = {} } = replica
  return {
    name: metadata.name,
    node: spec.nodeID ?? '',
    isPlaced: isSet(spec.nodeID) && isSet(spec.diskID),
    isActive: spec.active !== false,
    isEvicting: spec.evictionRequested === true,
    isDeleting: metadata.deletionTimestamp !== undefined,
    isUsed: isSet(spec.healthyAt),
    isFailed: isSet(spec.failedAt),
    failedAtMs: Date.parse(spec.failedAt ?? '') || 0,
    hasData: isSet(spec.lastHealthyAt),
    retryCount: spec.rebuildRetryCount ?? 0,
    ...seen,
  }
}

export function isSet(text: string | undefined): boolean {
  return text !== undefined && text !== ''
}
