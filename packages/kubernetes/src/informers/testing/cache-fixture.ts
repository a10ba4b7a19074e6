import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import type { ConfigMap } from '../../api/core.ts'
import { configMaps } from '../../api/resources.ts'
import { HostileServer } from '../../client/testing/hostile-server.ts'
import { seededRandom } from '../../runtime/random.ts'
import { createWatchCache, type WatchCacheOptions } from '../watch-cache.ts'
import type { ViewChange } from '../watch-view.ts'

type MapOptions = Partial<WatchCacheOptions<ConfigMap, ConfigMap>>

export function fixture(prepare: (server: HostileServer) => void = () => {}, options: MapOptions = {}) {
  const clock = new VirtualClock()
  const server = new HostileServer()
  prepare(server)
  const changes: string[] = []
  const errors: unknown[] = []
  const cache = createWatchCache<ConfigMap>({
    api: server.api,
    type: configMaps,
    clock,
    random: seededRandom(1),
    onChange: (change) => changes.push(`${change.type} ${change.key}${textOf(change)}`),
    onError: (error) => errors.push(error),
    ...options,
  })
  return { clock, server, cache, changes, errors, texts: () => textsOf(cache.list()) }
}

function textOf(change: ViewChange<ConfigMap>): string {
  return change.type === 'removed' ? '' : ` ${change.value.data?.['text']}`
}

function textsOf(maps: Iterable<ConfigMap>): Record<string, string | undefined> {
  return Object.fromEntries([...maps].map((map) => [map.metadata.name, map.data?.['text']]))
}

/** What was asked, without what differs from run to run. */
export function withoutSignal(query: object): object {
  return { ...query, signal: undefined, timeoutSeconds: undefined }
}

export const settled = (clock: VirtualClock) => clock.advance(0)
