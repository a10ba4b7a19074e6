import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import type { GrowthPassSnapshot, HeardInGrowth, ObservedGrowth } from '../domain/decide-growth-pass.ts'
import type { OsdUuids } from '../domain/growth-snapshot.ts'
import { type GrowthViews, observeGrowth, wishOf } from './growth.ts'

/** One pass over the growth of one cluster: builds its snapshots, and keeps what is learned from one to the next. */
export class GrowthPass {
  readonly cluster: CephCluster
  readonly #views: GrowthViews
  readonly #rookImage: string
  #heard: HeardInGrowth = {}
  #uuids: Observed<ReadonlyMap<number, string>> | undefined
  #observed: ObservedGrowth | undefined
  #isWriting = false

  constructor(views: GrowthViews, given: { readonly cluster: CephCluster; readonly rookImage: string }) {
    this.#views = views
    this.cluster = given.cluster
    this.#rookImage = given.rookImage
  }

  /** Ceph is asked first, and then all of Kubernetes is read again. */
  hearUuids(seen: Observed<OsdUuids>): void {
    const fsid = this.cluster.status?.ceph?.fsid ?? ''
    const isOther = seen.known && fsid !== '' && seen.value.fsid !== fsid
    if (isOther) this.#uuids = unknown(`Ceph ${seen.value.fsid} answers, and not ${fsid}`)
    else this.#uuids = seen.known ? known(seen.value.uuids) : seen
    this.#heard = { ...this.#heard, hasUuids: true }
  }

  /** What came of a write. */
  hear(heard: Partial<HeardInGrowth>): void {
    this.#isWriting = true
    this.#heard = { ...this.#heard, ...heard }
  }

  isVoid(): boolean {
    const { namespace = '', name } = this.cluster.metadata
    const now = this.#views.clusters.get({ namespace, name })
    return now === undefined || wishOf(now) !== wishOf(this.cluster)
  }

  observe(): GrowthPassSnapshot {
    const { cluster } = this
    if (this.#observed === undefined || !this.#isWriting)
      this.#observed = observeGrowth(this.#views, cluster, this.#uuids)
    return { cluster, rookImage: this.#rookImage, observed: this.#observed, isVoid: this.isVoid(), heard: this.#heard }
  }
}
