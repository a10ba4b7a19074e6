// The embedded server over HTTP, from a second thread, with kept-alive connections.
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { configMaps } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { startHttpFace } from '@cofferdam/simulator/api-server/http/http-face.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { Pool } from 'undici'
import { printRows, type Row } from './report/rows.ts'

const objects = 1_000
const connections = 16

async function serve(): Promise<void> {
  const server = new ApiServer({ clock: realClock, random: seededRandom(1) })
  server.start()
  const api = server.as(clusterAdmin)
  for (let at = 0; at < objects; at += 1) {
    const metadata = { namespace: 'default', name: `settings-${at}` }
    await api.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { mode: 'calm' } })
  }
  const { url } = await startHttpFace({ server, clock: realClock, port: 0 })
  parentPort?.postMessage(url)
}

interface Request {
  readonly method: 'GET' | 'PATCH'
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

async function measure(pool: Pool, name: string, count: number, request: (at: number) => Request): Promise<Row> {
  let next = 0
  const client = async () => {
    for (let at = next++; at < count; at = next++) {
      const { statusCode, body } = await pool.request(request(at))
      await body.text()
      if (statusCode !== 200) throw new Error(`${name}: the server answered ${statusCode}`)
    }
  }
  const began = performance.now()
  await Promise.all(Array.from({ length: connections }, client))
  const rate = Math.round(count / ((performance.now() - began) / 1_000))
  return { measured: name, result: rate.toLocaleString('en'), goal: '2,000 or more', reached: rate >= 2_000 }
}

async function measureAll(): Promise<void> {
  const worker = new Worker(new URL(import.meta.url))
  const url = await new Promise<string>((resolve) => worker.once('message', resolve))
  const pool = new Pool(url, { connections })
  const path = (at: number) => `/api/v1/namespaces/default/configmaps/settings-${at % objects}`
  const patch = (at: number) => ({
    method: 'PATCH' as const,
    path: path(at),
    headers: { 'content-type': 'application/merge-patch+json' },
    body: `{"data":{"mode":"calm-${at}"}}`,
  })
  await measure(pool, 'warm-up', 2_000, (at) => (at % 2 === 0 ? patch(at) : { method: 'GET', path: path(at) }))
  const rows = [
    await measure(pool, 'GET of one object, requests per second', 20_000, (at) => ({ method: 'GET', path: path(at) })),
    await measure(pool, 'PATCH of one object, requests per second', 20_000, patch),
  ]
  await pool.close()
  await worker.terminate()
  printRows(rows)
}

await (isMainThread ? measureAll() : serve())
