import { describe, expect, it } from 'vitest'
import type { Deployment, Scale } from '../../api/apps.ts'
import type { JsonObject } from '../../api/json.ts'
import type { KubeObject } from '../../api/kube-object.ts'
import type { ResourceType } from '../../api/resource-type.ts'
import { configMaps, deployments, pods, replicaSets } from '../../api/resources.ts'
import type { SubresourceOptions } from '../kube-api.ts'
import { type ContractFixture, createMap, pod, refusal } from './fixture.contract.ts'

export function deployment(namespace: string, name: string): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          containers: [
            { name: 'web', image: 'registry.example/web:1', env: [{ name: 'A', value: '1' }] },
            { name: 'log', image: 'registry.example/log:1' },
          ],
        },
      },
    },
  }
}

function imagesOf({ spec }: Deployment): Record<string, string | undefined> {
  return Object.fromEntries(spec.template.spec.containers.map(({ name, image }) => [name, image]))
}

/** Changing a part of one object, and its faces: generation, status, scale. */
export function describePatches(fixture: ContractFixture): void {
  describe('patching', () => {
    it('a JSON patch adds, replaces and removes by path', async () => {
      const namespace = await fixture.namespace()
      await createMap(fixture, namespace, 'a', { data: { kept: '1', changed: '2', removed: '3' } })
      const patched = await fixture.api.patch(
        configMaps,
        { namespace, name: 'a' },
        {
          type: 'json',
          body: [
            { op: 'test', path: '/data/kept', value: '1' },
            { op: 'replace', path: '/data/changed', value: '20' },
            { op: 'remove', path: '/data/removed' },
            { op: 'add', path: '/metadata/labels', value: { 'a/b': 'c' } },
          ],
        },
      )
      expect(patched).toMatchObject({ metadata: { labels: { 'a/b': 'c' } }, data: { kept: '1', changed: '20' } })
      expect(patched.data).not.toHaveProperty('removed')
    })

    it('a JSON patch whose test fails changes nothing', async () => {
      const namespace = await fixture.namespace()
      const created = await createMap(fixture, namespace, 'a', { data: { key: 'old' } })
      const key = { namespace, name: 'a' }
      const call = fixture.api.patch(configMaps, key, {
        type: 'json',
        body: [
          { op: 'replace', path: '/data/key', value: 'new' },
          { op: 'test', path: '/data/key', value: 'other' },
        ],
      })
      expect(await refusal(call)).toMatchObject({ code: 422 })
      expect(await fixture.api.get(configMaps, key)).toEqual(created)
    })

    it('a merge patch merges objects, and null removes', async () => {
      const namespace = await fixture.namespace()
      await createMap(fixture, namespace, 'a', { data: { kept: '1', removed: '2' } })
      const patch = { type: 'merge', body: { data: { removed: null, added: '3' } } } as const
      const patched = await fixture.api.patch(configMaps, { namespace, name: 'a' }, patch)
      expect(patched.data).toEqual({ kept: '1', added: '3' })
    })

    it('a merge patch replaces lists as a whole', async () => {
      const namespace = await fixture.namespace()
      await fixture.api.create(deployments, deployment(namespace, 'web'))
      const containers = [{ name: 'only', image: 'registry.example/only:1' }]
      const patch = { type: 'merge', body: { spec: { template: { spec: { containers } } } } } as const
      const patched = await fixture.api.patch(deployments, { namespace, name: 'web' }, patch)
      expect(imagesOf(patched)).toEqual({ only: 'registry.example/only:1' })
    })

    it('a strategic merge finds containers and their variables by name', async () => {
      const namespace = await fixture.namespace()
      await fixture.api.create(deployments, deployment(namespace, 'web'))
      const containers = [{ name: 'web', image: 'registry.example/web:2', env: [{ name: 'B', value: '2' }] }]
      const patch = { type: 'strategic', body: { spec: { template: { spec: { containers } } } } } as const
      const patched = await fixture.api.patch(deployments, { namespace, name: 'web' }, patch)
      expect(imagesOf(patched)).toEqual({ web: 'registry.example/web:2', log: 'registry.example/log:1' })
      const web = patched.spec.template.spec.containers.find(({ name }) => name === 'web')
      expect(Object.fromEntries((web?.env ?? []).map(({ name, value }) => [name, value]))).toEqual({ A: '1', B: '2' })
    })

    it('a strategic merge deletes the container it is told to delete', async () => {
      const namespace = await fixture.namespace()
      await fixture.api.create(deployments, deployment(namespace, 'web'))
      const containers = [{ name: 'log', $patch: 'delete' }]
      const patch = { type: 'strategic', body: { spec: { template: { spec: { containers } } } } } as const
      const patched = await fixture.api.patch(deployments, { namespace, name: 'web' }, patch)
      expect(imagesOf(patched)).toEqual({ web: 'registry.example/web:1' })
    })

    it('a patch that carries a stale version is refused with 409 and nothing changes', async () => {
      const namespace = await fixture.namespace()
      const { metadata } = await createMap(fixture, namespace, 'a')
      const key = { namespace, name: 'a' }
      const second = await fixture.api.patch(configMaps, key, { type: 'merge', body: { data: { key: 'new' } } })
      const stale = { metadata: { resourceVersion: metadata.resourceVersion ?? '' }, data: { key: 'lost' } }
      expect(await refusal(fixture.api.patch(configMaps, key, { type: 'merge', body: stale }))).toMatchObject({
        code: 409,
        reason: 'Conflict',
      })
      expect(await fixture.api.get(configMaps, key)).toEqual(second)
    })

    it('a patch of an absent object is answered with 404', async () => {
      const namespace = await fixture.namespace()
      const call = fixture.api.patch(configMaps, { namespace, name: 'a' }, { type: 'merge', body: { data: {} } })
      expect(await refusal(call)).toMatchObject({ code: 404, reason: 'NotFound' })
    })

    it('a patch cannot give an object another name', async () => {
      const namespace = await fixture.namespace()
      await createMap(fixture, namespace, 'a')
      const body = { metadata: { name: 'b' } }
      const call = fixture.api.patch(configMaps, { namespace, name: 'a' }, { type: 'merge', body })
      expect(await refusal(call)).toMatchObject({ code: 400, reason: 'BadRequest' })
    })

    it('a pod stays on its node: 422 and nothing changes', async () => {
      const namespace = await fixture.namespace()
      await fixture.api.create(pods, pod(namespace, 'a', { nodeName: 'contract-node' }))
      const body = { spec: { nodeName: 'contract-other' } }
      const call = fixture.api.patch(pods, { namespace, name: 'a' }, { type: 'merge', body })
      expect(await refusal(call)).toMatchObject({ code: 422, reason: 'Invalid' })
    })
  })

  describe('generations', () => {
    it('a change of the spec makes a new generation, and so does a deletion; labels and status do not', async () => {
      const namespace = await fixture.namespace()
      const key = { namespace, name: 'web' }
      const { spec } = deployment(namespace, 'web')
      const created = await fixture.api.create(replicaSets, {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: { ...key, finalizers: ['contract.example/held'] },
        spec: { replicas: 0, selector: spec.selector, template: spec.template },
      })
      const merge = (body: JsonObject, options: SubresourceOptions = {}) =>
        fixture.api.patch(replicaSets, key, { type: 'merge', body }, options)
      expect(created.metadata.generation).toBe(1)
      expect((await merge({ metadata: { labels: { tier: 'front' } } })).metadata.generation).toBe(1)
      const reported = await merge({ status: { observedGeneration: 1 } }, { subresource: 'status' })
      expect(reported.metadata.generation).toBe(1)
      expect((await merge({ spec: { minReadySeconds: 5 } })).metadata.generation).toBe(2)
      expect((await fixture.api.delete(replicaSets, key)).metadata.generation).toBe(3)
      await merge({ metadata: { finalizers: null } })
    })
  })

  describe('scale', () => {
    const scales: ResourceType<Scale & KubeObject> = deployments as unknown as ResourceType<Scale & KubeObject>

    it('the scale of a Deployment shows and sets its replicas', async () => {
      const namespace = await fixture.namespace()
      const key = { namespace, name: 'web' }
      await fixture.api.create(deployments, deployment(namespace, 'web'))
      const scale = await fixture.api.get(scales, key, { subresource: 'scale' })
      expect(scale).toMatchObject({
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { namespace, name: 'web' },
        status: { selector: 'app=web' },
      })
      expect(scale.spec?.replicas ?? 0).toBe(0)
      const { resourceVersion: _, ...metadata } = scale.metadata
      const scaled = await fixture.api.update(
        scales,
        { ...scale, metadata, spec: { replicas: 2 } },
        { subresource: 'scale' },
      )
      expect(scaled).toMatchObject({ kind: 'Scale', spec: { replicas: 2 } })
      expect((await fixture.api.get(deployments, key)).spec.replicas).toBe(2)
      const patch = { type: 'merge', body: { spec: { replicas: 1 } } } as const
      await fixture.api.patch(scales, key, patch, { subresource: 'scale' })
      expect((await fixture.api.get(deployments, key)).spec.replicas).toBe(1)
    })

    it('a negative scale is refused with 422', async () => {
      const namespace = await fixture.namespace()
      await fixture.api.create(deployments, deployment(namespace, 'web'))
      const patch = { type: 'merge', body: { spec: { replicas: -1 } } } as const
      const call = fixture.api.patch(scales, { namespace, name: 'web' }, patch, { subresource: 'scale' })
      expect(await refusal(call)).toMatchObject({ code: 422, reason: 'Invalid' })
    })
  })
}
