import type { DomainAnswer } from '../ceph-drain/decision.ts'
import type { StorageAnswer } from './explanation.ts'

/** What is known of one Ceph cluster's drains when something is explained. */
export interface StorageView {
  readonly namespace: string
  readonly name: string
  readonly source: StorageAnswer['source']
  readonly reason: string
  readonly explanation: string
  readonly since?: string
  readonly failureDomainType?: string
  /** Per failure domain, where the answer is at hand; a record alone has none. */
  readonly domains: readonly DomainAnswer[]
  readonly openDomains: readonly string[]
  /** CRUSH buckets that ceph-drain keeps from rebalancing. */
  readonly noout: readonly string[]
  readonly problems: readonly string[]
}
