import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'

export interface ResourceObserver {
  /** Called for every object there is, and again whenever one changes. */
  onPresent(object: KubeObject): void
  /** Called with the last known state of an object that has gone. */
  onGone(object: KubeObject): void
  /** Called each time the whole of what is there has been told. */
  onComplete(): void
}

const pauseMs = 1000

/**
 * Tells an observer what is there and how it changes, until the signal fires.
 *
 * Guarantees: never rejects; after a gap in the stream everything is listed again, and what went meanwhile is told as gone.
 */
export async function followResource(
  ports: { readonly api: KubeApi; readonly clock: Clock; readonly signal: AbortSignal },
  type: ResourceType,
  observer: ResourceObserver,
): Promise<void> {
  const { clock, signal } = ports
  const known = new Map<string, KubeObject>()
  while (!signal.aborted) {
    try {
      let version = await listAll(ports, type, known, observer)
      while (!signal.aborted) {
        const reached = await watchFrom(ports, { type, version, known, observer })
        if (reached === version) await sleep(clock, pauseMs, signal)
        version = reached
      }
    } catch (error) {
      if (!hasReason(error, 'Expired', 'Gone')) await sleep(clock, pauseMs, signal)
    }
  }
}

async function listAll(
  { api, signal }: { readonly api: KubeApi; readonly signal: AbortSignal },
  type: ResourceType,
  known: Map<string, KubeObject>,
  observer: ResourceObserver,
): Promise<string> {
  const list = await api.list(type, { signal })
  if (signal.aborted) return list.resourceVersion
  const present = new Set<string>()
  for (const object of list.items) {
    const uid = object.metadata.uid ?? ''
    present.add(uid)
    if (known.get(uid) === object) continue
    known.set(uid, object)
    observer.onPresent(object)
  }
  for (const [uid, object] of known) {
    if (present.has(uid)) continue
    known.delete(uid)
    observer.onGone(object)
  }
  observer.onComplete()
  return list.resourceVersion
}

async function watchFrom(
  { api, signal }: { readonly api: KubeApi; readonly signal: AbortSignal },
  from: {
    readonly type: ResourceType
    readonly version: string
    readonly known: Map<string, KubeObject>
    readonly observer: ResourceObserver
  },
): Promise<string> {
  const { known, observer } = from
  let version = from.version
  for await (const event of api.watch(from.type, { resourceVersion: version, allowBookmarks: true, signal })) {
    if (signal.aborted) return version
    if (event.type === 'BOOKMARK') {
      version = event.resourceVersion
      continue
    }
    const { metadata } = event.object
    version = metadata.resourceVersion ?? version
    if (event.type === 'DELETED') {
      known.delete(metadata.uid ?? '')
      observer.onGone(event.object)
    } else {
      known.set(metadata.uid ?? '', event.object)
      observer.onPresent(event.object)
    }
  }
  return version
}
