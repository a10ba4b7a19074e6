import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import type { CephClusterView } from '../../../safety/ceph-cluster-view.ts'
import type { CephFacts } from '../../../shared/ceph-facts.ts'
import type { CephDrainDecision } from './decision.ts'
import type { DrainState } from './state-map.ts'

/** What is written down about one cluster: the state that must survive, and texts for whoever reads the ConfigMap. */
export interface DrainRecord {
  readonly namespace: string
  readonly name: string
  readonly configMap: ConfigMap | undefined
  readonly state: DrainState
  readonly reason: string | undefined
  readonly silentSince: number | undefined
  /** Why it could not be read: then it is not written either. */
  readonly unread?: unknown
}

/** What the record is to say. */
export interface RecordChange {
  /** Undefined: nothing of ours must survive, only notes are written. */
  readonly state: DrainState | undefined
  readonly ownership?: RecordedOwnership
  readonly decision: Pick<CephDrainDecision, 'reason' | 'explanation' | 'failureDomainType' | 'domains' | 'problems'>
  readonly silentSince: number | undefined
  /** Whether Ceph's cluster log is followed, in words; absent: not known. */
  readonly cephLog?: string | undefined
  /** Absent while Ceph does not answer. */
  readonly cephFacts?: CephFacts | undefined
}

/** Whose the budgets and the updates of OSDs are. */
export type RecordedOwnership = Pick<CephClusterView, 'mode' | 'updates'>
