import type { DomainVerdict } from './verdict.ts'

/** Ceph at one epoch, judged. */
export interface CephView {
  readonly epoch: number
  readonly upOsds: readonly number[]
  /** By the pattern in use; `dirtyStates` names the others with their counts. `unknown` until every report is newer than the last change. */
  readonly pgs:
    | { readonly health: 'clean' }
    | { readonly health: 'unclean'; readonly dirtyStates: Readonly<Record<string, number>> }
    | { readonly health: 'unknown'; readonly why: string }
  /** The narrowest type that any pool's rule enforces, before any override. */
  readonly failureDomainType: string
  /** For the type in use: which OSDs belong together in CRUSH, and whether they may be away now. */
  readonly domains: readonly DomainVerdict[]
  /** CRUSH buckets that carry noout. */
  readonly nooutBuckets: readonly string[]
  /** Ceph's own answer for the domains we would open; `disagreements` names those where it says yes to our no, or no to our yes. */
  readonly disagreements: readonly string[]
  /**
   * OSDs that Ceph has up and that the verdicts of all other domains count as down, because Kubernetes has lost their pods: Ceph takes
   * seconds to notice. Their own domain's counts them as up, for they may serve still: of a node whose kubelet alone is gone they do. An
   * OSD that is gone for Kubernetes, up for Ceph and not named here makes every verdict but its own domain's stale.
   */
  readonly assumedDownOsds?: readonly number[]
  /** Sets of two and more domains that may all be away together now. Only asked for where `maxDomains` is above 1. */
  readonly openable?: readonly (readonly string[])[]
}
