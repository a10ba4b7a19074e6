import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi, WatchEvent, WatchQuery } from '@cofferdam/kubernetes/client/kube-api.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'

/** So long the server that feeds the caches is behind the others. */
export const behindMs = 5_000

/**
 * The API for a process that is connected to a server which is behind: its caches begin with the cluster as it was at that version,
 * and stay with it for a while. What it reads and writes object by object is answered by those that are up to date.
 */
export function outdate(api: KubeApi, clock: VirtualClock, version: number): KubeApi {
  const endMs = clock.now() + behindMs
  return changedApi(api, {
    watch: (type, query = {}) =>
      query.sendInitialEvents === true && clock.now() < endMs
        ? caughtUp(api, clock, { type, query, version, endMs })
        : api.watch(type, query),
  })
}

async function* caughtUp<T extends KubeObject>(
  api: KubeApi,
  clock: VirtualClock,
  {
    type,
    query,
    version,
    endMs,
  }: { readonly type: ResourceType<T>; readonly query: WatchQuery; readonly version: number; readonly endMs: number },
): AsyncGenerator<WatchEvent<T>> {
  const { namespace, labelSelector, fieldSelector, signal } = query
  const resourceVersion = String(version)
  const exactly = { resourceVersion, resourceVersionMatch: 'Exact' as const }
  const selection = { namespace, labelSelector, fieldSelector, signal }
  const { items } = await api.list(type, { ...defined(selection), ...exactly }).catch((error: unknown) => {
    // The server has forgotten how it was: the kind is new.
    if (hasReason(error, 'Expired')) return { items: undefined }
    throw error
  })
  if (items === undefined) {
    yield* api.watch(type, query)
    return
  }
  for (const object of items) yield { type: 'ADDED', object }
  yield { type: 'BOOKMARK', resourceVersion, initialEventsEnd: true }
  await sleep(clock, Math.max(0, endMs - clock.now()), signal)
  const { sendInitialEvents: _, resourceVersionMatch: __, ...rest } = query
  yield* api.watch(type, { ...rest, resourceVersion })
}

function defined<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never
}
