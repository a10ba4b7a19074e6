import type { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../harness/virtual-clock.ts'
import { clusterAdmin } from '../user-info.ts'
import type { AdmissionRequest } from './admission.ts'
import { createValidatingWebhooks, type ValidatingWebhooksOptions } from './validating-webhooks.ts'
import type { WebhookCall } from './webhook-call.ts'
import type { ValidatingWebhook } from './webhook-configuration.ts'

const everyPod: ValidatingWebhook = {
  name: 'guard.cofferdam.io',
  clientConfig: { url: 'https://guard.example/check' },
  rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/*'], scope: '*' }],
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  sideEffects: 'None',
  timeoutSeconds: 10,
  admissionReviewVersions: ['v1'],
}

function configurationOf(...webhooks: ValidatingWebhook[]): KubeObject {
  const meta = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' }
  return { ...meta, metadata: { name: 'guard' }, webhooks } as KubeObject
}

const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } } }

const creation: AdmissionRequest = {
  operation: 'CREATE',
  type: pods,
  key: { namespace: 'shop', name: 'web' },
  kind: { group: '', version: 'v1', kind: 'Pod' },
  object: pod,
  user: clusterAdmin,
  dryRun: false,
}

const eviction: AdmissionRequest = {
  ...creation,
  subresource: 'eviction',
  kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
  object: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web', namespace: 'shop' } },
}

/** Answers every review with the same response. */
function answering(response: JsonObject, reviews: JsonObject[] = []): WebhookCall {
  return ({ body }) => {
    const review = JSON.parse(body) as { apiVersion: string; request: JsonObject }
    reviews.push(review.request)
    const answer = {
      apiVersion: review.apiVersion,
      kind: 'AdmissionReview',
      response: { uid: review.request['uid'] ?? '', ...response },
    }
    return Promise.resolve({ status: 200, body: JSON.stringify(answer) })
  }
}

function webhooksWith(webhook: Partial<ValidatingWebhook>, options: Partial<ValidatingWebhooksOptions> = {}) {
  return createValidatingWebhooks({
    configurations: () => [configurationOf({ ...everyPod, ...webhook })],
    namespaceLabels: (name) => (name === 'shop' ? { team: 'sales' } : undefined),
    clock: realClock,
    call: answering({ allowed: false }),
    ...options,
  })
}

async function refusalOf(attempt: Promise<unknown>) {
  const error = await attempt.then(
    () => undefined,
    (reason: ApiError) => reason,
  )
  return error && { code: error.code, reason: error.reason, message: error.message }
}

const denied = {
  code: 400,
  reason: '',
  message: 'admission webhook "guard.cofferdam.io" denied the request without explanation',
}

const matching: Record<string, { webhook: Partial<ValidatingWebhook>; request: AdmissionRequest; isAsked: boolean }> = {
  'pods/* means pods and all their subresources': { webhook: {}, request: eviction, isAsked: true },
  'pods alone leaves the subresources out': {
    webhook: { rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }] },
    request: eviction,
    isAsked: false,
  },
  'pods/eviction means evictions and not pods': {
    webhook: {
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/eviction'] }],
    },
    request: creation,
    isAsked: false,
  },
  '*/* means everything': {
    webhook: { rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }] },
    request: eviction,
    isAsked: true,
  },
  'another operation is not asked about': {
    webhook: { rules: [{ operations: ['DELETE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }] },
    request: creation,
    isAsked: false,
  },
  'a cluster scope leaves namespaced objects out': {
    webhook: {
      rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], scope: 'Cluster' }],
    },
    request: creation,
    isAsked: false,
  },
  'a namespace that is selected is asked about': {
    webhook: { namespaceSelector: { matchLabels: { team: 'sales' } } },
    request: creation,
    isAsked: true,
  },
  'a namespace that is not selected is left alone': {
    webhook: { namespaceSelector: { matchLabels: { team: 'research' } } },
    request: creation,
    isAsked: false,
  },
  'a namespace selector never leaves out what lives in no namespace': {
    webhook: {
      namespaceSelector: { matchLabels: { team: 'research' } },
      rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['nodes'] }],
    },
    request: {
      ...creation,
      type: nodes,
      key: { name: 'n1' },
      kind: { group: '', version: 'v1', kind: 'Node' },
      object: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } },
    },
    isAsked: true,
  },
  'an object that is not selected is left alone': {
    webhook: { objectSelector: { matchLabels: { app: 'db' } } },
    request: creation,
    isAsked: false,
  },
  'taking a label off does not slip past the object selector': {
    webhook: { objectSelector: { matchLabels: { app: 'web' } } },
    request: {
      ...creation,
      operation: 'UPDATE',
      object: { ...pod, metadata: { name: 'web', namespace: 'shop' } },
      oldObject: pod,
    },
    isAsked: true,
  },
  'a condition sees request, user, object and old object': {
    webhook: {
      matchConditions: [
        { name: 'who', expression: '"system:masters" in request.userInfo.groups && request.operation == "CREATE"' },
        { name: 'what', expression: 'object.metadata.labels["app"] == "web" && oldObject == null' },
      ],
    },
    request: creation,
    isAsked: true,
  },
  'one condition that is false is enough to be left alone': {
    webhook: {
      matchConditions: [
        { name: 'broken', expression: 'object.spec.missing == 1' },
        { name: 'no', expression: 'request.userInfo.username != "cofferdam:admin"' },
      ],
    },
    request: creation,
    isAsked: false,
  },
  'a condition that cannot be evaluated is passed over when failures are ignored': {
    webhook: { failurePolicy: 'Ignore', matchConditions: [{ name: 'broken', expression: 'object.spec.missing == 1' }] },
    request: creation,
    isAsked: false,
  },
}

describe('which webhooks are asked', () => {
  for (const [sentence, { webhook, request, isAsked }] of Object.entries(matching)) {
    it(sentence, async () => {
      expect(await refusalOf(webhooksWith(webhook).admit(request))).toEqual(isAsked ? denied : undefined)
    })
  }

  it('a condition that cannot be evaluated refuses the request when failures count', async () => {
    const webhooks = webhooksWith({ matchConditions: [{ name: 'broken', expression: 'object.spec.missing == 1' }] })
    expect(await refusalOf(webhooks.admit(creation))).toEqual({
      code: 403,
      reason: 'Forbidden',
      message: `pods "web" is forbidden: expression 'object.spec.missing == 1' resulted in error: No such key: spec`,
    })
  })

  it('webhook configurations are never sent to webhooks, so that a broken one can be removed', async () => {
    const webhooks = webhooksWith({
      rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }],
    })
    const type = {
      group: 'admissionregistration.k8s.io',
      version: 'v1',
      plural: 'validatingwebhookconfigurations',
      kind: 'ValidatingWebhookConfiguration',
      namespaced: false,
    }
    expect(webhooks.mayMatch({ operation: 'DELETE', type })).toBe(false)
    expect(await webhooks.admit({ ...creation, operation: 'DELETE', type, key: { name: 'guard' } })).toEqual([])
  })

  it('mayMatch spares those who cannot be meant the wait', () => {
    const webhooks = webhooksWith({})
    expect(webhooks.mayMatch(creation)).toBe(true)
    expect(webhooks.mayMatch({ operation: 'CREATE', type: nodes })).toBe(false)
    expect(webhooksWith({}, { configurations: () => [] }).mayMatch(creation)).toBe(false)
  })

  const drains = { group: 'cofferdam.io', version: 'v1', plural: 'drains', kind: 'Drain', namespaced: false }
  const rules = [{ operations: ['*'], apiGroups: ['cofferdam.io'], apiVersions: ['v1beta1'], resources: ['drains'] }]
  const drain: AdmissionRequest = {
    ...creation,
    type: drains,
    key: { name: 'd' },
    kind: { group: 'cofferdam.io', version: 'v1', kind: 'Drain' },
    object: { apiVersion: 'cofferdam.io/v1', kind: 'Drain', metadata: { name: 'd' } },
  }

  it('a webhook that knows another version of the resource is asked in that version', async () => {
    const reviews: JsonObject[] = []
    const webhooks = webhooksWith(
      { rules },
      { call: answering({ allowed: true }, reviews), equivalents: () => [{ ...drains, version: 'v1beta1' }] },
    )
    await webhooks.admit(drain)
    const [review] = reviews
    expect([review?.['resource'], review?.['requestResource'], review?.['kind'], review?.['object']]).toEqual([
      { group: 'cofferdam.io', version: 'v1beta1', resource: 'drains' },
      { group: 'cofferdam.io', version: 'v1', resource: 'drains' },
      { group: 'cofferdam.io', version: 'v1beta1', kind: 'Drain' },
      { apiVersion: 'cofferdam.io/v1beta1', kind: 'Drain', metadata: { name: 'd' } },
    ])
  })

  it('a webhook that wants exact matches is not asked about other versions', async () => {
    const webhooks = webhooksWith(
      { rules, matchPolicy: 'Exact' },
      { equivalents: () => [{ ...drains, version: 'v1beta1' }] },
    )
    expect(await webhooks.admit(drain)).toEqual([])
  })
})

describe('what webhooks answer', () => {
  it('the review carries the whole request', async () => {
    const reviews: JsonObject[] = []
    const webhooks = webhooksWith({}, { call: answering({ allowed: true }, reviews) })
    await webhooks.admit({ ...eviction, dryRun: true, options: { kind: 'CreateOptions' } })
    expect(reviews).toEqual([
      {
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
        resource: { group: '', version: 'v1', resource: 'pods' },
        subResource: 'eviction',
        requestKind: { group: 'policy', version: 'v1', kind: 'Eviction' },
        requestResource: { group: '', version: 'v1', resource: 'pods' },
        requestSubResource: 'eviction',
        name: 'web',
        namespace: 'shop',
        operation: 'CREATE',
        userInfo: { username: 'cofferdam:admin', groups: ['system:masters', 'system:authenticated'] },
        object: eviction.object,
        oldObject: null,
        dryRun: true,
        options: { kind: 'CreateOptions' },
      },
    ])
  })

  it('a yes lets the request through with the warnings', async () => {
    const call = answering({ allowed: true, warnings: ['drain lock is old'] })
    expect(await webhooksWith({}, { call }).admit(creation)).toEqual(['drain lock is old'])
  })

  it('a no keeps the code, the reason and the words of the webhook', async () => {
    const call = answering({
      allowed: false,
      status: { code: 429, reason: 'TooManyRequests', message: 'node n2 is being drained' },
    })
    expect(await refusalOf(webhooksWith({}, { call }).admit(creation))).toEqual({
      code: 429,
      reason: 'TooManyRequests',
      message: 'admission webhook "guard.cofferdam.io" denied the request: node n2 is being drained',
    })
  })

  it('an answer to another question is no answer', async () => {
    const call = answering({ allowed: true, uid: 'another' })
    const refusal = await refusalOf(webhooksWith({}, { call }).admit(creation))
    expect(refusal?.code).toBe(500)
    expect(refusal?.message).toMatch(
      /^Internal error occurred: failed calling webhook "guard.cofferdam.io": .*expected response.uid=".*", got "another"$/,
    )
  })

  const broken: Record<string, string> = {
    'text that is no JSON': 'hello',
    'a review without a response': '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}',
    'a review of another version': '{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","response":{}}',
  }
  for (const [what, body] of Object.entries(broken)) {
    it(`${what} is a failure: refused, unless failures are ignored`, async () => {
      const call: WebhookCall = () => Promise.resolve({ status: 200, body })
      expect((await refusalOf(webhooksWith({}, { call }).admit(creation)))?.code).toBe(500)
      expect(await webhooksWith({ failurePolicy: 'Ignore' }, { call }).admit(creation)).toEqual([])
    })
  }

  it('one webhook that fails open does not hide the no of another', async () => {
    const webhooks = webhooksWith(
      {},
      {
        configurations: () => [
          configurationOf(
            {
              ...everyPod,
              name: 'down.cofferdam.io',
              failurePolicy: 'Ignore',
              clientConfig: { url: 'https://down.example' },
            },
            everyPod,
          ),
        ],
        call: (request) =>
          request.url.startsWith('https://down')
            ? Promise.reject(new Error('no route'))
            : answering({ allowed: false })(request),
      },
    )
    expect(await refusalOf(webhooks.admit(creation))).toEqual(denied)
  })

  it('a webhook with side effects is not asked in a dry run, and the dry run is refused', async () => {
    const webhooks = webhooksWith({ sideEffects: 'Some' })
    expect(await refusalOf(webhooks.admit({ ...creation, dryRun: true }))).toEqual({
      code: 400,
      reason: 'BadRequest',
      message: 'admission webhook "guard.cofferdam.io" does not support dry run',
    })
  })

  it('a webhook that takes too long is cut off by the clock, and the request refused', async () => {
    const clock = new VirtualClock(0)
    let isAborted = false
    const call: WebhookCall = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          isAborted = true
          reject(new Error('aborted'))
        })
      })
    const refusal = refusalOf(webhooksWith({ timeoutSeconds: 3 }, { call, clock }).admit(creation))
    await clock.advance(3000)
    expect(await refusal).toEqual({
      code: 500,
      reason: 'InternalError',
      message:
        'Internal error occurred: failed calling webhook "guard.cofferdam.io": failed to call webhook: Post "https://guard.example/check?timeout=3s": context deadline exceeded',
    })
    expect(isAborted).toBe(true)
  })

  it('a webhook behind a service is reached where the service is, under the name of the service', async () => {
    const calls: unknown[] = []
    const webhooks = webhooksWith(
      { clientConfig: { service: { namespace: 'cofferdam', name: 'guard', path: '/evict', port: 443 } } },
      {
        resolveService: () => 'https://127.0.0.1:9443',
        call: (request) => {
          calls.push([request.url, request.serverName])
          return answering({ allowed: true })(request)
        },
      },
    )
    await webhooks.admit(creation)
    expect(calls).toEqual([['https://127.0.0.1:9443/evict?timeout=10s', 'guard.cofferdam.svc']])
  })
})
