import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { accessRefused } from '../access/access-refused.ts'
import { resourceNotServed } from '../registry/api-errors.ts'
import { asApiError, isOver, refusal, sendAnswer } from './answer.ts'
import { type Exchange, parseTarget } from './exchange.ts'
import { answerExec, type Exec } from './exec-route.ts'
import { identify, refuseBrowsers } from './identity.ts'
import { metaRoutes } from './meta-routes.ts'
import { onOnePort } from './one-port.ts'
import { parseResourcePath } from './resource-path.ts'
import { answerResource } from './resource-routes.ts'
import { defaultVersion, type ServedApi, type ServerVersion } from './served-api.ts'
import { type SlowReaderLimits, SlowReaders } from './slow-readers.ts'

const defaultMaxBodyBytes = 3 * 1024 * 1024

/** Selectors travel in the request line and can be long; clients that poll must not find their connection gone. */
const connectionLimits = { maxHeaderSize: 256 * 1024, keepAliveTimeout: 120_000 }

export interface HttpFaceOptions {
  readonly server: ServedApi
  readonly clock: Clock
  /** Default 127.0.0.1: whoever reaches the port without a token is the administrator. */
  readonly host?: string
  /** 0 takes any free port. */
  readonly port: number
  /** The flag a user would change the port with, for the message when it is taken. */
  readonly portFlag?: string
  readonly version?: ServerVersion
  readonly maxBodyBytes?: number
  /** What callers may leave unread. */
  readonly slowReaders?: SlowReaderLimits
  /** With it, the port answers HTTPS beside HTTP. Clients such as kubectl send no token without. */
  readonly tls?: { readonly key: string; readonly cert: string }
  readonly isReady?: () => boolean
  /** What answers `pods/exec`. Without it no stream is opened. */
  readonly exec?: Exec
  /** Called for faults of the server itself, which callers only see as a 500. */
  readonly onFault?: (error: unknown) => void
}

export interface HttpFace {
  readonly url: string
  /** The same port over HTTPS, where it has a certificate. */
  readonly secureUrl?: string
  readonly port: number
  /** Ends watches and connections; resolves when the port is free. */
  close(): Promise<void>
}

/** Serves the API over HTTP: decodes, asks the server in-process, encodes. It decides nothing on its own. */
export async function startHttpFace(options: HttpFaceOptions): Promise<HttpFace> {
  const host = options.host ?? '127.0.0.1'
  const open = new Set<AbortController>()
  const respond = responder(options, open, () => `${host}:${portOf(server)}`)
  const listener: RequestListener = (request, response) => void respond(request, response)
  const plain = createServer(connectionLimits, listener)
  const secure = options.tls && createTlsServer({ ...options.tls, ...connectionLimits }, listener)
  const streams = new Set<Duplex>()
  for (const each of secure === undefined ? [plain] : [plain, secure]) {
    each.on('clientError', answerGarbage)
    if (options.exec !== undefined) each.on('upgrade', upgrader(options, options.exec, streams))
  }
  const server = secure === undefined ? plain : onOnePort(plain, secure)
  await listen(server, options.port, host, options.portFlag)
  const port = portOf(server)
  const shownHost = host.includes(':') ? `[${host}]` : host
  let isClosing = false
  return {
    url: `http://${shownHost}:${port}`,
    ...(secure === undefined ? {} : { secureUrl: `https://${shownHost}:${port}` }),
    port,
    async close() {
      if (isClosing) return
      isClosing = true
      for (const exchange of open) exchange.abort()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      // Watches write their last chunk in the next turns; whoever still holds a connection after that is cut off.
      for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      server.closeAllConnections()
      for (const stream of streams) stream.destroy()
      await closed
    },
  }
}

function upgrader(options: HttpFaceOptions, exec: Exec, streams: Set<Duplex>) {
  const identifyCaller = (request: IncomingMessage) => {
    refuseBrowsers(request, isLoopback(options))
    return identify(request, options.server)
  }
  return (request: IncomingMessage, socket: Duplex): void => {
    const gone = new AbortController()
    streams.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      streams.delete(socket)
      gone.abort()
    })
    const ports = { server: options.server, exec, identify: identifyCaller }
    void answerExec(ports, request, socket, gone.signal).catch((error: unknown) => {
      options.onFault?.(error)
      socket.destroy()
    })
  }
}

function isLoopback({ host = '127.0.0.1' }: Pick<HttpFaceOptions, 'host'>): boolean {
  return /^(127\.|localhost$|::1$)/.test(host)
}

function responder(options: HttpFaceOptions, open: Set<AbortController>, address: () => string) {
  const { server, clock, onFault } = options
  const maxBodyBytes = options.maxBodyBytes ?? defaultMaxBodyBytes
  const slowReaders = new SlowReaders(clock, options.slowReaders)
  const answerMeta = metaRoutes({
    catalogue: server.catalogue,
    version: options.version ?? defaultVersion,
    address,
    isReady: options.isReady ?? (() => true),
  })

  const answer = async (exchange: Exchange): Promise<void> => {
    refuseBrowsers(exchange.request, isLoopback(options))
    const user = identify(exchange.request, server)
    const path = parseResourcePath(exchange.segments)
    if (path === undefined) {
      const asked = { verb: exchange.method.toLowerCase(), group: '', resource: '', path: exchange.path }
      if (!server.authorizer.isAllowed(user, asked)) throw accessRefused(user, asked)
    }
    if (await answerMeta(exchange)) return
    const definition = path && server.catalogue.find(path.group, path.version, path.plural)
    if (path === undefined || definition === undefined) throw resourceNotServed()
    await answerResource({ exchange, api: server.as(user), definition, path, clock, maxBodyBytes, slowReaders })
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const gone = new AbortController()
    const end = () => {
      if (!response.writableFinished) gone.abort()
    }
    response.on('close', end)
    response.on('error', end)
    open.add(gone)
    const exchange = { request, response, method: request.method ?? 'GET', signal: gone.signal }
    try {
      await answer({ ...exchange, ...parseTarget(request.url ?? '/') })
      if (!response.writableFinished && !response.destroyed && response.writableLength > 0) {
        await slowReaders.wait(response, 'finish', gone.signal).catch(() => undefined)
      }
    } catch (error) {
      if (isOver(response) || request.errored) return
      const refused = asApiError(error)
      if (refused !== error) onFault?.(error)
      await answerRefusal({ ...exchange, path: '', segments: [], query: new URLSearchParams() }, refused)
    } finally {
      open.delete(gone)
    }
  }
}

async function answerRefusal(exchange: Exchange, refused: ApiError): Promise<void> {
  const { request, response } = exchange
  if (isOver(response)) return
  if (response.headersSent) {
    response.destroy()
    return
  }
  if (!request.complete) {
    // What is left of the body is of no use; the connection cannot be used for another request.
    response.setHeader('Connection', 'close')
    request.resume()
  }
  await sendAnswer(exchange, refusal(refused))
}

function answerGarbage(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const code = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request'
  socket.end(`HTTP/1.1 ${code}\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n${code}`)
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

function listen(server: Server, port: number, host: string, flag = '--kube-port'): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(listenError(error, port, host, flag))
    server.once('error', fail)
    server.listen(port, host, () => {
      server.off('error', fail)
      resolve()
    })
  })
}

function listenError(cause: NodeJS.ErrnoException, port: number, host: string, flag: string): CofferdamError {
  const facts = { host, port }
  if (cause.code === 'EADDRINUSE') {
    return new CofferdamError('PORT_IN_USE', `port ${port} on ${host} is taken by another program`, {
      facts,
      hint: `Stop that program, or choose another port with ${flag} (0 takes any free one).`,
      cause,
    })
  }
  return new CofferdamError('USAGE', `cannot listen on ${host} port ${port}: ${cause.message}`, {
    facts,
    hint: `Choose another port with ${flag} (0 takes any free one).`,
    cause,
  })
}
