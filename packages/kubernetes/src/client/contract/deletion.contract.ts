import { describe, expect, it } from 'vitest'
import type { KubeObject, OwnerReference } from '../../api/kube-object.ts'
import { keyOf } from '../../api/resource-type.ts'
import { configMaps, namespaces, podDisruptionBudgets, pods } from '../../api/resources.ts'
import { type ContractFixture, createMap, eventually, isGone, pod, refusal } from './fixture.contract.ts'

const heldBy = ['contract.example/held']

/** How objects end: at once, after a grace period, after finalizers, with or without their dependents. */
export function describeDeletion(fixture: ContractFixture): void {
  describe('deleting', () => {
    it('a deleted object is gone, and its name is free again', async () => {
      const namespace = await fixture.namespace()
      const first = await createMap(fixture, namespace, 'a')
      await fixture.api.delete(configMaps, { namespace, name: 'a' })
      expect(await refusal(fixture.api.get(configMaps, { namespace, name: 'a' }))).toMatchObject({ code: 404 })
      const second = await createMap(fixture, namespace, 'a')
      expect(second.metadata.uid).not.toBe(first.metadata.uid)
    })

    it('an absent object is answered with 404', async () => {
      const namespace = await fixture.namespace()
      expect(await refusal(fixture.api.delete(configMaps, { namespace, name: 'a' }))).toMatchObject({
        code: 404,
        reason: 'NotFound',
      })
    })

    it('a precondition that does not hold is refused with 409 and the object stays', async () => {
      const namespace = await fixture.namespace()
      const created = await createMap(fixture, namespace, 'a')
      const key = { namespace, name: 'a' }
      const { uid = '', resourceVersion = '' } = created.metadata
      const other = '00000000-0000-4000-8000-000000000000'
      for (const preconditions of [{ uid: other }, { resourceVersion: '1' }, { uid, resourceVersion: '1' }]) {
        expect(await refusal(fixture.api.delete(configMaps, key, { preconditions }))).toMatchObject({
          code: 409,
          reason: 'Conflict',
        })
      }
      expect(await fixture.api.get(configMaps, key)).toEqual(created)
      await fixture.api.delete(configMaps, key, { preconditions: { uid, resourceVersion } })
      expect(await isGone(fixture.api, configMaps, created)).toBe(true)
    })

    it('a collection is deleted as far as the selector reaches', async () => {
      const namespace = await fixture.namespace()
      for (const name of ['a', 'b', 'c']) {
        await createMap(fixture, namespace, name, { metadata: { name, labels: { go: name === 'c' ? 'no' : 'yes' } } })
      }
      await fixture.api.deleteCollection(configMaps, { namespace, labelSelector: 'go=yes' })
      const left = await fixture.api.list(configMaps, { namespace, labelSelector: 'go' })
      expect(left.items.map(({ metadata }) => metadata.name)).toEqual(['c'])
    })
  })

  describe('finalizers', () => {
    it('hold a deleted object until they are removed', async () => {
      const namespace = await fixture.namespace()
      const key = { namespace, name: 'a' }
      const created = await createMap(fixture, namespace, 'a', { metadata: { name: 'a', finalizers: heldBy } })
      const deleted = await fixture.api.delete(configMaps, key)
      expect(deleted.metadata).toMatchObject({
        uid: created.metadata.uid,
        deletionTimestamp: expect.stringMatching(/Z$/),
        deletionGracePeriodSeconds: 0,
        finalizers: heldBy,
      })
      const again = await fixture.api.delete(configMaps, key)
      expect(again.metadata.deletionTimestamp).toBe(deleted.metadata.deletionTimestamp)
      await fixture.api.patch(configMaps, key, { type: 'merge', body: { metadata: { finalizers: null } } })
      expect(await isGone(fixture.api, configMaps, created)).toBe(true)
    })

    it('without a domain are those of Kubernetes alone: 422; budgets take any, and any name', async () => {
      const namespace = await fixture.namespace()
      const finalizers = ['foregroundDeletion', 'hold']
      const refused = await refusal(createMap(fixture, namespace, 'a', { metadata: { name: 'a', finalizers } }))
      expect(refused).toMatchObject({ code: 422, details: { causes: [{ field: 'metadata.finalizers[1]' }] } })
      const spec = { minAvailable: 1 }
      const metadata = { namespace, name: 'Any_Name', finalizers: ['hold'] }
      const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec }
      expect((await fixture.api.create(podDisruptionBudgets, budget, { dryRun: true })).metadata).toMatchObject(
        metadata,
      )
    })

    it('cannot be added to an object that is being deleted: 422', async () => {
      const namespace = await fixture.namespace()
      const key = { namespace, name: 'a' }
      await createMap(fixture, namespace, 'a', { metadata: { name: 'a', finalizers: heldBy } })
      await fixture.api.delete(configMaps, key)
      const body = { metadata: { finalizers: [...heldBy, 'contract.example/late'] } }
      const refused = await refusal(fixture.api.patch(configMaps, key, { type: 'merge', body }))
      expect(refused).toMatchObject({ code: 422, reason: 'Invalid' })
      // Servers may look at metadata more than once, and then name the same cause again.
      const causes = new Set(refused.details?.causes?.map(({ reason, field }) => `${field} ${reason}`))
      expect([...causes]).toEqual(['metadata.finalizers FieldValueForbidden'])
      await fixture.api.patch(configMaps, key, { type: 'merge', body: { metadata: { finalizers: null } } })
    })

    it('a deletion cannot be taken back', async () => {
      const namespace = await fixture.namespace()
      const key = { namespace, name: 'a' }
      await createMap(fixture, namespace, 'a', { metadata: { name: 'a', finalizers: heldBy } })
      const deleted = await fixture.api.delete(configMaps, key)
      const { deletionTimestamp: _, ...metadata } = deleted.metadata
      const updated = await fixture.api.update(configMaps, { ...deleted, metadata, data: { key: 'new' } })
      expect(updated.metadata.deletionTimestamp).toBe(deleted.metadata.deletionTimestamp)
      await fixture.api.patch(configMaps, key, { type: 'merge', body: { metadata: { finalizers: null } } })
    })
  })

  describe('grace', () => {
    it('a pod on a node is given its grace period, and ends when it is cut to nothing', async () => {
      const namespace = await fixture.namespace()
      const key = { namespace, name: 'a' }
      const created = await fixture.api.create(pods, pod(namespace, 'a', { nodeName: 'contract-node' }))
      const status = { phase: 'Running' }
      await fixture.api.patch(pods, key, { type: 'merge', body: { status } }, { subresource: 'status' })
      const going = await fixture.api.delete(pods, key)
      expect(going.metadata).toMatchObject({ deletionGracePeriodSeconds: 30, deletionTimestamp: expect.anything() })
      const shorter = await fixture.api.delete(pods, key, { gracePeriodSeconds: 10 })
      expect(shorter.metadata.deletionGracePeriodSeconds).toBe(10)
      await fixture.api.delete(pods, key, { gracePeriodSeconds: 0 })
      expect(await isGone(fixture.api, pods, created)).toBe(true)
    })

    it('a pod that no node has taken goes at once', async () => {
      const namespace = await fixture.namespace()
      const created = await fixture.api.create(pods, pod(namespace, 'a'))
      await fixture.api.delete(pods, keyOf(created))
      expect(await isGone(fixture.api, pods, created)).toBe(true)
    })
  })

  describe('owners', () => {
    const ownedBy = (
      { apiVersion, kind, metadata }: KubeObject,
      more: Partial<OwnerReference> = {},
    ): OwnerReference => ({
      apiVersion,
      kind,
      name: metadata.name,
      uid: metadata.uid ?? '',
      ...more,
    })

    it('what an owner leaves behind is collected', async () => {
      const namespace = await fixture.namespace()
      const owner = await createMap(fixture, namespace, 'owner')
      const owned = await createMap(fixture, namespace, 'owned', {
        metadata: { name: 'owned', ownerReferences: [ownedBy(owner)] },
      })
      await fixture.api.delete(configMaps, keyOf(owner), { propagationPolicy: 'Background' })
      await eventually(() => isGone(fixture.api, configMaps, owned))
    })

    it('what has another owner left stays, and no longer names the one that went', async () => {
      const namespace = await fixture.namespace()
      const one = await createMap(fixture, namespace, 'one')
      const two = await createMap(fixture, namespace, 'two')
      const owned = await createMap(fixture, namespace, 'owned', {
        metadata: { name: 'owned', ownerReferences: [ownedBy(one), ownedBy(two)] },
      })
      await fixture.api.delete(configMaps, keyOf(one), { propagationPolicy: 'Background' })
      const left = await eventually(async () => {
        const { metadata } = await fixture.api.get(configMaps, keyOf(owned))
        return metadata.ownerReferences?.length === 1 && metadata.ownerReferences
      })
      expect(left).toEqual([ownedBy(two)])
    })

    it('an orphaned object stays without its owner', async () => {
      const namespace = await fixture.namespace()
      const owner = await createMap(fixture, namespace, 'owner')
      const owned = await createMap(fixture, namespace, 'owned', {
        metadata: { name: 'owned', ownerReferences: [ownedBy(owner)] },
      })
      await fixture.api.delete(configMaps, keyOf(owner), { propagationPolicy: 'Orphan' })
      await eventually(() => isGone(fixture.api, configMaps, owner))
      const left = await fixture.api.get(configMaps, keyOf(owned))
      expect(left.metadata.uid).toBe(owned.metadata.uid)
      expect(left.metadata.ownerReferences ?? []).toEqual([])
    })

    it('in a foreground deletion the owner waits for what blocks it', async () => {
      const namespace = await fixture.namespace()
      const owner = await createMap(fixture, namespace, 'owner')
      const owned = await createMap(fixture, namespace, 'owned', {
        metadata: {
          name: 'owned',
          finalizers: heldBy,
          ownerReferences: [ownedBy(owner, { blockOwnerDeletion: true })],
        },
      })
      const waiting = await fixture.api.delete(configMaps, keyOf(owner), { propagationPolicy: 'Foreground' })
      expect(waiting.metadata.finalizers).toEqual(['foregroundDeletion'])
      await eventually(async () => (await fixture.api.get(configMaps, keyOf(owned))).metadata.deletionTimestamp)
      expect(await isGone(fixture.api, configMaps, owner)).toBe(false)
      await fixture.api.patch(configMaps, keyOf(owned), { type: 'merge', body: { metadata: { finalizers: null } } })
      await eventually(() => isGone(fixture.api, configMaps, owner))
    })
  })

  describe('namespaces', () => {
    it('take their content with them, and take nothing in while they end', async () => {
      const name = await fixture.namespace()
      const held = await createMap(fixture, name, 'held', { metadata: { name: 'held', finalizers: heldBy } })
      const plain = await createMap(fixture, name, 'plain')
      const namespace = await fixture.api.get(namespaces, { name })
      await fixture.api.delete(namespaces, { name })
      await eventually(async () => (await fixture.api.get(namespaces, { name })).status?.phase === 'Terminating')
      expect(await refusal(createMap(fixture, name, 'late'))).toMatchObject({
        code: 403,
        reason: 'Forbidden',
        details: { causes: [{ reason: 'NamespaceTerminating' }] },
      })
      await eventually(() => isGone(fixture.api, configMaps, plain))
      expect(await isGone(fixture.api, namespaces, namespace)).toBe(false)
      await fixture.api.patch(configMaps, keyOf(held), { type: 'merge', body: { metadata: { finalizers: null } } })
      await eventually(() => isGone(fixture.api, namespaces, namespace))
    })
  })
}
