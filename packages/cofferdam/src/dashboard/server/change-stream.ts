import type { ServerResponse } from 'node:http'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { ClusterFeed } from './cluster-feed.ts'
import { openSink } from './compress.ts'

const heartbeatMs = 15_000
// A reader that leaves this much unread is not reading: holding more for it would only cost memory.
const mostUnreadBytes = 8 * 1024 * 1024

/**
 * Sends one reader the whole picture and then each change, until either side ends it.
 *
 * A reader that comes back gets the whole picture again, so nothing is ever missing after a cut. Returns how to end it.
 */
export function streamChanges(
  response: ServerResponse,
  {
    feed,
    clock,
    greeting,
    isCompressed = false,
  }: {
    readonly feed: ClusterFeed
    readonly clock: Clock
    /** What the first message says beside the picture. */
    readonly greeting: object
    readonly isCompressed?: boolean
  },
): () => void {
  let cancelHeartbeat = () => {}
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
  })
  const sink = openSink(response, isCompressed)
  const send = (event: string, fields: object) => {
    sink.write(`event: ${event}\ndata: ${JSON.stringify({ at: clock.now(), ...fields })}\n\n`)
    if (sink.unreadBytes() > mostUnreadBytes) response.destroy()
  }
  const beat = () => {
    send('heartbeat', {})
    cancelHeartbeat = clock.after(heartbeatMs, beat)
  }

  sink.write('retry: 1000\n\n')
  send('snapshot', { ...greeting, view: feed.snapshot() })
  const unsubscribe = feed.subscribe((change) => send('change', { change }))
  cancelHeartbeat = clock.after(heartbeatMs, beat)
  const stop = () => {
    unsubscribe()
    cancelHeartbeat()
  }
  response.on('close', stop)
  return () => {
    stop()
    sink.end()
  }
}
