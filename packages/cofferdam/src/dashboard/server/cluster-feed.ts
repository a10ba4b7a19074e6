import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { AskedView } from './asked-views.ts'
import {
  type BudgetView,
  type CephView,
  type ClusterView,
  type DrainView,
  type EventView,
  type LedgerView,
  type LoadView,
  type NodeVerdictView,
  type NodeView,
  newestEvents,
  type PanelView,
  type PodView,
  type VerdictView,
} from './cluster-view.ts'
import type { LonghornPanelModel } from './longhorn-panel-model.ts'
import type { MachineNote } from './machine-note.ts'
import type { UpdatePart } from './osd-update-overview.ts'
import { type CollectionChange, keptEvents, type ViewChange, type ViewKind } from './view-change.ts'

export interface ClusterViews {
  readonly nodes: WatchView<NodeView>
  readonly pods: Pick<WatchView<PodView>, 'synced' | 'list' | 'subscribe'>
  readonly loads: Pick<WatchView<LoadView>, 'synced' | 'list' | 'subscribe'>
  readonly budgets: WatchView<BudgetView>
  readonly verdicts: AskedView<VerdictView>
  readonly nodeVerdicts: AskedView<NodeVerdictView>
  readonly panels: AskedView<PanelView>
  readonly drains: WatchView<DrainView>
  readonly ledgers: WatchView<LedgerView>
  readonly longhorn: Pick<WatchView<LonghornPanelModel>, 'synced' | 'list' | 'subscribe'>
  readonly ceph: AskedView<CephView>
  readonly machines: AskedView<MachineNote>
  readonly osdUpdates: Pick<WatchView<UpdatePart>, 'synced' | 'list' | 'subscribe'>
  readonly events: WatchView<EventView>
}

/** The cluster as a picture that can be asked for, and as a stream of what changes in it. */
export interface ClusterFeed {
  readonly isSynced: boolean
  /** Whether somebody follows it. */
  readonly isWatched: boolean
  snapshot(): ClusterView
  /** Called at most once per batch. A change may repeat what a snapshot taken meanwhile already holds. */
  subscribe(listener: (change: ViewChange) => void): () => void
  close(): void
}

const kinds: readonly ViewKind[] = [
  'nodes',
  'pods',
  'loads',
  'budgets',
  'verdicts',
  'nodeVerdicts',
  'panels',
  'drains',
  'ledgers',
  'longhorn',
  'ceph',
  'machines',
  'osdUpdates',
  'events',
]
type AnyView = NonNullable<ClusterView[ViewKind]>[number]

export function createClusterFeed(options: {
  readonly views: ClusterViews
  readonly clock: Clock
  /** Changes within this time go out together. */
  readonly batchMs?: number
}): ClusterFeed {
  const { views, clock, batchMs = 100 } = options
  const listeners = new Set<(change: ViewChange) => void>()
  let pending = new Map<ViewKind, Map<string, AnyView | undefined>>()
  let cancelFlush: (() => void) | undefined

  const flush = () => {
    cancelFlush = undefined
    const change = buildChange(pending)
    pending = new Map()
    for (const listener of listeners) listener(change)
  }
  const note = (kind: ViewKind, id: string, view: AnyView | undefined) => {
    if (listeners.size === 0) return
    const ofKind = pending.get(kind) ?? new Map<string, AnyView | undefined>()
    pending.set(kind, ofKind.set(id, view))
    cancelFlush ??= clock.after(batchMs, flush)
  }
  const unsubscribes = kinds.map((kind) =>
    (views[kind] as Pick<WatchView<AnyView>, 'subscribe'>).subscribe((change) => {
      if (change.type === 'removed') note(kind, change.previous.id, undefined)
      else if (change.type === 'added' || !isSameJson(change.previous, change.value)) {
        note(kind, change.value.id, change.value)
      }
    }),
  )
  return {
    get isSynced() {
      return kinds.every((kind) => views[kind].synced)
    },
    get isWatched() {
      return listeners.size > 0
    },
    snapshot: () => ({
      nodes: [...views.nodes.list()],
      pods: [...views.pods.list()],
      ...some('loads', [...views.loads.list()]),
      budgets: [...views.budgets.list()],
      ...some('verdicts', [...views.verdicts.list()]),
      ...some('nodeVerdicts', [...views.nodeVerdicts.list()]),
      ...some('panels', [...views.panels.list()]),
      drains: [...views.drains.list()],
      ledgers: [...views.ledgers.list()],
      longhorn: [...views.longhorn.list()],
      ...some('ceph', [...views.ceph.list()]),
      ...some('machines', [...views.machines.list()]),
      ...some('osdUpdates', [...views.osdUpdates.list()]),
      events: newestEvents([...views.events.list()], keptEvents),
    }),
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      cancelFlush?.()
      listeners.clear()
      for (const unsubscribe of unsubscribes) unsubscribe()
    },
  }
}

function some<Key extends ViewKind>(key: Key, views: NonNullable<ClusterView[Key]>): Pick<ClusterView, Key> | object {
  return views.length === 0 ? {} : { [key]: views }
}

function buildChange(pending: ReadonlyMap<ViewKind, ReadonlyMap<string, AnyView | undefined>>): ViewChange {
  const change: { [Kind in ViewKind]?: CollectionChange<AnyView> } = {}
  for (const [kind, views] of pending) {
    change[kind] = {
      set: [...views.values()].filter((view) => view !== undefined),
      gone: [...views].flatMap(([id, view]) => (view === undefined ? [id] : [])),
    }
  }
  return change as ViewChange
}
