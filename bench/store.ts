import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { ObjectStore } from '@cofferdam/simulator/api-server/store/object-store.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { cpuSecondsOf, printRows, type Row } from './report/rows.ts'

const nodeCount = 5_000
const podCount = 50_000

function residentMegabytes(): number {
  return process.memoryUsage().rss / 2 ** 20
}

/** Each node reports its status in turn, by compare-and-swap; ten watchers read every change. */
async function measureWrites(): Promise<Row> {
  const writes = 500_000
  const watchers = 10
  const store = new ObjectStore()
  const bucket = store.bucket('nodes')
  const keys = Array.from({ length: nodeCount }, (_, at) => `node-${at}`)
  for (const [at, key] of keys.entries()) bucket.put(key, exampleNode(at), undefined)
  let seen = 0
  const cursors = Array.from({ length: watchers }, () => bucket.follow(store.version, () => true))
  const follow = (cursor: (typeof cursors)[number]) => {
    while (cursor.take() !== undefined) seen += 1
    cursor.sleep(() => queueMicrotask(() => follow(cursor)))
  }
  cursors.forEach(follow)
  const seconds = await cpuSecondsOf(async () => {
    for (let count = 0; count < writes; count += 1) {
      const key = keys[(count * 7919) % nodeCount] as string
      const current = bucket.get(key) as Node
      const status = { ...current.status, observed: count }
      const written = bucket.put(key, { ...current, status } as KubeObject, current)
      if (written === undefined) throw new Error('a write that nobody contested was refused')
      if (count % 100 === 0) await Promise.resolve()
    }
    await new Promise((resolve) => setImmediate(resolve))
  })
  if (seen !== writes * watchers) throw new Error(`watchers saw ${seen} changes of ${writes * watchers}`)
  const rate = Math.round(writes / seconds)
  return {
    measured: `compare-and-swap writes per CPU-second, ${watchers} watchers attached`,
    result: rate.toLocaleString('en'),
    goal: '200,000 or more',
    reached: rate >= 200_000,
  }
}

async function measureLoad(server: ApiServer): Promise<Row[]> {
  const api = server.as(clusterAdmin)
  const seconds = await cpuSecondsOf(async () => {
    for (let at = 0; at < nodeCount; at += 1) await api.create(nodes, exampleNode(at))
    for (let at = 0; at < podCount; at += 1) await api.create(pods, examplePod(at))
  })
  globalThis.gc?.()
  const megabytes = residentMegabytes()
  const what = `${nodeCount.toLocaleString('en')} nodes and ${podCount.toLocaleString('en')} pods through the API`
  return [
    { measured: `${what}: CPU`, result: `${seconds.toFixed(1)} s`, goal: 'under 15 s', reached: seconds < 15 },
    {
      measured: `${what}: resident memory`,
      result: `${megabytes.toFixed(0)} MB`,
      goal: 'under 600 MB',
      reached: megabytes < 600,
    },
  ]
}

async function measureList(server: ApiServer): Promise<Row[]> {
  const api = server.as(clusterAdmin)
  let listed = 0
  let pages = 0
  const paged = await cpuSecondsOf(async () => {
    let continueToken: string | undefined
    do {
      const page = await api.list(pods, { limit: 500, ...(continueToken === undefined ? {} : { continueToken }) })
      listed += page.items.length
      pages += 1
      continueToken = page.continueToken
    } while (continueToken !== undefined)
  })
  let found = 0
  const asked = 1_000
  const selected = await cpuSecondsOf(async () => {
    for (let at = 0; at < asked; at += 1) {
      found += (await api.list(pods, { fieldSelector: `spec.nodeName=node-${at}`, limit: 500 })).items.length
    }
  })
  return [
    {
      measured: `list of ${listed.toLocaleString('en')} pods in ${pages} pages: CPU`,
      result: `${(paged * 1000).toFixed(0)} ms`,
      goal: 'all of them',
      reached: listed === podCount,
    },
    {
      measured: `pods of one node by spec.nodeName, among ${podCount.toLocaleString('en')}: CPU`,
      result: `${((selected * 1000) / asked).toFixed(2)} ms`,
      goal: 'all of them',
      reached: found === (podCount / nodeCount) * asked,
    },
  ]
}

/** 100 changes per second for five seconds, by the wall clock: from the write until a watcher has it in hand. */
async function measureDelivery(server: ApiServer): Promise<Row> {
  const api = server.as(clusterAdmin)
  const changes = 500
  const delays: number[] = []
  const writtenAt = new Map<string, number>()
  const stop = new AbortController()
  const { resourceVersion } = await api.list(pods, { limit: 1 })
  const reader = (async () => {
    for await (const event of api.watch(pods, { resourceVersion, signal: stop.signal })) {
      if (event.type !== 'MODIFIED') continue
      delays.push(performance.now() - (writtenAt.get(event.object.metadata.labels?.['revision'] ?? '') as number))
      if (delays.length === changes) stop.abort()
    }
  })()
  for (let count = 0; count < changes; count += 1) {
    const revision = `r${count}`
    const key = { namespace: 'default', name: `pod-${count}` }
    writtenAt.set(revision, performance.now())
    await api.patch(pods, key, { type: 'merge', body: { metadata: { labels: { revision } } } })
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await reader
  delays.sort((a, b) => a - b)
  const p99 = delays[Math.floor(delays.length * 0.99)] as number
  return {
    measured: `watch of 100 changes per second among ${podCount.toLocaleString('en')} pods: p99 of delivery`,
    result: `${p99.toFixed(2)} ms`,
    goal: 'under 50 ms',
    reached: p99 < 50,
  }
}

function exampleNode(at: number): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: `node-${at}`,
      labels: { 'kubernetes.io/hostname': `node-${at}`, 'topology.kubernetes.io/zone': `zone-${at % 3}` },
    },
    spec: { podCIDR: `10.${at >> 8}.${at & 255}.0/24` },
    status: {
      capacity: { cpu: '16', memory: '64Gi', pods: '110' },
      allocatable: { cpu: '15', memory: '60Gi', pods: '110' },
      conditions: [
        { type: 'Ready', status: 'True', reason: 'KubeletReady', lastTransitionTime: '2026-01-01T00:00:00Z' },
      ],
    },
  }
}

function examplePod(at: number): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `pod-${at}`,
      namespace: 'default',
      labels: { app: `app-${at % 500}`, tier: 'web' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `app-${at % 500}`,
          uid: `uid-${at % 500}`,
          controller: true,
        },
      ],
    },
    spec: {
      nodeName: `node-${at % nodeCount}`,
      containers: [
        {
          name: 'main',
          image: 'registry.example/app:1.2.3',
          env: [{ name: 'MODE', value: 'production' }],
          resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
        },
      ],
    },
  }
}

const writes = await measureWrites()
globalThis.gc?.()
const server = new ApiServer({ clock: realClock, random: seededRandom(1) })
printRows([writes, ...(await measureLoad(server)), ...(await measureList(server)), await measureDelivery(server)])
