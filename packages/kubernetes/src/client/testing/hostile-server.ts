import { ApiError } from '../../api/api-error.ts'
import type { ConfigMap } from '../../api/core.ts'
import type { KubeList } from '../../api/kube-object.ts'
import { CofferdamError } from '../../errors.ts'
import type { KubeApi, ListQuery, WatchEvent, WatchQuery } from '../kube-api.ts'

type MapEvent = WatchEvent<ConfigMap>

/** What goes wrong with one call. A stream that is said to end in some way ends so after `after` more events. */
export type Fault =
  | { readonly kind: 'refuse'; readonly code: number; readonly reason: string; readonly retryAfterSeconds?: number }
  | { readonly kind: 'unreachable'; readonly after: number }
  | { readonly kind: 'hang'; readonly after: number }
  | { readonly kind: 'close'; readonly after: number }
  | { readonly kind: 'expire'; readonly after: number }
  /** Sends every event twice, and then the ones before again. */
  | { readonly kind: 'repeat' }

interface Stream {
  /** Events after this version. */
  readonly from: number
  readonly queue: MapEvent[]
  wake: () => void
  isOver: boolean
}

/** A collection of config maps behind a KubeApi that keeps its promises badly: one fault of the given list per call. */
export class HostileServer {
  readonly objects = new Map<string, ConfigMap>()
  readonly faults: Fault[] = []
  readonly lists: ListQuery[] = []
  readonly watches: WatchQuery[] = []
  /** Whether it knows `sendInitialEvents`, refuses it, or does not look at it, as servers of old. */
  streaming: 'yes' | 'refused' | 'ignored' = 'yes'
  /** Whether it refuses a watch from a version that it has not come to, or takes it and is silent until it has, as servers with a cache do. */
  future: 'refused' | 'awaited' = 'refused'
  #version = 1
  #oldest = 1
  #history: { readonly version: number; readonly event: MapEvent; readonly before: ConfigMap | undefined }[] = []
  readonly #streams = new Set<Stream>()

  get version(): string {
    return String(this.#version)
  }

  put(name: string, text: string): ConfigMap {
    const before = this.objects.get(name)
    this.#version += 1
    const object: ConfigMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        namespace: 'ns',
        name,
        uid: before?.metadata.uid ?? `uid-${this.version}`,
        resourceVersion: this.version,
      },
      data: { text },
    }
    this.objects.set(name, object)
    this.#tell({ type: before === undefined ? 'ADDED' : 'MODIFIED', object }, before)
    return object
  }

  remove(name: string): void {
    const before = this.objects.get(name)
    if (before === undefined) return
    this.#version += 1
    this.objects.delete(name)
    const object = { ...before, metadata: { ...before.metadata, resourceVersion: this.version } }
    this.#tell({ type: 'DELETED', object }, before)
  }

  /** Writes elsewhere: the version grows, this collection stays as it is. */
  writeElsewhere(): void {
    this.#version += 1
  }

  bookmark(): void {
    for (const stream of this.#streams) this.#send(stream, { type: 'BOOKMARK', resourceVersion: this.version })
  }

  /** Forgets all events so far. */
  compact(): void {
    this.#history = []
    this.#oldest = this.#version
  }

  closeStreams(): void {
    for (const stream of this.#streams) {
      stream.isOver = true
      stream.wake()
    }
  }

  /** Everything is as it was at an earlier time, versions included. */
  restore(version: number, objects: ReadonlyMap<string, ConfigMap>): void {
    this.#version = version
    this.objects.clear()
    for (const [name, object] of objects) this.objects.set(name, object)
    this.compact()
    this.closeStreams()
  }

  get api(): KubeApi {
    const api: Pick<KubeApi, 'list' | 'watch'> = {
      list: (_, query = {}) => this.#list(query) as Promise<KubeList<never>>,
      watch: (_, query = {}) => this.#watch(query) as AsyncIterable<never>,
    }
    return api as KubeApi
  }

  async #list(query: ListQuery): Promise<KubeList<ConfigMap>> {
    this.lists.push(query)
    const fault = this.faults.shift()
    await this.#fail(fault, query.signal)
    const [version = this.#version, start = 0] = (query.continueToken ?? '').split(':').filter(Boolean).map(Number)
    if (version < this.#oldest) throw expired()
    // By name, as servers list: the same place on every page.
    const all = this.#asOf(version).sort((l, r) => (l.metadata.name < r.metadata.name ? -1 : 1))
    const end = Math.min(all.length, start + (query.limit ?? all.length))
    return {
      items: all.slice(start, end),
      resourceVersion: String(version),
      ...(end < all.length ? { continueToken: `${version}:${end}` } : {}),
    }
  }

  #asOf(version: number): ConfigMap[] {
    const state = new Map(this.objects)
    for (const { version: at, event, before } of [...this.#history].reverse()) {
      if (at <= version || event.type === 'BOOKMARK') continue
      const { name } = event.object.metadata
      if (before === undefined) state.delete(name)
      else state.set(name, before)
    }
    return [...state.values()]
  }

  async *#watch(query: WatchQuery): AsyncGenerator<MapEvent> {
    this.watches.push(query)
    const fault = this.faults.shift()
    const isInitial = query.sendInitialEvents === true
    if (fault?.kind === 'refuse') await this.#fail(fault, query.signal)
    if (isInitial && this.streaming === 'refused') {
      throw new ApiError('Invalid', 'sendInitialEvents: Forbidden: not supported here')
    }
    const stream: Stream = {
      from: isInitial ? 0 : Number(query.resourceVersion),
      queue: this.#beginning(query),
      wake: () => {},
      isOver: false,
    }
    if (isInitial && this.streaming === 'yes') {
      this.#send(stream, { type: 'BOOKMARK', resourceVersion: this.version, initialEventsEnd: true })
    }
    this.#streams.add(stream)
    const onAbort = () => stream.wake()
    query.signal?.addEventListener('abort', onAbort)
    try {
      for (let sent = 0; ; sent += 1) {
        if (fault !== undefined && 'after' in fault && sent >= fault.after) {
          await this.#fail(fault, query.signal).catch((error: unknown) => {
            if (!query.signal?.aborted) throw error
          })
          return
        }
        while (stream.queue.length === 0) {
          if (query.signal?.aborted || stream.isOver) return
          await new Promise<void>((resolve) => {
            stream.wake = resolve
          })
        }
        if (query.signal?.aborted) return
        const event = stream.queue.shift() as MapEvent
        yield event
        if (fault?.kind === 'repeat' && event.type !== 'BOOKMARK' && !isInitial) {
          for (const past of this.#history) if (versionOf(past.event) <= versionOf(event)) yield past.event
        }
      }
    } finally {
      query.signal?.removeEventListener('abort', onAbort)
      this.#streams.delete(stream)
    }
  }

  #beginning(query: WatchQuery): MapEvent[] {
    if (query.sendInitialEvents === true) return [...this.objects.values()].map((object) => ({ type: 'ADDED', object }))
    const from = Number(query.resourceVersion)
    if (from > this.#version && this.future === 'refused') {
      const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }]
      throw new ApiError('Timeout', `Too large resource version: ${from}`, { details: { causes } })
    }
    if (from < this.#oldest) throw expired()
    return this.#history.filter(({ version }) => version > from).map(({ event }) => event)
  }

  async #fail(fault: Fault | undefined, signal: AbortSignal | undefined): Promise<void> {
    switch (fault?.kind) {
      case 'refuse':
        throw new ApiError(fault.reason, 'refused by the script', {
          code: fault.code,
          ...(fault.retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds: fault.retryAfterSeconds } }),
        })
      case 'unreachable':
        throw new CofferdamError('API_UNREACHABLE', 'the script cut the line')
      case 'expire':
        throw expired()
      case 'hang':
        await new Promise<void>((resolve) => {
          if (signal?.aborted) resolve()
          signal?.addEventListener('abort', () => resolve(), { once: true })
        })
        throw new CofferdamError('API_UNREACHABLE', 'the caller gave up')
    }
  }

  #tell(event: MapEvent, before: ConfigMap | undefined): void {
    this.#history.push({ version: this.#version, event, before })
    for (const stream of this.#streams) this.#send(stream, event)
  }

  #send(stream: Stream, event: MapEvent): void {
    if (stream.isOver || versionOf(event) <= stream.from) return
    stream.queue.push(event)
    stream.wake()
  }
}

function expired(): ApiError {
  return new ApiError('Expired', 'too old resource version')
}

function versionOf(event: MapEvent): number {
  return Number(event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion)
}
