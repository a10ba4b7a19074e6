import { describe, expect, it } from 'vitest'
import type { ConfigMap, Node } from '../../api/core.ts'
import { configMaps, namespaces, nodes, pods } from '../../api/resources.ts'
import { type ContractFixture, configMap, createMap, pod, refusal } from './fixture.contract.ts'

/** Creating, reading and replacing one object. */
export function describeWrites(fixture: ContractFixture): void {
  describe('creating', () => {
    it('a created object gets a uid, a version and a time, and is read back as it was answered', async () => {
      const namespace = await fixture.namespace()
      const created = await createMap(fixture, namespace, 'a', { data: { key: 'value' } })
      expect(created).toMatchObject({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          namespace,
          name: 'a',
          uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
          resourceVersion: expect.stringMatching(/^[0-9]+$/),
          creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        },
        data: { key: 'value' },
      })
      expect(await fixture.api.get(configMaps, { namespace, name: 'a' })).toEqual(created)
    })

    it('what only the server may set is not taken from the writer', async () => {
      const namespace = await fixture.namespace()
      const created = await createMap(fixture, namespace, 'a', {
        metadata: { name: 'a', uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z' },
      })
      expect(created.metadata.uid).not.toBe('mine')
      expect(created.metadata.creationTimestamp).not.toBe('2001-01-01T00:00:00Z')
    })

    it('a second object of the same name is refused with 409 AlreadyExists', async () => {
      const namespace = await fixture.namespace()
      await createMap(fixture, namespace, 'a')
      expect(await refusal(createMap(fixture, namespace, 'a'))).toMatchObject({
        code: 409,
        reason: 'AlreadyExists',
        message: 'configmaps "a" already exists',
        details: { name: 'a', kind: 'configmaps' },
      })
    })

    it('a generated name begins as asked and is new each time', async () => {
      const namespace = await fixture.namespace()
      const wanted = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { generateName: 'made-', namespace },
      } as unknown as ConfigMap
      const made = [await fixture.api.create(configMaps, wanted), await fixture.api.create(configMaps, wanted)]
      for (const { metadata } of made) expect(metadata.name).toMatch(/^made-[a-z0-9]{5}$/)
      expect(made[0]?.metadata.name).not.toBe(made[1]?.metadata.name)
    })

    it('an object with a resourceVersion cannot be created: 500', async () => {
      const namespace = await fixture.namespace()
      const call = createMap(fixture, namespace, 'a', { metadata: { name: 'a', resourceVersion: '1' } })
      expect(await refusal(call)).toMatchObject({
        code: 500,
        message: 'resourceVersion should not be set on objects to be created',
      })
    })

    it('nothing can be created in a namespace that is not there: 404', async () => {
      expect(await refusal(createMap(fixture, 'no-such-namespace', 'a'))).toMatchObject({
        code: 404,
        reason: 'NotFound',
        message: 'namespaces "no-such-namespace" not found',
      })
    })

    it('a name that is no name is refused with 422, and the field is named', async () => {
      const namespace = await fixture.namespace()
      expect(await refusal(createMap(fixture, namespace, 'No Such Name'))).toMatchObject({
        code: 422,
        reason: 'Invalid',
        details: { kind: 'ConfigMap', causes: [{ reason: 'FieldValueInvalid', field: 'metadata.name' }] },
      })
    })

    it('an object without what its kind requires is refused with 422, and the field is named', async () => {
      const namespace = await fixture.namespace()
      const empty = { ...pod(namespace, 'a'), spec: { containers: [] } }
      expect(await refusal(fixture.api.create(pods, empty))).toMatchObject({
        code: 422,
        reason: 'Invalid',
        details: { kind: 'Pod', causes: [{ reason: 'FieldValueRequired', field: 'spec.containers' }] },
      })
    })

    it('a field of the wrong type is refused with 400', async () => {
      const namespace = await fixture.namespace()
      const wrong = configMap(namespace, 'a', { data: { number: 5 } as unknown as Record<string, string> })
      expect(await refusal(fixture.api.create(configMaps, wrong))).toMatchObject({ code: 400, reason: 'BadRequest' })
    })

    it('an unknown field is dropped, or refused with 400 when the writer is strict', async () => {
      const namespace = await fixture.namespace()
      const odd = { ...configMap(namespace, 'a'), colour: 'red' } as ConfigMap
      const strict = await refusal(fixture.api.create(configMaps, odd, { fieldValidation: 'Strict' }))
      expect(strict).toMatchObject({ code: 400, reason: 'BadRequest' })
      expect(strict.message).toContain('unknown field "colour"')
      expect(await fixture.api.create(configMaps, odd)).not.toHaveProperty('colour')
    })
  })

  describe('reading', () => {
    it('an absent object is answered with 404, by resource and name', async () => {
      const namespace = await fixture.namespace()
      expect(await refusal(fixture.api.get(configMaps, { namespace, name: 'a' }))).toMatchObject({
        code: 404,
        reason: 'NotFound',
        message: 'configmaps "a" not found',
        details: { name: 'a', kind: 'configmaps' },
      })
    })

    it('a kind that is not served is answered with 404', async () => {
      const type = { group: 'nobody.example', version: 'v1', plural: 'things', kind: 'Thing', namespaced: false }
      expect(await refusal(fixture.api.list(type))).toMatchObject({ code: 404, reason: 'NotFound' })
    })
  })

  describe('replacing', () => {
    it('an update with the version it was read at succeeds and makes a new version', async () => {
      const namespace = await fixture.namespace()
      const created = await createMap(fixture, namespace, 'a', { data: { key: 'old' } })
      const updated = await fixture.api.update(configMaps, { ...created, data: { key: 'new' } })
      expect(updated).toMatchObject({ metadata: { uid: created.metadata.uid }, data: { key: 'new' } })
      expect(BigInt(updated.metadata.resourceVersion ?? '')).toBeGreaterThan(
        BigInt(created.metadata.resourceVersion ?? ''),
      )
    })

    it('a stale update is refused with 409 and nothing changes', async () => {
      const namespace = await fixture.namespace()
      const created = await createMap(fixture, namespace, 'a', { data: { key: 'old' } })
      const updated = await fixture.api.update(configMaps, { ...created, data: { key: 'new' } })
      expect(await refusal(fixture.api.update(configMaps, { ...created, data: { key: 'lost' } }))).toMatchObject({
        code: 409,
        reason: 'Conflict',
        message:
          'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
      })
      expect(await fixture.api.get(configMaps, { namespace, name: 'a' })).toEqual(updated)
    })

    it('of two writers with the same version exactly one wins', async () => {
      const namespace = await fixture.namespace()
      const created = await createMap(fixture, namespace, 'a')
      const outcomes = await Promise.allSettled(
        ['x', 'y', 'z'].map((key) => fixture.api.update(configMaps, { ...created, data: { key } })),
      )
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected'])
    })

    it('an update without a version takes the present one', async () => {
      const namespace = await fixture.namespace()
      await createMap(fixture, namespace, 'a', { data: { key: 'old' } })
      const updated = await fixture.api.update(configMaps, configMap(namespace, 'a', { data: { key: 'new' } }))
      expect(updated.data).toEqual({ key: 'new' })
    })

    it('an update that changes nothing makes no new version', async () => {
      const namespace = await fixture.namespace()
      const created = await createMap(fixture, namespace, 'a', { data: { key: 'value' } })
      const again = await fixture.api.update(configMaps, { ...created, data: { key: 'value' } })
      expect(again.metadata.resourceVersion).toBe(created.metadata.resourceVersion)
    })

    it('an update of another object of the same name is refused with 409', async () => {
      const namespace = await fixture.namespace()
      await createMap(fixture, namespace, 'a')
      const other = configMap(namespace, 'a', {
        metadata: { name: 'a', uid: '00000000-0000-4000-8000-000000000000' },
      })
      expect(await refusal(fixture.api.update(configMaps, other))).toMatchObject({ code: 409, reason: 'Conflict' })
    })

    it('an update of an absent object is answered with 404', async () => {
      const namespace = await fixture.namespace()
      expect(await refusal(fixture.api.update(configMaps, configMap(namespace, 'a')))).toMatchObject({ code: 404 })
    })

    it('an immutable field is refused with 422 and nothing changes', async () => {
      const namespace = await fixture.namespace()
      const created = await createMap(fixture, namespace, 'a', { data: { key: 'old' }, immutable: true })
      const call = fixture.api.update(configMaps, { ...created, data: { key: 'new' } })
      expect(await refusal(call)).toMatchObject({
        code: 422,
        reason: 'Invalid',
        details: { causes: [{ field: 'data' }] },
      })
      expect(await fixture.api.get(configMaps, { namespace, name: 'a' })).toEqual(created)
    })
  })

  describe('status and spec', () => {
    it('a write to the object leaves its status, a write to the status leaves the rest', async () => {
      const name = `contract-${await fixture.namespace()}`
      const plain: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name } }
      await fixture.api.create(nodes, plain)
      try {
        const capacity = { cpu: '4', memory: '8Gi', pods: '110' }
        const status = { capacity, allocatable: capacity }
        const reported = await fixture.api.patch(
          nodes,
          { name },
          { type: 'merge', body: { spec: { unschedulable: true }, status } },
          { subresource: 'status' },
        )
        expect(reported.status?.capacity).toEqual(capacity)
        expect(reported.spec?.unschedulable).toBeUndefined()
        const cordoned = await fixture.api.patch(
          nodes,
          { name },
          { type: 'merge', body: { spec: { unschedulable: true }, status: { capacity: { cpu: '1' } } } },
        )
        expect(cordoned.spec?.unschedulable).toBe(true)
        expect(cordoned.status?.capacity).toEqual(capacity)
      } finally {
        await fixture.api.delete(nodes, { name })
      }
    })

    it('a namespace is active with the finalizer of the cluster', async () => {
      const name = await fixture.namespace()
      expect(await fixture.api.get(namespaces, { name })).toMatchObject({
        metadata: { labels: { 'kubernetes.io/metadata.name': name } },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      })
    })
  })

  describe('dry run', () => {
    it('answers as if it had been done, and nothing is stored', async () => {
      const namespace = await fixture.namespace()
      const dryRun = { dryRun: true }
      const imagined = await fixture.api.create(configMaps, configMap(namespace, 'imagined'), dryRun)
      expect(imagined.metadata.uid).toMatch(/^[0-9a-f-]{36}$/)
      expect(await refusal(fixture.api.get(configMaps, { namespace, name: 'imagined' }))).toMatchObject({ code: 404 })

      const created = await createMap(fixture, namespace, 'a', { data: { key: 'old' } })
      const key = { namespace, name: 'a' }
      expect((await fixture.api.update(configMaps, { ...created, data: { key: 'new' } }, dryRun)).data).toEqual({
        key: 'new',
      })
      const patch = { type: 'merge', body: { data: { key: 'new' } } } as const
      expect((await fixture.api.patch(configMaps, key, patch, dryRun)).data).toEqual({ key: 'new' })
      await fixture.api.delete(configMaps, key, dryRun)
      expect(await fixture.api.get(configMaps, key)).toEqual(created)
    })

    it('refuses what would be refused', async () => {
      const namespace = await fixture.namespace()
      await createMap(fixture, namespace, 'a')
      const call = fixture.api.create(configMaps, configMap(namespace, 'a'), { dryRun: true })
      expect(await refusal(call)).toMatchObject({ code: 409, reason: 'AlreadyExists' })
    })
  })
}
