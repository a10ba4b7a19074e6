import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { OkToStopProbes } from '../../../ceph/reader/ok-to-stop-probes.ts'
import { unknown } from '../../../shared/observed.ts'
import type { UpdateHold } from '../apply/update-hold.ts'
import type { HeardInPass, UpdatePassSnapshot } from '../domain/pass-snapshot.ts'
import type { OsdUpdateSnapshot } from '../domain/snapshot.ts'
import type { StoredUpdate } from '../domain/stored-update.ts'
import type { BatchProposals } from './batch-proposals.ts'
import type { CephRefusals } from './ceph-refusals.ts'
import type { ObservedUpdate, OsdUpdateObserver } from './observe.ts'
import type { UnreadyOsds } from './unready-osds.ts'

/** What is remembered from pass to pass. */
export interface UpdateMemory {
  readonly observer: OsdUpdateObserver
  readonly hold: UpdateHold
  readonly proposals: BatchProposals
  readonly probes: OkToStopProbes
  readonly refusals: CephRefusals
  readonly unready: UnreadyOsds
}

/** What the ledger and Ceph said in a pass, as far as it is part of the snapshot. */
type Answers = Pick<OsdUpdateSnapshot, 'ceph' | 'proposal' | 'arbiter' | 'rook'>

/** After so many refusals in one pass who holds the storage counts as unknown. */
const mostRefusals = 3

/** One pass over one cluster: builds its snapshots, and keeps what is learned from one to the next. */
export class UpdatePass {
  readonly key: string
  readonly cluster: CephCluster
  readonly #memory: UpdateMemory
  #heard: HeardInPass = {}
  #answers: Partial<Answers> = {}
  #recorded: StoredUpdate | undefined
  #stored: StoredUpdate | undefined
  #observed: ObservedUpdate | undefined

  constructor(memory: UpdateMemory, { key, cluster }: { readonly key: string; readonly cluster: CephCluster }) {
    this.#memory = memory
    this.key = key
    this.cluster = cluster
  }

  /** What was on record when the pass began. */
  get recorded(): StoredUpdate {
    return this.#recorded as StoredUpdate
  }

  get heard(): HeardInPass {
    return this.#heard
  }

  /** What was seen last. */
  get last(): { readonly observed: ObservedUpdate; readonly stored: StoredUpdate; readonly answers: Partial<Answers> } {
    return { observed: this.#observed as ObservedUpdate, stored: this.#stored as StoredUpdate, answers: this.#answers }
  }

  hear(heard: Partial<HeardInPass>, answers: Partial<Answers> = {}): void {
    this.#heard = { ...this.#heard, ...heard }
    this.#answers = { ...this.#answers, ...answers }
  }

  /** What is on record now. */
  record(stored: StoredUpdate): void {
    this.#stored = stored
  }

  /** The record is read once; Kubernetes is read anew each time. */
  async observe(signal: AbortSignal): Promise<UpdatePassSnapshot> {
    const { key, cluster } = this
    const { observer, hold, proposals, probes, refusals, unready } = this.#memory
    this.#recorded ??= await observer.readStored(cluster, signal)
    this.#stored ??= this.#recorded
    const stored = this.#stored
    const rook = this.#heard.hasRook === true ? this.#answers.rook : undefined
    const observed = observer.observe(key, cluster, { stored, ...(rook !== undefined && { rook }) })
    this.#observed = observed
    const { snapshot, deployments, oldPods, wakeAfterSeconds } = observed
    const seen = { ceph: undefined, ...snapshot, ...this.#arbiter(snapshot.cluster), ...this.#cephAnswers() }
    const refusedSinceMs = refusals.sinceMs(key, snapshot.cluster.generation)
    const notes = [proposals.noteOf(key), probes.problemOf(key)].filter((problem) => problem !== undefined)
    return {
      seen,
      cluster,
      deployments,
      oldPods,
      removable: unready.observe(key, { nowMs: snapshot.nowMs, cluster, osds: snapshot.osds, deployments }),
      problems: this.#heard.hasMap === true ? [...observed.problems, ...notes] : observed.problems,
      ...(wakeAfterSeconds !== undefined && { wakeAfterSeconds }),
      stored,
      isClaimHeld: this.#heard.hold?.isAcquired === true || hold.isHeld(snapshot.cluster),
      isStorageHeld: hold.holds(snapshot.cluster),
      ...(refusedSinceMs !== undefined && { refusedSinceMs }),
      heard: this.#heard,
    }
  }

  /** What it said when something was to be acquired counts until the end of the pass. */
  #arbiter(cluster: OsdUpdateSnapshot['cluster']): Pick<OsdUpdateSnapshot, 'arbiter'> {
    if ((this.#heard.hold?.refusals ?? 0) >= mostRefusals) return { arbiter: unknown('it changes all the time') }
    const { arbiter } = this.#answers
    return arbiter === undefined ? this.#memory.hold.observe(cluster) : { arbiter }
  }

  #cephAnswers(): Partial<Pick<OsdUpdateSnapshot, 'ceph' | 'proposal'>> {
    const { ceph, proposal } = this.#answers
    return { ...(ceph !== undefined && { ceph }), ...(proposal !== undefined && { proposal }) }
  }
}
