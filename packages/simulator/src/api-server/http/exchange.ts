import type { IncomingMessage, ServerResponse } from 'node:http'
import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { badRequest } from '../registry/api-errors.ts'

/** One request and the place for its answer. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly method: string
  readonly path: string
  readonly segments: readonly string[]
  readonly query: URLSearchParams
  /** Fires when the caller goes away or the server closes. */
  readonly signal: AbortSignal
}

export function parseTarget(target: string): Pick<Exchange, 'path' | 'segments' | 'query'> {
  const mark = target.indexOf('?')
  const path = mark === -1 ? target : target.slice(0, mark)
  const query = new URLSearchParams(mark === -1 ? '' : target.slice(mark + 1))
  const trimmed = path.endsWith('/') ? path.slice(1, -1) : path.slice(1)
  try {
    return { path, segments: trimmed.split('/').map(decodeURIComponent), query }
  } catch {
    throw badRequest(`the path ${JSON.stringify(path)} holds a broken %-escape`)
  }
}

export function wrongMethod(): ApiError {
  return new ApiError('MethodNotAllowed', 'the server does not allow this method on the requested resource')
}
