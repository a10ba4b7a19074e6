import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { type DecodedReview, decodeReview, encodeAnswer, type PodRemoval } from './admission-review.ts'
import { deletionReview, evictionReview } from './testing/reviews.ts'

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'shop', name: 'web-0', uid: 'pod-1', annotations: { 'cofferdam.io/skip-drain': 'true' } },
  spec: { containers: [] },
}

const removal = (facts: Partial<PodRemoval> = {}): DecodedReview => ({
  ok: true,
  uid: 'review-1',
  removal: {
    verb: 'evict',
    namespace: 'shop',
    name: 'web-0',
    podUid: '',
    user: 'alice',
    groups: ['system:authenticated'],
    isDryRun: false,
    annotations: {},
    pod: undefined,
    ...facts,
  },
})

const understood: Record<string, { given: object; then: DecodedReview }> = {
  'an eviction names its pod and who asks': { given: evictionReview(), then: removal() },
  'an eviction of the older policy version is the same': {
    given: evictionReview({ eviction: { apiVersion: 'policy/v1beta1' } }),
    then: removal(),
  },
  'an eviction without a namespace is about the namespace of the request': {
    given: evictionReview({ eviction: { metadata: { name: 'web-0' } } }),
    then: removal(),
  },
  'an eviction whose request has no name is about the pod that the Eviction names': {
    given: evictionReview({ request: { name: '' } }),
    then: removal(),
  },
  'a dry run that only the delete options tell of is a dry run': {
    given: evictionReview({ eviction: { deleteOptions: { dryRun: ['All'] } } }),
    then: removal({ isDryRun: true }),
  },
  'a dry run that the request tells of is a dry run': {
    given: evictionReview({ request: { dryRun: true } }),
    then: removal({ isDryRun: true }),
  },
  'an eviction brings along which pod it means and for which request it is': {
    given: evictionReview({
      eviction: {
        metadata: { name: 'web-0', annotations: { 'cofferdam.io/disruption': 'x', 'other.io/number': 1 } },
        deleteOptions: { preconditions: { uid: 'pod-1' } },
      },
    }),
    then: removal({ podUid: 'pod-1', annotations: { 'cofferdam.io/disruption': 'x' } }),
  },
  'a deletion brings the pod along, and its annotations do not count as those of an Eviction': {
    given: deletionReview(pod),
    then: removal({ verb: 'delete', podUid: 'pod-1', pod }),
  },
  'a deletion of a whole collection is about the pod that comes along': {
    given: deletionReview(pod, { name: '' }),
    then: removal({ verb: 'delete', podUid: 'pod-1', pod }),
  },
  'what is about another resource is nobody’s business': {
    given: evictionReview({ request: { resource: { group: 'apps', version: 'v1', resource: 'deployments' } } }),
    then: { ok: true, uid: 'review-1', removal: undefined },
  },
  'an update of a pod is nobody’s business': {
    given: deletionReview(pod, { operation: 'UPDATE' }),
    then: { ok: true, uid: 'review-1', removal: undefined },
  },
}

const malformed: Record<string, { given: string; why: string }> = {
  'no JSON': { given: '{"kind":', why: 'the body is not JSON' },
  nothing: { given: '', why: 'the body is not JSON' },
  'a list': { given: '[]', why: 'the body is no AdmissionReview' },
  'another kind': { given: '{"kind":"Pod"}', why: 'the body is no AdmissionReview' },
  'an older version of reviews': {
    given: JSON.stringify({ ...evictionReview(), apiVersion: 'admission.k8s.io/v1beta1' }),
    why: 'expected an AdmissionReview of admission.k8s.io/v1, got "admission.k8s.io/v1beta1"',
  },
  'no request': {
    given: JSON.stringify({ ...evictionReview(), request: null }),
    why: 'the AdmissionReview has no request',
  },
  'no uid': { given: JSON.stringify(evictionReview({ request: { uid: '' } })), why: 'the request has no uid' },
  'no Eviction': {
    given: JSON.stringify(evictionReview({ request: { object: null } })),
    why: 'the request carries no Eviction',
  },
  'something else for an Eviction': {
    given: JSON.stringify(evictionReview({ eviction: { kind: 'Pod' } })),
    why: 'expected an Eviction of policy/v1, got "policy/v1", Kind="Pod"',
  },
  'no pod named anywhere': {
    given: JSON.stringify(evictionReview({ name: '' })),
    why: 'the request does not say which pod it is about',
  },
  'names that are numbers': {
    given: JSON.stringify(evictionReview({ request: { name: 7 }, eviction: { metadata: { name: 7 } } })),
    why: 'the request does not say which pod it is about',
  },
  'a deletion of nothing': {
    given: JSON.stringify(deletionReview(pod, { oldObject: null })),
    why: 'the request to delete carries no Pod',
  },
}

describe('an admission review', () => {
  it.each(Object.entries(understood))('%s', (_sentence, { given, then }) => {
    expect(decodeReview(JSON.stringify(given))).toEqual(then)
  })

  it.each(Object.entries(malformed))('with %s is refused as malformed, with words', (_sentence, { given, why }) => {
    expect(decodeReview(given)).toEqual({ ok: false, why })
  })
})

describe('an answer', () => {
  it('that refuses is a 429 with its cause and without a time to wait', () => {
    const message = 'pdb/shop/web is locked by bob until 14:00.'
    const refused = { allowed: false, reason: 'AppLocked', message, cause: 'pdb/shop/web' } as const
    expect(JSON.parse(encodeAnswer('review-1', refused))).toEqual({
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
      response: {
        uid: 'review-1',
        allowed: false,
        status: {
          status: 'Failure',
          code: 429,
          reason: 'TooManyRequests',
          message,
          details: { causes: [{ reason: 'DisruptionBudget', message, field: 'pdb/shop/web' }] },
        },
        auditAnnotations: { verdict: 'AppLocked' },
      },
    })
  })

  it('that allows says no more than why', () => {
    expect(JSON.parse(encodeAnswer('review-1', { allowed: true, reason: 'NothingHeld' }))).toEqual({
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
      response: { uid: 'review-1', allowed: true, auditAnnotations: { verdict: 'NothingHeld' } },
    })
  })
})
