import type { TokenReview } from '@cofferdam/kubernetes/api/authentication.ts'
import type { SubjectAccessReview } from '@cofferdam/kubernetes/api/authorization.ts'

/** Who the bearer of a token is, as the cluster knows them. */
export type TokenUser = NonNullable<NonNullable<TokenReview['status']>['user']> & { readonly username: string }

/** Whether somebody may see the page. `unknown`: the cluster could not be asked, and nothing is shown. */
export type AccessVerdict =
  | { readonly kind: 'admitted'; readonly user: string }
  | { readonly kind: 'unauthenticated' }
  | { readonly kind: 'forbidden'; readonly user: string }
  | { readonly kind: 'unknown'; readonly why: string }

/**
 * The user of a token that is for one of these audiences; undefined audiences: for the API server.
 *
 * Fails closed: a server that knows nothing of audiences answers about a token for itself, whatever it was asked.
 */
export function tokenUserOf(
  status: TokenReview['status'],
  audiences: readonly string[] | undefined,
): TokenUser | undefined {
  const { authenticated, user, audiences: meant = [] } = status ?? {}
  if (authenticated !== true || !user?.username) return undefined
  const isForUs = audiences === undefined || audiences.some((audience) => meant.includes(audience))
  return isForUs ? { ...user, username: user.username } : undefined
}

export function judgeUser({ username }: TokenUser, status: SubjectAccessReview['status']): AccessVerdict {
  const isAllowed = status?.allowed === true && status.denied !== true
  return { kind: isAllowed ? 'admitted' : 'forbidden', user: username }
}
