import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Informers } from '@cofferdam/kubernetes/informers/informers.ts'
import type { ListInformers } from '@cofferdam/kubernetes/informers/list-informers.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { Log } from '@cofferdam/kubernetes/runtime/log.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import type { CephCounts } from '../ceph/ceph-metrics.ts'
import type { CephPorts } from '../ceph/reader/ceph-ports.ts'
import type { CephViews } from '../ceph/views/ceph-views.ts'
import type { LedgerStore } from '../ledger/store/ledger-store.ts'
import type { OperatorSettings } from '../ledger/store/observe-settings.ts'
import type { StorageLedger } from '../ledger/store/storage-ledger.ts'
import type { CephTrust } from '../shared/ceph-trust/named-clusters.ts'
import type { OperatorStatus } from '../shared/operator-status.ts'
import type { Reason } from '../shared/reasons.ts'
import type { Questions } from './questions.ts'

/** What every capability is put together from. What only some need they name themselves. */
export interface CommonPorts {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly informers: Informers
  readonly events: EventRecorder<Reason>
  /** Whether this controller runs in this process. */
  readonly runs: (controller: string) => boolean
  readonly ask: Questions
}

/** What capabilities that manage Ceph clusters need besides. */
export interface CephCapabilityPorts extends CommonPorts {
  readonly trust: CephTrust
  readonly ceph: CephPorts
  readonly cephViews: CephViews
  readonly cephCounts: CephCounts
  /** Where disruptions are agreed upon; undefined where nobody of this process keeps the ledger. */
  readonly ledger: () => (StorageLedger & { readonly store: LedgerStore }) | undefined
}

/**
 * What is read for one question, in a command or for the page: the same views as in the operator, filled by one list of each kind.
 * Whatever may not be read is noted, and leaves its view unsynced.
 */
export interface ReadPorts {
  readonly api: Pick<KubeApi, 'get' | 'list'>
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly log: Log
  readonly informers: ListInformers
  readonly cephViews: CephViews
  /** What the operator judges by. */
  readonly settings: OperatorSettings
  /** As published; where the operator has not said which Ceph clusters it acts on, all count. */
  readonly trust: CephTrust
  /** Whether an operator keeps up to date what it wrote down. Asked once. */
  readonly operator: () => Promise<OperatorStatus>
  readonly notSeen: string[]
}
