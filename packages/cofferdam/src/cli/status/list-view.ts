import { keyText, type ObjectKey } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'

/** A collection as it was when it was listed, for what else follows it. */
export function listView<V extends { readonly namespace?: string; readonly name: string }>(
  items: readonly V[],
  indexes: Readonly<Record<string, (item: V) => string>>,
): WatchView<V> {
  return {
    synced: true,
    whenSynced: () => Promise.resolve(),
    get: (key: ObjectKey) => items.find(({ namespace, name }) => keyText(key) === keyText(keyOf(namespace, name))),
    list: () => items,
    byIndex: (index, value) => items.filter((item) => indexes[index]?.(item) === value),
    subscribe: () => () => {},
    ageMs: () => 0,
    whenSeen: () => Promise.resolve(),
  }
}

function keyOf(namespace: string | undefined, name: string): ObjectKey {
  return namespace === undefined ? { name } : { namespace, name }
}
