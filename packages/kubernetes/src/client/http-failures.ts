import { ApiError, type StatusDetails, type StatusObject, statusReasons } from '../api/api-error.ts'
import { isJsonObject } from '../api/json.ts'
import { CofferdamError } from '../errors.ts'

/** What a request was, for messages. Without its query: selectors may be long, and continue tokens are noise. */
export interface RequestName {
  readonly server: string
  readonly method: string
  readonly path: string
}

const certificateHint =
  'check certificate-authority and tls-server-name of the cluster; the certificate it shows is signed by another or made for another name'

const hints: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'see whether the API server runs and whether the server address in the kubeconfig is right',
  ENOTFOUND: 'the host name does not resolve: check the server address in the kubeconfig, or the DNS',
  EAI_AGAIN: 'the DNS gave no answer: check the network of this host',
  EHOSTUNREACH: 'there is no route to the host: check the network and the VPN',
  ENETUNREACH: 'there is no route to the host: check the network and the VPN',
  UND_ERR_CONNECT_TIMEOUT: 'nothing answered the connection: check the address, the firewall and the VPN',
  EPROTO: 'the port does not speak TLS: check http and https in the server address',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the port does not speak TLS: check http and https in the server address',
  ERR_TLS_CERT_ALTNAME_INVALID: certificateHint,
  CERT_HAS_EXPIRED: 'the certificate of the API server has expired: renew it',
  DEPTH_ZERO_SELF_SIGNED_CERT: certificateHint,
  SELF_SIGNED_CERT_IN_CHAIN: certificateHint,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: certificateHint,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificateHint,
}

/** No answer came, or only a part of one. */
export function unreachable(
  request: RequestName,
  problem: string,
  options: { readonly cause?: unknown; readonly hint?: string } = {},
): CofferdamError {
  const { server, method, path } = request
  const message = `the Kubernetes API at ${server} did not answer ${method} ${path}: ${problem}`
  return new CofferdamError('API_UNREACHABLE', message, { facts: { server, method, path }, ...options })
}

export function fromTransport(request: RequestName, error: unknown): CofferdamError {
  if (error instanceof CofferdamError) return error
  const code = codeOf(error)
  const text = error instanceof Error && error.message !== '' ? error.message : (code ?? 'no reason given')
  const hint = code === undefined ? undefined : hints[code]
  return unreachable(request, text, { cause: error, ...(hint === undefined ? {} : { hint }) })
}

/** True when an open connection broke, as opposed to one that never came about. */
export function isBrokenConnection(error: unknown): boolean {
  const code = codeOf(error instanceof CofferdamError ? error.cause : error) ?? ''
  return ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'].includes(code)
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof AggregateError) return codeOf(error.errors[0]) ?? ownCode(error)
  return ownCode(error) ?? codeOf(error.cause)
}

function ownCode(error: Error): string | undefined {
  const { code } = error as NodeJS.ErrnoException
  return typeof code === 'string' ? code : undefined
}

export interface Refusal {
  readonly error: ApiError
  /** Whether a `Status` came, so that whoever refused had read the request. Proxies and flow control send plain text. */
  readonly hasStatus: boolean
}

/** Makes an ApiError of what the server sent, even when that is no Status but a page of some proxy. */
export function readRefusal(answer: {
  readonly code: number
  readonly body: string
  readonly retryAfter: string | undefined
}): Refusal {
  const { code, body } = answer
  const parsed = parseJson(body)
  const isStatus = isJsonObject(parsed) && parsed['kind'] === 'Status'
  const status: Partial<StatusObject> = isStatus ? (parsed as unknown as Partial<StatusObject>) : {}
  const seconds = Number(answer.retryAfter)
  const details: StatusDetails = {
    ...status.details,
    ...(status.details?.retryAfterSeconds === undefined && Number.isInteger(seconds) && seconds > 0
      ? { retryAfterSeconds: seconds }
      : {}),
  }
  const firstLine = body.trim().split('\n', 1)[0]?.slice(0, 200)
  return {
    hasStatus: isStatus,
    error: ApiError.fromStatus(
      {
        ...status,
        reason: status.reason || reasonOf(code),
        message: status.message ?? (firstLine || `the server answered ${code} and nothing else`),
        ...(Object.keys(details).length === 0 ? {} : { details }),
      },
      code,
    ),
  }
}

/** The error of a watch event. 410 is always `Expired` or `Gone`, whatever the server calls it. */
export function fromErrorEvent(object: unknown): ApiError {
  const status: Partial<StatusObject> = isJsonObject(object) ? (object as unknown as Partial<StatusObject>) : {}
  const code = typeof status.code === 'number' ? status.code : 500
  const isGone = code === 410 && status.reason !== 'Expired' && status.reason !== 'Gone'
  return ApiError.fromStatus({ ...status, reason: isGone ? 'Expired' : status.reason || reasonOf(code) }, code)
}

function reasonOf(code: number): string {
  return Object.entries(statusReasons).find(([, value]) => value === code)?.[0] ?? 'Unknown'
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
