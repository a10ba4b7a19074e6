import { isLimit } from '../../../ledger/rules/claim.ts'
import { nodeKey } from '../../../ledger/rules/keys.ts'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import { listText } from '../../../shared/list-text.ts'
import type { Observed } from '../../../shared/observed.ts'
import {
  type CountedNode,
  indexLimits,
  type LimitFacts,
  limitsOver,
  type MaintenancePolicy,
} from '../domain/maintenance-limits.ts'

/** What is seen of the limits on nodes in maintenance. */
export interface LimitView {
  readonly nodes: readonly CountedNode[]
  readonly policy: Observed<MaintenancePolicy>
  readonly ledger: Observed<Ledger>
}

/** A limit, and who takes its places. */
export interface LimitAnswer {
  /** `limit/control-plane`, `limit/zone/zone-a` */
  readonly limit: string
  readonly most: number
  /** Nodes that are away: for a request, or without one. */
  readonly taken: readonly TakenPlace[]
}

export interface TakenPlace {
  readonly node: string
  /** Undefined: it is closed or not Ready, and no request is the cause. */
  readonly holder?: string
  /** The request that waits to take it out, which another has closed already. */
  readonly queued?: string
  readonly isReady: boolean
}

export interface LimitSummary {
  readonly limits: readonly LimitAnswer[]
  /** Why the policy cannot be read. */
  readonly problem?: string
}

/** The limits that count a node. Undefined where there are none. */
export function answerLimits(view: LimitView, nodeName: string): LimitSummary | undefined {
  const { policy, nodes } = view
  if (!policy.known) return { limits: [], problem: policy.why }
  const limits = limitsOver(nodeName, nodes, policy.value).map((facts) => limitAnswer(view, facts))
  return limits.length === 0 ? undefined : { limits }
}

/** The limits of which a place is taken. Undefined where none is, and the policy is in order. */
export function summarizeLimits(view: LimitView): LimitSummary | undefined {
  const { policy, nodes } = view
  if (!policy.known) return { limits: [], problem: policy.why }
  const byKey = new Map<string, LimitAnswer>()
  const limitsOf = indexLimits(nodes, policy.value)
  for (const { name } of nodes) {
    for (const facts of limitsOf(name)) {
      if (!byKey.has(facts.key)) byKey.set(facts.key, limitAnswer(view, withNode(facts, nodes, name)))
    }
  }
  const limits = [...byKey.values()].filter(({ taken }) => taken.length > 0)
  return limits.length === 0 ? undefined : { limits }
}

/** The node that was asked about takes a place as well, if it is away. */
function withNode(facts: LimitFacts, nodes: readonly CountedNode[], nodeName: string): LimitFacts {
  const own = nodes.find(({ name }) => name === nodeName)
  if (own === undefined || (own.isReady && !own.isClosed)) return facts
  return { ...facts, away: [{ name: nodeName, isReady: own.isReady }, ...facts.away] }
}

function limitAnswer({ ledger, nodes }: LimitView, { key, most, away }: LimitFacts): LimitAnswer {
  const entries = ledger.known ? ledger.value.entries : []
  const holders = entries.filter((entry) => isLimit(entry) && entry.key === key)
  const held = holders.flatMap(({ requestId, holder }): TakenPlace[] => {
    const own = entries.find((entry) => entry.requestId === requestId && entry.key.startsWith(nodeKey('')))
    const node = own?.key.slice(nodeKey('').length) ?? ''
    return [{ node, holder, isReady: nodes.find(({ name }) => name === node)?.isReady ?? false }]
  })
  const others = away
    .filter(({ name }) => !held.some(({ node }) => node === name))
    .map(({ name, isReady }): TakenPlace => ({ node: name, isReady, ...queuedFor(name, ledger) }))
  return { limit: key, most, taken: [...held, ...others] }
}

function queuedFor(node: string, ledger: Observed<Ledger>): Pick<TakenPlace, 'queued'> {
  const tickets = ledger.known ? ledger.value.tickets : []
  const own = tickets.find(({ claims }) => claims.some(({ key }) => key === nodeKey(node)))
  return own === undefined ? {} : { queued: own.holder }
}

/** A line for each limit. */
export function limitLines({ limits, problem }: LimitSummary): string[] {
  return [
    ...limits.map(({ limit, most, taken }) => {
      const by = taken.length === 0 ? '' : `: ${listText(taken.map(placeText))}`
      return `${limit}: ${taken.length} of ${most} in maintenance${by}`
    }),
    ...(problem === undefined ? [] : [`no drain starts: ${problem}`]),
  ]
}

function placeText({ node, holder, queued, isReady }: TakenPlace): string {
  if (holder !== undefined) return `${node} (${requestOf(holder)})`
  const request = queued === undefined ? 'without a request' : `${requestOf(queued)} is queued`
  return `${node} (${isReady ? 'closed' : 'not Ready'}, ${request})`
}

function requestOf(holder: string): string {
  return holder.replace(/^.* for /, '')
}
