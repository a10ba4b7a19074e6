import type { IncomingMessage } from 'node:http'
import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { accessRefused } from '../access/access-refused.ts'
import type { AccessAttributes } from '../access/policy-rule.ts'
import { badRequest } from '../registry/api-errors.ts'
import { clusterAdmin, serviceAccountUser, type UserInfo } from '../user-info.ts'
import type { ServedApi } from './served-api.ts'

type Access = Pick<ServedApi, 'authenticate' | 'authorizer'>

type Caller = Pick<IncomingMessage, 'headers' | 'headersDistinct'> & {
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/**
 * Who is asking. A caller over loopback without a token is the administrator, one from elsewhere is anonymous.
 *
 * Fails closed: credentials that are not known are refused, never taken for the administrator; so is a caller that would act as somebody
 * else without the right to.
 */
export function identify(request: Caller, access: Access): UserInfo {
  const known = authenticated(request, access)
  const other = impersonated(request)
  if (other === undefined) return known
  for (const asked of other.needs) {
    if (!access.authorizer.isAllowed(known, asked)) throw accessRefused(known, asked)
  }
  return other.user
}

const anonymous: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] }

function authenticated({ headers: { authorization }, socket }: Caller, access: Access): UserInfo {
  if (authorization === undefined) {
    return /^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? '') ? clusterAdmin : anonymous
  }
  const bearer = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
  const known = bearer === undefined ? undefined : access.authenticate(bearer)
  if (known === undefined) throw new ApiError('Unauthorized', 'Unauthorized')
  return known
}

interface Impersonated {
  readonly user: UserInfo
  /** What a caller must be allowed to do, to be this user. */
  readonly needs: readonly AccessAttributes[]
}

function impersonated({ headersDistinct }: Caller): Impersonated | undefined {
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
  const user = {
    username,
    ...(uid === undefined ? {} : { uid }),
    groups: account && groups.length === 0 ? implied : [...new Set([...groups, ...implied.slice(-1)])],
  }
  const impersonate = { verb: 'impersonate', group: '' }
  return {
    user,
    needs: [
      account
        ? { ...impersonate, resource: 'serviceaccounts', namespace: account[1] as string, name: account[2] as string }
        : { ...impersonate, resource: 'users', name: username },
      ...groups.map((name) => ({ ...impersonate, resource: 'groups', name })),
      ...(uid === undefined ? [] : [{ ...impersonate, group: 'authentication.k8s.io', resource: 'uids', name: uid }]),
    ],
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
