import { isJsonObject, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { badRequest } from '../registry/api-errors.ts'
import type { ServiceAccountTokens } from './service-account-tokens.ts'

/** Whose token is this? */
export function answerTokenReview(tokens: Pick<ServiceAccountTokens, 'holderOf'>, question: JsonObject): JsonObject {
  const spec = isJsonObject(question['spec']) ? question['spec'] : {}
  const { token } = spec
  if (typeof token !== 'string' || token === '') throw badRequest('token is required for TokenReview in authentication')
  const asked = Array.isArray(spec['audiences']) ? spec['audiences'].filter((each) => typeof each === 'string') : []
  const holder = tokens.holderOf(token, asked.length === 0 ? undefined : asked)
  const metadata = isJsonObject(question['metadata']) ? question['metadata'] : {}
  if (holder === undefined) {
    return { ...question, metadata, status: { user: {}, error: 'invalid bearer token' } }
  }
  const { username, uid, groups } = holder.user
  return {
    ...question,
    metadata,
    status: {
      authenticated: true,
      user: { username, ...(uid === undefined ? {} : { uid }), groups },
      audiences: holder.audiences,
    },
  }
}
