import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { ConnectionRoom } from './connection-room.ts'
import { guardPaths, parseGuardPath } from './domain/webhook-configuration.ts'
import type { AskedHow, GuardAnswer } from './eviction-guard.ts'
import { clientRefusal, type GuardClients } from './guard-clients.ts'
import type { CertifiedKey } from './self-signed-certificate.ts'

export interface GuardServerOptions {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly certificate: CertifiedKey
  readonly answer: (text: string, asked: AskedHow) => GuardAnswer | Promise<GuardAnswer>
  /** Whether the last word of a path is one that only the API server knows. */
  readonly recognises: (proof: string) => boolean
  /** Where given, reviews are taken with a client certificate alone, and it takes the place of the word. */
  readonly clients?: GuardClients
  /** What is still missing, or undefined when reviews can be answered. */
  readonly whatIsMissing: () => string | undefined
  readonly limits?: Partial<GuardLimits>
  readonly onError?: (error: unknown) => void
}

export interface GuardLimits {
  /** Limit for one review; a Pod can be large, and a deletion brings one along. */
  readonly bodyBytes: number
  /** Limit for all reviews that are being read. */
  readonly bytesUnderWay: number
  readonly requestsUnderWay: number
  readonly connections: number
  /** How long a request may take to arrive. */
  readonly arrivalMs: number
}

export interface GuardServer {
  readonly port: number
  /** For connections from now on; those that are open go on with the one they know. */
  setCertificate(certificate: CertifiedKey): void
  /** Takes no new requests, answers those it has, and lets go of the port. */
  close(): Promise<void>
}

const defaults: GuardLimits = {
  bodyBytes: 3 * 2 ** 20,
  bytesUnderWay: 48 * 2 ** 20,
  requestsUnderWay: 512,
  connections: 1_024,
  arrivalMs: 5_000,
}

const textPlain = 'text/plain; charset=utf-8'

/**
 * Serves the eviction guard over HTTPS.
 *
 * Guarantees: what is held in memory for requests is bounded, whatever comes in. Beyond that it answers 503, and the
 * failurePolicy of the webhook decides, as it does when nobody answers. Whoever does not show to be the API server can take no
 * more than a quarter of the room for requests, and no connection from it.
 */
export function startGuardServer(options: GuardServerOptions): Promise<GuardServer> {
  const { host, port, answer, whatIsMissing, clients, onError = () => {} } = options
  const limits = { ...defaults, ...options.limits }
  const fromServer: Load = {
    requests: 0,
    bytes: 0,
    most: { requests: limits.requestsUnderWay, bytes: limits.bytesUnderWay },
  }
  const most = { requests: limits.requestsUnderWay / 4, bytes: limits.bytesUnderWay / 4 }
  const fromStrangers: Load = { requests: 0, bytes: 0, most }
  const room = new ConnectionRoom({ most: limits.connections })
  let isClosing = false

  const server = createServer(
    {
      ...secureContext(options.certificate),
      // Not refused while connecting: readiness is asked without a certificate.
      ...(clients === undefined ? {} : { ca: clients.authorities, requestCert: true, rejectUnauthorized: false }),
      requestTimeout: limits.arrivalMs,
      headersTimeout: limits.arrivalMs,
      handshakeTimeout: limits.arrivalMs,
      keepAliveTimeout: 90_000,
      maxHeaderSize: 16_384,
      connectionsCheckingInterval: Math.min(limits.arrivalMs, 5_000),
    },
    (request, response) => void serve(request, response),
  )
  server.on('connection', (socket) => room.admit(socket))
  /** Connections on which nothing was asked yet. They do not count as idle, so whoever closes the server would wait for them. */
  const unasked = new Set<Duplex>()
  server.on('secureConnection', (socket) => {
    if (isClosing) {
      socket.destroy()
      return
    }
    unasked.add(socket)
    socket.once('close', () => unasked.delete(socket))
  })

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    unasked.delete(request.socket)
    const path = (request.url ?? '/').split('?')[0]
    if (path === '/readyz') return serveReadiness(response)
    const asked = parseGuardPath(path ?? '')
    if (asked === undefined) {
      return send(response, { code: 404, body: `try POST ${guardPaths.eviction}, or /readyz\n` })
    }
    if (request.method !== 'POST') return send(response, { code: 405, body: 'reviews are sent with POST\n' })
    const refusal = clients && clientRefusal(clients, presentedOn(request.socket as TLSSocket))
    if (refusal !== undefined) return refuse(response, { code: 403, body: `${refusal}\n` })
    const isFromServer = clients !== undefined || options.recognises(asked.proof)
    if (isFromServer) room.recognise(request.socket)
    const load = isFromServer ? fromServer : fromStrangers
    if (load.requests >= load.most.requests) return refuse(response, busy)
    load.requests += 1
    try {
      const body = await readBody(request, load)
      if (typeof body !== 'string') return refuse(response, body)
      send(response, await answer(body, { isStrict: asked.isStrict, isFromServer }))
    } catch (error) {
      onError(error)
      if (response.headersSent) response.destroy()
      else send(response, { code: 500, body: 'the guard failed; its log says why\n' })
    } finally {
      load.requests -= 1
    }
  }

  /** Refuses without having read all: the rest would be taken for the next request. */
  function refuse(response: ServerResponse, refusal: GuardAnswer): void {
    response.setHeader('connection', 'close')
    send(response, refusal)
  }

  function send(response: ServerResponse, { code, body, contentType = textPlain }: GuardAnswer): void {
    // A connection that is kept open would keep the server from ending.
    if (isClosing) response.setHeader('connection', 'close')
    response.writeHead(code, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) })
    response.end(body)
  }

  function serveReadiness(response: ServerResponse): void {
    const missing = isClosing ? 'it is shutting down' : whatIsMissing()
    send(response, missing === undefined ? { code: 200, body: 'ok\n' } : { code: 503, body: `not ready: ${missing}\n` })
  }

  /** By events: leaving a loop over the request early would cut the connection before the refusal is sent. */
  function readBody(request: IncomingMessage, load: Load): Promise<string | GuardAnswer> {
    if (Number(request.headers['content-length'] ?? 0) > limits.bodyBytes) return Promise.resolve(tooLarge)
    const chunks: Buffer[] = []
    let size = 0
    return new Promise((resolve) => {
      const end = (result: string | GuardAnswer) => {
        load.bytes -= size
        size = 0
        request.removeAllListeners('data')
        resolve(result)
      }
      request.on('data', (chunk: Buffer) => {
        size += chunk.length
        load.bytes += chunk.length
        chunks.push(chunk)
        if (size > limits.bodyBytes) end(tooLarge)
        else if (load.bytes > load.most.bytes) end(busy)
      })
      request.once('end', () => end(Buffer.concat(chunks).toString('utf8')))
      request.once('close', () => end({ code: 400, body: 'the request ended before it was whole\n' }))
      request.once('error', () => end({ code: 400, body: 'the request ended before it was whole\n' }))
    })
  }

  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' ? portTaken(host, port) : error)
    })
    server.on('tlsClientError', () => {
      // Port scanners and clients that do not trust us yet: theirs to report.
    })
    server.listen(port, host, () => {
      server.on('error', onError)
      resolve({
        port: (server.address() as AddressInfo).port,
        setCertificate: (certificate) =>
          server.setSecureContext({
            ...secureContext(certificate),
            ...(clients === undefined ? {} : { ca: clients.authorities }),
          }),
        close: () =>
          new Promise((closed) => {
            isClosing = true
            server.close(() => closed())
            for (const socket of unasked) socket.destroy()
            server.closeIdleConnections()
          }),
      })
    })
  })
}

/** What is under way of one kind of callers. */
interface Load {
  requests: number
  bytes: number
  readonly most: { readonly requests: number; readonly bytes: number }
}

function presentedOn(socket: TLSSocket) {
  const { CN } = socket.getPeerCertificate()?.subject ?? {}
  return { isVerified: socket.authorized, commonName: Array.isArray(CN) ? CN[0] : CN }
}

const busy: GuardAnswer = { code: 503, body: 'the guard has too much to do at the moment\n' }
const tooLarge: GuardAnswer = { code: 413, body: 'the review is larger than the guard reads\n' }

function secureContext({ certificatePem, privateKeyPem }: CertifiedKey) {
  return { cert: certificatePem, key: privateKeyPem, minVersion: 'TLSv1.2' } as const
}

function portTaken(host: string, port: number): CofferdamError {
  return new CofferdamError('PORT_IN_USE', `port ${port} on ${host} is taken`, {
    facts: { port },
    hint: 'Stop the other program, or choose another port with --guard-port.',
  })
}
