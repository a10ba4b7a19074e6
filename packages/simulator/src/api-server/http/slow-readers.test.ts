import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { WatchEvent } from '@cofferdam/kubernetes/client/kube-api.ts'
import { expect, it, onTestFinished } from 'vitest'
import { VirtualClock } from '../../harness/virtual-clock.ts'
import type { EmbeddedApi } from '../embedded-api.ts'
import { clusterAdmin } from '../user-info.ts'
import { startHttpFace } from './http-face.ts'
import type { SlowReaderLimits } from './slow-readers.ts'
import { configMapNamed, configMapsPath, faceForTest } from './testing/face.ts'

const megabyte = 1024 * 1024

/** A server that holds more than the kernel takes off its hands for one connection, and counts the watches on it. */
async function stage(limits: Partial<SlowReaderLimits>) {
  const clock = new VirtualClock()
  const { server, call } = await faceForTest()
  for (let index = 0; index < 12; index += 1) {
    await call(configMapsPath, { body: configMapNamed(`large-${index}`, { text: 'x'.repeat(megabyte) }) })
  }
  const counts = { begun: 0, open: 0 }
  const api = server.as(clusterAdmin)
  const watch = async function* (...asked: Parameters<EmbeddedApi['watch']>): AsyncGenerator<WatchEvent> {
    counts.begun += 1
    counts.open += 1
    try {
      yield* api.watch(...asked)
    } finally {
      counts.open -= 1
    }
  }
  const counted = Object.assign(Object.create(api), {
    watch,
    get: api.get.bind(api),
    list: api.list.bind(api),
  }) as EmbeddedApi
  const { catalogue, authorizer } = server
  const served = { catalogue, authorizer, authenticate: server.authenticate.bind(server), as: () => counted }
  const slowReaders = { longestStallMs: 60_000, mostBytes: 1000 * megabyte, ...limits }
  const face = await startHttpFace({ server: served, clock, port: 0, slowReaders })
  onTestFinished(() => face.close())
  return { face, clock, counts }
}

/** Asks, and then reads nothing that is sent. */
async function askAndNeverRead(port: number, path: string): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  socket.pause()
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(5)
}

it('watchers that never read are cut off before what they leave unread fills the memory', async () => {
  const { face, counts } = await stage({ mostBytes: 4 * megabyte })
  for (let index = 0; index < 40; index += 1) await askAndNeverRead(face.port, `${configMapsPath}?watch=true`)
  // Each of them waits with one object of a megabyte: three fit, and one is on its way.
  await until(() => counts.begun === 40 && counts.open <= 4)
  const other = await fetch(`${face.url}${configMapsPath}/large-0`)
  expect([other.status, (await other.text()).length > megabyte]).toEqual([200, true])
})

it('a watcher that reads nothing for a minute is cut off, and one that reads is not', async () => {
  const { face, clock, counts } = await stage({})
  await askAndNeverRead(face.port, `${configMapsPath}?watch=true`)
  const leave = new AbortController()
  const reading = await fetch(`${face.url}${configMapsPath}?watch=true`, { signal: leave.signal })
  const reader = (reading.body as ReadableStream<Uint8Array>).getReader()
  for (let read = 0; read < 12 * megabyte; ) read += (await reader.read()).value?.length ?? 0
  await until(() => counts.begun === 2 && clock.nextAt() !== undefined)
  await clock.advance(59_000)
  expect(counts.open).toBe(2)
  await clock.advance(2_000)
  await until(() => counts.open === 1)
  leave.abort()
})

it('a list that is not read is not held for ever either', async () => {
  const { face, clock } = await stage({})
  await askAndNeverRead(face.port, configMapsPath)
  await until(() => clock.nextAt() !== undefined)
  await clock.advance(60_000)
  // Whoever is cut off is forgotten, with the moment at which it would have been.
  await until(() => clock.nextAt() === undefined)
})

it('a list that is larger than all that may wait is read by the one who asks for it: cut off, it would be asked for again for ever', async () => {
  const { face } = await stage({ mostBytes: megabyte })
  const headers = { 'accept-encoding': 'identity' }
  const answer = await fetch(`http://127.0.0.1:${face.port}${configMapsPath}`, { headers })
  expect((await answer.text()).length).toBeGreaterThan(12 * megabyte)
})
