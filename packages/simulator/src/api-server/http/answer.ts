import type { ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Exchange } from './exchange.ts'

const compress = promisify(gzip)
const compressedFromBytes = 128 * 1024

export interface Answer {
  readonly code: number
  readonly body: string | Buffer
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
}

export async function sendAnswer(exchange: Exchange, answer: Answer): Promise<void> {
  const { request, response } = exchange
  if (response.headersSent || response.destroyed) return
  const wantsGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  let body = answer.body
  if (wantsGzip && body.length >= compressedFromBytes) {
    body = await compress(body, { level: constants.Z_BEST_SPEED })
    response.setHeader('Content-Encoding', 'gzip')
  }
  response.statusCode = answer.code
  response.setHeader('Content-Type', answer.contentType ?? 'application/json')
  response.setHeader('Cache-Control', 'no-cache, private')
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value)
  response.setHeader('Content-Length', typeof body === 'string' ? Buffer.byteLength(body) : body.length)
  response.end(exchange.method === 'HEAD' ? undefined : body)
}

/** Warns the caller beside the answer, whatever that will be: a refusal carries the warnings that came before it. */
export function warn({ response }: Exchange, text: string): void {
  const warnings = [response.getHeader('Warning') ?? []].flat().map(String)
  const header = warningHeader(text)
  if (!response.headersSent && !warnings.includes(header)) response.setHeader('Warning', [...warnings, header])
}

/** RFC 7234 warn-code 299 without an agent, as API servers send it. */
function warningHeader(text: string): string {
  const safe = text.replace(/\s+/g, ' ').replace(/[^ -~]/g, '?')
  return `299 - "${safe.replace(/[\\"]/g, '\\$&')}"`
}

export function refusal(error: ApiError): Answer {
  const retryAfter = error.details?.retryAfterSeconds
  return {
    code: error.code,
    body: JSON.stringify(error.toStatus()),
    ...(retryAfter === undefined ? {} : { headers: { 'Retry-After': String(retryAfter) } }),
  }
}

/** Everything that is not a refusal is a fault of the server, reported without its details. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new ApiError('InternalError', `Internal error occurred: ${message}`, {
    details: { causes: [{ message }] },
  })
}

export function isOver(response: ServerResponse): boolean {
  return response.writableEnded || response.destroyed
}
