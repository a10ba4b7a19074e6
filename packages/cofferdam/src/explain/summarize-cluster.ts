import type { Event, Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { KeyFacts } from '../capabilities/drain-lock/domain/orphans.ts'
import type { DisruptionAnswer } from '../capabilities/drain-lock/view/explain-disruption.ts'
import type { HoldAnswer } from '../capabilities/drain-lock/view/hold-view.ts'
import { summarizeLocks } from '../capabilities/drain-lock/view/summarize-locks.ts'
import { nodeBehind } from '../capabilities/longhorn-drain/view/longhorn-budget.ts'
import { groupedBy } from '../shared/grouped-by.ts'
import { compareText } from '../shared/last-writer.ts'
import type { Reason } from '../shared/reasons.ts'
import { explainBudget } from './explain-budget.ts'
import type { BudgetAnswer, NodeState } from './explanation.ts'
import { nodeStateOf } from './node-state.ts'
import type { GuardSnapshot } from './snapshot.ts'

export interface ClusterSnapshot extends GuardSnapshot {
  readonly nodes: readonly Node[]
  readonly events: readonly Event[]
  readonly now: string
  /** What is behind the keys that vanished holders left. */
  readonly orphanFacts?: ReadonlyMap<string, KeyFacts>
}

export interface ClusterSummary {
  readonly nodes: readonly ({ readonly name: string } & NodeState)[]
  readonly pods: number
  readonly budgets: {
    readonly total: number
    /** How many budgets belong to Longhorn's instance managers on open nodes: they allow no disruption by design, and go when the node is cordoned. */
    readonly keptOpen?: number
    /** Budgets that hold pods back now. */
    readonly blocked: readonly BlockedBudget[]
  }
  /** Requests to take a node out that are not over. */
  readonly drains: readonly DisruptionAnswer[]
  /** What is held, by requests and by owners. */
  readonly locks: readonly HoldAnswer[]
  /** Newest first. */
  readonly warnings: readonly Warning[]
}

export type BlockedBudget = BudgetAnswer & { readonly holder: string; readonly since?: string }

export interface Warning {
  readonly at: string
  readonly object: string
  readonly reason: string
  readonly message: string
  readonly count: number
}

const warningsKept = 10

const reasonKeptOpen: Reason = 'NotCordoned'

/** The state of a whole cluster as far as disruptions go. */
export function summarizeCluster(snapshot: ClusterSnapshot): ClusterSummary {
  const { nodes, pods, budgets, events, now, holds, orphanFacts = new Map() } = snapshot
  const leftByRequest = holds?.leftByRequest ?? []
  const podsByNode = groupedBy(pods, ({ spec }) => spec.nodeName ?? '')
  const podsByNamespace = groupedBy(pods, ({ metadata }) => metadata.namespace ?? '')
  const asked = budgets.map((budget) => askBudget(budget, podsByNamespace, snapshot))
  const keptOpen = asked.filter((each) => each === 'kept-open').length
  return {
    nodes: nodes.map((node) => ({
      name: node.metadata.name,
      ...nodeStateOf({ node, podsOnNode: podsByNode.get(node.metadata.name) ?? [], leftByRequest, now }),
    })),
    pods: pods.length,
    budgets: {
      total: budgets.length,
      ...(keptOpen === 0 ? {} : { keptOpen }),
      blocked: asked.filter((each) => typeof each === 'object'),
    },
    drains: holds?.disruptions ?? [],
    locks: holds === undefined ? [] : summarizeLocks(holds, orphanFacts),
    warnings: events
      .filter(({ type }) => type === 'Warning')
      .map(warningOf)
      .sort((a, b) => compareText(b.at, a.at))
      .slice(0, warningsKept),
  }
}

/** What holds a budget back, if anything does. */
function askBudget(
  budget: PodDisruptionBudget,
  podsByNamespace: ReadonlyMap<string, readonly Pod[]>,
  { storage, longhorn, holds }: ClusterSnapshot,
): BlockedBudget | 'kept-open' | 'free' {
  const pods = podsByNamespace.get(budget.metadata.namespace ?? '') ?? []
  const guards = { budget, pods, storage, ...(longhorn && { longhorn }), ...(holds && { holds }) }
  const { budget: answer, blockers } = explainBudget(guards)
  const node = longhorn && nodeBehind(budget, longhorn)
  const [first] = blockers
  if (first === undefined) return 'free'
  if (node !== undefined && answer.reason === reasonKeptOpen) return 'kept-open'
  const { object, holder, since } = first
  return {
    ...answer,
    holder: node === undefined || object.startsWith('pdb/') ? holder : `longhorn/${node}`,
    ...(since === undefined ? {} : { since }),
  }
}

function warningOf(event: Event): Warning {
  const { kind = 'Object', namespace, name = '' } = event.involvedObject
  const key = namespace === undefined || namespace === '' || kind === 'Node' ? name : `${namespace}/${name}`
  return {
    at: event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? '',
    object: `${kind.toLowerCase()}/${key}`,
    reason: event.reason ?? '',
    message: event.message ?? '',
    count: event.count ?? 1,
  }
}
