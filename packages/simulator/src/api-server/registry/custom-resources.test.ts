import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { customResourceDefinitions } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { collect, fixture, refusalOf } from './testing/fixture.ts'

interface Lock extends KubeObject {
  readonly spec?: { readonly holder?: string; readonly replicas?: number }
  readonly status?: { readonly held?: boolean; readonly replicas?: number }
}

const locks: ResourceType<Lock> = {
  group: 'example.com',
  version: 'v1',
  plural: 'locks',
  kind: 'Lock',
  namespaced: true,
}
const oldLocks = { ...locks, version: 'v1beta1' }

const schema = {
  openAPIV3Schema: {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { holder: { type: 'string' }, replicas: { type: 'integer', default: 1 } } },
      status: { type: 'object', properties: { held: { type: 'boolean' }, replicas: { type: 'integer' } } },
    },
  },
}
const subresources = {
  status: {},
  scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
}

function definition(plural = 'locks', group = 'example.com'): KubeObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: 'lock', kind: 'Lock', listKind: 'LockList' },
      versions: [
        { name: 'v1', served: true, storage: true, schema, subresources },
        { name: 'v1beta1', served: true, storage: false, schema, subresources },
      ],
    },
  } as KubeObject
}

function lock(name: string, more: Partial<Lock> = {}, finalizers?: string[]): Lock {
  const metadata = { name, namespace: 'default', ...(finalizers === undefined ? {} : { finalizers }) }
  return { apiVersion: 'example.com/v1', kind: 'Lock', metadata, ...more }
}

const named = { name: 'locks.example.com' }

describe('a definition of custom resources', () => {
  it('takes effect with the write that makes it', async () => {
    const { api, server } = fixture()
    expect((await refusalOf(api.list(locks))).code).toBe(404)
    const before = server.catalogue.revision
    const made = (await api.create(customResourceDefinitions, definition())) as KubeObject & { status: object }
    const lastTransitionTime = '2026-01-01T00:00:00Z'
    expect(made.status).toEqual({
      conditions: [
        {
          type: 'NamesAccepted',
          status: 'True',
          reason: 'NoConflicts',
          message: 'no conflicts found',
          lastTransitionTime,
        },
        {
          type: 'Established',
          status: 'True',
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
          lastTransitionTime,
        },
      ],
      acceptedNames: { plural: 'locks', singular: 'lock', kind: 'Lock', listKind: 'LockList' },
      storedVersions: ['v1'],
    })
    expect((await api.list(locks)).items).toEqual([])
    expect(server.catalogue.find('example.com', 'v1beta1', 'locks')?.storageKey).toBe('example.com/locks')
    expect(server.catalogue.revision).toBeGreaterThan(before)
  })

  it('refuses an object of another kind in the name of that kind', async () => {
    const { api } = fixture()
    await api.create(customResourceDefinitions, definition())
    const made = await api.create(locks, lock('a'))
    expect(await refusalOf(api.update(locks, { ...made, kind: 'Other' }))).toMatchObject({
      code: 422,
      details: { kind: 'Other', causes: [{ field: 'kind', message: 'Invalid value: "Other": must be Lock' }] },
    })
    const patch = { type: 'merge', body: { kind: 'Other' } } as const
    expect((await refusalOf(api.patch(locks, keyOf(made), patch))).details).toMatchObject({ kind: 'Other', name: 'a' })
  })

  it('does not forget owners for an empty list: its metadata is read and written anew, and the list is lost', async () => {
    const { api } = fixture()
    await api.create(customResourceDefinitions, definition())
    const made = await api.create(locks, lock('a', { spec: { holder: 'x' } }))
    const body = { metadata: { managedFields: [] } }
    expect(await api.patch(locks, keyOf(made), { type: 'merge', body })).toEqual(made)
  })

  it('notes nobody where a status is applied that says nothing: who watches would be told of a change that is none', async () => {
    const { api } = fixture()
    await api.create(customResourceDefinitions, definition())
    const key = keyOf(await api.create(locks, lock('a', { spec: { holder: 'x' } })))
    const forgotten = await api.patch(locks, key, { type: 'merge', body: { metadata: { managedFields: [{}] } } })
    const body = { apiVersion: 'example.com/v1', kind: 'Lock', metadata: { name: 'a' } }
    const options = { subresource: 'status', fieldManager: 'one' } as const
    expect(await api.patch(locks, key, { type: 'apply', body }, options)).toBe(forgotten)
  })

  it('takes finalizers without a domain, and warns that they may be those of another', async () => {
    const { api } = fixture()
    await api.create(customResourceDefinitions, definition())
    const warnings: string[] = []
    const onWarning = (text: string) => warnings.push(text)
    const made = await api.create(locks, lock('a', {}, ['hold', 'example.com/hold']), { onWarning })
    await api.update(locks, { ...made, metadata: { ...made.metadata, labels: { a: '1' } } }, { onWarning })
    expect(warnings).toEqual([
      'metadata.finalizers: "hold": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
    ])
  })

  it('in a dry run has no effect', async () => {
    const { api } = fixture()
    await api.create(customResourceDefinitions, definition(), { dryRun: true })
    expect((await refusalOf(api.list(locks))).code).toBe(404)
  })

  it('that is deleted takes its objects with it, ends their watches, and leaves nothing served', async () => {
    const { api, clock } = fixture()
    await api.create(customResourceDefinitions, definition())
    await api.create(locks, lock('a'))
    const watch = collect(api.watch(locks))
    await clock.advance(0)
    await api.delete(customResourceDefinitions, named)
    await clock.advance(0)
    expect(watch).toEqual({ seen: ['ADDED a 1006', 'DELETED a 1008'], ended: true })
    expect((await refusalOf(api.list(locks))).code).toBe(404)
    expect((await refusalOf(api.get(customResourceDefinitions, named))).code).toBe(404)
    await api.create(customResourceDefinitions, definition())
    expect((await api.list(locks)).items).toEqual([])
  })

  it('that is deleted waits for the last of its objects, and lets no new one in', async () => {
    const { api, clock } = fixture()
    await api.create(customResourceDefinitions, definition())
    await api.create(locks, lock('held', {}, ['example.com/hold']))
    await api.delete(customResourceDefinitions, named)
    await clock.advance(0)
    const leaving = await api.get(customResourceDefinitions, named)
    expect(leaving.metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:00Z',
      finalizers: ['customresourcecleanup.apiextensions.k8s.io'],
    })
    expect(await refusalOf(api.create(locks, lock('late')))).toMatchObject({ code: 405, reason: 'MethodNotAllowed' })
    await api.patch(
      locks,
      { namespace: 'default', name: 'held' },
      { type: 'merge', body: { metadata: { finalizers: null } } },
    )
    expect((await refusalOf(api.get(customResourceDefinitions, named))).code).toBe(404)
  })

  it('for a resource that is built in is not accepted and serves nothing', async () => {
    const { api, server } = fixture()
    const before = server.catalogue.revision
    const made = await api.create(customResourceDefinitions, definition('leases', 'coordination.k8s.io'))
    const { conditions } = (made as KubeObject & { status: { conditions: { type: string; status: string }[] } }).status
    expect(conditions.map(({ type, status }) => [type, status])).toEqual([
      ['NamesAccepted', 'False'],
      ['Established', 'False'],
    ])
    expect(server.catalogue.revision).toBe(before)
  })
})

describe('custom objects', () => {
  it('are the same objects in every served version', async () => {
    const { api } = fixture()
    await api.create(customResourceDefinitions, definition())
    const made = await api.create(oldLocks, { ...lock('a'), apiVersion: 'example.com/v1beta1' })
    expect(made.apiVersion).toBe('example.com/v1beta1')
    const read = await api.get(locks, { namespace: 'default', name: 'a' })
    expect(read).toEqual({ ...made, apiVersion: 'example.com/v1' })
    const updated = await api.update(locks, { ...read, spec: { holder: 'n1' } })
    expect((await api.list(oldLocks)).items).toEqual([{ ...updated, apiVersion: 'example.com/v1beta1' }])
  })

  it('are given defaults, count generations, keep status apart and can be scaled', async () => {
    const { api } = fixture()
    await api.create(customResourceDefinitions, definition())
    const made = await api.create(locks, lock('a', { spec: {}, status: { held: true } }))
    expect([made.spec, made.status, made.metadata.generation]).toEqual([{ replicas: 1 }, undefined, 1])
    const status = { held: true, replicas: 1 }
    const held = await api.update(locks, { ...made, spec: { holder: 'x' }, status }, { subresource: 'status' })
    expect([held.spec, held.status, held.metadata.generation]).toEqual([{ replicas: 1 }, status, 1])
    const patch = { type: 'merge', body: { spec: { replicas: 3 } } } as const
    const scale = await api.patch(locks, { namespace: 'default', name: 'a' }, patch, { subresource: 'scale' })
    expect(scale).toMatchObject({ kind: 'Scale', spec: { replicas: 3 }, status: { replicas: 1 } })
    expect((await api.get(locks, { namespace: 'default', name: 'a' })).metadata.generation).toBe(2)
  })

  it('that were applied with a null get a version with each write until it is gone, as who watches them is told', async () => {
    const { api } = fixture()
    await api.create(customResourceDefinitions, definition())
    const made = await api.create(locks, lock('a', { spec: {} }))
    const body = { apiVersion: 'example.com/v1', kind: 'Lock', metadata: { name: 'a' }, status: null } as never
    const apply = () =>
      api.patch(locks, keyOf(made), { type: 'apply', body }, { subresource: 'status', fieldManager: 'one' })
    const nothing = () => api.patch(locks, keyOf(made), { type: 'merge', body: { spec: { replicas: 1 } } })
    const written = [await apply(), await apply(), await nothing(), await nothing()]
    const versions = written.map(
      ({ metadata }) => Number(metadata.resourceVersion) - Number(made.metadata.resourceVersion),
    )
    expect(versions).toEqual([1, 2, 3, 3])
    expect(written.map(({ status }) => status)).toEqual([undefined, undefined, undefined, undefined])
  })

  it('that were applied with a null on their way out get a version when they are deleted once more', async () => {
    const { api } = fixture()
    await api.create(customResourceDefinitions, definition())
    const made = await api.create(locks, lock('a', { spec: {} }, ['example.com/hold']))
    await api.delete(locks, keyOf(made))
    const body = { apiVersion: 'example.com/v1', kind: 'Lock', metadata: { name: 'a' }, status: null } as never
    const options = { subresource: 'status', fieldManager: 'one' }
    const applied = await api.patch(locks, keyOf(made), { type: 'apply', body }, options)
    const versions: number[] = []
    for (let turn = 0; turn < 2; turn += 1) {
      await api.delete(locks, keyOf(made))
      const { metadata } = await api.get(locks, keyOf(made))
      versions.push(Number(metadata.resourceVersion) - Number(applied.metadata.resourceVersion))
    }
    expect(versions).toEqual([1, 1])
  })

  it('without a name are told that alone: their rules may speak of it', async () => {
    const { api } = fixture()
    const ruled = JSON.parse(
      JSON.stringify(definition()).replaceAll(
        '"properties":{"holder"',
        '"x-kubernetes-validations":[{"rule":"self.replicas < 3","message":"too many"}],"properties":{"holder"',
      ),
    ) as KubeObject
    await api.create(customResourceDefinitions, ruled)
    const causesOf = async (name: string) =>
      (await refusalOf(api.create(locks, lock(name, { spec: { replicas: 5 } })))).details?.causes?.map(
        ({ field }) => field,
      )
    expect([await causesOf('a'), await causesOf('')]).toEqual([['spec'], ['metadata.name', '<nil>']])
  })
})
