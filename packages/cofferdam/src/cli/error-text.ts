import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { CofferdamError, hasCode } from '@cofferdam/kubernetes/errors.ts'
import { harmlessText } from '../shared/harmless-text.ts'
import type { Paint } from '../shared/paint.ts'
import { type ExitCode, exitCodes } from './command.ts'

/** What a failed command says: what happened, then what to do. A stack trace only for those who ask for it. */
export function renderError(error: unknown, options: { readonly paint: Paint; readonly withStack: boolean }): string {
  const { paint, withStack } = options
  const lines = [`${paint('red', 'error:')} ${messageOf(error)}`]
  const hint = hintOf(error)
  if (hint !== undefined) lines.push(`${paint('cyan', 'hint:')} ${hint}`)
  if (withStack && error instanceof Error) {
    lines.push('', error.stack ?? '')
    if (error.cause instanceof Error) lines.push(`caused by: ${error.cause.stack ?? error.cause.message}`)
  }
  return lines.join('\n')
}

export function exitCodeOf(error: unknown): ExitCode {
  return hasCode(error, 'USAGE') ? exitCodes.usage : exitCodes.error
}

function messageOf(error: unknown): string {
  if (error instanceof ApiError) return harmlessText(`the Kubernetes API refused: ${error.message} (${error.reason})`)
  const message = error instanceof Error ? error.message : String(error)
  // The message lists what is wrong with a file of the user, a line each; nothing in it comes from a cluster.
  return hasCode(error, 'CLUSTER_FILE_INVALID') ? message : harmlessText(message)
}

function hintOf(error: unknown): string | undefined {
  if (error instanceof CofferdamError) return error.hint === undefined ? undefined : harmlessText(error.hint)
  if (error instanceof ApiError) return undefined
  return 'this is unexpected; run it again with COFFERDAM_DEBUG=1 to see where it comes from, and report it'
}
