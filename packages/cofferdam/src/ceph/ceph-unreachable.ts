import { CofferdamError, hasCode } from '@cofferdam/kubernetes/errors.ts'

/** No answer of Ceph's own. Whether a command that changes something was carried out is then not known. */
export function cephUnreachable(
  prefix: string,
  why: string,
  options: { readonly hint?: string; readonly cause?: unknown } = {},
): CofferdamError {
  return new CofferdamError('CEPH_UNREACHABLE', `ceph ${prefix}: ${why}`, { facts: { command: prefix }, ...options })
}

/** The program that would ask is not installed: another way of asking may work, waiting will not help. */
export function clientMissing(client: string, why: string, hint: string): CofferdamError {
  return new CofferdamError('CEPH_UNREACHABLE', why, { facts: { missingClient: client }, hint })
}

export function isClientMissing(error: unknown): error is CofferdamError {
  return hasCode(error, 'CEPH_UNREACHABLE') && 'missingClient' in error.facts
}
