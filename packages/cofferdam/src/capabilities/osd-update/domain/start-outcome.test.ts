import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { expect, it } from 'vitest'
import { failedStart, hasNotBegun, type StartOutcome } from './start-outcome.ts'

const table: Record<
  string,
  { readonly error: Error; readonly is: Partial<StartOutcome> & object; readonly hasBegun?: true }
> = {
  'a budget is used up: the pod is held, and the OSD has not failed': {
    error: new ApiError('TooManyRequests', 'would violate the budget'),
    is: { result: 'later', isHeld: true },
  },
  'two budgets cover the pod, which the API server answers with 500: it is held, for it would not go by itself': {
    error: new ApiError('InternalError', 'This pod has more than one PodDisruptionBudget'),
    is: { result: 'later', isHeld: true },
  },
  'the object changed meanwhile: it is decided again': {
    error: new ApiError('Conflict', 'the object has been modified'),
    is: { result: 'later', why: 'the object has been modified' },
  },
  'the object is gone: it is decided again': { error: new ApiError('NotFound', 'not found'), is: { result: 'later' } },
  'admission refuses this one object: that is a failure of the OSD, and the others go on': {
    error: new ApiError('Forbidden', 'admission webhook "policy" denied the request'),
    is: { result: 'refused', why: 'the API server refused it: admission webhook "policy" denied the request' },
  },
  'a right is missing: nothing has begun, and no OSD has failed': {
    error: new ApiError('Forbidden', 'user cannot patch resource "deployments"'),
    is: { result: 'unsure' },
  },
  'the server did not answer: it may have begun, so the storage stays held': {
    error: new ApiError('ServerTimeout', 'try again'),
    is: { result: 'unsure' },
    hasBegun: true,
  },
  'the line broke: it may have begun': { error: new Error('socket hang up'), is: { result: 'unsure' }, hasBegun: true },
}

it.each(Object.entries(table))('%s', (_, { error, is, hasBegun = false }) => {
  const outcome = failedStart(3, error)
  expect(outcome).toMatchObject({ osd: 3, ...is })
  expect(hasNotBegun(outcome)).toBe(!hasBegun)
})
