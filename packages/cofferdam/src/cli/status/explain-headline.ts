import type { ClusterSummary } from '../../explain/summarize-cluster.ts'
import type { OperatorStatus } from '../../shared/operator-status.ts'
import type { Reason } from '../../shared/reasons.ts'

/** The one sentence that a tired person reads. */
export interface Headline {
  /** `blocked`: a drain waits for something that others must end. `degraded`: something is not as it should be. */
  readonly state: 'blocked' | 'degraded' | 'unknown' | 'working' | 'calm'
  readonly says: string
}

export interface HeadlineSnapshot extends Pick<ClusterSummary, 'nodes' | 'budgets' | 'drains' | 'locks'> {
  readonly operator: OperatorStatus
  /** Kinds that may not be read. */
  readonly unread: readonly string[]
}

/** The worst there is and its cause, and how much there is beside it. */
export function explainHeadline(snapshot: HeadlineSnapshot): Headline {
  const [first, ...more] = headlines(snapshot)
  if (first === undefined) return { state: 'calm', says: 'nothing is blocked, and no node is drained' }
  const others = more.filter(({ state }) => state !== 'working').length
  const beside = others === 0 ? '' : ` (and ${others} more below)`
  return { state: first.state, says: `${first.says}${beside}` }
}

/** The worst first. */
function headlines({ nodes, budgets, drains, locks, operator, unread }: HeadlineSnapshot): Headline[] {
  const asked = new Set(drains.map(({ node }) => node))
  const waiting = nodes.filter(({ name, drain }) => drain === 'EvictionAttempted' && !asked.has(name))
  const leaving = nodes.filter(({ name, drain }) => drain === 'PodsLeaving' && !asked.has(name))
  // A mon or mgr that goes after its OSDs is kept in every healthy cluster, and holds no drain up.
  const held = budgets.blocked.filter(({ reason }) => reason !== ('FollowsOsds' satisfies Reason))
  const shut = held.map(({ budget, reason, holder }): Headline & { readonly isStorage: boolean } => ({
    state: 'degraded',
    says: `pdb/${budget} allows no eviction (${reason}, ${holder})`,
    isStorage: /^(?:cephcluster|longhorn)\//.test(holder),
  }))
  return [
    ...drains.flatMap(({ node, isBlocked, blockedBy: [cause] }): Headline[] =>
      isBlocked && cause !== undefined
        ? [
            {
              state: 'blocked',
              says: `the drain of ${node} is blocked by ${cause.object} (${cause.reason}, ${cause.holder})`,
            },
          ]
        : [],
    ),
    ...waiting.map(({ name, cordonedBy }): Headline => {
      const by = cordonedBy === undefined ? '' : ` by ${cordonedBy}`
      return { state: 'blocked', says: `the drain of ${name}${by} waits; cofferdam explain node/${name} says for what` }
    }),
    ...nodes.flatMap(({ name, isReady }): Headline[] =>
      isReady ? [] : [{ state: 'degraded', says: `${name} is NotReady` }],
    ),
    ...unread.map(
      (kind): Headline => ({ state: 'unknown', says: `${kind} may not be read, so what blocks is not known` }),
    ),
    ...(operator.isRunning === false && (drains.length > 0 || locks.length > 0)
      ? [{ state: 'degraded', says: 'no operator is running, and drains and locks wait for one' } as const]
      : []),
    ...shut.filter(({ isStorage }) => !isStorage),
    ...drains.map(({ explanation }): Headline => ({ state: 'working', says: explanation })),
    ...leaving.map(
      ({ name }): Headline => ({ state: 'working', says: `${name} is being drained: its pods are leaving` }),
    ),
    // While one failure domain is drained, storage keeps the others: that is its work.
    ...shut.filter(({ isStorage }) => isStorage),
  ]
}
