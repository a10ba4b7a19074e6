/** A process of a replica was stopped, or its directory deleted, and what the engine itself said just before. */
export interface ReplicaEnd {
  readonly what: 'stopped' | 'deleted'
  readonly replica: string
  /** False: the volume is detached, and its replicas are stopped with their data on disk. */
  readonly isEngineRunning: boolean
  /** Replicas that ran and whose mode was RW. Where no engine ran: those that were whole when the last one ended. */
  readonly whole: readonly string[]
}

/** Ends of the only whole copy: stopped under a running engine, or deleted at any time. */
export function copiesAtRisk(ends: readonly ReplicaEnd[]): ReplicaEnd[] {
  return ends.filter(
    ({ what, replica, isEngineRunning, whole }) =>
      (isEngineRunning || what === 'deleted') && whole.length === 1 && whole[0] === replica,
  )
}
