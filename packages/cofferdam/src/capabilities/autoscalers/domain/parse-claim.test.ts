import type { NodeClaim } from '@cofferdam/kubernetes/api/kinds/karpenter.ts'
import { expect, it } from 'vitest'
import { parseClaim } from './parse-claim.ts'

const claim = (more: object = {}, metadata: object = {}): NodeClaim => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { name: 'general-1', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
  ...more,
})
const stamped = { annotations: { 'karpenter.sh/nodeclaim-termination-timestamp': '2026-01-02T00:00:00Z' } }

const cases: Record<string, readonly [NodeClaim, object]> = {
  'a claim says which node it has, and when Karpenter removes that for its age': [
    claim(
      { spec: { expireAfter: '720h' }, status: { nodeName: 'node-1' } },
      { labels: { 'karpenter.sh/nodepool': 'general' } },
    ),
    { nodeName: 'node-1', pool: 'general', expiresMs: Date.UTC(2026, 0, 31), isLeaving: false },
  ],
  'a claim that lives for ever has no end': [claim({ spec: { expireAfter: 'Never' } }), { expiresMs: undefined }],
  'a claim that does not say since when it is there has no end: any other would be a guess': [
    claim({ spec: { expireAfter: '720h' } }, { creationTimestamp: undefined }),
    { expiresMs: undefined },
  ],
  'a time on a claim that is not deleted is not when its pods go': [claim({}, stamped), { endsMs: undefined }],
  'a deleted claim with a time says by when its pods are deleted': [
    claim({}, { ...stamped, deletionTimestamp: '2026-01-01T12:00:00Z' }),
    { isLeaving: true, endsMs: Date.UTC(2026, 0, 2) },
  ],
  'a deleted claim without a time waits for budgets as long as they want': [
    claim({}, { deletionTimestamp: '2026-01-01T12:00:00Z' }),
    { isLeaving: true, endsMs: undefined },
  ],
  'a claim with nonsense in every field disturbs nothing': [
    claim({ spec: { expireAfter: 7, terminationGracePeriod: {} }, status: { nodeName: ['node-1'] } }),
    { nodeName: '', pool: '', gracePeriod: undefined, expiresMs: undefined },
  ],
}

it.each(Object.entries(cases))('%s', (_sentence, [object, seen]) => {
  expect(parseClaim(object)).toMatchObject(seen)
})
