import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { WatchEvent } from '@cofferdam/kubernetes/client/kube-api.ts'
import { asApiError, isOver } from './answer.ts'
import { type Encoding, encodeObject } from './encode.ts'
import type { Exchange } from './exchange.ts'
import { jsonText } from './json-text.ts'
import type { SlowReaders } from './slow-readers.ts'
import { bookmarkTableText, tableText } from './table-text.ts'

/**
 * Sends events as they come, one JSON text per line, until the watch ends or the caller goes away.
 *
 * A refusal that is known at once is thrown, to be answered with its status code; from then on the code is 200 and a
 * refusal travels as an ERROR event, as does a version that is too old, which clients expect inside the stream.
 */
export async function streamWatch(
  exchange: Exchange,
  events: AsyncIterable<WatchEvent>,
  { encodingNow, slowReaders }: { readonly encodingNow: () => Encoding; readonly slowReaders: SlowReaders },
): Promise<void> {
  const iterator = events[Symbol.asyncIterator]()
  const { response } = exchange
  try {
    const first = iterator.next()
    await refusalAtOnce(first)
    response.statusCode = 200
    response.setHeader('Content-Type', 'application/json')
    response.setHeader('Cache-Control', 'no-cache, private')
    response.setHeader('Transfer-Encoding', 'chunked')
    response.flushHeaders()
    await pump({ exchange, iterator, first, slowReaders, lineOf: watchLines(encodingNow) })
  } finally {
    await iterator.return?.()
    if (response.headersSent && !isOver(response)) response.end()
  }
}

async function refusalAtOnce(first: Promise<unknown>): Promise<void> {
  let refused: unknown
  first.catch((error: unknown) => {
    refused = error
  })
  // A refusal needs no more than the turns that are queued already; a quiet watch would wait for ever.
  await new Promise((resolve) => setImmediate(resolve))
  if (refused !== undefined && !(refused instanceof ApiError && refused.code === 410)) throw refused
}

interface Pump {
  readonly exchange: Exchange
  readonly iterator: AsyncIterator<WatchEvent>
  readonly first: Promise<IteratorResult<WatchEvent>>
  readonly slowReaders: SlowReaders
  readonly lineOf: (event: WatchEvent) => string
}

async function pump({ exchange, iterator, first, slowReaders, lineOf }: Pump): Promise<void> {
  const { response, signal } = exchange
  let isCorked = false
  const uncork = () => {
    isCorked = false
    response.uncork()
  }
  try {
    for (let next = await first; next.done !== true && !isOver(response); next = await iterator.next()) {
      if (!isCorked) {
        // Events that are there already leave in one packet.
        isCorked = true
        response.cork()
        setImmediate(uncork)
      }
      if (!response.write(lineOf(next.value))) await slowReaders.wait(response, 'drain', signal)
    }
  } catch (error) {
    if (signal.aborted || isOver(response)) return
    response.write(`{"type":"ERROR","object":${JSON.stringify(asApiError(error).toStatus())}}\n`)
  }
}

function watchLines(encodingNow: () => Encoding): (event: WatchEvent) => string {
  let tables = 0
  return (event) => {
    const encoding = encodingNow()
    const { form } = encoding
    const isTable = form.as === 'Table'
    if (isTable) tables += 1
    const withoutHeaders = tables > 1
    const { columns } = encoding.definition
    if (event.type === 'BOOKMARK') {
      const metadata = bookmarkMetadata(event)
      const { type } = encoding.definition
      const object = isTable
        ? bookmarkTableText({ ...encoding, columns, version: form.version, metadata, withoutHeaders }, { metadata })
        : JSON.stringify(
            form.as === 'object'
              ? { kind: type.kind, apiVersion: apiVersionOf(type), metadata }
              : { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${form.version}`, metadata },
          )
      return `{"type":"BOOKMARK","object":${object}}\n`
    }
    const { resourceVersion } = event.object.metadata
    const text = isTable
      ? tableText({ ...encoding, columns, version: form.version, metadata: { resourceVersion }, withoutHeaders }, [
          event.object,
        ])
      : form.as === 'object'
        ? jsonText(event.object)
        : encodeObject({ ...encoding, form: { ...form, as: 'PartialObjectMetadata' } }, event.object)
    return `{"type":"${event.type}","object":${text}}\n`
  }
}

function bookmarkMetadata(event: Extract<WatchEvent, { type: 'BOOKMARK' }>) {
  return {
    resourceVersion: event.resourceVersion,
    creationTimestamp: null,
    ...(event.initialEventsEnd === true ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
  }
}
