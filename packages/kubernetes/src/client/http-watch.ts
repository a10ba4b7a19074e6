import type { KubeObject } from '../api/kube-object.ts'
import { type Clock, momentOf, passedMs } from '../runtime/clock.ts'
import { fromErrorEvent, fromTransport, unreachable } from './http-failures.ts'
import type { HttpCall, HttpTransport } from './http-transport.ts'
import type { WatchEvent, WatchQuery } from './kube-api.ts'
import { type LinkedSignal, linkSignals } from './link-signals.ts'
import { LineDecoder } from './watch-lines.ts'

interface WatchRequest {
  readonly transport: HttpTransport
  readonly clock: Clock
  readonly path: string
  readonly query: WatchQuery
  readonly idleMs: number
}

/** Far more than an object can have (etcd takes 1.5 MB), and little enough to keep. */
const longestLineBytes = 64 * 2 ** 20
/** Servers end a watch at its timeout; this is for what they send at the end. */
const timeoutSlackMs = 30_000

const initialEventsEnd = 'k8s.io/initial-events-end'

export async function* watchOverHttp<T extends KubeObject>(request: WatchRequest): AsyncGenerator<WatchEvent<T>> {
  const { transport, query } = request
  const call: HttpCall = { method: 'GET', path: request.path, query: watchParameters(query), signal: query.signal }
  if (query.signal?.aborted) return
  const stream = linkSignals(query.signal, transport.closed)
  try {
    const body = await transport.open(call, stream)
    const lines = new LineDecoder(longestLineBytes)
    for await (const chunk of withinIdleLimit(request, call, { body, stream })) {
      for (const line of lines.push(chunk)) yield readEvent<T>(request, call, line)
    }
    const rest = lines.rest()
    if (rest !== '') yield readEvent<T>(request, call, rest)
  } catch (error) {
    if (!query.signal?.aborted && !transport.closed.aborted) throw error
  } finally {
    stream.abort()
    stream.unlink()
  }
}

/** Passes chunks on. A connection that died silently is noticed by its silence, as no bookmark comes either. */
async function* withinIdleLimit(
  { transport, clock, query, idleMs }: WatchRequest,
  call: HttpCall,
  { body, stream }: { readonly body: AsyncIterable<Uint8Array>; readonly stream: LinkedSignal },
): AsyncGenerator<Uint8Array> {
  const limitMs = idleLimitMs(query, idleMs)
  let heardAt = momentOf(clock)
  let isWaiting = true
  let isSilent = false
  let cancel = () => {}
  // One timer that checks the last chunk, instead of one per chunk.
  const watchOver = (delayMs: number) => {
    cancel = clock.after(delayMs, () => {
      const silenceMs = isWaiting ? passedMs(clock, heardAt) : 0
      isSilent = silenceMs >= limitMs
      if (isSilent) stream.abort()
      else watchOver(limitMs - silenceMs)
    })
  }
  watchOver(limitMs)
  try {
    for await (const chunk of body) {
      isWaiting = false
      yield chunk
      heardAt = momentOf(clock)
      isWaiting = true
    }
  } catch (error) {
    if (isSilent) throw unreachable(transport.name(call), `the watch sent nothing for ${limitMs / 1000} s`)
    throw fromTransport(transport.name(call), error)
  } finally {
    cancel()
  }
}

function idleLimitMs({ timeoutSeconds, allowBookmarks }: WatchQuery, idleMs: number): number {
  const untilTimeout = timeoutSeconds === undefined ? Number.POSITIVE_INFINITY : timeoutSeconds * 1000 + timeoutSlackMs
  // Bookmarks come about every minute. Without them a quiet collection is indistinguishable from a dead stream.
  if (allowBookmarks === true) return Math.min(idleMs, untilTimeout)
  // An API server ends a watch without a timeout of its own after an hour at most.
  return Math.min(untilTimeout, 3_600_000 + timeoutSlackMs)
}

function readEvent<T extends KubeObject>({ transport }: WatchRequest, call: HttpCall, line: string): WatchEvent<T> {
  const { type, object } = parseLine(line) ?? {}
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      if (typeof object?.metadata !== 'object') break
      return { type, object: object as T }
    case 'BOOKMARK': {
      const { resourceVersion = '', annotations } = object?.metadata ?? {}
      const isEnd = annotations?.[initialEventsEnd] === 'true'
      return { type, resourceVersion, ...(isEnd ? { initialEventsEnd: true } : {}) }
    }
    case 'ERROR':
      throw fromErrorEvent(object)
  }
  throw unreachable(transport.name(call), 'the watch sent a line that is no event, or only the beginning of one')
}

function parseLine(line: string): { readonly type?: string; readonly object?: Partial<KubeObject> } | undefined {
  try {
    return JSON.parse(line) as ReturnType<typeof parseLine>
  } catch {
    return undefined
  }
}

function watchParameters(query: WatchQuery) {
  return {
    watch: 'true',
    labelSelector: query.labelSelector,
    fieldSelector: query.fieldSelector,
    resourceVersion: query.resourceVersion,
    allowWatchBookmarks: query.allowBookmarks,
    sendInitialEvents: query.sendInitialEvents,
    resourceVersionMatch: query.resourceVersionMatch,
    timeoutSeconds: query.timeoutSeconds,
  }
}
