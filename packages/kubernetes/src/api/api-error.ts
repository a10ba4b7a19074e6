import type { JsonObject } from './json.ts'

/** The reasons a Kubernetes `Status` carries, with the HTTP code that goes with each. */
export const statusReasons = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  Gone: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
  ServerTimeout: 500,
} as const

export type StatusReason = keyof typeof statusReasons

export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

export interface StatusObject {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  readonly metadata: JsonObject
  readonly status: 'Failure' | 'Success'
  readonly message?: string
  readonly reason?: string
  readonly details?: StatusDetails
  readonly code: number
}

/** A refusal by the API server, as a value that can be thrown: what HTTP carries as a `Status` object. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: number
  readonly reason: string
  readonly details: StatusDetails | undefined

  constructor(reason: string, message: string, options: { code?: number; details?: StatusDetails } = {}) {
    super(message)
    this.reason = reason
    this.code = options.code ?? statusReasons[reason as StatusReason] ?? 500
    this.details = options.details
  }

  toStatus(): StatusObject {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    }
  }

  static fromStatus(status: Partial<StatusObject>, code: number): ApiError {
    return new ApiError(status.reason ?? 'Unknown', status.message ?? `the server answered ${code}`, {
      code: status.code ?? code,
      ...(status.details === undefined ? {} : { details: status.details }),
    })
  }
}

export function hasReason(error: unknown, ...reasons: StatusReason[]): error is ApiError {
  return error instanceof ApiError && (reasons as string[]).includes(error.reason)
}
