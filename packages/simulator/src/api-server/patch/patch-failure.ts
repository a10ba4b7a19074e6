import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'

/** 422 with the server's fixed sentence: the real one does not tell the caller which operation failed. */
export function rejectedPatch(): ApiError {
  return new ApiError('Invalid', 'the server rejected our request due to an error in our request', { details: {} })
}

/** 500 without a reason: how the real server answers an error for which it has no status of its own. */
export function unclassifiedFailure(message: string): ApiError {
  return new ApiError('', message, { code: 500 })
}
