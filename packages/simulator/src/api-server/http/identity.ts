import type { IncomingMessage } from 'node:http'
import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { badRequest } from '../registry/api-errors.ts'
import { clusterAdmin, serviceAccountUser, type UserInfo } from '../user-info.ts'

export type Authenticate = (token: string) => UserInfo | undefined

type Caller = Pick<IncomingMessage, 'headers' | 'headersDistinct'> & {
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/**
 * Who is asking. A caller over loopback without a token is the administrator.
 *
 * Fails closed: a token nobody knows is refused, never taken for the administrator; so is a caller from elsewhere
 * without one, and whoever would act as somebody else without being an administrator.
 */
export function identify(request: Caller, authenticate: Authenticate | undefined): UserInfo {
  const known = authenticated(request, authenticate)
  const other = impersonated(request)
  if (other === undefined) return known
  if (!known.groups.includes('system:masters')) {
    throw new ApiError('Forbidden', `User "${known.username}" cannot impersonate user "${other.username}"`)
  }
  return other
}

function authenticated({ headers, socket }: Caller, authenticate: Authenticate | undefined): UserInfo {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
  const isKnownByToken = bearer !== undefined && authenticate !== undefined
  const isHere = /^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? '')
  const known = isKnownByToken ? authenticate(bearer) : isHere ? clusterAdmin : undefined
  if (known === undefined) throw new ApiError('Unauthorized', 'Unauthorized')
  return known
}

function impersonated({ headersDistinct }: Caller): UserInfo | undefined {
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
 * Keeps web pages out. A browser beside the server can reach loopback on behalf of any page it shows, and everything
 * on loopback is the administrator; programs such as kubectl send no Origin and name the address they dialled.
 */
export function refuseBrowsers({ headers }: IncomingMessage, isLoopback: boolean): void {
  const { host = '', origin } = headers
  const isForeign = origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`
  if (isForeign || (isLoopback && !loopbackNames.test(host))) {
    throw new ApiError('Forbidden', 'requests from web pages of other origins are not served')
  }
}
