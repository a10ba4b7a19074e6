import type { AboutStorage, StorageFacts } from '../../shared/storage-facts.ts'

/** Whoever needs to know whether storage needs a node asks it; each storage answers for itself. */
export interface StorageObserver {
  /** Facts of all storage with daemons on the node, or of the one behind a key; nothing when that one does not exist. */
  observeStorage(about: AboutStorage, signal: AbortSignal): Promise<readonly StorageFacts[]>
}
