import { setMaxListeners } from 'node:events'
import type { Dispatcher } from 'undici'
import { isJsonObject, type JsonObject } from '../api/json.ts'
import { backoffDelayMs } from '../runtime/backoff.ts'
import { type Clock, sleep } from '../runtime/clock.ts'
import type { Random } from '../runtime/random.ts'
import type { ClusterConnection } from './cluster-connection.ts'
import { createConnectionPool } from './connection-pool.ts'
import { type CredentialSet, createCredentials } from './credentials.ts'
import { fromTransport, isBrokenConnection, type RequestName, readRefusal, unreachable } from './http-failures.ts'
import { type LinkedSignal, linkSignals } from './link-signals.ts'

export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  /** What is undefined or empty is left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  readonly contentType?: string
  readonly signal?: AbortSignal | undefined
}

export interface HttpTransportOptions {
  readonly connection: ClusterConnection
  readonly clock: Clock
  readonly random: Random
  readonly userAgent: string
  readonly requestTimeoutMs: number
  readonly maxAttempts: number
  readonly interactive: boolean
  readonly execTimeoutMs: number
}

export interface HttpTransport {
  /** The JSON object that answers; waits and asks again where that is safe. */
  json(call: HttpCall): Promise<JsonObject>
  /** The body of a stream that has begun; `stream` ends it. Whoever asks waits and asks again. */
  open(call: HttpCall, stream: LinkedSignal): Promise<Dispatcher.ResponseData['body']>
  name(call: HttpCall): RequestName
  /** Fires when the transport is closed. */
  readonly closed: AbortSignal
  close(): Promise<void>
}

const retryPolicy = { firstMs: 200, longestMs: 5_000 }
/** A server that asks for more patience than this gets its answer passed on: the caller may have something better to do. */
const longestPatienceSeconds = 30

type Attempt =
  | { readonly answer: JsonObject }
  | { readonly error: Error; readonly again: boolean; readonly waitMs: number }

export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const { connection, clock, random, requestTimeoutMs } = options
  const { origin, pathname } = new URL(connection.server)
  const prefix = pathname.replace(/\/+$/, '')
  const pool = createConnectionPool(connection, clock)
  const credentials = createCredentials(options)
  const fixedHeaders = { accept: 'application/json', 'user-agent': options.userAgent, ...impersonate(connection) }
  const closing = new AbortController()
  // Every request that is under way listens; Node takes more than ten for a leak.
  setMaxListeners(0, closing.signal)

  const name = ({ method, path }: HttpCall): RequestName => ({ server: connection.server, method, path })

  async function send(call: HttpCall, present: CredentialSet, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const dispatcher = await pool.current(present)
    signal.throwIfAborted()
    return dispatcher.request({
      origin,
      path: `${prefix}${call.path}${queryText(call.query)}`,
      method: call.method,
      headers: {
        ...fixedHeaders,
        ...(present.authorization === undefined ? {} : { authorization: present.authorization }),
        ...(call.body === undefined ? {} : { 'content-type': call.contentType ?? 'application/json' }),
      },
      body: call.body === undefined ? null : JSON.stringify(call.body),
      signal,
    })
  }

  /** Asks, and once more with fresh credentials when the server does not know these: 401 comes before anything is done. */
  async function exchange<R>(
    call: HttpCall,
    limits: LinkedSignal,
    read: (response: Dispatcher.ResponseData) => Promise<R>,
  ): Promise<{ readonly response: Dispatcher.ResponseData; readonly content: R }> {
    for (let isRenewed = false; ; isRenewed = true) {
      // A plugin may wait for somebody to log in: the server's time begins after that.
      const present = await credentials.current()
      const answer = await withinLimits(call, limits, async () => {
        const response = await send(call, present, limits.signal)
        return { response, content: await read(response) }
      })
      if (answer.response.statusCode !== 401 || isRenewed || !(await credentials.renew(present))) return answer
    }
  }

  /** Ends the work when its time is over, and says in one way why it failed, whoever ended it. */
  async function withinLimits<R>(call: HttpCall, limits: LinkedSignal, work: () => Promise<R>): Promise<R> {
    let expired = false
    const cancel = clock.after(requestTimeoutMs, () => {
      expired = true
      limits.abort()
    })
    try {
      return await work()
    } catch (error) {
      if (call.signal?.aborted) throw unreachable(name(call), 'the caller gave up', { cause: call.signal.reason })
      if (closing.signal.aborted) throw unreachable(name(call), 'the client was closed')
      if (expired) throw unreachable(name(call), `no whole answer within ${requestTimeoutMs / 1000} s`)
      pool.recheck()
      throw fromTransport(name(call), error)
    } finally {
      cancel()
    }
  }

  async function attempt(call: HttpCall): Promise<Attempt> {
    const limits = linkSignals(call.signal, closing.signal)
    try {
      const { response, content } = await exchange(call, limits, ({ body }) => body.text())
      if (isSuccess(response)) return { answer: parseAnswer(call, content) }
      return afterRefusal(call, response, content)
    } catch (error) {
      // A broken connection says nothing of what the server did: only reading again is without risk.
      const again = call.method === 'GET' && isBrokenConnection(error) && !call.signal?.aborted
      return { error: error as Error, again, waitMs: 0 }
    } finally {
      limits.unlink()
    }
  }

  /**
   * Reads are repeated after 429 and 5xx. A write is repeated after one answer only: 429 as plain text with Retry-After,
   * which is flow control at the door, before anybody read the request. 429 in a Status is a decision (a disruption
   * budget, a webhook, a quota) and the caller must see it; after 5xx a write may have been done.
   */
  function afterRefusal(call: HttpCall, response: Dispatcher.ResponseData, body: string): Attempt {
    const code = response.statusCode
    const retryAfter = retryAfterOf(response)
    const { error, hasStatus } = readRefusal({ code, body, retryAfter })
    const seconds = error.details?.retryAfterSeconds ?? 0
    const isRead = call.method === 'GET'
    const isTurnedAway = code === 429 && retryAfter !== undefined && (isRead || !hasStatus)
    // The server has already waited for that version; whoever named it knows whether it can ever come.
    const isFuture = error.details?.causes?.some(({ reason }) => reason === 'ResourceVersionTooLarge') ?? false
    const isFailedRead = isRead && !isFuture && (code === 500 || code === 502 || code === 503 || code === 504)
    return { error, again: (isTurnedAway || isFailedRead) && seconds <= longestPatienceSeconds, waitMs: seconds * 1000 }
  }

  function parseAnswer(call: HttpCall, text: string): JsonObject {
    try {
      const answer: unknown = JSON.parse(text)
      if (isJsonObject(answer)) return answer
    } catch {
      // Reported below: the parser's message quotes the text.
    }
    throw unreachable(name(call), 'what came is not a JSON object', {
      hint: 'see whether the server address in the kubeconfig is that of a Kubernetes API server',
    })
  }

  return {
    name,
    closed: closing.signal,
    async json(call) {
      for (let failures = 1; ; failures += 1) {
        const result = await attempt(call)
        if ('answer' in result) return result.answer
        if (!result.again || failures >= options.maxAttempts) throw result.error
        await sleep(clock, result.waitMs + backoffDelayMs(failures, retryPolicy, random), call.signal)
        if (call.signal?.aborted || closing.signal.aborted) throw result.error
      }
    },
    async open(call, stream) {
      const read = async (response: Dispatcher.ResponseData) => (isSuccess(response) ? '' : response.body.text())
      const { response, content } = await exchange(call, stream, read)
      if (isSuccess(response)) return response.body
      throw readRefusal({ code: response.statusCode, body: content, retryAfter: retryAfterOf(response) }).error
    },
    async close() {
      closing.abort()
      await pool.close()
    },
  }
}

function queryText(query: HttpCall['query'] = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') parameters.set(name, String(value))
  }
  return parameters.size === 0 ? '' : `?${parameters.toString()}`
}

function isSuccess({ statusCode }: Dispatcher.ResponseData): boolean {
  return statusCode >= 200 && statusCode < 300
}

function retryAfterOf({ headers }: Dispatcher.ResponseData): string | undefined {
  const header = headers['retry-after']
  return Array.isArray(header) ? header[0] : header
}

function impersonate({ impersonation }: ClusterConnection): Record<string, string | string[]> {
  if (impersonation === undefined) return {}
  const { user, uid, groups, extra } = impersonation
  const extras = Object.entries(extra).map(([key, values]) => {
    return [`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`, [...values]] as const
  })
  return {
    'impersonate-user': user,
    ...(uid === undefined ? {} : { 'impersonate-uid': uid }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': [...groups] }),
    ...Object.fromEntries(extras),
  }
}
