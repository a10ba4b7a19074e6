import { describe, expect, it } from 'vitest'
import type { Deployment } from '../../api/apps.ts'
import type { ConfigMap } from '../../api/core.ts'
import type { JsonObject } from '../../api/json.ts'
import { configMaps, deployments } from '../../api/resources.ts'
import type { WriteOptions } from '../kube-api.ts'
import { type ContractFixture, createMap, refusal } from './fixture.contract.ts'
import { deployment } from './patches.contract.ts'

/** Server-side apply: everybody says what they want, the server keeps who wanted what. */
export function describeApply(fixture: ContractFixture): void {
  function applyData(
    namespace: string,
    manager: string,
    data: JsonObject,
    options: WriteOptions & { readonly force?: boolean } = {},
  ): Promise<ConfigMap> {
    const { force, ...write } = options
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace }, data }
    const patch = { type: 'apply', body, ...(force === undefined ? {} : { force }) } as const
    return fixture.api.patch(configMaps, { namespace, name: 'a' }, patch, { ...write, fieldManager: manager })
  }

  const ownersOf = ({ metadata }: ConfigMap) =>
    Object.fromEntries(
      (metadata.managedFields ?? []).map(({ manager, operation, fieldsV1 }) => [
        `${manager} ${operation}`,
        Object.keys((fieldsV1?.['f:data'] ?? {}) as JsonObject).filter((field) => field !== '.'),
      ]),
    )

  describe('server-side apply', () => {
    it('makes the object when it is not there, and notes who owns which field', async () => {
      const namespace = await fixture.namespace()
      const applied = await applyData(namespace, 'ann', { x: '1', y: '2' })
      expect(applied.data).toEqual({ x: '1', y: '2' })
      expect(ownersOf(applied)).toEqual({ 'ann Apply': ['f:x', 'f:y'] })
      expect(await fixture.api.get(configMaps, { namespace, name: 'a' })).toEqual(applied)
    })

    it('of the same again changes nothing', async () => {
      const namespace = await fixture.namespace()
      const applied = await applyData(namespace, 'ann', { x: '1' })
      const again = await applyData(namespace, 'ann', { x: '1' })
      expect(again.metadata.resourceVersion).toBe(applied.metadata.resourceVersion)
    })

    it('of another manager adds to what is there', async () => {
      const namespace = await fixture.namespace()
      await applyData(namespace, 'ann', { x: '1' })
      const applied = await applyData(namespace, 'bob', { y: '2' })
      expect(applied.data).toEqual({ x: '1', y: '2' })
      expect(ownersOf(applied)).toEqual({ 'ann Apply': ['f:x'], 'bob Apply': ['f:y'] })
    })

    it('that would change what another manager applied is refused with 409, and nothing changes', async () => {
      const namespace = await fixture.namespace()
      const applied = await applyData(namespace, 'ann', { x: '1' })
      expect(await refusal(applyData(namespace, 'bob', { x: '2', y: '2' }))).toMatchObject({
        code: 409,
        reason: 'Conflict',
        message: 'Apply failed with 1 conflict: conflict with "ann": .data.x',
        details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "ann"', field: '.data.x' }] },
      })
      expect(await fixture.api.get(configMaps, { namespace, name: 'a' })).toEqual(applied)
    })

    it('that agrees with another manager makes both owners', async () => {
      const namespace = await fixture.namespace()
      await applyData(namespace, 'ann', { x: '1' })
      const applied = await applyData(namespace, 'bob', { x: '1' })
      expect(ownersOf(applied)).toEqual({ 'ann Apply': ['f:x'], 'bob Apply': ['f:x'] })
    })

    it('with force takes the field over', async () => {
      const namespace = await fixture.namespace()
      await applyData(namespace, 'ann', { x: '1', y: '1' })
      const applied = await applyData(namespace, 'bob', { x: '2' }, { force: true })
      expect(applied.data).toEqual({ x: '2', y: '1' })
      expect(ownersOf(applied)).toEqual({ 'ann Apply': ['f:y'], 'bob Apply': ['f:x'] })
    })

    it('that leaves a field out removes it, unless another manager owns it too', async () => {
      const namespace = await fixture.namespace()
      await applyData(namespace, 'ann', { own: '1', shared: '1', kept: '1' })
      await applyData(namespace, 'bob', { shared: '1' })
      const applied = await applyData(namespace, 'ann', { kept: '1' })
      expect(applied.data).toEqual({ shared: '1', kept: '1' })
    })

    it('conflicts with a plain write to the same field', async () => {
      const namespace = await fixture.namespace()
      await applyData(namespace, 'ann', { x: '1' })
      const patch = { type: 'merge', body: { data: { x: 'edited' } } } as const
      await fixture.api.patch(configMaps, { namespace, name: 'a' }, patch, { fieldManager: 'editor' })
      const refused = await refusal(applyData(namespace, 'ann', { x: '1' }))
      expect(refused).toMatchObject({ code: 409, details: { causes: [{ field: '.data.x' }] } })
      expect(refused.message).toContain('conflict with "editor"')
    })

    it('over an object that was created otherwise leaves what it does not name', async () => {
      const namespace = await fixture.namespace()
      await createMap(fixture, namespace, 'a', { data: { x: '1' } })
      expect((await applyData(namespace, 'ann', { y: '2' })).data).toEqual({ x: '1', y: '2' })
    })

    it('in a dry run answers and stores nothing', async () => {
      const namespace = await fixture.namespace()
      const applied = await applyData(namespace, 'ann', { x: '1' })
      expect((await applyData(namespace, 'ann', { x: '2' }, { dryRun: true })).data).toEqual({ x: '2' })
      expect(await fixture.api.get(configMaps, { namespace, name: 'a' })).toEqual(applied)
    })

    it('without a field manager is refused', async () => {
      const namespace = await fixture.namespace()
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace } }
      const call = fixture.api.patch(configMaps, { namespace, name: 'a' }, { type: 'apply', body })
      const refused = await refusal(call)
      expect(refused).toMatchObject({ code: 422, reason: 'Invalid' })
      expect(refused.message).toContain('fieldManager: Required value')
    })

    it('finds the containers of a pod template by name', async () => {
      const namespace = await fixture.namespace()
      const key = { namespace, name: 'web' }
      const applyAs = (fieldManager: string, spec: JsonObject): Promise<Deployment> => {
        const body = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: key, spec }
        return fixture.api.patch(deployments, key, { type: 'apply', body }, { fieldManager })
      }
      await applyAs('ann', deployment(namespace, 'web').spec as unknown as JsonObject)
      const sidecar = { name: 'sidecar', image: 'registry.example/sidecar:1' }
      const applied = await applyAs('bob', { template: { spec: { containers: [sidecar] } } })
      expect(applied.spec.template.spec.containers.map(({ name }) => name).toSorted()).toEqual([
        'log',
        'sidecar',
        'web',
      ])
      const without = await applyAs('bob', {})
      expect(without.spec.template.spec.containers.map(({ name }) => name).toSorted()).toEqual(['log', 'web'])
    })
  })
}
