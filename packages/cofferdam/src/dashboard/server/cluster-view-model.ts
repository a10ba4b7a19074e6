import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import { goneWords } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import type { BudgetVerdict } from '../../explain/budget-verdict.ts'
import type { Reason } from '../../shared/reasons.ts'
import type { BudgetView, ClusterView, DrainView, NodeView, PodView } from './cluster-view.ts'
import { openDrains } from './lock-view-model.ts'
import type { LonghornPlace } from './longhorn-panel-model.ts'
import { isKeptOpen, type KeepOf, keepsOf, longhornSentences, placesOf } from './longhorn-view-model.ts'
import { machineText } from './machine-note.ts'
import { updateSentences } from './osd-update-view-model.ts'
import type { Tone } from './tone.ts'

export type NodeState = 'ready' | 'cordoned' | 'draining' | 'drained' | 'not-ready' | 'unknown'

export interface NodeViewModel {
  readonly node: NodeView
  readonly state: NodeState
  /** In the order of their names, those a drain would move before those it leaves. */
  readonly pods: readonly PodView[]
  /** Pods that have to leave before the node is drained; empty unless it is cordoned. */
  readonly toMove: number
  /** Pods of a cordoned node that a budget holds in place, with the budget's id. */
  readonly heldBy: ReadonlyMap<string, string>
  /** What Longhorn has there. */
  readonly longhorn?: LonghornPlace
  /** What becomes of its machine, where it has one. */
  readonly machine?: string
}

export interface ZoneViewModel {
  readonly zone: string
  readonly nodes: readonly NodeViewModel[]
}

/** The event in one sentence, and the rest of it. */
export interface Headline {
  readonly tone: Tone
  readonly says: string
  readonly more: readonly string[]
}

export interface ClusterViewModel {
  readonly zones: readonly ZoneViewModel[]
  /** Pods that no node has taken yet. */
  readonly waiting: readonly PodView[]
  readonly headline: Headline
  readonly counts: {
    readonly nodes: number
    readonly nodesReady: number
    readonly pods: number
    readonly podsReady: number
    readonly budgets: number
    readonly budgetsWithRoom: number
  }
}

/** Turns the facts into what a person wants to know: who is where, what is on the move, and what blocks it. */
export function viewCluster(view: ClusterView): ClusterViewModel {
  const podsByNode = groupedBy(view.pods, (pod) => pod.node ?? '')
  const stays = new Set(openDrains(view.drains).flatMap((drain) => drain.stays))
  const places = placesOf(view.longhorn)
  const keepOf = keepsOf(view.longhorn)
  const judgedDrains = new Map((view.nodeVerdicts ?? []).map(({ id, drain }) => [id, drain]))
  const models = view.nodes.map((node) => {
    const longhorn = places.get(node.id)
    const drain = judgedDrains.get(node.id)
    const model = viewNodeModel(node, podsByNode.get(node.id) ?? [], { budgets: view.budgets, stays, drain })
    return longhorn === undefined ? model : { ...model, longhorn }
  })
  const counting = view.budgets.filter(({ id }) => !isKeptOpen(keepOf(id)))
  const zones = [...groupedBy(models, ({ node }) => node.zone)]
    .map(([zone, nodes]) => ({ zone, nodes: nodes.toSorted((a, b) => compareNodes(a.node, b.node)) }))
    .toSorted((a, b) => compareText(a.zone, b.zone))
  const live = view.pods.filter((pod) => !isFinished(pod))
  return {
    zones: withMachines(zones, view),
    waiting: (podsByNode.get('') ?? []).toSorted(comparePods),
    headline: headlineOf(models, view, keepOf),
    counts: {
      nodes: view.nodes.length,
      nodesReady: view.nodes.filter((node) => node.readiness === 'ready').length,
      pods: live.length,
      podsReady: live.filter((pod) => pod.state === 'ready').length,
      budgets: counting.length,
      budgetsWithRoom: counting.filter((budget) => budget.allowed > 0).length,
    },
  }
}

function withMachines(zones: readonly ZoneViewModel[], { machines }: ClusterView): readonly ZoneViewModel[] {
  if (machines === undefined) return zones
  const machineNotes = new Map(machines.map((note) => [note.node, note]))
  return zones.map(({ zone, nodes }) => ({
    zone,
    nodes: nodes.map((model) => {
      const note = machineNotes.get(model.node.id)
      return note === undefined ? model : { ...model, machine: machineText(note, model.node.readiness === 'ready') }
    }),
  }))
}

function viewNodeModel(
  node: NodeView,
  pods: readonly PodView[],
  {
    budgets,
    stays,
    drain,
  }: {
    readonly budgets: readonly BudgetView[]
    readonly stays: ReadonlySet<string>
    readonly drain: string | undefined
  },
): NodeViewModel {
  const movable = pods.filter((pod) => isMovable(pod) && !stays.has(pod.id))
  const heldBy = new Map<string, string>()
  if (node.isCordoned) {
    for (const pod of movable) {
      const budget = pod.state === 'leaving' ? undefined : budgets.find((each) => holds(each, pod))
      if (budget !== undefined) heldBy.set(pod.id, budget.id)
    }
  }
  return {
    node,
    state: nodeState(node, movable, drain),
    pods: pods.toSorted(comparePods),
    toMove: node.isCordoned ? movable.length : 0,
    heldBy,
  }
}

const drainWords: Readonly<Partial<Record<string, NodeState>>> = {
  CordonedOnly: 'cordoned',
  DrainEnded: 'cordoned',
  PodsLeaving: 'draining',
  EvictionAttempted: 'draining',
  DrainCompleted: 'drained',
} satisfies Partial<Record<Reason, NodeState>>

/** As `explain` judges the node; while that has not been heard yet, as its conditions say and its pods are counted. */
function nodeState(node: NodeView, movable: readonly PodView[], judged: string | undefined): NodeState {
  if (node.readiness !== 'ready') return node.readiness
  if (!node.isCordoned) return 'ready'
  const word = judged === undefined ? undefined : drainWords[judged]
  if (word !== undefined) return word
  // Where an operator says how far the drain is, the page says the same.
  const isDrained = node.drain === undefined ? movable.length === 0 : node.drain === 'done'
  if (isDrained) return 'drained'
  const isDraining = node.drain === 'under-way' || movable.some((pod) => pod.state === 'leaving')
  return isDraining ? 'draining' : 'cordoned'
}

/** Whether a drain has to wait for this pod: it neither belongs to the node nor has it ended. */
function isMovable(pod: PodView): boolean {
  return pod.ownerKind !== 'DaemonSet' && pod.ownerKind !== 'Node' && !isFinished(pod)
}

function isFinished({ state }: PodView): boolean {
  return state === 'succeeded' || state === 'failed'
}

function holds(budget: BudgetView, pod: PodView): boolean {
  if (budget.allowed > 0 || budget.namespace !== pod.namespace || budget.selector === undefined) return false
  return isSelected(budget.selector, pod.labels)
}

/** What each budget says to the next eviction; while that has not been judged yet, what is counted. */
export function verdictsOf({ verdicts = [] }: Pick<ClusterView, 'verdicts'>): (budget: BudgetView) => BudgetVerdict {
  const judged = new Map(verdicts.map((verdict) => [verdict.id, verdict]))
  return (budget) => {
    const { allowed, isCounted } = budget
    const counted: BudgetVerdict =
      allowed > 0 ? { tone: 'calm', says: `${allowed} may go now` } : { tone: 'busy', says: 'No pod may go now' }
    const verdict = judged.get(budget.id)
    if (!isCounted) return { tone: 'busy', says: 'Not counted yet' }
    return verdict ?? counted
  }
}

function headlineOf(models: readonly NodeViewModel[], view: ClusterView, keepOf: KeepOf): Headline {
  const { budgets, drains } = view
  const updates = updateSentences(view.osdUpdates ?? [])
  if (models.length === 0) return { tone: 'busy', says: 'No nodes yet.', more: [] }
  const inState = (...states: NodeState[]) => models.filter(({ state }) => states.includes(state))
  const down = inState('not-ready', 'unknown')
  const mayGo = new Set(drains.flatMap(({ node, phase }) => (phase === 'Drained' ? [node] : [])))
  const [says, ...more] = [
    ...sentenceAbout(down, 'is not ready', 'are not ready'),
    ...inState('draining').map(
      ({ node, toMove }) => `${node.id} is draining, ${counted(toMove, 'pod')} still to move.`,
    ),
    ...sentenceAbout(inState('cordoned'), 'takes no new pods', 'take no new pods'),
    ...sentenceAbout(
      inState('drained').filter(({ node }) => !mayGo.has(node.id)),
      'is drained',
      'are drained',
    ),
    ...drainSentences(drains),
    ...longhornSentences(models.flatMap(({ longhorn }) => longhorn ?? [])),
    ...heldSentences(models, keepOf),
    ...updates.map((update) => update.says),
  ]
  const isAlarming = down.length > 0 || updates.some((update) => update.isAlarming)
  if (says !== undefined) return { tone: isAlarming ? 'alarm' : 'busy', says, more }

  const allReady = models.length === 1 ? 'The node is ready' : `All ${models.length} nodes are ready`
  const verdictOf = verdictsOf(view)
  const full = budgets.filter((budget) => !isKeptOpen(keepOf(budget.id)) && verdictOf(budget).tone !== 'calm')
  if (full.length > 0) {
    return {
      tone: 'busy',
      says: `${allReady}.`,
      more: [`${listed(full.map(({ id }) => id))} allow no eviction now.`],
    }
  }
  return {
    tone: 'calm',
    says: budgets.length === 0 ? `${allReady}.` : `${allReady}, and every budget has room.`,
    more: [],
  }
}

function sentenceAbout(models: readonly NodeViewModel[], one: string, many: string): string[] {
  if (models.length === 0) return []
  return [`${listed(models.map(({ node }) => node.id))} ${models.length === 1 ? one : many}.`]
}

function drainSentences(drains: readonly DrainView[]): string[] {
  return openDrains(drains).flatMap(({ node, phase, intent, isBlocked, blockedBy }) => {
    if (phase === 'Drained') return [`${node} is drained and can be ${goneWords[intent]} now.`]
    const [first] = isBlocked ? blockedBy : []
    return first === undefined ? [] : [`The drain of ${node} waits for ${first.object}, held by ${first.holder}.`]
  })
}

/** Where Longhorn holds a budget, that has been reported. */
function heldSentences(models: readonly NodeViewModel[], keepOf: KeepOf): string[] {
  const byBudget = groupedBy(
    models.flatMap((model) => [...model.heldBy]).filter(([, budget]) => keepOf(budget) === undefined),
    ([, budget]) => budget,
  )
  return [...byBudget].map(([budget, held]) => `Budget ${budget} holds ${counted(held.length, 'pod')} in place.`)
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** `a`, `a and b`, `a, b and 3 more`. */
function listed(items: readonly string[]): string {
  const shown = items.length > 3 ? [...items.slice(0, 2), `${items.length - 2} more`] : items
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}

function compareNodes(a: NodeView, b: NodeView): number {
  return Number(isControlPlane(a)) - Number(isControlPlane(b)) || compareText(a.id, b.id)
}

function isControlPlane({ roles }: NodeView): boolean {
  return roles.includes('control-plane')
}

function comparePods(a: PodView, b: PodView): number {
  return Number(isMovable(b)) - Number(isMovable(a)) || compareText(a.id, b.id)
}

const collator = new Intl.Collator('en', { numeric: true })

function compareText(a: string, b: string): number {
  return collator.compare(a, b)
}

function groupedBy<Item>(items: readonly Item[], keyFor: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const key = keyFor(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
