import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { createHttpKubeApi } from '@cofferdam/kubernetes/client/http-kube-api.ts'
import { createWatchCache } from '@cofferdam/kubernetes/informers/watch-cache.ts'
import { realRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'

const podCount = 50_000
const pageSize = 500

/** About 9 KB of JSON, as pods of a busy cluster have: managed fields, volumes, conditions and container states. */
function podText(at: number): string {
  const padding = Array.from({ length: 32 }, (_, line) => `f:field-${line}-${'x'.repeat(200)}`)
  const containers = ['app', 'proxy', 'agent'].map((name) => ({
    name,
    image: `registry.example/${name}:1.2.3`,
    env: Array.from({ length: 12 }, (_, line) => ({ name: `VARIABLE_${line}`, value: `value-${line}-${at}` })),
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
  }))
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: `team-${at % 100}`,
      name: `workload-${at}`,
      uid: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
      resourceVersion: String(at + 1),
      labels: { app: `app-${at % 500}`, 'pod-template-hash': 'abcdef' },
      managedFields: [{ manager: 'kubelet', operation: 'Update', fieldsV1: { padding } }],
    },
    spec: { nodeName: `node-${at % 5_000}`, containers },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  })
}

/** A server of its own process, so that the figures are those of the client alone. Texts are made once. */
async function serve(): Promise<void> {
  const texts = Array.from({ length: podCount }, (_, at) => podText(at))
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '/', 'http://bench').searchParams
    if (query.get('watch') === null) {
      const start = Number(query.get('continue') ?? 0)
      const end = start + Number(query.get('limit') ?? podCount)
      const more = end < podCount ? `,"continue":"${end}"` : ''
      response.end(
        `{"metadata":{"resourceVersion":"${podCount}"${more}},"items":[${texts.slice(start, end).join(',')}]}`,
      )
      return
    }
    if (query.get('sendInitialEvents') === null) {
      response.flushHeaders()
      return
    }
    let at = 0
    const send = () => {
      while (at < podCount) {
        const batch = texts.slice(at, at + 20).map((text) => `{"type":"ADDED","object":${text}}\n`)
        at += 20
        if (!response.write(batch.join(''))) {
          response.once('drain', send)
          return
        }
      }
      const annotations = '{"k8s.io/initial-events-end":"true"}'
      response.write(
        `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"${podCount}","annotations":${annotations}}}}\n`,
      )
    }
    send()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  process.stdout.write(`${(server.address() as AddressInfo).port} ${texts[0]?.length}\n`)
  process.on('disconnect', () => process.exit())
}

interface PodOnNode {
  readonly namespace: string
  readonly name: string
  readonly node: string
  readonly phase: string
}

function projectPod({ metadata, spec, status }: Pod): PodOnNode {
  const { namespace = '', name } = metadata
  return { namespace, name, node: spec.nodeName ?? '', phase: status?.phase ?? 'Unknown' }
}

async function measure(url: string, listBy: 'stream' | 'pages'): Promise<Record<string, string | number>> {
  const api = createHttpKubeApi({
    config: {
      source: 'bench',
      namespace: 'default',
      server: url,
      insecureSkipTlsVerify: false,
      authentication: { kind: 'none' },
    },
    clock: realClock,
    random: realRandom,
  })
  collectGarbage()
  const heapBefore = process.memoryUsage().heapUsed
  const loop = monitorEventLoopDelay({ resolution: 5 })
  loop.enable()
  const start = process.cpuUsage()
  const cache = createWatchCache({
    api,
    type: pods,
    clock: realClock,
    random: realRandom,
    listBy,
    pageSize,
    project: projectPod,
    indexes: { node: ({ node }) => [node] },
  })
  await cache.whenSynced()
  const { user, system } = process.cpuUsage(start)
  // The probe is a timer too: it must come to fire after the last stall, or that one is not counted.
  await new Promise((resolve) => setTimeout(resolve, 50))
  loop.disable()
  const peakMegabytes = process.resourceUsage().maxRSS / 1024
  collectGarbage()
  const keptMegabytes = (process.memoryUsage().heapUsed - heapBefore) / 2 ** 20
  if (cache.size !== podCount || cache.byIndex('node', 'node-7').length !== podCount / 5_000) {
    throw new Error(`the cache holds ${cache.size} pods, not ${podCount}`)
  }
  await cache.stop()
  await api.close()
  return {
    'listed by': listBy === 'pages' ? `pages of ${pageSize}` : 'watch-list stream',
    pods: podCount,
    'CPU seconds': ((user + system) / 1e6).toFixed(1),
    'heap kept (MB)': keptMegabytes.toFixed(0),
    'peak memory so far (MB)': peakMegabytes.toFixed(0),
    'longest stall (ms)': (loop.max / 1e6).toFixed(0),
  }
}

function collectGarbage(): void {
  globalThis.gc?.()
}

async function main(): Promise<void> {
  const server = spawn(process.execPath, [process.argv[1] ?? '', 'serve'], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  try {
    const [port, bytes] = await new Promise<string[]>((resolve) => {
      server.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString().trim().split(' ')))
    })
    const url = `http://127.0.0.1:${port}`
    const rows = [await measure(url, 'stream'), await measure(url, 'pages')]
    console.log(`${podCount} pods of ${bytes} bytes, four fields kept of each, one index:`)
    console.table(rows)
  } finally {
    server.kill()
  }
}

await (process.argv[2] === 'serve' ? serve() : main())
