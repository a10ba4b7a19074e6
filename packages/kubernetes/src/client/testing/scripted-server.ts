import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { TLSSocket, Server as TlsServer } from 'node:tls'
import { onTestFinished } from 'vitest'
import type { ClusterConnection } from '../cluster-connection.ts'

interface ScriptedRequest {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: IncomingMessage['headers']
  readonly body: string
  /** The common name of the client certificate, when one was shown. */
  readonly peer: string | undefined
}

export interface ScriptedServer {
  readonly url: string
  readonly port: number
  /** Every request so far, oldest first. */
  readonly requests: readonly ScriptedRequest[]
  /** How many connections were opened so far. */
  readonly connections: () => number
  /** How to reach it, without credentials unless more is given. */
  connection(more?: Partial<ClusterConnection>): ClusterConnection
  /** Shows another certificate from the next connection on, and ends the connections that are idle. */
  changeCertificate(tls: { readonly cert: string; readonly key: string }): void
}

export type Script = (request: ScriptedRequest, response: ServerResponse, count: number) => void

/** A server that answers as the test says; the test's end is its end. */
export async function startScriptedServer(script: Script, tls?: ServerOptions): Promise<ScriptedServer> {
  const requests: ScriptedRequest[] = []
  let connections = 0
  const listener: RequestListener = (message, response) => {
    const chunks: Buffer[] = []
    message.on('data', (chunk: Buffer) => chunks.push(chunk))
    message.on('end', () => {
      const url = new URL(message.url ?? '/', 'http://scripted')
      const request = {
        method: message.method ?? '',
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        headers: message.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        peer: peerOf(message.socket),
      }
      requests.push(request)
      script(request, response, requests.length)
    })
  }
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener)
  server.on('connection', () => {
    connections += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
  return {
    url,
    port,
    requests,
    connections: () => connections,
    changeCertificate(next) {
      if (server instanceof TlsServer) server.setSecureContext(next)
      server.closeIdleConnections()
    },
    connection: (more = {}) => ({
      source: 'a test',
      namespace: 'default',
      server: url,
      insecureSkipTlsVerify: false,
      authentication: { kind: 'none' },
      ...more,
    }),
  }
}

function peerOf(socket: Socket): string | undefined {
  const name = socket instanceof TLSSocket ? socket.getPeerCertificate().subject?.CN : undefined
  return typeof name === 'string' ? name : undefined
}

export function answerJson(response: ServerResponse, value: unknown, code = 200): void {
  response.writeHead(code, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}

export function answerStatus(
  response: ServerResponse,
  status: { readonly code: number; readonly reason: string; readonly message?: string; readonly details?: object },
): void {
  answerJson(response, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...status }, status.code)
}
