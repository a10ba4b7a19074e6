import type { ReplicaFacts } from '../volume-health.ts'

/** A whole copy that is in use, but for what is said. */
export function exampleReplica(changes: Partial<ReplicaFacts> & Pick<ReplicaFacts, 'name' | 'node'>): ReplicaFacts {
  return {
    zone: '',
    isPlaced: true,
    isActive: true,
    isEvicting: false,
    isDeleting: false,
    isUsed: true,
    isFailed: false,
    failedAtMs: 0,
    hasData: true,
    retryCount: 0,
    mode: 'RW',
    canRun: true,
    ...changes,
  }
}
