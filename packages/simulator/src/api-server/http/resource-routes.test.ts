import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { configMapNamed, configMapsPath, faceForTest, podNamed, podsPath } from './testing/face.ts'

const merge = 'application/merge-patch+json'

describe('an object over HTTP', () => {
  it('is created with 201, read, replaced, and gone after a delete that names it', async () => {
    const { call } = await faceForTest()
    const created = await call(configMapsPath, { body: configMapNamed('a', { color: 'blue' }) })
    expect([created.status, created.json.data]).toEqual([201, { color: 'blue' }])
    const read = await call(`${configMapsPath}/a`)
    expect([read.status, read.json]).toEqual([200, created.json])
    const replaced = await call(`${configMapsPath}/a`, {
      method: 'PUT',
      body: { ...read.json, data: { color: 'red' } },
    })
    expect([replaced.status, replaced.json.data]).toEqual([200, { color: 'red' }])
    const deleted = await call(`${configMapsPath}/a`, { method: 'DELETE' })
    expect([deleted.status, deleted.json]).toEqual([
      200,
      {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name: 'a', kind: 'configmaps', uid: created.json.metadata.uid },
      },
    ])
    expect((await call(`${configMapsPath}/a`)).status).toBe(404)
  })

  it('may leave out its kind and namespace, which the path tells', async () => {
    const { call } = await faceForTest()
    const created = await call(configMapsPath, { body: { metadata: { name: 'a' } } })
    expect([created.status, created.json.kind, created.json.metadata.namespace]).toEqual([201, 'ConfigMap', 'default'])
  })

  it('of another namespace or name than the path is refused with 400', async () => {
    const { call } = await faceForTest()
    const elsewhere = { ...configMapNamed('a'), metadata: { name: 'a', namespace: 'kube-system' } }
    expect((await call(configMapsPath, { body: elsewhere })).json.message).toBe(
      'the namespace of the provided object does not match the namespace sent on the request',
    )
    const misnamed = await call(`${configMapsPath}/b`, { method: 'PUT', body: configMapNamed('a') })
    expect([misnamed.status, misnamed.json.message]).toEqual([
      400,
      'the name of the object (a) does not match the name on the URL (b)',
    ])
  })

  it('comes as YAML where that is sent and asked for', async () => {
    const { call } = await faceForTest()
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\ndata: {a: "1"}\n'
    const created = await call(configMapsPath, { body, type: 'application/yaml', accept: 'application/yaml' })
    expect([created.status, created.headers.get('content-type')]).toEqual([201, 'application/yaml'])
    expect(created.text).toContain("data:\n  a: '1'\n")
  })

  it('that a YAML bomb would unfold to is refused', async () => {
    const { call } = await faceForTest()
    const levels = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i}, `.repeat(9)}]`)
    const refused = await call(configMapsPath, { body: `l0: &l0 x\n${levels.join('\n')}\n`, type: 'application/yaml' })
    expect([refused.status, refused.json.reason]).toEqual([400, 'BadRequest'])
  })

  it('is shown with indents to whoever asks for pretty', async () => {
    const { call } = await faceForTest()
    await call(configMapsPath, { body: configMapNamed('a') })
    expect((await call(`${configMapsPath}/a?pretty=true`)).text).toMatch(/^\{\n {2}"/)
  })

  it('is answered to HEAD with its length and without its body', async () => {
    const { call } = await faceForTest()
    const asked = await call('/api/v1/namespaces/default', { method: 'HEAD' })
    expect([asked.status, asked.text]).toEqual([200, ''])
    expect(Number(asked.headers.get('content-length'))).toBeGreaterThan(100)
  })

  it('with a warning carries it in a header', async () => {
    const { call } = await faceForTest()
    const body = { ...configMapNamed('a'), datum: { a: '1' } }
    const created = await call(configMapsPath, { body })
    expect([created.status, created.headers.get('warning')]).toEqual([201, '299 - "unknown field \\"datum\\""'])
    const strict = await call(`${configMapsPath}?fieldValidation=Strict`, {
      body: { ...body, metadata: { name: 'b' } },
    })
    expect([strict.status, strict.json.message]).toEqual([400, 'strict decoding error: unknown field "datum"'])
  })

  it('in a dry run is answered and not stored', async () => {
    const { call } = await faceForTest()
    expect((await call(`${configMapsPath}?dryRun=All`, { body: configMapNamed('a') })).status).toBe(201)
    expect((await call(`${configMapsPath}/a`)).status).toBe(404)
  })

  it('with options nobody knows is refused with 422 in the words of the real server', async () => {
    const { call } = await faceForTest()
    const wrong: Record<string, string> = {
      'dryRun=Some':
        'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
      'fieldValidation=Loose':
        'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Loose": supported values: "", "Ignore", "Strict", "Warn"',
    }
    for (const [query, message] of Object.entries(wrong)) {
      const refused = await call(`${configMapsPath}?${query}`, { body: configMapNamed('a') })
      expect([refused.status, refused.json.message]).toEqual([422, message])
    }
  })
})

describe('a list over HTTP', () => {
  it('comes in pages that continue', async () => {
    const { call } = await faceForTest()
    for (const name of ['a', 'b', 'c']) await call(configMapsPath, { body: configMapNamed(name) })
    const first = (await call(`${configMapsPath}?limit=2`)).json
    expect([first.kind, first.apiVersion, first.items.length, first.metadata.remainingItemCount]).toEqual([
      'ConfigMapList',
      'v1',
      2,
      1,
    ])
    const rest = (await call(`${configMapsPath}?limit=2&continue=${encodeURIComponent(first.metadata.continue)}`)).json
    expect(rest.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(['c'])
    expect(rest.metadata.continue).toBeUndefined()
  })

  it('is chosen by labels and fields', async () => {
    const { call } = await faceForTest()
    await call(podsPath, { body: podNamed('a', { labels: { tier: 'back' }, nodeName: 'n1' }) })
    await call(podsPath, { body: podNamed('b', { labels: { tier: 'front' } }) })
    const names = async (query: string) =>
      (await call(`/api/v1/pods?${query}`)).json.items.map((pod: { metadata: { name: string } }) => pod.metadata.name)
    expect(await names('labelSelector=tier%20in%20(back,side)')).toEqual(['a'])
    expect(await names('fieldSelector=spec.nodeName%3Dn1')).toEqual(['a'])
    expect(await names('fieldSelector=spec.nodeName%21%3Dn1')).toEqual(['b'])
  })

  it('of many is compressed for whoever can unpack it', async () => {
    const { call } = await faceForTest()
    for (let i = 0; i < 3; i += 1)
      await call(configMapsPath, { body: configMapNamed(`m${i}`, { a: 'x'.repeat(60_000) }) })
    const packed = await call(configMapsPath, { headers: { 'accept-encoding': 'gzip' } })
    expect([packed.headers.get('content-encoding'), packed.json.items.length]).toEqual(['gzip', 3])
    const plain = await call(configMapsPath, { headers: { 'accept-encoding': 'identity' } })
    expect([plain.headers.get('content-encoding'), plain.text]).toEqual([null, packed.text])
  })

  it('is deleted as a whole where labels choose', async () => {
    const { call } = await faceForTest()
    for (const name of ['a', 'b']) {
      await call(configMapsPath, { body: { ...configMapNamed(name), metadata: { name, labels: { name } } } })
    }
    const deleted = await call(`${configMapsPath}?labelSelector=name%3Da`, { method: 'DELETE' })
    const names = deleted.json.items.map((item: { metadata: { name: string } }) => item.metadata.name)
    expect([deleted.status, deleted.json.kind, names]).toEqual([200, 'ConfigMapList', ['a']])
    expect((await call(configMapsPath)).json.items.length).toBe(1)
  })
})

describe('a patch over HTTP', () => {
  it('is understood in all four forms', async () => {
    const { call } = await faceForTest()
    await call(configMapsPath, { body: configMapNamed('a', { x: '1' }) })
    const patch = (type: string, body: unknown, query = '') =>
      call(`${configMapsPath}/a${query}`, { method: 'PATCH', type, body })
    const json = await patch('application/json-patch+json', [{ op: 'replace', path: '/data/x', value: '2' }])
    expect(json.json.data).toEqual({ x: '2' })
    expect((await patch(merge, { data: { y: '3' } })).json.data).toEqual({ x: '2', y: '3' })
    const strategic = await patch('application/strategic-merge-patch+json', { data: { y: null, z: '4' } })
    expect(strategic.json.data).toEqual({ x: '2', z: '4' })
    const applied = await patch(
      'application/apply-patch+yaml',
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  w: "5"\n',
      '?fieldManager=me',
    )
    expect([applied.status, applied.json.data]).toEqual([200, { x: '2', z: '4', w: '5' }])
  })

  it('that applies what is not there creates it with 201', async () => {
    const { call } = await faceForTest()
    const applied = await call(`${configMapsPath}/new?fieldManager=me`, {
      method: 'PATCH',
      type: 'application/apply-patch+yaml',
      body: configMapNamed('new'),
    })
    expect(applied.status).toBe(201)
  })

  it('that applies without saying who it is is refused', async () => {
    const { call } = await faceForTest()
    const type = 'application/apply-patch+yaml'
    const refused = await call(`${configMapsPath}/new`, { method: 'PATCH', type, body: configMapNamed('new') })
    expect([refused.status, refused.json.message]).toEqual([
      422,
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    ])
  })

  it('that would take fields of another manager is refused with 409, unless forced', async () => {
    const { call } = await faceForTest()
    const apply = (manager: string, color: string, query = '') =>
      call(`${configMapsPath}/a?fieldManager=${manager}${query}`, {
        method: 'PATCH',
        type: 'application/apply-patch+yaml',
        body: configMapNamed('a', { color }),
      })
    await apply('ann', 'blue')
    const refused = await apply('bob', 'red')
    expect([refused.status, refused.json.reason, refused.json.details.causes[0].field]).toEqual([
      409,
      'Conflict',
      '.data.color',
    ])
    expect((await apply('bob', 'red', '&force=true')).json.data).toEqual({ color: 'red' })
  })

  it('that forces without applying is refused with 422', async () => {
    const { call } = await faceForTest()
    const refused = await call(`${configMapsPath}/a?force=true`, { method: 'PATCH', type: merge, body: {} })
    expect([refused.status, refused.json.message]).toEqual([
      422,
      'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
    ])
  })

  it('of a form nobody knows is refused with 415 that names the four', async () => {
    const { call } = await faceForTest()
    const refused = await call(`${configMapsPath}/a`, { method: 'PATCH', type: 'text/plain', body: 'x' })
    expect(refused.status).toBe(415)
    for (const form of ['json-patch+json', 'merge-patch+json', 'strategic-merge-patch+json', 'apply-patch+yaml']) {
      expect(refused.json.message).toContain(`application/${form}`)
    }
  })
})

describe('who writes', () => {
  const managerOf = (json: { metadata: { managedFields: { manager: string }[] } }) =>
    json.metadata.managedFields[0]?.manager

  it('is named after its program when it names nobody', async () => {
    const { call } = await faceForTest()
    const headers = { 'user-agent': 'kubectl/v1.36.4 (linux/amd64) kubernetes/abc' }
    expect(managerOf((await call(configMapsPath, { body: configMapNamed('a', { x: '1' }), headers })).json)).toBe(
      'kubectl',
    )
    const named = await call(`${configMapsPath}?fieldManager=me`, { body: configMapNamed('b', { x: '1' }), headers })
    expect(managerOf(named.json)).toBe('me')
  })

  it('may only do what whom it impersonates may do', async () => {
    const { call } = await faceForTest()
    const headers = { 'impersonate-user': 'ann', 'impersonate-group': 'devs' }
    const refused = await call('/api/v1/nodes', { headers })
    expect([refused.status, refused.json.reason]).toEqual([403, 'Forbidden'])
    expect(refused.json.message).toContain('User "ann" cannot list resource "nodes"')
    const admin = { 'impersonate-user': 'ann', 'impersonate-group': 'system:masters' }
    expect((await call('/api/v1/nodes', { headers: admin })).status).toBe(200)
    expect((await call('/api/v1/nodes', { headers: { 'impersonate-group': 'devs' } })).status).toBe(400)
  })

  it('is known by its token, and refused with 401 when nobody knows the token', async () => {
    const { call, tokenOf } = await faceForTest()
    const good = await tokenOf('bot')
    const as = (token: string) => call('/api/v1/nodes', { headers: { authorization: `Bearer ${token}` } })
    expect((await as('bad')).json).toMatchObject({ code: 401, reason: 'Unauthorized' })
    expect((await as(good)).json.message).toContain('User "system:serviceaccount:default:bot" cannot list')
    expect((await call('/api/v1/nodes')).status).toBe(200)
  })
})

describe('subresources over HTTP', () => {
  it('status is written apart from the rest', async () => {
    const { call } = await faceForTest()
    await call(podsPath, { body: podNamed('a', { nodeName: 'n1' }) })
    const body = { status: { phase: 'Running' }, metadata: { labels: { no: 'no' } } }
    const written = await call(`${podsPath}/a/status`, { method: 'PATCH', type: merge, body })
    expect([written.status, written.json.status.phase]).toEqual([200, 'Running'])
    expect((await call(`${podsPath}/a/status`)).json.status.phase).toBe('Running')
  })

  it('scale is read and written as a Scale', async () => {
    const { call } = await faceForTest()
    const path = '/apis/apps/v1/namespaces/default/deployments'
    const template = { metadata: { labels: { app: 'web' } }, spec: podNamed('x').spec }
    const spec = { replicas: 2, selector: { matchLabels: { app: 'web' } }, template }
    await call(path, { body: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec } })
    const scale = await call(`${path}/web/scale`)
    expect([scale.json.kind, scale.json.spec.replicas]).toEqual(['Scale', 2])
    const body = { ...scale.json, spec: { replicas: 5 } }
    expect((await call(`${path}/web/scale`, { method: 'PUT', body })).json.spec.replicas).toBe(5)
    expect((await call(`${path}/web`)).json.spec.replicas).toBe(5)
  })

  it('an eviction is granted with 201, and refused with 429 and its cause while a budget holds the pod', async () => {
    const { call } = await faceForTest()
    for (const name of ['free', 'held']) {
      await call(podsPath, { body: podNamed(name, { labels: { name }, nodeName: 'n1' }) })
      const conditions = [{ type: 'Ready', status: 'True' }]
      await call(`${podsPath}/${name}/status`, {
        method: 'PATCH',
        type: merge,
        body: { status: { phase: 'Running', conditions } },
      })
    }
    const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
    const spec = { minAvailable: 1, selector: { matchLabels: { name: 'held' } } }
    await call(budgets, {
      body: { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'b' }, spec },
    })
    const evict = (name: string) =>
      call(`${podsPath}/${name}/eviction`, { body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } } })
    expect((await evict('free')).json).toMatchObject({ kind: 'Status', status: 'Success', code: 201 })
    const unseen = await evict('held')
    expect([unseen.status, unseen.headers.get('retry-after')]).toEqual([429, '10'])
    const status = {
      observedGeneration: 1,
      disruptionsAllowed: 0,
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
    }
    await call(`${budgets}/b/status`, { method: 'PATCH', type: merge, body: { status } })
    const refused = await evict('held')
    expect([refused.status, refused.headers.get('retry-after'), refused.json.details.causes[0].reason]).toEqual([
      429,
      null,
      'DisruptionBudget',
    ])
  })

  it('what only a real container has is refused with a word on why', async () => {
    const { call } = await faceForTest()
    const refused = await call(`${podsPath}/a/log`)
    expect([refused.status, refused.json.message]).toEqual([
      400,
      'pods of this cluster run no containers: there are no logs and nothing to connect to',
    ])
  })

  it('one that nobody serves is not found', async () => {
    const { call } = await faceForTest()
    expect((await call(`${configMapsPath}/a/status`)).status).toBe(404)
  })
})

describe('a delete over HTTP', () => {
  it('of a pod is answered with the pod, which then terminates for its grace period', async () => {
    const { call, api } = await faceForTest()
    await call(podsPath, { body: podNamed('a', { nodeName: 'n1' }) })
    const deleted = await call(`${podsPath}/a`, { method: 'DELETE', body: { gracePeriodSeconds: 7 } })
    expect([deleted.status, deleted.json.kind, deleted.json.metadata.deletionGracePeriodSeconds]).toEqual([
      200,
      'Pod',
      7,
    ])
    expect((await api.get(pods, { namespace: 'default', name: 'a' })).metadata.deletionTimestamp).toBeDefined()
    await call(`${podsPath}/a?gracePeriodSeconds=0`, { method: 'DELETE' })
    expect((await call(`${podsPath}/a`)).status).toBe(404)
  })

  it('of another object under the same name is refused with 409 and nothing changes', async () => {
    const { call } = await faceForTest()
    await call(configMapsPath, { body: configMapNamed('a') })
    const body = { preconditions: { uid: 'somebody-else' } }
    expect((await call(`${configMapsPath}/a`, { method: 'DELETE', body })).status).toBe(409)
    expect((await call(`${configMapsPath}/a`)).status).toBe(200)
  })

  it('with a policy nobody knows is refused with 422', async () => {
    const { call } = await faceForTest()
    const refused = await call(`${configMapsPath}/a?propagationPolicy=Sideways`, { method: 'DELETE' })
    expect([refused.status, refused.json.details.causes[0].field]).toEqual([422, 'propagationPolicy'])
  })

  it('that waits for dependents is accepted with 202 while a finalizer holds the object', async () => {
    const { call } = await faceForTest()
    const held = { ...configMapNamed('a'), metadata: { name: 'a', finalizers: ['example.com/hold'] } }
    await call(configMapsPath, { body: held })
    const deleted = await call(`${configMapsPath}/a`, { method: 'DELETE', body: { orphanDependents: false } })
    expect([deleted.status, deleted.json.kind]).toEqual([202, 'ConfigMap'])
  })
})
