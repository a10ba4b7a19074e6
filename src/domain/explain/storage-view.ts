import type { ConfigMap } from '../../api/core.ts'
import type { PodDisruptionBudget } from '../../api/policy.ts'
import type { CephCluster } from '../../api/rook.ts'
import type { DomainAnswer } from '../ceph-drain/decision.ts'
import { parseDrainState } from '../ceph-drain/state-map.ts'
import type { Reason } from '../reasons.ts'
import type { StorageAnswer } from './explanation.ts'
import { blockedType } from './storage-budget.ts'

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

/** What the operator wrote down last about one cluster, when nobody asks Ceph. */
export function viewRecordedStorage({
  cluster,
  record,
  budgets,
}: {
  readonly cluster: CephCluster
  readonly record: ConfigMap | undefined
  readonly budgets: readonly PodDisruptionBudget[]
}): StorageView {
  const { namespace = '', name } = cluster.metadata
  const notes = record?.metadata.annotations ?? {}
  const { openDomains, ownNoout } = parseDrainState(record?.data ?? {})
  const reason = notes['cofferdam.io/reason']
  const since = notes['cofferdam.io/since']
  const type = blockedType(budgets.filter(({ metadata }) => metadata.namespace === namespace))
  const undecided: Reason = 'StorageUndecided'
  return {
    namespace,
    name,
    source: reason === undefined ? 'none' : 'record',
    reason: reason ?? undecided,
    explanation: notes['cofferdam.io/explanation'] ?? 'nothing is on record: no operator of ours manages this cluster',
    ...(since === undefined ? {} : { since }),
    ...(type === undefined ? {} : { failureDomainType: type }),
    domains: [],
    openDomains,
    noout: ownNoout,
    problems: (notes['cofferdam.io/problems'] ?? '').split('; ').filter((problem) => problem !== ''),
  }
}
