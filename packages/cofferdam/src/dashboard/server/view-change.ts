import { type ClusterView, newestEvents } from './cluster-view.ts'

/** How many events the server keeps ready and the page holds; a busy cluster makes thousands. */
export const keptEvents = 200

export type ViewKind =
  | 'nodes'
  | 'pods'
  | 'loads'
  | 'budgets'
  | 'verdicts'
  | 'nodeVerdicts'
  | 'panels'
  | 'drains'
  | 'ledgers'
  | 'longhorn'
  | 'ceph'
  | 'machines'
  | 'osdUpdates'
  | 'events'
type ViewOf<Kind extends ViewKind> = NonNullable<ClusterView[Kind]>[number]

export interface CollectionChange<View> {
  readonly set: readonly View[]
  readonly gone: readonly string[]
}

/** What became different since the last message; kinds that did not change are absent. */
export type ViewChange = { readonly [Kind in ViewKind]?: CollectionChange<ViewOf<Kind>> }

/** The view after a change. Collections that did not change keep their identity, so a page redraws only what did. */
export function applyChange(view: ClusterView, change: ViewChange): ClusterView {
  return {
    nodes: changed(view.nodes, change.nodes),
    pods: changed(view.pods, change.pods),
    ...optional('loads', changed(view.loads, change.loads)),
    budgets: changed(view.budgets, change.budgets),
    ...optional('verdicts', changed(view.verdicts, change.verdicts)),
    ...optional('nodeVerdicts', changed(view.nodeVerdicts, change.nodeVerdicts)),
    ...optional('panels', changed(view.panels, change.panels)),
    drains: changed(view.drains, change.drains),
    ledgers: changed(view.ledgers, change.ledgers),
    longhorn: changed(view.longhorn, change.longhorn),
    ...optional('ceph', changed(view.ceph, change.ceph)),
    ...optional('machines', changed(view.machines, change.machines)),
    ...optional('osdUpdates', changed(view.osdUpdates, change.osdUpdates)),
    events: change.events === undefined ? view.events : newestEvents(changed(view.events, change.events), keptEvents),
  }
}

function optional<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { [K in Key]: Value })
}

function changed<View extends { readonly id: string }, Before extends readonly View[] | undefined>(
  before: Before,
  change: CollectionChange<View> | undefined,
): Before | readonly View[] {
  if (change === undefined) return before
  const views = new Map((before ?? []).map((view) => [view.id, view]))
  for (const id of change.gone) views.delete(id)
  for (const view of change.set) views.set(view.id, view)
  return [...views.values()]
}
