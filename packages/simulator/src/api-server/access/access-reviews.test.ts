import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { describe, expect, it } from 'vitest'
import type { UserInfo } from '../user-info.ts'
import {
  answerLocalSubjectAccessReview,
  answerSelfSubjectAccessReview,
  answerSelfSubjectReview,
  answerSelfSubjectRulesReview,
  answerSubjectAccessReview,
} from './access-reviews.ts'
import type { AccessAttributes } from './policy-rule.ts'

const ann: UserInfo = { username: 'ann', groups: ['storage'] }

/** Allows what is asked of it and keeps the question. */
function recorder() {
  const asked: { user: UserInfo; attributes: AccessAttributes }[] = []
  return {
    asked,
    decide(user: UserInfo, attributes: AccessAttributes) {
      asked.push({ user, attributes })
      return { allowed: attributes.verb === 'get', reason: attributes.verb === 'get' ? 'RBAC: allowed by x' : '' }
    },
  }
}

const evictionAttributes = { namespace: 'shop', verb: 'create', resource: 'pods', subresource: 'eviction' }

describe('access reviews', () => {
  it('a SelfSubjectAccessReview is asked for the asker and answered with what it asked', () => {
    const authorizer = recorder()
    const question = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
    }
    expect(answerSelfSubjectAccessReview(authorizer, question, ann)).toEqual({
      ...question,
      metadata: {},
      status: { allowed: true, reason: 'RBAC: allowed by x' },
    })
    expect(authorizer.asked).toEqual([{ user: ann, attributes: { verb: 'get', group: '', resource: 'pods' } }])
  })

  it('a SubjectAccessReview is asked for the user and groups it names', () => {
    const authorizer = recorder()
    const answer = answerSubjectAccessReview(authorizer, {
      spec: { user: 'bob', groups: ['ops'], uid: '7', resourceAttributes: evictionAttributes },
    })
    expect(answer['status']).toEqual({ allowed: false })
    expect(authorizer.asked).toEqual([
      {
        user: { username: 'bob', groups: ['ops'], uid: '7' },
        attributes: { verb: 'create', group: '', resource: 'pods', subresource: 'eviction', namespace: 'shop' },
      },
    ])
  })

  it('a path is asked as a path', () => {
    const authorizer = recorder()
    answerSelfSubjectAccessReview(
      authorizer,
      { spec: { nonResourceAttributes: { verb: 'get', path: '/metrics' } } },
      ann,
    )
    expect(authorizer.asked[0]?.attributes).toEqual({ verb: 'get', group: '', resource: '', path: '/metrics' })
  })

  const refusals: Record<string, { ask: (spec: JsonObject) => JsonObject; spec: JsonObject; says: string }> = {
    'a question about nothing is refused with 422': {
      ask: (spec) => answerSelfSubjectAccessReview(recorder(), { spec }, ann),
      spec: {},
      says: 'SelfSubjectAccessReview.authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    },
    'a question about a resource and a path at once is refused with 422': {
      ask: (spec) => answerSelfSubjectAccessReview(recorder(), { spec }, ann),
      spec: { resourceAttributes: { verb: 'get' }, nonResourceAttributes: { path: '/' } },
      says: 'SelfSubjectAccessReview.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: {"path":"/"}: cannot be specified in combination with resourceAttributes',
    },
    'a question about nobody is refused with 422': {
      ask: (spec) => answerSubjectAccessReview(recorder(), { spec }),
      spec: { resourceAttributes: { verb: 'get' } },
      says: 'SubjectAccessReview.authorization.k8s.io "" is invalid: spec.user: Invalid value: "": at least one of user or group must be specified',
    },
    'a local question about another namespace is refused with 422': {
      ask: (spec) => answerLocalSubjectAccessReview(recorder(), { spec }, 'shop'),
      spec: { user: 'bob', resourceAttributes: { verb: 'get', namespace: 'bank' } },
      says: 'LocalSubjectAccessReview.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "bank": must match metadata.namespace',
    },
  }
  for (const [scenario, { ask, spec, says }] of Object.entries(refusals)) {
    it(scenario, () => expect(() => ask(spec)).toThrow(expect.objectContaining({ code: 422, message: says })))
  }

  it('a SelfSubjectRulesReview separates rules on resources from rules on paths', () => {
    const rulesFor = () => [
      { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['web-0'] },
      { verbs: ['get'], nonResourceURLs: ['/healthz'] },
    ]
    const answer = answerSelfSubjectRulesReview({ rulesFor }, { spec: { namespace: 'shop' } }, ann)
    expect(answer['status']).toEqual({
      resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['web-0'] }],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }],
      incomplete: false,
    })
  })

  it('a SelfSubjectRulesReview without a namespace is refused with 400', () => {
    expect(() => answerSelfSubjectRulesReview({ rulesFor: () => [] }, { spec: {} }, ann)).toThrow(
      expect.objectContaining({ code: 400, message: 'no namespace on request' }),
    )
  })

  it('a SelfSubjectReview tells the asker who they are', () => {
    expect(answerSelfSubjectReview({}, ann, '2026-01-01T00:00:00Z')).toEqual({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
      metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
      status: { userInfo: { username: 'ann', groups: ['storage'] } },
    })
  })
})
