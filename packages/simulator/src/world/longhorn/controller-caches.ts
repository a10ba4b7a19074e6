import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi, WatchEvent, WatchQuery } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import { type ActorPorts, Views } from '../actor.ts'
import type { LonghornController, LonghornDescription } from './longhorn-description.ts'

export interface ControllerCaches {
  /** What one controller sees and writes through. */
  portsFor(controller: LonghornController): ActorPorts
  stop(): void
}

/** Every controller with a cache of its own: as late as configured, and now and then too slow with a write. */
export function createControllerCaches(
  ports: ActorPorts & { readonly random: Random; readonly views: Views },
  description: Pick<LonghornDescription, 'cacheLagMs' | 'conflictRate'>,
): ControllerCaches {
  const own: Views[] = []
  const { conflictRate = 0, cacheLagMs = {} } = description
  const chance = ports.random.stream('longhorn-conflicts')
  return {
    portsFor(controller) {
      const api = conflictRate > 0 ? conflicting(ports.api, chance.stream(controller), conflictRate) : ports.api
      const lagMs = cacheLagMs[controller] ?? 0
      if (lagMs <= 0) return { ...ports, api }
      const late = lagging(api, ports.clock, lagMs)
      const { onFailure } = ports
      const views = new Views({ api: late, clock: ports.clock, ...(onFailure === undefined ? {} : { onFailure }) })
      own.push(views)
      return { ...ports, api: late, views }
    },
    stop() {
      for (const views of own) views.stop()
    },
  }
}

function conflicting(api: KubeApi, random: Random, rate: number): KubeApi {
  const refuse = (type: ResourceType, name: string) => {
    if (random.next() >= rate) return
    const what = `${type.plural}.${type.group} "${name}"`
    throw new ApiError(
      'Conflict',
      `Operation cannot be fulfilled on ${what}: the object has been modified; please apply your changes to the latest version and try again`,
    )
  }
  return changed(api, {
    update: async (type, object, options) => {
      refuse(type, object.metadata.name)
      return api.update(type, object, options)
    },
  })
}

function lagging(api: KubeApi, clock: Clock, lagMs: number): KubeApi {
  return changed(api, {
    watch: <T extends KubeObject>(type: ResourceType<T>, query?: WatchQuery) =>
      delayed(api.watch(type, query), {
        clock,
        lagMs,
        ...(query?.signal === undefined ? {} : { signal: query.signal }),
      }),
  })
}

function changed(api: KubeApi, changes: Partial<KubeApi>): KubeApi {
  return {
    get: (type, key, options) => api.get(type, key, options),
    list: (type, query) => api.list(type, query),
    watch: (type, query) => api.watch(type, query),
    create: (type, object, options) => api.create(type, object, options),
    createSubresource: (type, key, subresource, body, options) =>
      api.createSubresource(type, key, subresource, body, options),
    update: (type, object, options) => api.update(type, object, options),
    patch: (type, key, patch, options) => api.patch(type, key, patch, options),
    delete: (type, key, options) => api.delete(type, key, options),
    deleteCollection: (type, query, options) => api.deleteCollection(type, query, options),
    ...changes,
  }
}

/** The same events, each so much later than it came. */
async function* delayed<T extends KubeObject>(
  events: AsyncIterable<WatchEvent<T>>,
  { clock, lagMs, signal }: { readonly clock: Clock; readonly lagMs: number; readonly signal?: AbortSignal },
): AsyncGenerator<WatchEvent<T>> {
  const waiting: { readonly event: WatchEvent<T>; readonly dueMs: number }[] = []
  let isOver = false
  let failure: unknown
  let wake = () => {}
  const pump = async () => {
    try {
      for await (const event of events) {
        waiting.push({ event, dueMs: clock.now() + lagMs })
        wake()
      }
    } catch (error) {
      failure = error
    }
    isOver = true
    wake()
  }
  void pump()
  for (;;) {
    const first = waiting.shift()
    if (first !== undefined) {
      const leftMs = first.dueMs - clock.now()
      if (leftMs > 0) await sleep(clock, leftMs, signal)
      if (signal?.aborted === true) return
      yield first.event
    } else if (isOver) {
      if (failure !== undefined) throw failure
      return
    } else {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
}
