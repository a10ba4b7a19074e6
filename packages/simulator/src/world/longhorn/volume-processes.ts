export interface ReplicaPlace {
  readonly replica: string
  readonly node: string
}

/**
 * Processes that stand behind the simulated ones. They are told what happens, in its order, and may lag behind; what is waited for is the
 * end of a rebuild.
 */
export interface VolumeProcesses {
  /** Over replicas that hold all of the volume. */
  startEngine(volume: string, replicas: readonly ReplicaPlace[]): void
  stopEngine(volume: string): void
  /** Resolves when the replica holds all of the volume; rejects when it never will. */
  rebuild(volume: string, target: ReplicaPlace): Promise<void>
  /** Its process is gone, and what is on its disk stays. */
  stopReplica(replica: string): void
  /** The engine no longer knows it, and nothing is left of it. */
  dropReplica(replica: string): void
}
