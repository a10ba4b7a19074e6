import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { expect, it } from 'vitest'
import { streamChanges } from './change-stream.ts'
import type { ClusterFeed } from './cluster-feed.ts'
import type { ViewChange } from './view-change.ts'

function fakeFeed() {
  const listeners = new Set<(change: ViewChange) => void>()
  const feed: ClusterFeed = {
    isSynced: true,
    isWatched: true,
    snapshot: () => ({ nodes: [], pods: [], budgets: [], drains: [], ledgers: [], longhorn: [], events: [] }),
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {},
  }
  return { feed, listeners }
}

/** Serves one stream on a real socket; the reader decides whether it reads. */
async function openStream(feed: ClusterFeed, clock: VirtualClock) {
  const server = createServer(
    (_request, response) => void streamChanges(response, { feed, clock, greeting: { cluster: 'c' } }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const reader = connect((server.address() as AddressInfo).port, '127.0.0.1')
  reader.on('error', () => {})
  reader.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  return {
    reader,
    close: async () => {
      reader.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

it('a reader that does not read is let go before it costs more than a few megabytes', async () => {
  const { feed, listeners } = fakeFeed()
  const stream = await openStream(feed, new VirtualClock())
  stream.reader.pause()
  await until(() => listeners.size === 1)
  const gone = ['x'.repeat(1024 * 1024)]
  let sentMegabytes = 0
  await until(() => {
    for (const listener of listeners) listener({ nodes: { set: [], gone } })
    sentMegabytes += 1
    return listeners.size === 0 || sentMegabytes > 200
  })
  expect(listeners.size).toBe(0)
  await stream.close()
})

it('a quiet stream still beats, and stops when the reader leaves', async () => {
  const { feed, listeners } = fakeFeed()
  const clock = new VirtualClock(Date.UTC(2026, 0, 1))
  const stream = await openStream(feed, clock)
  let heard = ''
  stream.reader.on('data', (chunk) => (heard += chunk.toString()))
  await until(() => heard.includes('event: snapshot'))
  await clock.advance(31_000)
  await until(() => heard.split('event: heartbeat').length === 3)
  expect(heard).toContain(`event: heartbeat\ndata: {"at":${Date.UTC(2026, 0, 1) + 15_000}}\n\n`)
  stream.reader.destroy()
  await until(() => listeners.size === 0)
  expect(clock.nextAt()).toBeUndefined()
  await stream.close()
})
