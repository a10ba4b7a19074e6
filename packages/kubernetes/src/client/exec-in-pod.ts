import { WebSocket } from 'undici'
import { ApiError, type StatusObject } from '../api/api-error.ts'
import { isJsonObject } from '../api/json.ts'
import { CofferdamError } from '../errors.ts'
import type { Clock } from '../runtime/clock.ts'
import type { ClusterConnection } from './cluster-connection.ts'
import { createConnectionPool } from './connection-pool.ts'
import { type CredentialSet, createCredentials } from './credentials.ts'
import { unreachable } from './http-failures.ts'

export interface ContainerPlace {
  readonly namespace: string
  readonly pod: string
  readonly container?: string
}

export interface ExecOptions {
  readonly signal: AbortSignal
  /** Limit for standard output and standard error together. */
  readonly maxBytes: number
  /** Takes standard output as it comes; then it is neither collected nor limited. */
  readonly onOut?: (chunk: Uint8Array) => void
}

export interface ExecResult {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface PodExec {
  /** Runs a program in a container, as `kubectl exec` does, without input. */
  exec(place: ContainerPlace, argv: readonly string[], options: ExecOptions): Promise<ExecResult>
  close(): Promise<void>
}

const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
const channels = { out: 1, err: 2, status: 3 }

export function createPodExec(options: {
  readonly connection: ClusterConnection
  readonly clock: Clock
  readonly execTimeoutMs?: number
}): PodExec {
  const { connection, clock, execTimeoutMs = 60_000 } = options
  // Several groups cannot be said in the headers of a WebSocket, and to leave them out would be to act as somebody else.
  if (connection.impersonation !== undefined) {
    throw new CofferdamError('KUBECONFIG_INVALID', `${connection.source}: exec cannot act as another user`, {
      hint: 'use a user of its own instead of impersonation',
    })
  }
  const pool = createConnectionPool(connection, clock)
  const credentials = createCredentials({ connection, clock, interactive: false, execTimeoutMs })

  async function attempt(place: ContainerPlace, argv: readonly string[], options: ExecOptions, present: CredentialSet) {
    const dispatcher = await pool.current(present)
    const url = execUrl(connection.server, place, argv)
    const headers = present.authorization === undefined ? {} : { authorization: present.authorization }
    const socket = new WebSocket(url, { protocols, dispatcher, headers })
    return collect(socket, { request: { server: connection.server, method: 'GET', path: url.pathname }, ...options })
  }

  return {
    async exec(place, argv, options) {
      const present = await credentials.current()
      const first = await attempt(place, argv, options, present)
      if (!('refused' in first)) return first
      pool.recheck()
      // A refused handshake does not say why; a token that has run out is the one cause that passes.
      if (options.signal.aborted || !(await credentials.renew(present))) throw first.refused
      const second = await attempt(place, argv, options, await credentials.current())
      if ('refused' in second) throw second.refused
      return second
    },
    close: () => pool.close(),
  }
}

function execUrl(server: string, place: ContainerPlace, argv: readonly string[]): URL {
  const namespace = encodeURIComponent(place.namespace)
  const url = new URL(`${server}/api/v1/namespaces/${namespace}/pods/${encodeURIComponent(place.pod)}/exec`)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  for (const word of argv) url.searchParams.append('command', word)
  if (place.container !== undefined) url.searchParams.set('container', place.container)
  url.searchParams.set('stdout', 'true')
  url.searchParams.set('stderr', 'true')
  return url
}

type Collected = ExecResult | { readonly refused: Error }

function collect(
  socket: WebSocket,
  limits: ExecOptions & { readonly request: Parameters<typeof unreachable>[0] },
): Promise<Collected> {
  const { request, signal, maxBytes, onOut } = limits
  const texts = new Map(Object.values(channels).map((channel) => [channel, [] as Buffer[]]))
  let bytes = 0
  let hasOpened = false
  socket.binaryType = 'arraybuffer'
  return new Promise((resolve, reject) => {
    const end = (problem: string, hint?: string) => {
      reject(unreachable(request, problem, hint === undefined ? {} : { hint }))
      close()
    }
    const giveUp = () => end('the caller gave up')
    const close = () => {
      signal.removeEventListener('abort', giveUp)
      socket.close()
    }
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    socket.addEventListener('open', () => {
      hasOpened = true
    })
    socket.addEventListener('message', ({ data }) => {
      const frame = Buffer.from(data as ArrayBuffer)
      if (frame[0] === channels.out && onOut !== undefined) return onOut(frame.subarray(1))
      bytes += frame.length
      if (bytes > maxBytes) end(`what it prints is larger than ${maxBytes} bytes`)
      else texts.get(frame[0] ?? -1)?.push(frame.subarray(1))
    })
    // A failure is followed by `close`, which reports every way to end alike.
    socket.addEventListener('error', () => {})
    socket.addEventListener('close', () => {
      close()
      if (!hasOpened) return resolve({ refused: handshakeRefused(request) })
      const status = readStatus(textOf(channels.status))
      if (status === undefined) return end('the stream ended before the program did')
      const code = exitCodeOf(status)
      if (code === undefined) return reject(ApiError.fromStatus(status, status.code ?? 500))
      return resolve({ code, out: textOf(channels.out), err: textOf(channels.err) })
    })

    function textOf(channel: number): string {
      return Buffer.concat(texts.get(channel) ?? []).toString('utf8')
    }
  })
}

function handshakeRefused(request: Parameters<typeof unreachable>[0]): Error {
  return unreachable(request, 'it opened no stream', {
    hint: 'see that the pod runs and that this user may get and create pods/exec in its namespace',
  })
}

function readStatus(text: string): Partial<StatusObject> | undefined {
  try {
    const status: unknown = JSON.parse(text)
    return isJsonObject(status) ? (status as Partial<StatusObject>) : undefined
  } catch {
    return undefined
  }
}

/** The code the program ended with; undefined when it never ran. */
function exitCodeOf({ status, reason, details }: Partial<StatusObject>): number | undefined {
  if (status === 'Success') return 0
  if (reason !== 'NonZeroExitCode') return undefined
  const code = Number(details?.causes?.find((cause) => cause.reason === 'ExitCode')?.message)
  return Number.isInteger(code) ? code : undefined
}
