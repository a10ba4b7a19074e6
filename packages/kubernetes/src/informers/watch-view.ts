import type { ObjectKey } from '../api/resource-type.ts'

export type ViewChange<V> =
  | { readonly type: 'added'; readonly key: string; readonly value: V }
  | { readonly type: 'changed'; readonly key: string; readonly value: V; readonly previous: V }
  | { readonly type: 'removed'; readonly key: string; readonly previous: V }
  /** A new list was taken, and this is in it as it was. What came and went in between was missed, so reconcile again. */
  | { readonly type: 'resynced'; readonly key: string; readonly value: V; readonly previous: V }

/** A copy of one collection that follows the API server. It may be behind; it knows for how long it has heard nothing. */
export interface WatchView<V> {
  readonly synced: boolean
  whenSynced(signal?: AbortSignal): Promise<void>
  get(key: ObjectKey): V | undefined
  list(): Iterable<V>
  byIndex(index: string, value: string): readonly V[]
  /** Notifies of every change from now on; the returned function ends it. A listener that throws disturbs nobody else. */
  subscribe(listener: (change: ViewChange<V>) => void): () => void
  /** Milliseconds since the view was last known to be good; Infinity before the first list. */
  ageMs(): number
  /** Resolves when the view reflects a write that answered with this version; sooner where the namespace is given. */
  whenSeen(resourceVersion: string, signal?: AbortSignal, namespace?: string): Promise<void>
}
