import type { ObjectKey } from '../api/resource-type.ts'
import type { ViewChange, WatchView } from './watch-view.ts'

/**
 * The same view, with nothing in it but what passes.
 *
 * Guarantees: what does not pass is neither found nor notified of, whoever made it.
 * Assumes: whether a value passes depends on what never changes of it, as its name.
 */
export function filteredView<V>(view: WatchView<V>, passes: (value: V) => boolean): WatchView<V> {
  return {
    get synced() {
      return view.synced
    },
    whenSynced: (signal) => view.whenSynced(signal),
    get(key: ObjectKey) {
      const value = view.get(key)
      return value !== undefined && passes(value) ? value : undefined
    },
    list: () => [...view.list()].filter(passes),
    byIndex: (index, value) => view.byIndex(index, value).filter(passes),
    subscribe: (listener) =>
      view.subscribe((change: ViewChange<V>) => {
        if (passes(change.type === 'removed' ? change.previous : change.value)) listener(change)
      }),
    ageMs: () => view.ageMs(),
    whenSeen: (resourceVersion, signal, namespace) => view.whenSeen(resourceVersion, signal, namespace),
  }
}
