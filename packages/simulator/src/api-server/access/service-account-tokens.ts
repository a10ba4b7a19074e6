import { isJsonObject, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Random, randomUid } from '@cofferdam/kubernetes/runtime/random.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { serviceAccountUser, type UserInfo } from '../user-info.ts'
import { readSignedToken, signToken } from './signed-token.ts'

/** For whom a token is that names no audience: the API server itself. */
export const apiAudience = 'https://kubernetes.default.svc.cluster.local'

/** What a token lives no longer than, beside its account. */
export interface BoundObject {
  readonly kind: 'Node' | 'Pod' | 'Secret'
  readonly name: string
  readonly uid: string
}

export interface TokenGrant {
  readonly account: KubeObject
  readonly audiences: readonly string[]
  readonly lifeSeconds: number
  readonly boundTo?: BoundObject
}

export interface TokenHolder {
  readonly user: UserInfo
  /** Those of the audiences that were asked for which the token is. */
  readonly audiences: readonly string[]
}

export interface ServiceAccountTokens {
  issue(grant: TokenGrant): { readonly token: string; readonly expiresAt: number }
  /**
   * Whose token it is, for one of these audiences. Undefined when it was not issued here, is for others, has expired, or when the account
   * or the object that it is bound to is gone.
   */
  holderOf(token: string, audiences?: readonly string[]): TokenHolder | undefined
}

const boundStorage = { Node: 'nodes', Pod: 'pods', Secret: 'secrets' } as const

/** Tokens of ServiceAccounts, signed with a key of this server. With the same random source it is the same key: fit for a simulation only. */
export function createServiceAccountTokens({
  store,
  clock,
  random,
}: {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly random: Random
}): ServiceAccountTokens {
  const ids = random.stream('tokens')
  const key = randomUid(random.stream('key of tokens'))
  const users = new WeakMap<KubeObject, UserInfo>()

  /** The same user for as long as the account does not change, so that what was decided about it can be remembered. */
  function userOf(account: KubeObject): UserInfo {
    const { namespace = '', name, uid } = account.metadata
    const user = users.get(account) ?? { ...serviceAccountUser(namespace, name), ...(uid === undefined ? {} : { uid }) }
    users.set(account, user)
    return user
  }

  return {
    issue({ account, audiences, lifeSeconds, boundTo }) {
      const { namespace = '', name, uid = '' } = account.metadata
      const issuedAt = Math.floor(clock.now() / 1000)
      const exp = issuedAt + lifeSeconds
      const claims = {
        iss: apiAudience,
        sub: `system:serviceaccount:${namespace}:${name}`,
        aud: audiences,
        iat: issuedAt,
        nbf: issuedAt,
        exp,
        jti: randomUid(ids),
        'kubernetes.io': {
          namespace,
          serviceaccount: { name, uid },
          ...(boundTo === undefined ? {} : { [boundTo.kind.toLowerCase()]: { name: boundTo.name, uid: boundTo.uid } }),
        },
      }
      return { token: signToken(claims, key), expiresAt: exp * 1000 }
    },

    holderOf(token, audiences = [apiAudience]) {
      const claims = readSignedToken(token, key)
      if (claims === undefined || clock.now() >= (claims['exp'] as number) * 1000) return undefined
      const meant = audiences.filter((audience) => (claims['aud'] as readonly string[]).includes(audience))
      const place = claims['kubernetes.io'] as JsonObject & { namespace: string }
      const account = present(store, 'serviceaccounts', place.namespace, place['serviceaccount'])
      const isBound = Object.entries(boundStorage).every(([kind, storageKey]) => {
        const named = place[kind.toLowerCase()]
        const namespace = kind === 'Node' ? undefined : place.namespace
        return named === undefined || present(store, storageKey, namespace, named) !== undefined
      })
      if (meant.length === 0 || account === undefined || !isBound) return undefined
      return { user: userOf(account), audiences: meant }
    },
  }
}

/** The object that a token names, unless it is gone or another of that name is in its place. */
function present(
  store: ObjectStore,
  storageKey: string,
  namespace: string | undefined,
  named: unknown,
): KubeObject | undefined {
  if (!isJsonObject(named)) return undefined
  const { name, uid } = named as { name: string; uid: string }
  const found = store.bucket(storageKey).get(namespace === undefined ? name : `${namespace}/${name}`)
  return found?.metadata.uid === uid ? found : undefined
}
