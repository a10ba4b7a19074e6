import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'

export interface RoughRoad {
  /** So late is everything that a watch tells, in order. */
  readonly lagMs: number
  /** Of writes to objects that are there, so many meet a conflict and are not carried out. May change meanwhile. */
  readonly conflictRate: number
  readonly random: Random
}

/** The API as it is for a process whose caches are behind and whose writes meet those of others. */
export function roughen(api: KubeApi, clock: Clock, road: RoughRoad): KubeApi {
  const { lagMs, random } = road
  const write = <T>(call: () => Promise<T>): Promise<T> =>
    random.next() < road.conflictRate
      ? Promise.reject(
          new ApiError('Conflict', 'the object has been modified; please apply your changes to the latest'),
        )
      : call()
  return {
    ...bound(api),
    watch: (type, query) => delayed(api.watch(type, query), clock, lagMs),
    update: (...args) => write(() => api.update(...args)),
    patch: (...args) => write(() => api.patch(...args)),
  }
}

/** What comes at the same moment is late by the same time: a busy watch falls no further behind. */
async function* delayed<T>(events: AsyncIterable<T>, clock: Clock, lagMs: number): AsyncGenerator<T> {
  const heard: { readonly dueMs: number; readonly event: T }[] = []
  let hasEnded = false
  let failure: unknown
  let wake = () => {}
  const pump = (async () => {
    for await (const event of events) {
      heard.push({ dueMs: clock.now() + lagMs, event })
      wake()
    }
  })()
    .catch((error: unknown) => {
      failure = error
    })
    .finally(() => {
      hasEnded = true
      wake()
    })
  for (;;) {
    const next = heard.shift()
    if (next === undefined) {
      if (hasEnded) break
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      continue
    }
    await sleep(clock, Math.max(0, next.dueMs - clock.now()))
    yield next.event
  }
  await pump
  if (failure !== undefined) throw failure
}

function bound(api: KubeApi): KubeApi {
  return {
    get: (...args) => api.get(...args),
    list: (...args) => api.list(...args),
    watch: (...args) => api.watch(...args),
    create: (...args) => api.create(...args),
    createSubresource: (...args) => api.createSubresource(...args),
    update: (...args) => api.update(...args),
    patch: (...args) => api.patch(...args),
    delete: (...args) => api.delete(...args),
    deleteCollection: (...args) => api.deleteCollection(...args),
  }
}
