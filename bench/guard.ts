import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Node, Pod, Secret } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes, podDisruptionBudgets, pods, secrets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi, ListQuery, WatchQuery } from '@cofferdam/kubernetes/client/kube-api.ts'
import { createWatchCache } from '@cofferdam/kubernetes/informers/watch-cache.ts'
import { realRandom, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock, startStopwatch } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { guardSecretFields } from '@cofferdam/product/eviction-guard/domain/guard-secret.ts'
import { defaultCertificateSettings, planCertificates } from '@cofferdam/product/eviction-guard/guard-certificates.ts'
import {
  parseGuardedBudget,
  parseGuardedDisruption,
  parseGuardedNode,
  parseGuardedPod,
} from '@cofferdam/product/eviction-guard/guarded-objects.ts'
import { startGuard } from '@cofferdam/product/eviction-guard/start-guard.ts'
import { defaultAppLockPolicy } from '@cofferdam/product/ledger/rules/app-lock.ts'
import { parseLedger } from '@cofferdam/product/ledger/rules/parse-ledger.ts'
import { appLockAnnotation } from '@cofferdam/product/shared/app-lock-annotation.ts'
import { type DisruptionLedger, disruptionLedgers } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { Pool } from 'undici'
import { printRows } from './report/rows.ts'

const nodeCount = 5_000
const podCount = 150_000
const budgetCount = 10_000
/** Half of all budgets are in one namespace, which is the worst place to look for one. */
const crowdedBudgets = 5_000
const requests = 20_000
const perSecond = 5_000
const connections = 64

const start = new Date().toISOString()

function placeOf(at: number): { namespace: string; app: string } {
  const budget = at % budgetCount
  return budget < crowdedBudgets
    ? { namespace: 'crowded', app: `app-${budget}` }
    : { namespace: `team-${budget % 100}`, app: `app-${budget}` }
}

function podAt(at: number): Pod {
  const { namespace, app } = placeOf(at)
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace,
      name: `workload-${at}`,
      uid: `pod-${at}`,
      resourceVersion: String(at + 1),
      labels: { app, team: namespace, 'pod-template-hash': 'abcdef' },
    },
    spec: { nodeName: `node-${at % nodeCount}`, containers: [] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  }
}

/** Every tenth budget carries a lock of its owner, far more than their namespaces may have. */
function budgetAt(at: number): PodDisruptionBudget {
  const { namespace, app } = placeOf(at)
  const lock = { since: start, for: '2h', holder: 'owner', reason: 'rebalancing' }
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: {
      namespace,
      name: app,
      uid: `budget-${at}`,
      resourceVersion: String(at + 1),
      ...(at % 10 === 0 ? { annotations: { [appLockAnnotation]: JSON.stringify(lock) } } : {}),
    },
    spec: { maxUnavailable: 1, selector: { matchLabels: { team: namespace, app } } },
  }
}

function nodeAt(at: number): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: `node-${at}`, resourceVersion: String(at + 1) },
    spec: at % 10 === 0 ? { unschedulable: true } : {},
  }
}

const ledger: DisruptionLedger = {
  apiVersion: 'cofferdam.io/v1alpha1',
  kind: 'DisruptionLedger',
  metadata: { name: 'cluster', resourceVersion: '1' },
  status: {
    nextEpoch: 2,
    nextTicket: 1,
    entries: Array.from({ length: 200 }, (_, at) => {
      const { namespace, app } = placeOf(at * 7)
      return {
        key: `pdb/${namespace}/${app}`,
        uid: `budget-${at * 7}`,
        scope: '',
        holder: 'operator',
        requestId: 'request-1',
        epoch: 1,
        state: 'Acting',
        since: start,
        renewSequence: 1,
      }
    }),
  },
}

/** An API server of which only the answers count: lists, a watch on which nothing happens, single objects. */
function standIn(secret: Secret): KubeApi {
  const collections = new Map<string, () => KubeObject[]>([
    [pods.plural, () => Array.from({ length: podCount }, (_, at) => podAt(at))],
    [podDisruptionBudgets.plural, () => Array.from({ length: budgetCount }, (_, at) => budgetAt(at))],
    [nodes.plural, () => Array.from({ length: nodeCount }, (_, at) => nodeAt(at))],
    [disruptionLedgers.plural, () => [ledger]],
  ])
  const api = {
    get: async ({ plural }: ResourceType) => (plural === secrets.plural ? secret : ledger),
    patch: async () => nodeAt(0),
    list: async ({ plural }: ResourceType, _query?: ListQuery) => ({
      items: collections.get(plural)?.() ?? [],
      resourceVersion: '1000000',
    }),
    async *watch(_type: ResourceType, { signal }: WatchQuery = {}) {
      yield { type: 'BOOKMARK', resourceVersion: '1000000' }
      if (signal !== undefined && !signal.aborted) await once(signal, 'abort')
    },
  }
  return api as unknown as KubeApi
}

/** The guard in a process of its own, so that the figures are its own. */
async function serve(): Promise<void> {
  const { data = {} } = planCertificates({
    data: undefined,
    nowMs: Date.now(),
    hosts: ['127.0.0.1'],
    carriedSinceMs: undefined,
    settings: defaultCertificateSettings,
  })
  const api = standIn({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'guard' }, data })
  const base = { api, clock: realClock, random: realRandom, listBy: 'pages' } as const
  const views = {
    pods: createWatchCache({ ...base, type: pods, project: parseGuardedPod }),
    budgets: createWatchCache({ ...base, type: podDisruptionBudgets, project: parseGuardedBudget }),
    nodes: createWatchCache({ ...base, type: nodes, project: parseGuardedNode }),
    ledger: createWatchCache({ ...base, type: disruptionLedgers, project: parseLedger }),
    disruptions: createWatchCache({
      ...base,
      type: nodeDisruptions,
      project: parseGuardedDisruption,
      indexes: { requestId: ({ requestId }) => [requestId] },
    }),
  }
  await Promise.all(Object.values(views).map((view) => view.whenSynced()))
  const verdicts: Record<string, number> = {}
  const guard = startGuard({
    api,
    clock: realClock,
    startStopwatch,
    views,
    policy: defaultAppLockPolicy,
    host: '127.0.0.1',
    port: 0,
    report: ({ verdict, reason }) => {
      const key = `${verdict} ${reason}`
      verdicts[key] = (verdicts[key] ?? 0) + 1
    },
    onError: (error) => console.error(error),
  })
  while (guard.port() === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
  const ca = Buffer.from(data?.[guardSecretFields.authorities] ?? '', 'base64').toString()
  process.send?.({ port: guard.port(), ca })
  process.on('message', () => {
    globalThis.gc?.()
    const { user, system } = process.cpuUsage()
    const { heapUsed, rss, external } = process.memoryUsage()
    process.send?.({ cpuMs: (user + system) / 1_000, heapUsed: heapUsed + external, rss, verdicts })
  })
  process.on('disconnect', () => process.exit())
}

interface Figures {
  readonly cpuMs: number
  readonly heapUsed: number
  readonly rss: number
  readonly verdicts: Readonly<Record<string, number>>
}

async function figuresOf(server: ChildProcess): Promise<Figures> {
  const answer = once(server, 'message')
  server.send('figures')
  return (await answer)[0] as Figures
}

function reviewOf(at: number): string {
  const { namespace } = placeOf(at)
  const name = `workload-${at}`
  return JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: `review-${at}`,
      kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      subResource: 'eviction',
      name,
      namespace,
      operation: 'CREATE',
      userInfo: { username: 'drainer', groups: ['system:authenticated'] },
      object: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } },
      dryRun: false,
    },
  })
}

async function flood(pool: Pool, count: number): Promise<{ readonly seconds: number; readonly failed: number }> {
  const random = seededRandom(7)
  const began = performance.now()
  const answers: Promise<number>[] = []
  while (answers.length < count) {
    const due = Math.min(count, Math.ceil(((performance.now() - began) / 1_000) * perSecond) + 1)
    while (answers.length < due) answers.push(ask(pool, reviewOf(Math.floor(random.next() * podCount))))
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  const codes = await Promise.all(answers)
  return { seconds: (performance.now() - began) / 1_000, failed: codes.filter((code) => code !== 200).length }
}

async function ask(pool: Pool, body: string): Promise<number> {
  const answer = await pool.request({ path: '/validate/eviction', method: 'POST', body })
  await answer.body.dump()
  return answer.statusCode
}

async function main(): Promise<void> {
  const server = spawn(process.execPath, ['--expose-gc', process.argv[1] ?? '', 'serve'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  try {
    const [{ port, ca }] = (await once(server, 'message')) as [{ port: number; ca: string }]
    const pool = new Pool(`https://127.0.0.1:${port}`, { connections, connect: { ca } })
    await flood(pool, requests / 4)
    const before = await figuresOf(server)
    const { seconds, failed } = await flood(pool, requests)
    const after = await figuresOf(server)
    await flood(pool, requests)
    const later = await figuresOf(server)
    await pool.destroy()
    const cpuMs = (after.cpuMs - before.cpuMs) / requests
    const grownMegabytes = (later.heapUsed - before.heapUsed) / 2 ** 20
    console.log(
      `${nodeCount} nodes, ${podCount} pods, ${budgetCount} budgets in view, ${crowdedBudgets} of them in one namespace;`,
      `${requests} reviews in ${seconds.toFixed(1)} s, over TLS; verdicts: ${JSON.stringify(after.verdicts)}`,
    )
    printRows([
      { measured: 'CPU per review (ms)', result: cpuMs.toFixed(3), goal: '0.5', reached: cpuMs <= 0.5 },
      { measured: 'reviews without an answer', result: String(failed), goal: '0', reached: failed === 0 },
      {
        measured: `heap grown over two floods of ${perSecond}/s (MB)`,
        result: grownMegabytes.toFixed(1),
        goal: '5',
        reached: grownMegabytes <= 5,
      },
    ])
    console.log(`heap ${(later.heapUsed / 2 ** 20).toFixed(0)} MB, resident ${(later.rss / 2 ** 20).toFixed(0)} MB`)
  } finally {
    server.kill()
  }
}

await (process.argv[2] === 'serve' ? serve() : main())
