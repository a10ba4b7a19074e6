import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { type HealthCheck, type HealthReport, reportHealth } from '@cofferdam/kubernetes/runtime/health.ts'
import type { Registry } from 'prom-client'

export interface HealthServerOptions {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** The flag a user would change the port with; --health-port by default. */
  readonly portFlag?: string
  readonly checks: readonly HealthCheck[]
  readonly registry: Registry
}

export interface HealthServer {
  readonly port: number
  close(): Promise<void>
}

/** Serves `/healthz`, `/readyz` and `/metrics`. */
export function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const { host, port, portFlag = '--health-port', checks, registry } = options
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0]
    if (request.method !== 'GET' && request.method !== 'HEAD') answer(response, 405, 'only GET is answered here\n')
    else if (path === '/healthz' || path === '/livez') answerReport(response, reportHealth(checks, 'alive'))
    else if (path === '/readyz') answerReport(response, reportHealth(checks, 'ready'))
    else if (path === '/metrics') void answerMetrics(response, registry)
    else answer(response, 404, 'try /healthz, /readyz or /metrics\n')
  })
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new CofferdamError('PORT_IN_USE', `port ${port} on ${host} is taken`, {
              facts: { port },
              hint: `Stop the other program, or choose another port with ${portFlag}.`,
            })
          : error,
      )
    })
    server.listen(port, host, () => {
      resolve({
        port: (server.address() as AddressInfo).port,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed())
            server.closeAllConnections()
          }),
      })
    })
  })
}

async function answerMetrics(response: ServerResponse, registry: Registry): Promise<void> {
  const text = await registry.metrics()
  response.setHeader('content-type', registry.contentType)
  answer(response, 200, text)
}

function answerReport(response: ServerResponse, report: HealthReport): void {
  const lines = report.checks.map(({ name, ok, why }) => (ok ? `[+] ${name} ok` : `[-] ${name} failed: ${why}`))
  answer(response, report.ok ? 200 : 503, `${[...lines, report.ok ? 'ok' : 'not ok'].join('\n')}\n`)
}

function answer(response: ServerResponse, code: number, body: string): void {
  response.statusCode = code
  if (!response.hasHeader('content-type')) response.setHeader('content-type', 'text/plain; charset=utf-8')
  response.end(body)
}
