import type { IncomingMessage } from 'node:http'
import { ApiError } from '../../api/api-error.ts'
import { badRequest } from '../registry/api-errors.ts'
import { clusterAdmin, serviceAccountUser, type UserInfo } from '../user-info.ts'

export type Authenticate = (token: string) => UserInfo | undefined

/**
 * Who is asking. Whoever reaches the port without a token is the administrator: the port is on loopback.
 *
 * Fails closed: a token nobody knows is refused, never taken for the administrator.
 */
export function identify(request: IncomingMessage, authenticate: Authenticate | undefined): UserInfo {
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const known = bearer === undefined || authenticate === undefined ? clusterAdmin : authenticate(bearer)
  if (known === undefined) throw new ApiError('Unauthorized', 'Unauthorized')
  return impersonated(request) ?? known
}

function impersonated({ headersDistinct }: IncomingMessage): UserInfo | undefined {
  const username = headersDistinct['impersonate-user']?.[0]
  const groups = (headersDistinct['impersonate-group'] ?? []).filter((group) => group !== '')
  const uid = headersDistinct['impersonate-uid']?.[0]
  if (username === undefined || username === '') {
    if (groups.length > 0 || uid !== undefined) throw badRequest('a group was impersonated without a user')
    return undefined
  }
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username)
  const implied = account
    ? serviceAccountUser(account[1] as string, account[2] as string).groups
    : [username === 'system:anonymous' ? 'system:unauthenticated' : 'system:authenticated']
  return {
    username,
    ...(uid === undefined ? {} : { uid }),
    groups: account && groups.length === 0 ? implied : [...new Set([...groups, ...implied.slice(-1)])],
  }
}

const loopbackNames = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i

/**
 * Keeps web pages out. A browser on this machine can reach loopback on behalf of any page it shows, and everything
 * on loopback is the administrator; programs such as kubectl send no Origin and name the address they dialled.
 */
export function refuseBrowsers({ headers }: IncomingMessage, isLoopback: boolean): void {
  const { host = '', origin } = headers
  const isForeign = origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`
  if (isForeign || (isLoopback && !loopbackNames.test(host))) {
    throw new ApiError('Forbidden', 'requests from web pages of other origins are not served')
  }
}
