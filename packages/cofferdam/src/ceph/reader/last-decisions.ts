import type { CephView } from '../../safety/ceph-view.ts'
import type { Observed } from '../../shared/observed.ts'

/** What was seen of a Ceph cluster and decided about its failure domains last. */
export interface LastDecision {
  readonly snapshot: {
    readonly nodes: readonly { readonly name: string; readonly isClosed: boolean }[]
    readonly osds: readonly { readonly id: number; readonly nodeName: Observed<string> }[]
    readonly ceph: Observed<Pick<CephView, 'pgs' | 'upOsds'>>
  }
  readonly decision: {
    readonly failureDomainType: string
    readonly domains: readonly {
      readonly domain: string
      readonly osds: readonly number[]
      readonly nodes: readonly string[]
    }[]
  }
  /** When Ceph itself was asked last, of those times that it answered; a decision may rest on an earlier answer. */
  readonly cephAskedAtMs: number | undefined
  /** The type of failure domain when Ceph answered last; undefined when it never has. */
  readonly domainType: string | undefined
}

/** Asks whoever decides about the OSDs of Ceph clusters, each by its `namespace/name`. */
export interface LastDecisions {
  /** What was decided last, however long ago. */
  latest(key: string): LastDecision | undefined
  /** Notifies with the key of every cluster that was decided about, from now on; the returned function ends it. */
  follow(notify: (key: string) => void): () => void
  /** Asks for a reconcile now, without waiting for it. */
  request(key: string): void
  /** What was decided last, if that is no older than `maxAgeMs`; else the decision of a pass that begins now, in time or not. */
  decided(
    key: string,
    wait: { readonly maxAgeMs: number; readonly waitMs: number; readonly signal: AbortSignal },
  ): Promise<LastDecision | undefined>
}
