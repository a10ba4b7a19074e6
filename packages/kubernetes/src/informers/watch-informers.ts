import type { KubeObject } from '../api/kube-object.ts'
import type { KubeApi } from '../client/kube-api.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Random } from '../runtime/random.ts'
import type {
  InformerOptions,
  Informers,
  OptionalInformerOptions,
  OptionalView,
  ScopedInformerOptions,
} from './informers.ts'
import { createOptionalCache } from './optional-cache.ts'
import { createScopedCache } from './scoped-cache.ts'
import { SharedWatches } from './shared-watches.ts'
import { reportUnreadable, type UnreadableViewPorts } from './unreadable-views.ts'
import { createWatchCache } from './watch-cache.ts'
import type { WatchView } from './watch-view.ts'

export interface WatchInformersPorts extends UnreadableViewPorts {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
}

interface OwnedView {
  ageMs(): number
  stop(): unknown
}

/** Views that follow the API server until they are stopped. Readers of the same objects share a watch. */
export class WatchInformers implements Informers {
  readonly #base: Pick<WatchInformersPorts, 'api' | 'clock' | 'random'> & { readonly watches: SharedWatches }
  readonly #reports: UnreadableViewPorts
  readonly #views = new Map<string, OwnedView>()

  constructor(ports: WatchInformersPorts) {
    const { api, clock, random, ...reports } = ports
    this.#base = { api, clock, random, watches: new SharedWatches() }
    this.#reports = reports
  }

  open<T extends KubeObject, V = T>(name: string, options: InformerOptions<T, V>): WatchView<V> {
    return this.#openFor([]).open(name, options)
  }

  openOptional<T extends KubeObject, V = T>(name: string, options: OptionalInformerOptions<T, V>): OptionalView<V> {
    return this.#openFor([]).openOptional(name, options)
  }

  openScoped<T extends KubeObject, V = T>(name: string, options: ScopedInformerOptions<T, V>): WatchView<V> {
    return this.#openFor([]).openScoped(name, options)
  }

  /** The same, for these: who they are is reported with a view that cannot be read. */
  usedBy(users: readonly string[]): Informers {
    return this.#openFor(users)
  }

  #openFor(users: readonly string[]): Informers {
    const base = (view: string) => ({ ...this.#base, ...reportUnreadable(this.#reports, { view, users }) })
    return {
      open: <T extends KubeObject, V = T>(name: string, options: InformerOptions<T, V>) =>
        this.#own(name, () => createWatchCache<T, V>({ ...base(name), ...options })),
      openOptional: <T extends KubeObject, V = T>(name: string, options: OptionalInformerOptions<T, V>) =>
        this.#own(name, () => createOptionalCache<T, V>({ ...base(name), ...options })),
      openScoped: <T extends KubeObject, V = T>(name: string, options: ScopedInformerOptions<T, V>) =>
        this.#own(name, () => createScopedCache<T, V>({ ...base(name), ...options })),
    }
  }

  /** Milliseconds since each view was last known to be good, by its name. */
  ages(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#views].map(([name, view]) => [name, view.ageMs()]))
  }

  stop(): void {
    for (const view of this.#views.values()) view.stop()
  }

  #own<V extends OwnedView>(name: string, open: () => V): V {
    // The first of two of one name would run on when all are stopped.
    if (this.#views.has(name)) throw new Error(`two views are called ${name}`)
    const view = open()
    this.#views.set(name, view)
    return view
  }
}
