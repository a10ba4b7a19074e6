import type { DataBlocks } from './data-blocks.ts'

/** What is on a disk of one replica. */
export interface ReplicaStore {
  readonly replica: string
  readonly volume: string
  readonly node: string
  readonly diskUuid: string
  readonly blocks: DataBlocks
  /** Writes it has seen: the engine takes no copy that is behind the others. */
  revision: number
  /** The replica holds all of the volume: false from the start of a rebuild to its end. */
  isWhole: boolean
  isBroken: boolean
}
