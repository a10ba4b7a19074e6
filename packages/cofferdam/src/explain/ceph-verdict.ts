import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { isRunning } from '../capabilities/ceph-drain/view/storage-budget.ts'
import { idRanges } from '../capabilities/osd-update/domain/id-ranges.ts'
import type { StorageView } from '../shared/storage-view.ts'
import type { CephState } from './ceph-state.ts'
import type { CephClusterExplanation, DomainAnswer } from './explain-ceph-cluster.ts'

/** A Ceph cluster at a glance, as `explain cephcluster/…` judges it. */
export interface CephVerdict {
  /** `HEALTH_OK`, as Rook wrote it last; absent where it has not. */
  readonly health?: string
  /** What Ceph complains of: `PG_DEGRADED`. */
  readonly checks: readonly { readonly name: string; readonly message: string }[]
  readonly mayGo: boolean
  readonly summary: string
  /** What the operator decided last. */
  readonly reason?: string
  readonly explanation?: string
  /** No operator updates what is said of it. */
  readonly isUnattended?: true
  /** Such as `zone`. */
  readonly type: string
  /** What is held or away before what is free; of very many the first. */
  readonly domains: readonly CephDomain[]
  readonly counts: Readonly<Record<DomainAnswer['state'], number>>
  /** Pods of monitors. */
  readonly mons: { readonly ready: number; readonly total: number }
  /** How it was when the operator polled it last. */
  readonly state: CephState
  readonly problems: readonly string[]
}

export interface CephDomain {
  readonly name: string
  readonly state: DomainAnswer['state']
  /** Some of it is down. */
  readonly isPartlyDown?: true
  /** Its state in the words of `explain`. */
  readonly says: string
  /** `0-3, 7` */
  readonly osds: string
  readonly nodes: readonly string[]
  /** What holds it, and what ends that. */
  readonly why?: string
  readonly ends?: string
}

const mostDomains = 24
const order = ['away', 'partly down', 'held', 'free']

function urgencyOf({ state, downPart }: DomainAnswer): number {
  return order.indexOf(downPart === undefined ? state : 'partly down')
}

export function cephVerdict(
  explanation: CephClusterExplanation,
  {
    cluster,
    view,
    mons,
  }: {
    readonly cluster: Pick<CephCluster, 'status'> | undefined
    readonly view: StorageView | undefined
    readonly mons: readonly Pod[]
  },
): CephVerdict {
  const { mayGo, summary, domains, failureDomainType } = explanation
  const { health, details = {} } = cluster?.status?.ceph ?? {}
  const count = (state: DomainAnswer['state']) => domains.filter((each) => each.state === state).length
  return {
    ...(health === undefined ? {} : { health }),
    checks: Object.entries(details).map(([name, { message = '' }]) => ({ name, message })),
    mayGo,
    summary,
    ...(view === undefined ? {} : { reason: view.reason, explanation: view.explanation }),
    ...(view?.isAttended === false ? { isUnattended: true } : {}),
    type: failureDomainType ?? 'node',
    domains: domains
      .toSorted((a, b) => urgencyOf(a) - urgencyOf(b))
      .slice(0, mostDomains)
      .map(cephDomain),
    counts: { free: count('free'), held: count('held'), away: count('away') },
    mons: { ready: mons.filter(isRunning).length, total: mons.length },
    state: explanation.state,
    problems: explanation.problems ?? [],
  }
}

function cephDomain({ domain, state, says, downPart, osds, nodes, blockers }: DomainAnswer): CephDomain {
  const [first] = blockers
  return {
    name: domain,
    state,
    says,
    ...(downPart === undefined ? {} : { isPartlyDown: true }),
    osds: idRanges(osds),
    nodes: nodes.slice(0, mostDomains),
    ...(first === undefined ? {} : { why: `${first.explanation} (${first.reason})`, ends: first.unblocks }),
  }
}
