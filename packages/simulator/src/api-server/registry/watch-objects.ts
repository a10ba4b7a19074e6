import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { WatchEvent, WatchQuery } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ResourceDefinition } from '../resource-definition.ts'
import { invalidObject } from '../schema/field-error.ts'
import type { Change } from '../store/change-log.ts'
import type { SortedTree } from '../store/sorted-tree.ts'
import { expired, tooLargeVersion } from './api-errors.ts'
import { readVersion } from './read-version.ts'
import { bucketOf, type Registry } from './registry.ts'
import { parseSelection, type Selection } from './selection.ts'
import { asServed } from './served-version.ts'
import { WatchStream } from './watch-stream.ts'

const bookmarkEveryMs = 60_000
/** How long before its end a watch gets a bookmark, so that the next one resumes there. */
const lastBookmarkMs = 2_000

/** Streams every change after a version, or first the present state. */
export function watchObjects(registry: Registry, definition: ResourceDefinition, query: WatchQuery): WatchStream {
  requireValidQuery(query)
  const selection = parseSelection(definition, query)
  const bucket = bucketOf(registry, definition)
  const asked = readVersion(query.resourceVersion)
  const { version } = registry.store
  if (asked > version) throw tooLargeVersion(asked, version)
  const startsWithState = query.sendInitialEvents ?? asked === 0
  if (!startsWithState && asked !== 0 && asked < bucket.oldestVersion) {
    throw expired(`too old resource version: ${asked} (${bucket.oldestVersion})`)
  }
  const cursor = bucket.follow(startsWithState || asked === 0 ? version : asked, (change) => isSeen(selection, change))
  const cleanups: (() => void)[] = []
  const stream = new WatchStream({
    cursor,
    initial: startsWithState ? presentState(definition, bucket.present(), selection) : [].values(),
    ...(query.sendInitialEvents === true &&
      query.allowBookmarks === true && {
        afterInitial: { type: 'BOOKMARK', resourceVersion: String(version), initialEventsEnd: true },
      }),
    take: () => {
      const change = cursor.take()
      return change === undefined ? undefined : eventOf(definition, selection, change)
    },
    onClose: () => {
      for (const cleanup of cleanups) cleanup()
    },
  })
  const bookmark = (): WatchEvent => ({ type: 'BOOKMARK', resourceVersion: String(registry.store.version) })
  if (query.allowBookmarks === true)
    cleanups.push(repeatedly(registry, definition, () => stream.sendBookmark(bookmark)))
  if (query.timeoutSeconds !== undefined && query.timeoutSeconds > 0) {
    const timeoutMs = query.timeoutSeconds * 1000
    if (query.allowBookmarks === true && timeoutMs > lastBookmarkMs) {
      cleanups.push(registry.clock.after(timeoutMs - lastBookmarkMs, () => stream.sendBookmark(bookmark)))
    }
    cleanups.push(registry.clock.after(timeoutMs, () => stream.close()))
  }
  closeOnAbort(stream, query.signal, cleanups)
  return stream
}

function* presentState(
  definition: ResourceDefinition,
  objects: SortedTree<KubeObject>,
  selection: Selection,
): Generator<KubeObject> {
  for (const [key, object] of objects.entries(selection.prefix)) {
    if (!key.startsWith(selection.prefix)) return
    if (selection.matches(object)) yield asServed(definition, object)
  }
}

function isSeen({ prefix, isSelective, matches }: Selection, { key, object, previous }: Change): boolean {
  if (prefix !== '' && !key.startsWith(prefix)) return false
  return !isSelective || matches(object) || (previous !== undefined && matches(previous))
}

/** To one who selects, an object that enters the selection is new, and one that leaves it is gone. */
function eventOf(definition: ResourceDefinition, selection: Selection, change: Change): WatchEvent {
  const { type, object, previous, version } = change
  if (!selection.isSelective) return { type, object: asServed(definition, object) }
  const wasSelected = previous !== undefined && selection.matches(previous)
  const isSelected = type !== 'DELETED' && selection.matches(object)
  if (isSelected) return { type: wasSelected ? 'MODIFIED' : 'ADDED', object: asServed(definition, object) }
  const last = type === 'DELETED' ? object : lastSelected(previous as KubeObject, version)
  return { type: 'DELETED', object: asServed(definition, last) }
}

function lastSelected(previous: KubeObject, version: number): KubeObject {
  return { ...previous, metadata: { ...previous.metadata, resourceVersion: String(version) } }
}

function repeatedly({ clock, random }: Registry, { storageKey }: ResourceDefinition, callback: () => void): () => void {
  // Spread, so that a thousand watches do not all wake in the same instant.
  const delayMs = bookmarkEveryMs * (0.9 + 0.2 * random.stream(`bookmarks of ${storageKey}`).next())
  const tick = () => {
    cancel = clock.after(delayMs, tick)
    callback()
  }
  let cancel = clock.after(delayMs, tick)
  return () => cancel()
}

function closeOnAbort(stream: WatchStream, signal: AbortSignal | undefined, cleanups: (() => void)[]): void {
  if (signal === undefined) return
  const close = () => stream.close()
  if (signal.aborted) {
    close()
    return
  }
  signal.addEventListener('abort', close, { once: true })
  cleanups.push(() => signal.removeEventListener('abort', close))
}

function requireValidQuery({ sendInitialEvents, resourceVersionMatch: match }: WatchQuery): void {
  const refuse = (detail: string): never => {
    const error = { kind: 'Forbidden', field: 'resourceVersionMatch', detail } as const
    throw invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, [error])
  }
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    refuse('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan')
  }
  if (match !== undefined && sendInitialEvents === undefined) {
    refuse('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided')
  }
}
