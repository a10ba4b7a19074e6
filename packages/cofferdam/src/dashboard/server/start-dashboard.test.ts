import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createExplainForPage } from '../../cli/dashboard/explain-for-page.ts'
import { rehearseNodes } from '../../cli/observe/rehearse-nodes.ts'
import { capabilities, shownOf } from '../../operator/capabilities.ts'
import type { RunningDashboard } from './dashboard-server.ts'
import { startDashboard } from './start-dashboard.ts'

let pageDirectory: string
let api: KubeApi
let dashboard: RunningDashboard
let missing: string | undefined

beforeAll(() => {
  pageDirectory = mkdtempSync(join(tmpdir(), 'cofferdam-page-'))
  writeFileSync(join(pageDirectory, 'index.html'), '<title>page</title>')
  writeFileSync(join(pageDirectory, 'page.js'), 'let x')
  writeFileSync(join(pageDirectory, 'page.css'), 'a{}')
  writeFileSync(join(pageDirectory, 'favicon.svg'), '<svg/>')
})
afterAll(() => rmSync(pageDirectory, { recursive: true }))

beforeEach(async () => {
  missing = undefined
  const random = seededRandom(1)
  api = new ApiServer({ clock: realClock, random }).as(clusterAdmin)
  await api.create(nodes, node('n1'))
  dashboard = await startDashboard({
    api,
    clock: realClock,
    random,
    port: 0,
    pageDirectory,
    shown: shownOf(capabilities),
    rehearse: rehearseNodes,
    explain: createExplainForPage({ api, clock: realClock, leaseNamespace: 'cofferdam-system' }),
    cluster: 'demo',
    whatIsMissing: () => missing,
  })
})
afterEach(() => dashboard.close())

function node(name: string): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { 'topology.kubernetes.io/zone': 'a' } } }
}

/** `fetch` sets Host itself; only a plain request can lie about it. */
function ask(path: string, options: { method?: string; host?: string } = {}) {
  return new Promise<{ code: number | undefined; body: string; headers: Record<string, unknown> }>(
    (resolve, reject) => {
      const { method = 'GET', host } = options
      const asked = request(new URL(path, dashboard.url), { method, headers: host === undefined ? {} : { host } })
      asked.on('response', (response) => {
        let body = ''
        response.on('data', (chunk) => (body += chunk))
        response.on('end', () => resolve({ code: response.statusCode, body, headers: response.headers }))
      })
      asked.on('error', reject).end()
    },
  )
}

async function untilReady() {
  while ((await ask('/readyz')).code !== 200) await new Promise((resolve) => setImmediate(resolve))
}

interface Message {
  readonly event: string
  readonly data: Record<string, unknown>
}

async function* readStream(signal: AbortSignal): AsyncGenerator<Message> {
  const response = await fetch(new URL('/api/stream', dashboard.url), { signal })
  let unread = ''
  for await (const chunk of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    unread += chunk
    for (let end = unread.indexOf('\n\n'); end >= 0; end = unread.indexOf('\n\n')) {
      const block = unread.slice(0, end)
      unread = unread.slice(end + 2)
      const event = /^event: (.*)$/m.exec(block)?.[1]
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (event !== undefined && data !== undefined) yield { event, data: JSON.parse(data) }
    }
  }
}

async function next(stream: AsyncGenerator<Message>): Promise<Message> {
  return (await stream.next()).value
}

/** The next that is about nodes themselves; what is judged of them is asked for meanwhile, and comes when it comes. */
async function nextOfNodes(stream: AsyncGenerator<Message>) {
  for (;;) {
    const { event, data } = await next(stream)
    const change = data['change'] as { readonly nodes?: object } | undefined
    if (change?.nodes !== undefined) return { event, nodes: change.nodes }
  }
}

const n1 = { id: 'n1', zone: 'a', roles: [], readiness: 'unknown', isCordoned: false }

describe('the stream', () => {
  it('is a full picture first, then only what changed', async () => {
    await untilReady()
    const end = new AbortController()
    const stream = readStream(end.signal)
    expect(await next(stream)).toEqual({
      event: 'snapshot',
      data: {
        at: expect.any(Number),
        cluster: 'demo',
        view: { nodes: [n1], pods: [], budgets: [], drains: [], ledgers: [], longhorn: [], events: [] },
      },
    })
    await api.create(nodes, node('n2'))
    await api.patch(nodes, { name: 'n1' }, { type: 'merge', body: { spec: { unschedulable: true } } })
    expect(await nextOfNodes(stream)).toEqual({
      event: 'change',
      nodes: {
        set: [
          { ...n1, id: 'n2' },
          { ...n1, isCordoned: true },
        ],
        gone: [],
      },
    })
    await api.delete(nodes, { name: 'n2' })
    expect((await nextOfNodes(stream)).nodes).toEqual({ set: [], gone: ['n2'] })
    end.abort()
    await stream.next().catch(() => {})
  })

  it('says nothing of changes that do not show', async () => {
    await untilReady()
    const end = new AbortController()
    const stream = readStream(end.signal)
    await next(stream)
    await api.patch(nodes, { name: 'n1' }, { type: 'merge', body: { metadata: { annotations: { seen: 'yes' } } } })
    await api.create(nodes, node('n2'))
    expect((await nextOfNodes(stream)).nodes).toEqual({ set: [{ ...n1, id: 'n2' }], gone: [] })
    end.abort()
    await stream.next().catch(() => {})
  })

  it('ends when the dashboard closes', async () => {
    const stream = readStream(new AbortController().signal)
    await next(stream)
    await dashboard.close()
    expect((await stream.next()).done).toBe(true)
  })

  it('is refused to the sixty-fifth reader, and the others go on', async () => {
    const end = new AbortController()
    const streams = Array.from({ length: 64 }, () => readStream(end.signal))
    for (const stream of streams) expect((await next(stream)).event).toBe('snapshot')
    expect(await ask('/api/stream')).toMatchObject({ code: 503, body: 'too many readers; close some windows\n' })
    end.abort()
    await Promise.allSettled(streams.map((stream) => stream.next()))
  })
})

describe('answers', () => {
  it('the facts as JSON, with what follows from them', async () => {
    await untilReady()
    const { code, body } = await ask('/api/cluster')
    expect({ code, body: JSON.parse(body) }).toEqual({
      code: 200,
      body: {
        at: expect.any(Number),
        cluster: 'demo',
        headline: 'n1 is NotReady.',
        nodes: [{ ...n1, state: 'unknown' }],
        panels: [],
        pods: [],
        budgets: [],
        drains: [],
        locks: [],
        events: [],
      },
    })
  })

  it('what explain prints about a node, and its exit code; without a name it says how to ask', async () => {
    await untilReady()
    const { code, body } = await ask('/api/explain?object=node/n1')
    expect(code).toBe(200)
    expect(JSON.parse(body)).toEqual({ code: 0, text: expect.stringContaining('It holds nothing to evict.') })
    expect(JSON.parse((await ask('/api/explain?object=node/n9')).body)).toEqual({
      code: 1,
      text: expect.stringContaining('there is no Node n9'),
    })
    expect(await ask('/api/explain')).toMatchObject({
      code: 400,
      body: 'name an object, as in ?object=node/worker-a1\n',
    })
  })

  it('is compressed for readers that take it, and says the same', async () => {
    await untilReady()
    writeFileSync(join(pageDirectory, 'page.css'), 'a{}'.repeat(1000))
    const other = await startDashboard({
      api,
      clock: realClock,
      random: seededRandom(1),
      port: 0,
      pageDirectory,
      shown: [],
      rehearse: rehearseNodes,
      explain: async () => ({ code: 0, text: '' }),
    })
    writeFileSync(join(pageDirectory, 'page.css'), 'a{}')
    const response = await fetch(new URL('/page.css', other.url))
    expect(response.headers.get('content-encoding')).toBe('gzip')
    expect(Number(response.headers.get('content-length'))).toBeLessThan(100)
    expect(await response.text()).toBe('a{}'.repeat(1000))
    await other.close()
  })

  it('readyz waits for what the caller waits for', async () => {
    await untilReady()
    missing = 'shop/web, 2 of 4 ready'
    expect(await ask('/readyz')).toMatchObject({ code: 503, body: 'waiting for shop/web, 2 of 4 ready\n' })
  })

  const cases: Record<string, { path: string; method?: string; host?: string; then: { code: number; body: string } }> =
    {
      'the page is at the root': { path: '/', then: { code: 200, body: '<title>page</title>' } },
      'a query changes nothing': { path: '/page.css?v=2', then: { code: 200, body: 'a{}' } },
      'HEAD has no body': { path: '/page.js', method: 'HEAD', then: { code: 200, body: '' } },
      'it is alive': { path: '/healthz', then: { code: 200, body: 'ok\n' } },
      'anything else is not there': {
        path: '/etc/passwd',
        then: { code: 404, body: 'not found; the page is at /\n' },
      },
      'no path leads out of the page': {
        path: '/..%2f..%2fpackage.json',
        then: { code: 404, body: 'not found; the page is at /\n' },
      },
      'nothing can be written': {
        path: '/',
        method: 'POST',
        then: { code: 405, body: 'this page is read-only: it accepts GET and HEAD\n' },
      },
      'a stream has no head': { path: '/api/stream', method: 'HEAD', then: { code: 405, body: '' } },
      'another name for this address is refused, as a rebinding page would use one': {
        path: '/api/cluster',
        host: 'evil.example',
        then: { code: 403, body: 'this page answers to localhost and 127.0.0.1 only\n' },
      },
      'a name that only begins like ours is refused': {
        path: '/',
        host: 'localhost.evil.example:7400',
        then: { code: 403, body: 'this page answers to localhost and 127.0.0.1 only\n' },
      },
      'localhost is a name of ours': { path: '/healthz', host: 'localhost:7400', then: { code: 200, body: 'ok\n' } },
      'and so is the other loopback': { path: '/healthz', host: '[::1]:7400', then: { code: 200, body: 'ok\n' } },
    }
  it.each(Object.entries(cases))('%s', async (_name, { path, then, ...options }) => {
    expect(await ask(path, options)).toMatchObject(then)
  })

  it('every answer keeps the page to itself', async () => {
    expect((await ask('/')).headers).toMatchObject({
      'content-security-policy': "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    })
  })
})

describe('a start that cannot work', () => {
  const rehearse = async () => new Map()
  const explain = async () => ({ code: 0, text: '' })
  const options = () => ({
    api,
    clock: realClock,
    random: seededRandom(1),
    port: 0,
    pageDirectory,
    shown: [],
    rehearse,
    explain,
  })

  it('a taken port is named, with the flag that chooses another', async () => {
    const port = dashboard.port
    await expect(startDashboard({ ...options(), port })).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      message: `port ${port} on 127.0.0.1 is taken by another program`,
      hint: expect.stringContaining('--port'),
    })
  })

  it('a page that was not built says how to build it', async () => {
    await expect(startDashboard({ ...options(), pageDirectory: '/nowhere' })).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      hint: expect.stringContaining('npm run build'),
    })
  })
})
