import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { Informers, OptionalView } from '@cofferdam/kubernetes/informers/informers.ts'
import type { ViewChange, WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Log } from '@cofferdam/kubernetes/runtime/log.ts'

/** A view of a kind that the API server may not know, or know in one of several versions. */
export interface KindView<T extends KubeObject, V = T> extends WatchView<V> {
  isServed(): boolean
  /** In the version that is read. */
  type(): ResourceType<T>
}

export interface KindPorts {
  readonly informers: Informers
  readonly log: Log
  /** Names of views are unique: each reader has its own. */
  readonly reader: string
}

/** The kind as it is named, where the cluster has it. */
export function openKind<T extends KubeObject, V>(
  { informers, log, reader }: KindPorts,
  type: ResourceType<T>,
  options: { readonly project: (object: T) => V; readonly onAbsent?: () => void },
): KindView<T, V> {
  const name = `${type.plural}.${type.group}/${type.version}`
  const onAbsent = () => {
    log.info({ resource: name }, 'the cluster has no such kind')
    options.onAbsent?.()
  }
  const view = informers.openOptional<T, V>(`${reader}/${name}`, { type, project: options.project, onAbsent })
  return withType(view, () => type)
}

function withType<T extends KubeObject, V>(view: OptionalView<V>, type: () => ResourceType<T>): KindView<T, V> {
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
export function eitherVersion<T extends KubeObject, V>(
  openNewer: (onAbsent: () => void) => KindView<T, V>,
  openOlder: () => KindView<T, V>,
): KindView<T, V> {
  const listeners = new Set<(change: ViewChange<V>) => void>()
  let older: KindView<T, V> | undefined
  const notify = (from: () => KindView<T, V> | undefined) => (change: ViewChange<V>) => {
    if (current() === from()) for (const listener of listeners) listener(change)
  }
  const newer = openNewer(() => void olderView())
  newer.subscribe(notify(() => newer))
  function olderView(): KindView<T, V> {
    if (older === undefined) {
      older = openOlder()
      older.subscribe(notify(() => older))
    }
    return older
  }
  function current(): KindView<T, V> {
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
        const own = (change: ViewChange<V>) => listener(change)
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
