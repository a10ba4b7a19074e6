import { ApiError, type StatusObject } from '@cofferdam/kubernetes/api/api-error.ts'
import type { ConfigMap, Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject, ObjectMeta } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { WatchEvent } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { VirtualClock } from '../../../harness/virtual-clock.ts'
import { ApiServer, type ApiServerOptions } from '../../api-server.ts'
import type { EmbeddedApi } from '../../embedded-api.ts'
import { clusterAdmin } from '../../user-info.ts'

export interface Fixture {
  readonly clock: VirtualClock
  readonly server: ApiServer
  readonly api: EmbeddedApi
}

/** A server of its own, at 2026-01-01T00:00:00Z, with nobody else in it. */
export function fixture(options: Partial<ApiServerOptions> = {}): Fixture {
  const clock = new VirtualClock()
  const server = new ApiServer({ clock, random: seededRandom(1), ...options })
  return { clock, server, api: server.as(clusterAdmin) }
}

export function configMap(
  name: string,
  data: Record<string, string> = {},
  metadata: Partial<ObjectMeta> = {},
): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', ...metadata }, data }
}

export function pod(name: string, spec: Partial<Pod['spec']> = {}, metadata: Partial<ObjectMeta> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', ...metadata },
    spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }], ...spec },
  }
}

export const inDefault = (name: string) => ({ namespace: 'default', name })

/** The refusal that a call ends with, as a Status object. */
export async function refusalOf(call: Promise<unknown>): Promise<StatusObject> {
  try {
    await call
  } catch (error) {
    if (error instanceof ApiError) return error.toStatus()
    throw error
  }
  throw new Error('the call was not refused')
}

/** Reads a watch in the background. */
export function collect<T extends KubeObject>(
  events: AsyncIterable<WatchEvent<T>>,
): { readonly seen: string[]; ended: boolean } {
  const result: { seen: string[]; ended: boolean } = { seen: [], ended: false }
  void (async () => {
    for await (const event of events) result.seen.push(textOf(event))
    result.ended = true
  })()
  return result
}

function textOf(event: WatchEvent): string {
  if (event.type === 'BOOKMARK') {
    return `BOOKMARK ${event.resourceVersion}${event.initialEventsEnd === true ? ' end of initial events' : ''}`
  }
  return `${event.type} ${event.object.metadata.name} ${event.object.metadata.resourceVersion}`
}
