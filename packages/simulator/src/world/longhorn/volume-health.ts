import type { ReplicaMode } from './data-plane.ts'

/** What the volume controller uses of one replica. */
export interface ReplicaFacts {
  readonly name: string
  readonly node: string
  readonly zone: string
  /** The replica has a node and a disk. */
  readonly isPlaced: boolean
  readonly isActive: boolean
  readonly isEvicting: boolean
  readonly isDeleting: boolean
  /** `healthyAt` is set: it was RW since it was last rebuilt. */
  readonly isUsed: boolean
  readonly isFailed: boolean
  readonly failedAtMs: number
  /** The replica was healthy at some time, so there is data on it. */
  readonly hasData: boolean
  readonly retryCount: number
  /** In the engine's list, while the volume is attached. */
  readonly mode: ReplicaMode | undefined
  /** Its node, disk and instance manager would let it run. */
  readonly canRun: boolean
}

export interface VolumeFacts {
  /** Its engine can bring a failed replica up to date; the second engine only where that is switched on. */
  readonly mayReuse: boolean
  readonly isAttached: boolean
  readonly isMigrating: boolean
  /** It reads through to the disks of its source. */
  readonly isLinkedClone?: boolean
  readonly wantedCount: number
  /** The node it is attached to, where a copy is wished beside its user. */
  readonly localNode?: string | undefined
  readonly balance: 'disabled' | 'least-effort' | 'best-effort'
  readonly replicas: readonly ReplicaFacts[]
}

/** Holds all data, and will stay. */
export function isHealthy(replica: ReplicaFacts, isAttached: boolean): boolean {
  const { isUsed, isFailed, isActive, isDeleting, mode } = replica
  return isUsed && !isFailed && isActive && !isDeleting && (!isAttached || mode === 'RW')
}

export function robustnessOf({
  isAttached,
  wantedCount,
  replicas,
}: VolumeFacts): 'healthy' | 'degraded' | 'faulted' | 'unknown' {
  if (!isAttached) return replicas.length > 0 && replicas.every(({ isFailed }) => isFailed) ? 'faulted' : 'unknown'
  const healthy = replicas.filter(({ mode, isFailed }) => mode === 'RW' && !isFailed).length
  if (healthy >= wantedCount) return 'healthy'
  return healthy > 0 ? 'degraded' : 'faulted'
}
