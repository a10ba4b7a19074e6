import type { NodeAnswer } from './decision.ts'
import { explainPlaces } from './explain-places.ts'
import { createLonghornJudge, type LonghornJudge } from './judge.ts'
import { IndexedSnapshot, type LonghornIndex } from './longhorn-index.ts'
import { nodeAnswer } from './node-answer.ts'
import { nodeHolds } from './node-holds.ts'
import { replicaAnswer } from './replica-answers.ts'
import { isSeenClosed, withCordon } from './seen-closing.ts'
import type { LonghornNodeView, LonghornSnapshot } from './snapshot.ts'
import { decideSurplus } from './surplus-replicas.ts'

/** What is decided about a node if it leaves; undefined where Longhorn does not know the node. */
interface LeavingAnswers {
  readonly answer: NodeAnswer | undefined
  /** Once other nodes have the budgets that are made for them, where we make them. */
  readonly later: NodeAnswer | undefined
}

export type DecideLeaving = (snapshot: LonghornSnapshot, node: string) => LeavingAnswers

/**
 * Decides about one node after the other, each as if it were the only one that begins to leave.
 *
 * Guarantees: the answer is that of a whole decision about the same Longhorn with that node cordoned and drained. Without autoscaling it
 * needs no more than the volumes of the node: budgets go on cordoned nodes alone, and a copy there protects nothing anyway. With it nodes
 * answer for each other, and all is decided.
 */
export function createLeavingDecider(): DecideLeaving {
  const judge = createLonghornJudge()
  const index = new IndexedSnapshot()
  let seen: { readonly snapshot: LonghornSnapshot; readonly planned: ReadonlySet<string> } | undefined

  return (snapshot, name) => {
    if (snapshot.settings.isAutoscaled) return decideAll(snapshot, name, judge)
    if (seen?.snapshot !== snapshot) {
      index.update(snapshot)
      seen = { snapshot, planned: plannedBudgets(snapshot, index) }
    }
    const node = index.nodes.get(name)
    if (node === undefined) return { answer: undefined, later: undefined }
    const leaving = asLeavingNode(node)
    const answer = decideAlone(withLeaving(index, leaving), leaving, seen.planned)
    const isMore = snapshot.settings.mode === 'hold' && seen.planned.size > 0
    if (!isMore) return { answer, later: answer }
    const budgets = new Set([...snapshot.budgets, ...seen.planned])
    return { answer, later: decideAlone(withLeaving(index, leaving, budgets), leaving, none) }
  }
}

const none: ReadonlySet<string> = new Set()

/** On open nodes every instance manager that runs gets a budget. */
function plannedBudgets(
  { instanceManagers, budgets }: LonghornSnapshot,
  { nodes }: LonghornIndex,
): ReadonlySet<string> {
  return new Set(
    instanceManagers
      .filter(({ name, node: place, isRunning }) => {
        const node = nodes.get(place)
        return (
          isRunning && node !== undefined && node.kubernetes !== 'absent' && !isSeenClosed(node) && !budgets.has(name)
        )
      })
      .map(({ name }) => name),
  )
}

function decideAlone(index: LonghornIndex, node: LonghornNodeView, planned: ReadonlySet<string>): NodeAnswer {
  const replicas = index.replicasOn(node.name)
  const surplus = new Set<string>()
  if (index.settings.surplus === 'remove') {
    for (const { volume } of replicas) for (const name of decideSurplus(index, volume).remove) surplus.add(name)
  }
  const so = { index, released: none, planned, surplus }
  const answers = replicas.flatMap((replica) => replicaAnswer(so, replica) ?? [])
  const held = answers.flatMap(({ replica, hold }) => (hold === undefined ? [] : [{ replica, hold }]))
  const evictions = answers.flatMap(({ eviction }) => eviction ?? [])
  const holds = nodeHolds(index, node.name, held)
  return explainPlaces(index, nodeAnswer(so, node, { holds, evictions }))
}

/** All of Longhorn as it is, but for one node that leaves, and budgets that are there by then. */
function withLeaving(all: LonghornIndex, leaving: LonghornNodeView, budgets = all.budgets): LonghornIndex {
  return {
    namespace: all.namespace,
    settings: all.settings,
    budgets,
    holds: all.holds,
    longhornBudgets: all.longhornBudgets,
    otherBudgets: all.otherBudgets,
    unreadable: all.unreadable,
    unreadableObjects: all.unreadableObjects,
    nodes: {
      get: (name) => (name === leaving.name ? leaving : all.nodes.get(name)),
      has: (name) => all.nodes.has(name),
      values: () => [...all.nodes.values()].map((node) => (node.name === leaving.name ? leaving : node)).values(),
    },
    volumes: all.volumes,
    instanceManagers: all.instanceManagers,
    replicasOn: (node) => all.replicasOn(node),
    replicasOf: (volume) => all.replicasOf(volume),
    replicasNaming: (volume) => all.replicasNaming(volume),
    copiesOf: (volume) => all.copiesOf(volume),
    instanceManagersOn: (node) => all.instanceManagersOn(node),
  }
}

/** The same from a decision about everything. */
function decideAll(snapshot: LonghornSnapshot, node: string, judge: LonghornJudge): LeavingAnswers {
  const leaving = asLeaving(snapshot, node)
  const answer = judge.decideNode(leaving, node)
  const made = judge
    .decide(leaving)
    .budgets.filter(
      (budget) => budget.wanted === 'present' && budget.node !== node && !leaving.budgets.has(budget.instanceManager),
    )
  if (made.length === 0) return { answer, later: answer }
  const budgets = new Set([...leaving.budgets, ...made.map(({ instanceManager }) => instanceManager)])
  return { answer, later: judge.decideNode({ ...leaving, budgets }, node) }
}

function asLeaving(snapshot: LonghornSnapshot, name: string): LonghornSnapshot {
  const nodes = snapshot.nodes.map((node) => (node.name === name ? asLeavingNode(node) : node))
  return nodes.every((node, at) => node === snapshot.nodes[at]) ? snapshot : { ...snapshot, nodes }
}

function asLeavingNode(node: LonghornNodeView): LonghornNodeView {
  return node.isDraining && isSeenClosed(node) ? node : { ...withCordon(node), isDraining: true }
}
