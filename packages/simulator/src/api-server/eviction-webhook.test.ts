import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../harness/virtual-clock.ts'
import { ApiServer } from './api-server.ts'
import { clusterAdmin } from './user-info.ts'

const key = { namespace: 'default', name: 'web-0' }
const configurations: ResourceType = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
}

/** A running pod and a guard that is asked about evictions and deletions of pods. */
async function fixture(verdict: JsonObject | 'unreachable', failurePolicy = 'Fail') {
  const asked: JsonObject[] = []
  const server = new ApiServer({
    clock: new VirtualClock(),
    random: seededRandom(1),
    callWebhook: async ({ body }) => {
      const { request } = JSON.parse(body) as { request: JsonObject }
      asked.push(request)
      if (verdict === 'unreachable') throw new Error('connect ECONNREFUSED')
      const response = { uid: request['uid'], ...verdict }
      return {
        status: 200,
        body: JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }),
      }
    },
  })
  const api = server.as(clusterAdmin)
  await api.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: key,
    spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.example/app:1' }] },
  })
  await api.patch(pods, key, { type: 'merge', body: { status: { phase: 'Running' } } }, { subresource: 'status' })
  const rule = (resource: string, operation: string) => ({
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: [resource],
    operations: [operation],
  })
  await api.create(configurations, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'guard' },
    webhooks: [
      {
        name: 'guard.story.example',
        rules: [rule('pods/eviction', 'CREATE'), rule('pods', 'DELETE')],
        clientConfig: { url: 'https://guard.story.example/' },
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy,
      },
    ],
  } as KubeObject)
  return {
    api,
    asked,
    evict: () =>
      api.createSubresource(pods, key, 'eviction', {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: key.name },
      }),
    isGoing: async () => (await api.get(pods, key)).metadata.deletionTimestamp !== undefined,
  }
}

describe('a webhook that guards evictions and deletions of pods', () => {
  it('is asked once for an eviction, as an eviction: the deletion behind it is not asked about', async () => {
    const { asked, evict, isGoing } = await fixture({ allowed: true })
    await evict()
    expect(await isGoing()).toBe(true)
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatchObject({
      kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      subResource: 'eviction',
      name: 'web-0',
      namespace: 'default',
      operation: 'CREATE',
      object: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web-0', namespace: 'default' } },
      oldObject: null,
      dryRun: false,
    })
  })

  it('is asked about a plain deletion', async () => {
    const { api, asked } = await fixture({ allowed: true })
    await api.delete(pods, key)
    expect(asked.map(({ operation, oldObject }) => [operation, (oldObject as JsonObject)['kind']])).toEqual([
      ['DELETE', 'Pod'],
    ])
  })

  const refusals: Record<string, { verdict: JsonObject | 'unreachable'; then: object }> = {
    'that denies with 429 lets a drain wait politely: its words and code are passed on': {
      verdict: { allowed: false, status: { code: 429, reason: 'TooManyRequests', message: 'wait for node-2' } },
      then: { code: 429, reason: 'TooManyRequests', message: expect.stringContaining('wait for node-2') },
    },
    'that denies with 403 forbids it for good': {
      verdict: { allowed: false, status: { code: 403, reason: 'Forbidden', message: 'never' } },
      then: { code: 403, reason: 'Forbidden', message: expect.stringContaining('never') },
    },
    'that cannot be reached refuses with 500': {
      verdict: 'unreachable',
      then: { code: 500, reason: 'InternalError' },
    },
  }
  for (const [scenario, { verdict, then }] of Object.entries(refusals)) {
    it(scenario, async () => {
      const { evict, isGoing } = await fixture(verdict)
      await expect(evict()).rejects.toMatchObject(then)
      expect(await isGoing()).toBe(false)
    })
  }

  it('that cannot be reached and may be ignored holds nothing up', async () => {
    const { evict, isGoing } = await fixture('unreachable', 'Ignore')
    await evict()
    expect(await isGoing()).toBe(true)
  })
})
