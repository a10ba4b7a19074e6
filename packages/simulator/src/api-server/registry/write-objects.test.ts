import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { configMaps, deployments, leases, namespaces, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import { configMap, fixture, inDefault, pod, refusalOf } from './testing/fixture.ts'

function deployment(name: string, replicas = 2): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: pod('x').spec },
    },
  }
}

describe('a create', () => {
  it('adds what the server knows: uid, time, generation, version and owner of the fields', async () => {
    const { api } = fixture()
    const made = await api.create(deployments, deployment('web'), { fieldManager: 'tester' })
    expect(made.metadata).toMatchObject({
      name: 'web',
      namespace: 'default',
      uid: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      creationTimestamp: '2026-01-01T00:00:00Z',
      generation: 1,
      resourceVersion: '1005',
      managedFields: [{ manager: 'tester', operation: 'Update', apiVersion: 'apps/v1' }],
    })
  })

  it('takes nothing from the writer that is not the writer’s: uid, generation, deletion, status', async () => {
    const { api } = fixture()
    const metadata = {
      uid: 'mine',
      generation: 9,
      creationTimestamp: '1999-01-01T00:00:00Z',
      deletionTimestamp: '1999-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 5,
    }
    const made = await api.create(pods, { ...pod('a', {}, metadata), status: { phase: 'Running' } })
    expect(made.metadata).toMatchObject({ generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' })
    expect(made.metadata.uid).not.toBe('mine')
    expect(made.metadata.deletionTimestamp).toBeUndefined()
    expect(made.metadata.deletionGracePeriodSeconds).toBeUndefined()
    expect(made.status?.phase).toBe('Pending')
  })

  it('of a node keeps the status that the kubelet registers with', async () => {
    const { api } = fixture()
    const status = { capacity: { cpu: '4' } }
    const made = await api.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, status })
    expect(made.status).toEqual({ ...status, allocatable: status.capacity })
  })

  it('with a generated name that is taken tries another', async () => {
    let sameNumbers = Number.POSITIVE_INFINITY
    const random: Random = { next: () => (sameNumbers-- > 0 ? 0 : 0.999), stream: () => random }
    const { api } = fixture({ random })
    const generated = { ...configMap(''), metadata: { generateName: 'x-', namespace: 'default' } } as never
    const first = await api.create(configMaps, generated)
    const lettersOfOneName = 5
    sameNumbers = lettersOfOneName
    const second = await api.create(configMaps, generated)
    expect(first.metadata.name).toBe('x-bbbbb')
    expect(second.metadata.name).toBe('x-99999')
  })

  it('of a name that exists is refused with 409', async () => {
    const { api } = fixture()
    await api.create(deployments, deployment('web'))
    expect(await refusalOf(api.create(deployments, deployment('web')))).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'deployments.apps "web" already exists',
      reason: 'AlreadyExists',
      details: { name: 'web', group: 'apps', kind: 'deployments' },
      code: 409,
    })
  })

  it('in a namespace that is not there is refused with 404, in one that ends with 403 and the cause', async () => {
    const { api } = fixture()
    const inShop = configMap('a', {}, { namespace: 'shop' })
    expect(await refusalOf(api.create(configMaps, inShop))).toMatchObject({
      code: 404,
      message: 'namespaces "shop" not found',
    })
    await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
    await api.delete(namespaces, { name: 'shop' })
    expect(await refusalOf(api.create(configMaps, inShop))).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message:
        'configmaps "a" is forbidden: unable to create new content in namespace shop because it is being terminated',
      details: { causes: [{ reason: 'NamespaceTerminating' }] },
    })
    const unnamed = { ...inShop, metadata: { namespace: 'shop', generateName: 'a-' } } as never
    expect((await refusalOf(api.create(configMaps, unnamed))).message).toContain('configmaps "a-" is forbidden')
  })

  const refusedObjects: Record<string, { object: KubeObject; refusal: object }> = {
    'with a resourceVersion is refused with 500': {
      object: configMap('a', {}, { resourceVersion: '5' }),
      refusal: { code: 500, message: 'resourceVersion should not be set on objects to be created' },
    },
    'of another version than asked for is refused with 400': {
      object: { ...configMap('a'), apiVersion: 'v2' },
      refusal: {
        code: 400,
        message: 'the API version in the data (v2) does not match the expected API version (v1)',
      },
    },
    'of another kind than asked for is refused with 400': {
      object: { ...configMap('a'), kind: 'Secret' },
      refusal: { code: 400, message: 'Secret in version "v1" cannot be handled as a ConfigMap' },
    },
    'without a name is refused with 422': {
      object: configMap(''),
      refusal: {
        code: 422,
        message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
      },
    },
  }
  for (const [sentence, { object, refusal }] of Object.entries(refusedObjects)) {
    it(sentence, async () => {
      const { api, server } = fixture()
      expect(await refusalOf(api.create(configMaps, object))).toMatchObject(refusal)
      expect(server.version).toBe(1004)
    })
  }
})

describe('unknown fields', () => {
  const misspelt = { ...pod('a'), spec: { ...pod('a').spec, nodName: 'n1' } } as Pod

  it('are dropped with a warning, silently when the writer does not care, and refused when the writer is strict', async () => {
    const { api } = fixture()
    const warnings: string[] = []
    const onWarning = (text: string) => warnings.push(text)
    const made = await api.create(pods, misspelt, { onWarning, dryRun: true })
    expect('nodName' in made.spec).toBe(false)
    expect(warnings).toEqual(['unknown field "spec.nodName"'])
    await api.create(pods, misspelt, { onWarning, dryRun: true, fieldValidation: 'Ignore' })
    expect(warnings).toHaveLength(1)
    expect(await refusalOf(api.create(pods, misspelt, { fieldValidation: 'Strict' }))).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: 'strict decoding error: unknown field "spec.nodName"',
    })
  })
})

describe('an update', () => {
  it('of a stale state is refused with 409 in the words that clients look for', async () => {
    const { api } = fixture()
    const made = await api.create(deployments, deployment('web'))
    await api.update(deployments, { ...made, metadata: { ...made.metadata, labels: { a: '1' } } })
    const late = api.update(deployments, { ...made, metadata: { ...made.metadata, labels: { a: '2' } } })
    expect(await refusalOf(late)).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes to the latest version and try again',
    })
  })

  it('meant for another object of the same name is refused with 409', async () => {
    const { api } = fixture()
    const made = await api.create(configMaps, configMap('a'))
    const refusal = await refusalOf(api.update(configMaps, configMap('a', { x: '1' }, { uid: 'another' })))
    expect([refusal.code, refusal.message]).toEqual([
      409,
      `Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, Key: /registry/configmaps/default/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: another, UID in object meta: ${made.metadata.uid}`,
    ])
  })

  it('that changes nothing is not a write: version and object stay the same', async () => {
    const { api, server } = fixture()
    const made = await api.create(configMaps, configMap('a', { x: '1' }))
    const { version } = server
    expect(await api.update(configMaps, JSON.parse(JSON.stringify(made)))).toBe(made)
    expect(await api.update(configMaps, configMap('a', { x: '1' }), { fieldManager: 'another' })).toBe(made)
    expect(await api.patch(configMaps, inDefault('a'), { type: 'merge', body: {} })).toBe(made)
    expect(server.version).toBe(version)
  })

  it('leaves what only the server sets as it was', async () => {
    const { api } = fixture()
    const made = await api.create(deployments, deployment('web'))
    const updated = await api.update(deployments, {
      ...made,
      metadata: { ...made.metadata, generation: 7, creationTimestamp: '1999-01-01T00:00:00Z', labels: { a: '1' } },
    })
    expect(updated.metadata).toMatchObject({
      uid: made.metadata.uid,
      generation: 1,
      creationTimestamp: made.metadata.creationTimestamp,
      labels: { a: '1' },
    })
  })

  it('counts a generation when what is wanted changes, not when labels or status do', async () => {
    const { api } = fixture()
    let object = await api.create(deployments, deployment('web'))
    const generations: (number | undefined)[] = []
    const note = (next: Deployment) => {
      object = next
      generations.push(next.metadata.generation)
    }
    note(await api.update(deployments, { ...object, metadata: { ...object.metadata, labels: { a: '1' } } }))
    note(await api.update(deployments, { ...object, status: { replicas: 2 } }, { subresource: 'status' }))
    note(await api.update(deployments, { ...object, spec: { ...object.spec, replicas: 5 } }))
    expect(generations).toEqual([1, 1, 2])
  })

  it('counts a generation when the annotations of a Deployment change, so that its rollout notices', async () => {
    const { api } = fixture()
    const made = await api.create(deployments, deployment('web'))
    const annotated = { ...made, metadata: { ...made.metadata, annotations: { note: 'seen' } } }
    expect((await api.update(deployments, annotated)).metadata.generation).toBe(2)
  })

  it('of the object leaves the status, of the status leaves the rest', async () => {
    const { api } = fixture()
    const made = await api.create(deployments, deployment('web', 2))
    const both = { ...made, spec: { ...made.spec, replicas: 3 }, status: { replicas: 9 } }
    const spec = await api.update(deployments, both)
    expect([spec.spec.replicas, spec.status]).toEqual([3, made.status])
    const later = { ...spec, spec: { ...spec.spec, replicas: 4 }, status: { replicas: 9 } }
    const status = await api.update(deployments, later, { subresource: 'status' })
    expect([status.spec.replicas, status.status]).toEqual([3, { replicas: 9 }])
    expect(status.spec).toBe(spec.spec)
  })

  it('in a dry run answers with the new state and stores nothing', async () => {
    const { api, server } = fixture()
    const made = await api.create(configMaps, configMap('a', { x: '1' }))
    const answered = await api.update(configMaps, { ...made, data: { x: '2' } }, { dryRun: true })
    expect(answered.data).toEqual({ x: '2' })
    expect(answered.metadata.resourceVersion).toBe(made.metadata.resourceVersion)
    expect(await api.get(configMaps, inDefault('a'))).toBe(made)
    expect(server.version).toBe(1005)
  })

  it('makes a lease that is not there, and says so; other kinds answer 404', async () => {
    const { api } = fixture()
    let created = 0
    const onCreated = () => {
      created += 1
    }
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: inDefault('leader'),
      spec: { holderIdentity: 'a' },
    }
    const made = await api.update(leases, lease, { onCreated })
    expect([made.spec?.holderIdentity, created]).toEqual(['a', 1])
    expect((await refusalOf(api.update(configMaps, configMap('a'), { onCreated }))).code).toBe(404)
    expect(created).toBe(1)
    expect(await refusalOf(api.update(leases, { ...lease, spec: { holderIdentity: 'b' } }))).toMatchObject({
      code: 422,
      message:
        'leases.coordination.k8s.io "leader" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    })
  })
})

describe('a patch', () => {
  it('with a stale version is refused with 409; without one it meets the present state', async () => {
    const { api } = fixture()
    const made = await api.create(configMaps, configMap('a'))
    await api.patch(configMaps, inDefault('a'), { type: 'merge', body: { data: { x: '1' } } })
    const { resourceVersion = '' } = made.metadata
    const stale = { type: 'merge', body: { metadata: { resourceVersion }, data: { y: '1' } } } as const
    expect((await refusalOf(api.patch(configMaps, inDefault('a'), stale))).code).toBe(409)
    const fresh = await api.patch(configMaps, inDefault('a'), { type: 'merge', body: { data: { y: '1' } } })
    expect(fresh.data).toEqual({ x: '1', y: '1' })
  })

  it('of a status reaches the status alone', async () => {
    const { api } = fixture()
    await api.create(pods, pod('a'))
    const body = { spec: { nodeName: 'n9' }, status: { phase: 'Running' } }
    const patched = await api.patch(pods, inDefault('a'), { type: 'merge', body }, { subresource: 'status' })
    expect([patched.spec.nodeName, patched.status?.phase]).toEqual([undefined, 'Running'])
  })

  it('that applies to what is not there makes it, and says so', async () => {
    const { api } = fixture()
    let created = 0
    const onCreated = () => {
      created += 1
    }
    const options = { fieldManager: 'tester', onCreated }
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: '1' } }
    const made = await api.patch(configMaps, inDefault('a'), { type: 'apply', body }, options)
    expect(made.metadata.namespace).toBe('default')
    await api.patch(configMaps, inDefault('a'), { type: 'apply', body }, options)
    expect(created).toBe(1)
  })
})

describe('the scale of a workload', () => {
  it('is read, replaced and patched through its own small object', async () => {
    const { api } = fixture()
    const made = await api.create(deployments, deployment('web', 2))
    const read = await api.get(deployments, inDefault('web'), { subresource: 'scale' })
    expect(read).toEqual({
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: {
        name: 'web',
        namespace: 'default',
        uid: made.metadata.uid,
        resourceVersion: '1005',
        creationTimestamp: '2026-01-01T00:00:00Z',
      },
      spec: { replicas: 2 },
      status: { replicas: 0, selector: 'app=web' },
    })
    const scaled = { ...read, spec: { replicas: 5 } } as KubeObject as Deployment
    await api.update(deployments, scaled, { subresource: 'scale' })
    expect((await api.get(deployments, inDefault('web'))).spec.replicas).toBe(5)
    const patch = { type: 'merge', body: { spec: { replicas: 1 } } } as const
    await api.patch(deployments, inDefault('web'), patch, { subresource: 'scale' })
    const { spec, metadata } = await api.get(deployments, inDefault('web'))
    expect([spec.replicas, metadata.generation]).toEqual([1, 3])
    expect((await refusalOf(api.update(deployments, scaled, { subresource: 'scale' }))).code).toBe(409)
  })
})

describe('a binding', () => {
  it('gives the pod its node, once, with the annotations it carries', async () => {
    const { api } = fixture()
    await api.create(pods, pod('a'))
    const bind = (name: string) =>
      api.createSubresource(pods, inDefault('a'), 'binding', {
        metadata: { name: 'a', annotations: { 'example.com/by': 'scheduler' } },
        target: { kind: 'Node', name },
      })
    expect(await bind('n1')).toMatchObject({ kind: 'Status', status: 'Success', code: 201 })
    const bound = await api.get(pods, inDefault('a'))
    expect(bound.spec.nodeName).toBe('n1')
    expect(bound.metadata).toMatchObject({ annotations: { 'example.com/by': 'scheduler' }, generation: 1 })
    expect(bound.status?.conditions).toEqual([
      { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ])
    expect(await refusalOf(bind('n2'))).toMatchObject({
      code: 409,
      message: 'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"',
    })
  })

  it('of a pod that is going is refused with 409, without a node with 422', async () => {
    const { api } = fixture()
    await api.create(pods, pod('a', {}, { finalizers: ['example.com/hold'] }))
    expect((await refusalOf(api.createSubresource(pods, inDefault('a'), 'binding', { target: {} }))).code).toBe(422)
    await api.delete(pods, inDefault('a'))
    const target = { kind: 'Node', name: 'n1' }
    expect(await refusalOf(api.createSubresource(pods, inDefault('a'), 'binding', { target }))).toMatchObject({
      code: 409,
      message:
        'Operation cannot be fulfilled on pods/binding "a": pod a is being deleted, cannot be assigned to a host',
    })
  })
})
