import type { Observed } from '../../shared/observed.ts'
import type { StorageView } from '../../shared/storage-view.ts'
import type { ClusterVersions } from '../version/version-observe.ts'

/** Everything that a check of an installation is based on. */
export interface DoctorSnapshot {
  readonly client: string
  readonly versions: ClusterVersions
  readonly nodes: Observed<number>
  /** What the user of this command may not do, in words: `list nodes`. */
  readonly userLacks: Observed<readonly string[]>
  /** What the operator's account may not do though deploy/ grants it. */
  readonly operatorLacks: Observed<readonly string[]>
  readonly guard: Observed<GuardFacts | undefined>
  /** CephClusters named to the operator; undefined where it has published nothing. */
  readonly named: readonly string[] | undefined
  readonly ceph: readonly CephFacts[]
  readonly longhorn: LonghornFacts | undefined
}

export interface GuardFacts {
  readonly webhooks: number
  /** Whether each has a certificate to be trusted by. */
  readonly hasCertificate: boolean
  /** How many pods of the operator are ready to answer; undefined where it is called by a URL. */
  readonly readyPods: Observed<number> | undefined
  /** Whether it heard of an eviction that was only tried; unknown where none could be. */
  readonly trial: Observed<GuardTrial>
}

/** `says`: what the API server said instead. */
export type GuardTrial = { readonly isHeard: true } | { readonly isHeard: false; readonly says: string }

export interface CephFacts {
  readonly view: StorageView
  /** Rook's operator by the tag of its image; undefined where none runs. */
  readonly rook: string | undefined
  readonly hasToolbox: boolean
}

export interface LonghornFacts {
  readonly mode: string
  readonly policy: string | undefined
  /** By the tag of its manager's image. */
  readonly version: string | undefined
  readonly problems: number
}
