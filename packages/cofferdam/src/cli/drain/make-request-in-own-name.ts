import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { selfSubjectReviews } from '@cofferdam/kubernetes/api/authentication.ts'
import { requestPolicyName } from '../../shared/request-policy.ts'
import { type AskedDrain, type MadeRequest, makeRequest, type RequestPlace } from './drain-request.ts'

/**
 * As `makeRequest`. Where a policy of the cluster takes requests in the name of their own user only, in that name, unless another one was
 * asked for.
 */
export async function makeRequestInOwnName(
  place: RequestPlace,
  asked: AskedDrain,
  { isNamed }: { readonly isNamed: boolean },
): Promise<MadeRequest> {
  try {
    return await makeRequest(place, asked)
  } catch (error) {
    if (isNamed || !isRefusedByPolicy(error)) throw error
    const requester = await readOwnName(place)
    const { wanted } = asked
    if (requester === undefined || requester === wanted.requester) throw error
    const { breakGlass } = wanted
    const glass = breakGlass === undefined ? {} : { breakGlass: { ...breakGlass, by: requester } }
    return makeRequest(place, { ...asked, wanted: { ...wanted, requester, ...glass } })
  }
}

function isRefusedByPolicy(error: unknown): boolean {
  return hasReason(error, 'Forbidden') && String((error as Error).message).includes(`'${requestPolicyName}'`)
}

async function readOwnName({ api, signal }: RequestPlace): Promise<string | undefined> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: { name: '' } } as const
  const { status } = await api.create(selfSubjectReviews, review, { signal })
  return status?.userInfo?.username
}
