export type Retry = 'never' | 'backoff'

/** Every way in which Cofferdam itself fails. What the API server refuses is an `ApiError` instead. */
export const errorCatalogue = {
  API_UNREACHABLE: { retry: 'backoff', says: 'the Kubernetes API did not answer' },
  CEPH_ANSWER_UNUSABLE: { retry: 'never', says: 'what Ceph printed cannot be used' },
  CEPH_UNREACHABLE: { retry: 'backoff', says: 'Ceph did not answer' },
  CLUSTER_FILE_INVALID: { retry: 'never', says: 'the cluster description cannot be used as written' },
  CREDENTIALS_UNAVAILABLE: { retry: 'backoff', says: 'no credentials could be had for the Kubernetes API' },
  FILE_UNREADABLE: { retry: 'never', says: 'a file could not be read' },
  FILE_UNWRITABLE: { retry: 'never', says: 'a file could not be written' },
  KUBECONFIG_INVALID: { retry: 'never', says: 'the kubeconfig cannot be used as written' },
  LEAD_LOST: { retry: 'backoff', says: 'this process no longer leads' },
  LEDGER_CONTENDED: { retry: 'backoff', says: 'others changed the ledger every time' },
  LEDGER_LOST: { retry: 'backoff', says: 'the ledger has forgotten what is under way' },
  LEDGER_UNUSABLE: { retry: 'backoff', says: 'the ledger cannot be used as it is' },
  NOT_KUBERNETES: { retry: 'never', says: 'what answered is not a Kubernetes API server with nodes' },
  OBJECT_NOT_FOUND: { retry: 'never', says: 'the cluster has no such object' },
  PORT_IN_USE: { retry: 'never', says: 'another program listens on that port' },
  REQUEST_DIFFERS: { retry: 'never', says: 'a request under way does not cover what was asked' },
  USAGE: { retry: 'never', says: 'the command was not understood' },
} as const satisfies Record<string, { retry: Retry; says: string }>

export type ErrorCode = keyof typeof errorCatalogue

/** A failure with a stable code, named facts, and a sentence that says what to do. */
export class CofferdamError extends Error {
  override readonly name = 'CofferdamError'
  readonly code: ErrorCode
  readonly facts: Readonly<Record<string, string | number>>
  /** What the reader can do about it. */
  readonly hint: string | undefined

  constructor(
    code: ErrorCode,
    message: string,
    options: { facts?: Record<string, string | number>; hint?: string; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.facts = options.facts ?? {}
    this.hint = options.hint
  }

  get retry(): Retry {
    return errorCatalogue[this.code].retry
  }
}

export function hasCode(error: unknown, code: ErrorCode): error is CofferdamError {
  return error instanceof CofferdamError && error.code === code
}
