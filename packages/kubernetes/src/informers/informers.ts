import type { KubeObject } from '../api/kube-object.ts'
import type { ResourceType } from '../api/resource-type.ts'
import type { WatchView } from './watch-view.ts'

/** What of one kind is read, and in which form it is kept. */
export interface InformerOptions<T extends KubeObject, V> {
  readonly type: ResourceType<T>
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Keeps only what is asked for, as plain JSON. */
  readonly project?: (object: T) => V
  readonly indexes?: Readonly<Record<string, (value: NoInfer<V>) => readonly string[]>>
}

export interface OptionalInformerOptions<T extends KubeObject, V> extends InformerOptions<T, V> {
  /** Called once when the server is found not to know the kind. */
  readonly onAbsent?: () => void
}

export interface ScopedInformerOptions<T extends KubeObject, V> extends Omit<InformerOptions<T, V>, 'namespace'> {
  /** Undefined: all of them. */
  readonly namespaces: readonly string[] | undefined
  /** Called once for each namespace that may not be read, until it may. */
  readonly onUnread?: (namespace: string, error: Error) => void
}

/** A view of a kind that the API server may not know. */
export interface OptionalView<V> extends WatchView<V> {
  isServed(): boolean
}

/**
 * Where readers of the cluster get their views. A reader names kinds, projections and indexes once, and is fed either by watches
 * that go on (`WatchInformers`, in the operator) or by one list of each kind (`ListInformers`, in a command): what it makes of them
 * is the same code. Names are unique; they appear in metrics.
 */
export interface Informers {
  open<T extends KubeObject, V = T>(name: string, options: InformerOptions<T, V>): WatchView<V>
  /** A view of a kind that the cluster may not have: where it is absent the view counts as read, and empty. */
  openOptional<T extends KubeObject, V = T>(name: string, options: OptionalInformerOptions<T, V>): OptionalView<V>
  /** A view of some namespaces. One that may not be read leaves the others readable; asking for it by name throws why. */
  openScoped<T extends KubeObject, V = T>(name: string, options: ScopedInformerOptions<T, V>): WatchView<V>
}
