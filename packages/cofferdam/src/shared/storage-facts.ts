import type { Observed } from './observed.ts'
import type { Reason } from './reasons.ts'

export interface StorageFacts {
  /** `storage/NAMESPACE/CLUSTER` */
  readonly key: string
  readonly uid: string
  readonly failureDomain: string
  /** Whether this domain may be away now. */
  readonly mayGo: Observed<StorageVerdict>
  readonly isClean: Observed<boolean>
  /** What is not clean and how it becomes so, where the storage reports it. */
  readonly awaited?: string
  /** What keeps budgets of the storage's own pods on the node, where the storage reports it. */
  readonly holds?: readonly StorageHold[]
  /** It has none of the data, and is asked for because copies that leave other nodes may come to it. */
  readonly takesCopies?: boolean
}

export interface StorageVerdict {
  readonly allowed: boolean
  readonly explanation: string
  /** Of a refusal: no waiting changes it, somebody has to act. */
  readonly lasts?: boolean
}

export interface StorageHold {
  /** `pdb/longhorn-system/instance-manager-1` */
  readonly budgets: readonly string[]
  /** Pods with copies that no budget holds, such as `longhorn-system/instance-manager-1`: they are not to be evicted. */
  readonly pods?: readonly string[]
  /** `replica/db-r-1`, `volume/db` */
  readonly object: string
  readonly reason: Reason
  readonly wayOut: string
}

/** `scopes`: the failure domains for which the key is held. */
export type AboutStorage = { readonly node: string } | { readonly key: string; readonly scopes: readonly string[] }
