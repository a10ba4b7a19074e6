import { ApiError, hasReason } from '../api/api-error.ts'
import type { KubeObject } from '../api/kube-object.ts'
import { keyText, type ObjectKey, type ResourceType } from '../api/resource-type.ts'
import type { KubeApi } from '../client/kube-api.ts'
import { type Clock, type Moment, momentOf, passedMs } from '../runtime/clock.ts'
import type {
  InformerOptions,
  Informers,
  OptionalInformerOptions,
  OptionalView,
  ScopedInformerOptions,
} from './informers.ts'
import { ListedContents } from './listed-contents.ts'
import type { WatchView } from './watch-view.ts'

export interface ListInformersPorts {
  readonly api: Pick<KubeApi, 'list'>
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Where it is noted what may not be read, and why. */
  readonly notSeen: string[]
}

type Listed<T> =
  | { readonly result: 'read'; readonly items: readonly T[] }
  | { readonly result: 'absent' }
  | { readonly result: 'refused'; readonly error: ApiError }

interface Query {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

/**
 * Views of the cluster as it was listed once, for whoever answers one question and ends.
 *
 * Guarantees: what several readers ask for is listed once. What may not be read is noted, and its view stays unsynced;
 * a kind that the server does not know is read, and empty.
 */
export class ListInformers implements Informers {
  readonly #ports: ListInformersPorts
  readonly #lists = new Map<string, Promise<Listed<KubeObject>>>()

  constructor(ports: ListInformersPorts) {
    this.#ports = ports
  }

  /**
   * Resolves when every view that was opened so far can be used.
   *
   * @throws whatever kept a list from being taken that was not for want of rights
   */
  async settled(): Promise<void> {
    // Whoever finds a kind absent may open another version of it.
    for (let taken = -1; taken !== this.#lists.size; ) {
      taken = this.#lists.size
      await Promise.all(this.#lists.values())
    }
  }

  open<T extends KubeObject, V = T>(_name: string, options: InformerOptions<T, V>): WatchView<V> {
    return this.#view(options, [options])
  }

  openOptional<T extends KubeObject, V = T>(_name: string, options: OptionalInformerOptions<T, V>): OptionalView<V> {
    return this.#view(options, [options])
  }

  openScoped<T extends KubeObject, V = T>(_name: string, options: ScopedInformerOptions<T, V>): WatchView<V> {
    const { namespaces, ...rest } = options
    if (namespaces === undefined) return this.#view(rest, [rest])
    return this.#view(
      rest,
      [...new Set(namespaces)].map((namespace) => ({ ...rest, namespace })),
      true,
    )
  }

  #view<T extends KubeObject, V>(
    options: Pick<OptionalInformerOptions<T, V>, 'type' | 'project' | 'indexes' | 'onAbsent'>,
    queries: readonly Query[],
    isScoped = false,
  ): OptionalView<V> {
    const view = new ListedView<T, V>({ ...options, isScoped, clock: this.#ports.clock })
    for (const query of queries) {
      const listed = this.#list(options.type, query)
      view.expect(query.namespace, listed as Promise<Listed<T>>)
    }
    return view
  }

  #list<T extends KubeObject>(
    type: ResourceType<T>,
    { namespace, labelSelector, fieldSelector }: Query,
  ): Promise<Listed<KubeObject>> {
    const key = JSON.stringify([type.group, type.version, type.plural, namespace, labelSelector, fieldSelector])
    const before = this.#lists.get(key)
    if (before !== undefined) return before
    const listed = this.#read(type, {
      ...(namespace !== undefined && { namespace }),
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
    })
    // Whoever waits hears of it; until then it must not count as an unhandled rejection.
    listed.catch(() => {})
    this.#lists.set(key, listed)
    return listed
  }

  async #read<T extends KubeObject>(type: ResourceType<T>, query: Query): Promise<Listed<KubeObject>> {
    const { api, signal, notSeen } = this.#ports
    try {
      // Each list listens to its signal, and Node.js warns of more than ten on one.
      const { items } = await api.list(type, { ...query, signal: AbortSignal.any([signal]) })
      return { result: 'read', items }
    } catch (error) {
      if (hasReason(error, 'NotFound')) return { result: 'absent' }
      if (!hasReason(error, 'Forbidden')) throw error
      const what = `${type.group === '' ? type.plural : `${type.plural}.${type.group}`}: ${error.message}`
      if (!notSeen.includes(what)) notSeen.push(what)
      return { result: 'refused', error }
    }
  }
}

/** The index by which readers ask for what is in one namespace. */
const namespaceIndex = 'namespace'

interface ListedViewOptions<T extends KubeObject, V>
  extends Pick<OptionalInformerOptions<T, V>, 'type' | 'project' | 'indexes' | 'onAbsent'> {
  readonly isScoped: boolean
  readonly clock: Clock
}

class ListedView<T extends KubeObject, V> implements OptionalView<V> {
  readonly #options: ListedViewOptions<T, V>
  readonly #contents: ListedContents<T, V>
  readonly #pending = new Set<Promise<unknown>>()
  readonly #namespaces = new Set<string>()
  readonly #refusals = new Map<string, ApiError>()
  #isServed = false
  #readAt: Moment = { atMs: Number.NEGATIVE_INFINITY, elapsedMs: Number.NEGATIVE_INFINITY }

  constructor(options: ListedViewOptions<T, V>) {
    this.#options = options
    this.#contents = new ListedContents(options.project ?? ((item) => item as unknown as V), options.indexes ?? {})
  }

  expect(namespace: string | undefined, list: Promise<Listed<T>>): void {
    this.#namespaces.add(namespace ?? '')
    const taken = list.then(
      (listed) => {
        this.#pending.delete(taken)
        this.#take(namespace, listed)
      },
      () => {},
    )
    this.#pending.add(taken)
  }

  get synced(): boolean {
    return this.#pending.size === 0 && (this.#options.isScoped || this.#refusals.size === 0)
  }

  async whenSynced(): Promise<void> {
    await Promise.all(this.#pending)
  }

  isServed(): boolean {
    return this.#isServed
  }

  get(key: ObjectKey): V | undefined {
    this.#requireNamespace(key.namespace ?? '')
    return this.#contents.get(keyText(key))
  }

  list(): readonly V[] {
    return this.#contents.list()
  }

  byIndex(index: string, value: string): readonly V[] {
    if (index === namespaceIndex) this.#requireNamespace(value)
    return this.#contents.byIndex(index, value)
  }

  /** Nothing changes in what was listed once. */
  subscribe(): () => void {
    return () => {}
  }

  ageMs(): number {
    return this.synced ? passedMs(this.#options.clock, this.#readAt) : Number.POSITIVE_INFINITY
  }

  async whenSeen(): Promise<void> {}

  #take(namespace: string | undefined, listed: Listed<T>): void {
    this.#readAt = momentOf(this.#options.clock)
    if (listed.result === 'refused') this.#refusals.set(namespace ?? '', listed.error)
    if (listed.result === 'absent') this.#options.onAbsent?.()
    if (listed.result !== 'read') return
    this.#isServed = true
    this.#contents.add(listed.items)
  }

  #requireNamespace(namespace: string): void {
    if (!this.#options.isScoped) return
    const refusal = this.#refusals.get(namespace)
    if (refusal !== undefined) throw refusal
    if (this.#namespaces.has(namespace)) return
    const { plural } = this.#options.type
    throw new ApiError('Forbidden', `${plural} in the namespace "${namespace}" are not read: it is not named`)
  }
}
