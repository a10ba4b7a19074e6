import { ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { DeleteOptions, KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Random, realRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { createEventSink, type EventRecorder, type EventSink } from './event-recorder.ts'
import { View } from './view.ts'
import { createWorkQueue, type WorkQueue } from './work-queue.ts'

/** Controllers of workloads see changes a little late, as real ones do, and so see a burst of them as one. */
export const workloadLagMs = 10

export interface Actor {
  stop(): void
}

/** One whose process can be started again. */
export interface RestartedActor extends Actor {
  /** As a new pod of it does: it forgets what it had begun, and looks at every object once more. */
  restart(): void
}

export interface ActorFailure {
  readonly actor: string
  readonly key: string
  readonly error: unknown
}

/** What every actor is given. Actors of one world share their views and their event sink. */
export interface ActorPorts {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random?: Random
  readonly views?: Views
  readonly events?: EventSink
  readonly onFailure?: (failure: ActorFailure) => void
}

/** One view per kind, made when it is first asked for. */
export class Views {
  readonly #ports: Pick<ActorPorts, 'api' | 'clock' | 'onFailure'>
  readonly #views = new Map<string, View>()

  constructor(ports: Pick<ActorPorts, 'api' | 'clock' | 'onFailure'>) {
    this.#ports = ports
  }

  of<T extends KubeObject>(type: ResourceType<T>): View<T> {
    const name = `${type.group}/${type.version}/${type.plural}`
    let view = this.#views.get(name) as View<T> | undefined
    if (view === undefined) {
      const { api, clock, onFailure } = this.#ports
      const fail = (error: unknown) => onFailure?.({ actor: 'view', key: type.plural, error })
      view = new View({ api, clock, type, onFailure: fail })
      this.#views.set(name, view as unknown as View)
    }
    return view
  }

  stop(): void {
    for (const view of this.#views.values()) view.stop()
  }
}

/** The tools of one actor, and the one place where all of them end. */
export interface ActorTools {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly views: Views
  readonly recorder: EventRecorder
  /** For actors that speak for one of many hosts. */
  recorderOn(host: string): EventRecorder
  /** A queue that starts when all of the given views have been listed. */
  queue(options: {
    readonly needs: readonly { onReady(listener: () => void): () => void }[]
    readonly work: (key: string) => Promise<void>
    readonly delayMs?: number
    readonly concurrency?: number
  }): WorkQueue
  /** Calls back again and again until the actor stops. */
  every(periodMs: number, callback: () => void): void
  onStop(callback: () => void): void
  fail(key: string, error: unknown): void
  readonly stop: () => void
}

export function openTools(name: string, ports: ActorPorts): ActorTools {
  const { clock } = ports
  const random = (ports.random ?? realRandom).stream(name)
  const api = writingAs(ports.api, name)
  const views = ports.views ?? new Views(ports)
  const events = ports.events ?? createEventSink({ api, clock, random: random.stream('events') })
  const endings: (() => void)[] = []
  let stopped = false
  if (ports.views === undefined) endings.push(() => views.stop())
  if (ports.events === undefined) endings.push(() => events.stop())
  const fail = (key: string, error: unknown) => ports.onFailure?.({ actor: name, key, error })

  return {
    api,
    clock,
    random,
    views,
    recorder: events.recorder(name),
    recorderOn: (host) => events.recorder(name, host),
    queue({ needs, work, delayMs = 1, concurrency = 8 }) {
      const early = new Set<string>()
      let unready = needs.length
      const onFailure = (key: string, error: unknown) => {
        if (!isExpectedRace(error)) fail(key, error)
      }
      const queue = createWorkQueue({ clock, work, delayMs, concurrency, onFailure })
      const open = () => {
        unready -= 1
        if (unready > 0) return
        for (const key of early) queue.add(key)
        early.clear()
      }
      for (const view of needs) endings.push(view.onReady(open))
      endings.push(() => queue.stop())
      return {
        ...queue,
        add: (key) => (unready > 0 ? void early.add(key) : queue.add(key)),
      }
    },
    every(periodMs, callback) {
      let cancel: (() => void) | undefined
      const next = () => {
        cancel = clock.after(periodMs, () => {
          callback()
          if (!stopped) next()
        })
      }
      next()
      endings.push(() => cancel?.())
    },
    onStop: (callback) => void endings.push(callback),
    fail,
    stop() {
      stopped = true
      for (const end of endings.reverse()) end()
      endings.length = 0
    },
  }
}

/** The same API, with the fields that are written belonging to this actor. */
function writingAs(api: KubeApi, fieldManager: string): KubeApi {
  return {
    get: (type, key, options) => api.get(type, key, options),
    list: (type, query) => api.list(type, query),
    watch: (type, query) => api.watch(type, query),
    create: (type, object, options) => api.create(type, object, { fieldManager, ...options }),
    createSubresource: (type, key, subresource, body, options) =>
      api.createSubresource(type, key, subresource, body, { fieldManager, ...options }),
    update: (type, object, options) => api.update(type, object, { fieldManager, ...options }),
    patch: (type, key, patch, options) => api.patch(type, key, patch, { fieldManager, ...options }),
    delete: (type, key, options) => api.delete(type, key, options),
    deleteCollection: (type, query, options) => api.deleteCollection(type, query, options),
  }
}

/** Somebody else was faster; the next reconcile will see what they did. */
function isExpectedRace(error: unknown): boolean {
  return hasReason(error, 'Conflict', 'NotFound')
}

/** Writes the status of an object as we hold it; a newer version in the cluster makes this a conflict. */
export async function writeStatus<T extends KubeObject>(
  tools: ActorTools,
  type: ResourceType<T>,
  object: T,
  status: T extends { readonly status?: infer S } ? S : never,
): Promise<T> {
  const written = await tools.api.update(type, { ...object, status } as T, { subresource: 'status' })
  tools.views.of(type).record(written)
  return written
}

/** Deletes exactly this object, not one that took its name. Resolves quietly when it has gone already. */
export async function deleteExactly<T extends KubeObject>(
  tools: ActorTools,
  type: ResourceType<T>,
  object: T,
  options: DeleteOptions = {},
): Promise<boolean> {
  const { uid } = object.metadata
  try {
    const answer = await tools.api.delete(type, keyOf(object), {
      ...options,
      ...(uid === undefined ? {} : { preconditions: { uid } }),
    })
    tools.views.of(type).recordDeleted(answer)
    return true
  } catch (error) {
    if (error instanceof ApiError && (error.reason === 'NotFound' || error.reason === 'Conflict')) return false
    throw error
  }
}
