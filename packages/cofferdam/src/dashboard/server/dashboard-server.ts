import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { DrainPlan } from '../../capabilities/drain-lock/view/plan-drain.ts'
import { answerAction, type PageActions } from './action-desk.ts'
import { streamChanges } from './change-stream.ts'
import type { ClusterFeed } from './cluster-feed.ts'
import { viewCluster } from './cluster-view-model.ts'
import { compressed, takesGzip } from './compress.ts'
import { type DashboardAccess, followAccess } from './dashboard-access.ts'
import { viewLocks } from './lock-view-model.ts'
import { isLocalName, isLoopback } from './page-address.ts'
import { json, type PageAnswer, refusal, text } from './page-answer.ts'
import type { PageFile } from './page-files.ts'
import { verdictsOf } from './verdicts-of.ts'

/** What `cofferdam explain` prints about an object, and its exit code. */
export type ExplainForPage = (
  object: string,
  signal: AbortSignal,
) => Promise<{ readonly code: number; readonly text: string }>

/** The plan of `cofferdam plan drain --all`, computed when it is asked for. */
export type PlanForPage = (
  signal: AbortSignal,
) => Promise<DrainPlan & { readonly observedAt: string; readonly notSeen: readonly string[] }>

export interface DashboardServerOptions {
  readonly feed: ClusterFeed
  readonly explain: ExplainForPage
  /** Left out: the page has no plan. */
  readonly plan?: PlanForPage | undefined
  readonly clock: Clock
  readonly files: ReadonlyMap<string, PageFile>
  readonly port: number
  readonly host: string
  readonly cluster: string
  /** The flag a user would change the port with, for the message when it is taken. */
  readonly portFlag: string
  /** Who may see the facts; absent: everyone who reaches the port. */
  readonly access?: DashboardAccess
  /** Serves HTTPS with it. */
  readonly certificate?: PageCertificate
  /** What is still missing before the thing shown is ready; undefined when nothing is. */
  readonly whatIsMissing: () => string | undefined
  /** Left out: the page only reads, and there is no route for anything else. */
  readonly actions?: PageActions | undefined
}

/** Both in PEM. */
export interface PageCertificate {
  readonly certificatePem: string
  readonly privateKeyPem: string
}

export interface RunningDashboard {
  readonly url: string
  readonly port: number
  /** For connections from now on, of a page that is served over HTTPS. */
  setCertificate(certificate: PageCertificate): void
  close(): Promise<void>
}

const mostReaders = 64
/** How long a reader has to take the end of its stream. */
const lastWordsMs = 200
const arrivalMs = 10_000
const connectionLimits = { requestTimeout: arrivalMs, headersTimeout: arrivalMs, maxHeaderSize: 32_768 }
const mostConnections = 512

const guardingHeaders = {
  'cache-control': 'no-cache',
  'content-security-policy': "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** Serves the page, its facts and their changes. It answers GET and HEAD only, but for the actions of a demo. */
export async function startDashboardServer(options: DashboardServerOptions): Promise<RunningDashboard> {
  const endings = new Set<() => void>()
  const stopping = new AbortController()
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    for (const [name, value] of Object.entries(guardingHeaders)) response.setHeader(name, value)
    const isCompressed = takesGzip(request)
    const { access, actions, feed, clock, cluster } = options
    const { authorization } = request.headers
    const isFact = isFactPath(request.url)
    if (isFact) response.setHeader('cache-control', 'no-store')
    const refused = refuseAtOnce(request, options)
    const admission = isFact && refused === undefined ? await access?.judge(authorization) : undefined
    const answered =
      refused ??
      (admission && refusal(admission)) ??
      (await answerTo(request, { ...options, readers: endings.size, signal: stopping.signal }))
    // Whoever left while the cluster was asked about them never closes again.
    if (response.destroyed) return
    if (answered === 'stream') {
      const greeting = { cluster, ...(actions && { actionToken: actions.token }) }
      const end = streamChanges(response, { feed, clock, greeting, isCompressed })
      endings.add(end)
      const unfollow =
        access && admission && followAccess(access, { authorization, untilMs: admission.untilMs, clock, onLost: end })
      response.on('close', () => {
        endings.delete(end)
        unfollow?.()
      })
      return
    }
    const { code, contentType, headers, body } = answered
    const small = isCompressed ? compressed(body) : undefined
    response.writeHead(code, {
      ...headers,
      'content-type': contentType,
      'content-length': (small ?? body).length,
      vary: 'accept-encoding',
      ...(small === undefined ? {} : { 'content-encoding': 'gzip' }),
    })
    response.end(request.method === 'HEAD' ? undefined : (small ?? body))
  }
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response).catch(() => response.destroy())
  }
  const { certificate } = options
  const secure = certificate && createTlsServer({ ...connectionLimits, ...secureContext(certificate) }, listener)
  const server: Server = secure ?? createServer(connectionLimits, listener)
  server.maxConnections = mostConnections
  await listen(server, options)
  const { port } = server.address() as AddressInfo
  return {
    url: `${secure === undefined ? 'http' : 'https'}://${options.host}:${port}`,
    port,
    setCertificate: (next) => secure?.setSecureContext(secureContext(next)),
    close: () =>
      new Promise((resolve) => {
        stopping.abort()
        // What was sent last is still being compressed.
        const cancel = options.clock.after(lastWordsMs, () => server.closeAllConnections())
        server.close(() => {
          cancel()
          resolve()
        })
        for (const end of endings) end()
      }),
  }
}

interface Asked extends DashboardServerOptions {
  /** How many read the stream already. */
  readonly readers: number
  readonly signal: AbortSignal
}

/** What no request gets past, whoever sends it. */
function refuseAtOnce(
  { headers, method, url }: IncomingMessage,
  { host, actions }: Pick<Asked, 'host' | 'actions'>,
): PageAnswer | undefined {
  if (isLoopback(host) && !isLocalName(headers.host)) {
    return text(403, 'this page answers to localhost and 127.0.0.1 only')
  }
  // What may be done there is for its desk to say.
  if (method === 'GET' || method === 'HEAD' || (actions !== undefined && isActionPath(url))) return undefined
  return { ...text(405, 'this page is read-only: it accepts GET and HEAD'), headers: { allow: 'GET, HEAD' } }
}

async function answerTo(request: IncomingMessage, options: Asked): Promise<PageAnswer | 'stream'> {
  const { feed, clock, cluster, files, readers } = options
  if (options.actions !== undefined && isActionPath(request.url)) {
    const { code, says, headers } = await answerAction(request, options.actions, options.signal)
    return { ...json(says), code, ...(headers && { headers }) }
  }
  const [path = '/', query = ''] = (request.url ?? '/').split('?', 2)
  const file = files.get(path)
  if (file !== undefined) return { code: 200, ...file }

  switch (path) {
    case '/healthz':
      return text(200, 'ok')
    case '/readyz': {
      const missing = feed.isSynced ? options.whatIsMissing() : 'the first snapshot of the cluster'
      return missing === undefined ? text(200, 'ok') : text(503, `waiting for ${missing}`)
    }
    case '/api/cluster': {
      const facts = { at: clock.now(), cluster, ...describeCluster(feed, clock.now()) }
      return json(facts)
    }
    case '/api/explain':
      return explainObject(new URLSearchParams(query).get('object') ?? '', options)
    case '/api/plan':
      return options.plan === undefined ? text(404, 'no plan here') : json(await options.plan(options.signal))
    case '/api/stream':
      if (request.method === 'HEAD') return { ...text(405, 'a stream has no HEAD'), headers: { allow: 'GET' } }
      return readers < mostReaders ? 'stream' : text(503, 'too many readers; close some windows')
    default:
      return text(404, 'not found; the page is at /')
  }
}

/** Explanations read the cluster: a page that asks for many at once gets them one after another. */
const mostQuestions = 4
const questions = new WeakMap<ClusterFeed, number>()

async function explainObject(object: string, { feed, explain, signal }: Asked): Promise<PageAnswer> {
  if (!/^[a-z]+\/[\w./-]{1,500}$/i.test(object)) return text(400, 'name an object, as in ?object=node/worker-a1')
  const asked = questions.get(feed) ?? 0
  if (asked >= mostQuestions) return text(503, 'too many questions at once; ask again in a second')
  questions.set(feed, asked + 1)
  try {
    return json(await explain(object, signal))
  } finally {
    questions.set(feed, (questions.get(feed) ?? 1) - 1)
  }
}

/** The facts, with what the page concludes from them. */
function describeCluster(feed: ClusterFeed, nowMs: number) {
  const view = feed.snapshot()
  const locks = viewLocks(view, nowMs)
  const verdicts = verdictsOf(view)
  const { zones, headline } = viewCluster(view)
  const states = new Map(zones.flatMap(({ nodes }) => nodes.map(({ node, state }) => [node.id, state])))
  return {
    headline: [headline.says, ...headline.more].join(' '),
    nodes: view.nodes.map((node) => ({ ...node, state: states.get(node.id) })),
    pods: view.pods,
    budgets: view.budgets.map((budget) => ({
      ...budget,
      verdict: verdicts(budget).says,
    })),
    drains: view.drains,
    locks,
    panels: view.panels ?? [],
    ...(view.osdUpdates === undefined ? {} : { osdUpdates: view.osdUpdates }),
    events: view.events,
  }
}

/** What is about the cluster. The rest is the same everywhere. */
function isFactPath(url = '/'): boolean {
  return url.startsWith('/api/')
}

function isActionPath(url = '/'): boolean {
  return /^\/api\/actions(\?|$)/.test(url)
}

function secureContext({ certificatePem, privateKeyPem }: PageCertificate) {
  return { cert: certificatePem, key: privateKeyPem, minVersion: 'TLSv1.2' } as const
}

function listen(server: Server, { port, host, portFlag }: DashboardServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'EADDRINUSE') return reject(cause)
      const hint = `stop that program, or choose another port with ${portFlag} (0 takes any free one)`
      const message = `port ${port} on ${host} is taken by another program`
      reject(new CofferdamError('PORT_IN_USE', message, { facts: { host, port }, hint, cause }))
    }
    server.once('error', fail)
    server.listen(port, host, () => {
      server.off('error', fail)
      resolve()
    })
  })
}
