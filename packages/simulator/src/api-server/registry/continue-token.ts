import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { badRequest } from './api-errors.ts'

/** Where a paged list goes on: in the state of one version, from one key. */
export interface ContinueToken {
  readonly version: number
  readonly start: string
}

export function continueText({ version, start }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: version, start })).toString('base64url')
}

/** @throws ApiError 400 when it is not one of ours */
export function readContinue(text: string): ContinueToken {
  const token = parsed(Buffer.from(text, 'base64url').toString())
  if (isJsonObject(token) && token['v'] === 'meta.k8s.io/v1') {
    const { rv, start } = token
    if (typeof rv === 'number' && rv > 0 && typeof start === 'string' && start !== '') return { version: rv, start }
  }
  throw badRequest('continue key is not valid: the token must be one that a list of this server gave')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
