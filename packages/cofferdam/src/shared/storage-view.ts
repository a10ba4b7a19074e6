import type { Attendance } from './attendance.ts'
import type { CephFacts } from './ceph-facts.ts'
import type { Observed } from './observed.ts'
import type { StorageAnswer } from './storage-answer.ts'

/** What is known of one Ceph cluster's drains when something is explained. */
export interface StorageView extends Attendance {
  readonly namespace: string
  readonly name: string
  readonly source: StorageAnswer['source']
  readonly reason: string
  readonly explanation: string
  readonly since?: string
  /** What Cofferdam does with the budgets: `observe`, `manage` or `contested`, perhaps a word of a newer version. */
  readonly budgets?: string
  /** What Cofferdam does with OSD updates: `off`, `plan`, `pace`, `own` or `contested`. */
  readonly updates?: string
  readonly failureDomainType?: string
  /** Per failure domain, where the answer is at hand; of very many only those that may not be drained. */
  readonly domains: readonly RecordedAnswer[]
  readonly domainCounts?: Omit<RecordedDomains, 'answers'>
  readonly openDomains: readonly string[]
  /** CRUSH buckets that ceph-drain keeps from rebalancing. */
  readonly noout: readonly string[]
  readonly problems: readonly string[]
  /** Whether Ceph's cluster log is followed: `followed`, or why not. Absent where nothing is recorded of it. */
  readonly cephLog?: string
  /** What Ceph said of itself when it was polled last. Absent where nothing is recorded of the cluster. */
  readonly facts?: Observed<CephFacts>
}

/** An answer as it was written down, perhaps by a newer version that knows more reasons. */
export interface RecordedAnswer {
  readonly domain: string
  readonly osds: readonly number[]
  readonly nodes: readonly string[]
  readonly mayDrain: boolean
  readonly reason: string
  readonly explanation: string
}

export interface RecordedDomains {
  /** How many failure domains there are. */
  readonly total: number
  /** How many of them may not be drained. */
  readonly held: number
  /** All of them; of very many only those that may not be drained, as far as they fit. */
  readonly answers: readonly RecordedAnswer[]
}
