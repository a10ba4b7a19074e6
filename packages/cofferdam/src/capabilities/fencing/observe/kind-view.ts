import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { OptionalView } from '@cofferdam/kubernetes/informers/informers.ts'
import type { ViewChange, WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'

/** A view of a kind that the API server may not know, or know in one of several versions. */
export interface KindView<T extends KubeObject> extends WatchView<T> {
  isServed(): boolean
  /** In the version that is read. */
  type(): ResourceType<T>
}

export function withType<T extends KubeObject>(view: OptionalView<T>, type: () => ResourceType<T>): KindView<T> {
  return {
    type,
    isServed: () => view.isServed(),
    get synced() {
      return view.synced
    },
    whenSynced: (signal) => view.whenSynced(signal),
    get: (key) => view.get(key),
    list: () => view.list(),
    byIndex: (index, value) => view.byIndex(index, value),
    subscribe: (listener) => view.subscribe(listener),
    ageMs: () => view.ageMs(),
    whenSeen: (version, signal) => view.whenSeen(version, signal),
  }
}

/** The newer version where the server knows it, else the older one, which is opened only then. */
export function eitherVersion<T extends KubeObject>(
  openNewer: (onAbsent: () => void) => KindView<T>,
  openOlder: () => KindView<T>,
): KindView<T> {
  const listeners = new Set<(change: ViewChange<T>) => void>()
  let older: KindView<T> | undefined
  const notify = (from: () => KindView<T> | undefined) => (change: ViewChange<T>) => {
    if (current() === from()) for (const listener of listeners) listener(change)
  }
  const newer = openNewer(() => void olderView())
  newer.subscribe(notify(() => newer))
  function olderView(): KindView<T> {
    if (older === undefined) {
      older = openOlder()
      older.subscribe(notify(() => older))
    }
    return older
  }
  function current(): KindView<T> {
    return newer.isServed() ? newer : (older ?? newer)
  }
  const view = withType(
    {
      isServed: () => current().isServed(),
      get synced() {
        return newer.isServed() || (newer.synced && older?.synced === true)
      },
      async whenSynced(signal) {
        await newer.whenSynced(signal)
        if (!newer.isServed()) await olderView().whenSynced(signal)
      },
      get: (key) => current().get(key),
      list: () => current().list(),
      byIndex: (index, value) => current().byIndex(index, value),
      subscribe(listener) {
        const own = (change: ViewChange<T>) => listener(change)
        listeners.add(own)
        return () => listeners.delete(own)
      },
      ageMs: () => current().ageMs(),
      whenSeen: (version, signal) => current().whenSeen(version, signal),
    },
    () => current().type(),
  )
  return view
}
