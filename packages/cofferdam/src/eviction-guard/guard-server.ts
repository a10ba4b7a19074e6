import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { guardPaths } from './domain/webhook-configuration.ts'
import type { GuardAnswer } from './eviction-guard.ts'
import type { CertifiedKey } from './self-signed-certificate.ts'

export interface GuardServerOptions {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly certificate: CertifiedKey
  readonly answer: (text: string, asked: { readonly isStrict: boolean }) => GuardAnswer | Promise<GuardAnswer>
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
 * failurePolicy of the webhook decides, as it does when nobody answers.
 */
export function startGuardServer(options: GuardServerOptions): Promise<GuardServer> {
  const { host, port, answer, whatIsMissing, onError = () => {} } = options
  const limits = { ...defaults, ...options.limits }
  let requestsUnderWay = 0
  let bytesUnderWay = 0
  let isClosing = false

  const server = createServer(
    {
      ...secureContext(options.certificate),
      requestTimeout: limits.arrivalMs,
      headersTimeout: limits.arrivalMs,
      handshakeTimeout: limits.arrivalMs,
      keepAliveTimeout: 90_000,
      maxHeaderSize: 16_384,
      connectionsCheckingInterval: Math.min(limits.arrivalMs, 5_000),
    },
    (request, response) => void serve(request, response),
  )
  server.maxConnections = limits.connections
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
    if (path !== guardPaths.eviction && path !== guardPaths.locked) {
      return send(response, { code: 404, body: `try POST ${guardPaths.eviction}, or /readyz\n` })
    }
    if (request.method !== 'POST') return send(response, { code: 405, body: 'reviews are sent with POST\n' })
    if (requestsUnderWay >= limits.requestsUnderWay) return refuse(response, busy)
    requestsUnderWay += 1
    try {
      const body = await readBody(request)
      if (typeof body !== 'string') return refuse(response, body)
      send(response, await answer(body, { isStrict: path === guardPaths.locked }))
    } catch (error) {
      onError(error)
      if (response.headersSent) response.destroy()
      else send(response, { code: 500, body: 'the guard failed; its log says why\n' })
    } finally {
      requestsUnderWay -= 1
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
  function readBody(request: IncomingMessage): Promise<string | GuardAnswer> {
    if (Number(request.headers['content-length'] ?? 0) > limits.bodyBytes) return Promise.resolve(tooLarge)
    const chunks: Buffer[] = []
    let size = 0
    return new Promise((resolve) => {
      const end = (result: string | GuardAnswer) => {
        bytesUnderWay -= size
        size = 0
        request.removeAllListeners('data')
        resolve(result)
      }
      request.on('data', (chunk: Buffer) => {
        size += chunk.length
        bytesUnderWay += chunk.length
        chunks.push(chunk)
        if (size > limits.bodyBytes) end(tooLarge)
        else if (bytesUnderWay > limits.bytesUnderWay) end(busy)
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
        setCertificate: (certificate) => server.setSecureContext(secureContext(certificate)),
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
