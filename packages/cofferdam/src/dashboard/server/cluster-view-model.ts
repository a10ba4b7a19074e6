import type { Reason } from '../../shared/reasons.ts'
import type { ClusterView, NodeVerdictView, NodeView, PodView } from './cluster-view.ts'
import { type Headline, headlineOf } from './headline.ts'
import { openDrains } from './lock-view-model.ts'
import { isKeptOpen, keepsOf, placesOf } from './longhorn-view-model.ts'
import { machineText } from './machine-note.ts'
import type { NodeState, NodeViewModel } from './node-view-model.ts'
import type { Tone } from './tone.ts'
import { verdictsOf } from './verdicts-of.ts'

export interface ZoneViewModel {
  readonly zone: string
  readonly nodes: readonly NodeViewModel[]
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
    readonly budgetsFree: number
  }
}

/** Turns the facts into what a person wants to know: who is where, what is on the move, and what blocks it. */
export function viewCluster(view: ClusterView): ClusterViewModel {
  const podsByNode = groupedBy(view.pods, (pod) => pod.node ?? '')
  const stays = new Set(openDrains(view.drains).flatMap((drain) => drain.stays))
  const places = placesOf(view.longhorn)
  const keepOf = keepsOf(view.longhorn)
  const verdicts = new Map((view.nodeVerdicts ?? []).map((verdict) => [verdict.id, verdict]))
  const loads = new Map((view.loads ?? []).map((load) => [load.id, load]))
  const models = [...view.nodes, ...goneNodes(view)].map((node) => {
    const longhorn = places.get(node.id)
    const pods = podsByNode.get(node.id) ?? []
    const podCount = loads.get(node.id)?.pods ?? pods.length
    const model = viewNodeModel(node, pods, { podCount, stays, verdict: verdicts.get(node.id) })
    return longhorn === undefined ? model : { ...model, longhorn }
  })
  const counting = view.budgets.filter(({ id }) => !isKeptOpen(keepOf(id)))
  const zones = [...groupedBy(models, ({ node }) => node.zone)]
    .map(([zone, nodes]) => ({ zone, nodes: nodes.toSorted((a, b) => compareNodes(a.node, b.node)) }))
    .toSorted((a, b) => compareText(a.zone, b.zone))
  const verdictOf = verdictsOf(view)
  const live = view.pods.filter((pod) => !isFinished(pod))
  return {
    zones: withMachines(zones, view),
    waiting: (podsByNode.get('') ?? []).toSorted(comparePods),
    headline: headlineOf(models, view, keepOf),
    counts: {
      nodes: view.nodes.length,
      nodesReady: view.nodes.filter((node) => node.readiness === 'ready').length,
      pods: view.loads === undefined ? live.length : sum(view.loads, ({ pods }) => pods),
      podsReady:
        view.loads === undefined
          ? live.filter((pod) => pod.state === 'ready').length
          : sum(view.loads, ({ ready }) => ready),
      budgets: counting.length,
      budgetsFree: counting.filter((budget) => verdictOf(budget).tone === 'calm').length,
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

/** Pods outlive the Node they are bound to: a machine that was removed still has them until they are deleted. */
function goneNodes({ nodes, pods }: ClusterView): GoneNode[] {
  const known = new Set(nodes.map(({ id }) => id))
  const left = groupedBy(
    pods.filter(({ node }) => node !== undefined && !known.has(node)),
    ({ node = '' }) => node,
  )
  return [...left].map(([id, bound]) => ({
    id,
    zone: bound.find(({ zone }) => zone !== undefined)?.zone ?? '',
    roles: [],
    readiness: 'unknown',
    isCordoned: false,
    isGone: true,
  }))
}

type GoneNode = NodeView & { readonly isGone: true }

function viewNodeModel(
  node: NodeView | GoneNode,
  pods: readonly PodView[],
  {
    podCount,
    stays,
    verdict,
  }: {
    readonly podCount: number
    readonly stays: ReadonlySet<string>
    readonly verdict: NodeVerdictView | undefined
  },
): NodeViewModel {
  const movable = pods.filter((pod) => isMovable(pod) && !stays.has(pod.id))
  const state = 'isGone' in node ? 'gone' : nodeState(node, movable, verdict?.drain)
  return {
    node,
    state,
    tone: toneOf(state, verdict),
    pods: pods.toSorted(comparePods),
    podCount,
    toMove: node.isCordoned ? movable.length : 0,
    heldBy: new Map(Object.entries(verdict?.held ?? {})),
    ...(verdict === undefined ? {} : { verdict }),
  }
}

function toneOf(state: NodeState, verdict: NodeVerdictView | undefined): Tone {
  if (state === 'gone' || state === 'not-ready' || state === 'unknown') return 'alarm'
  return state === 'ready' && verdict?.mayGo !== false ? 'calm' : 'busy'
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

function compareNodes(a: NodeView, b: NodeView): number {
  return Number(isControlPlane(a)) - Number(isControlPlane(b)) || compareText(a.id, b.id)
}

function isControlPlane({ roles }: NodeView): boolean {
  return roles.includes('control-plane')
}

function comparePods(a: PodView, b: PodView): number {
  return Number(isMovable(b)) - Number(isMovable(a)) || compareText(a.id, b.id)
}

function sum<Item>(items: readonly Item[], numberOf: (item: Item) => number): number {
  return items.reduce((total, item) => total + numberOf(item), 0)
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
