import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject, OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { configMaps, customResourceDefinitions, nodes, pods, replicaSets } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../harness/virtual-clock.ts'
import { ApiServer } from './api-server.ts'
import type { EmbeddedApi } from './embedded-api.ts'
import { startGarbageCollector } from './garbage-collector.ts'
import { decorated } from './testing/decorated-api.ts'
import { clusterAdmin } from './user-info.ts'

function fixture() {
  const clock = new VirtualClock()
  const server = new ApiServer({ clock, random: seededRandom(1) })
  server.start()
  const api = server.as(clusterAdmin)
  return {
    clock,
    server,
    api,
    map: (name: string, owners: readonly OwnerReference[] = [], more: Partial<ConfigMap['metadata']> = {}) =>
      api.create(configMaps, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace: 'default', name, ownerReferences: owners, ...more },
      }),
    left: async (type: ResourceType = configMaps) =>
      (await api.list(type)).items.map((object) => keyText(keyOf(object))),
    release: (object: KubeObject) =>
      api.patch(configMaps, keyOf(object), { type: 'merge', body: { metadata: { finalizers: null } } }),
  }
}

const ownedBy = ({ apiVersion, kind, metadata }: KubeObject, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid ?? '',
  ...more,
})

describe('the garbage collector', () => {
  it('deletes what has lost its owner, and what that owned in turn', async () => {
    const { clock, api, map, left } = fixture()
    const owner = await map('owner')
    const child = await map('child', [ownedBy(owner)])
    await map('grandchild', [ownedBy(child)])
    await map('stranger')
    await clock.advance(1000)
    expect(await left()).toHaveLength(4)
    await api.delete(configMaps, keyOf(owner), { propagationPolicy: 'Background' })
    await clock.advance(1000)
    expect(await left()).toEqual(['default/stranger'])
  })

  it('deletes what names an owner that never was', async () => {
    const { clock, map, left } = fixture()
    const ghost = { apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: '00000000-0000-4000-8000-000000000000' }
    await map('child', [ghost])
    await clock.advance(1000)
    expect(await left()).toEqual([])
  })

  it('deletes what names an owner whose name now belongs to another', async () => {
    const { clock, map, left } = fixture()
    const owner = await map('owner')
    await map('child', [ownedBy(owner, { uid: '00000000-0000-4000-8000-000000000000' })])
    await clock.advance(1000)
    expect(await left()).toEqual(['default/owner'])
  })

  it('deletes what names an owner in another namespace', async () => {
    const { clock, map, left } = fixture()
    const owner = await map('owner', [], { namespace: 'kube-system' })
    await map('child', [ownedBy(owner)])
    await clock.advance(1000)
    expect(await left()).toEqual(['kube-system/owner'])
  })

  it('keeps what a cluster-scoped object owns, until that goes', async () => {
    const { clock, api, map, left } = fixture()
    const node = await api.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } })
    await map('child', [ownedBy(node)])
    await clock.advance(1000)
    expect(await left()).toEqual(['default/child'])
    await api.delete(nodes, { name: 'node-1' })
    await clock.advance(1000)
    expect(await left()).toEqual([])
  })

  it('keeps a cluster-scoped object that names a namespaced owner', async () => {
    const { clock, api, map, left } = fixture()
    const owner = await map('owner')
    await api.create(nodes, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'node-1', ownerReferences: [ownedBy(owner)] },
    })
    await api.delete(configMaps, keyOf(owner))
    await clock.advance(60_000)
    expect(await left(nodes)).toEqual(['node-1'])
  })

  it('keeps what names an owner of a kind that is not served', async () => {
    const { clock, map, left } = fixture()
    const unknown = { apiVersion: 'nobody.example/v1', kind: 'Thing', name: 'x', uid: 'y' }
    await map('child', [unknown])
    await clock.advance(60_000)
    expect(await left()).toEqual(['default/child'])
  })

  it('keeps what still has one owner, and takes the lost one out', async () => {
    const { clock, api, map } = fixture()
    const [one, two] = [await map('one'), await map('two')]
    const child = await map('child', [ownedBy(one), ownedBy(two)])
    await api.delete(configMaps, keyOf(one))
    await clock.advance(1000)
    expect((await api.get(configMaps, keyOf(child))).metadata.ownerReferences).toEqual([ownedBy(two)])
  })

  it('lets dependents go free when the owner is deleted as an orphan maker', async () => {
    const { clock, api, map, left } = fixture()
    const owner = await map('owner')
    const other = await map('other')
    await map('child-1', [ownedBy(owner)])
    await map('child-2', [ownedBy(owner), ownedBy(other)])
    await api.delete(configMaps, keyOf(owner), { propagationPolicy: 'Orphan' })
    await clock.advance(60_000)
    expect(await left()).toEqual(['default/child-1', 'default/child-2', 'default/other'])
    const freed = (await api.list(configMaps)).items.map(({ metadata }) => metadata.ownerReferences ?? [])
    expect(freed).toEqual([[], [ownedBy(other)], []])
  })

  it('lets a foreground owner go only after everything that blocks it, down to the last', async () => {
    const { clock, api, map, left, release } = fixture()
    const owner = await map('owner')
    const child = await map('child', [ownedBy(owner, { blockOwnerDeletion: true })])
    const grandchild = await map('grandchild', [ownedBy(child, { blockOwnerDeletion: true })], {
      finalizers: ['story.example/held'],
    })
    await clock.advance(1000)
    await api.delete(configMaps, keyOf(owner), { propagationPolicy: 'Foreground' })
    await clock.advance(60_000)
    expect(await left()).toEqual(['default/child', 'default/grandchild', 'default/owner'])
    const going = await Promise.all([owner, child, grandchild].map((each) => api.get(configMaps, keyOf(each))))
    expect(going.map(({ metadata }) => metadata.finalizers)).toEqual([
      ['foregroundDeletion'],
      ['foregroundDeletion'],
      ['story.example/held'],
    ])
    await release(grandchild)
    await clock.advance(1000)
    expect(await left()).toEqual([])
  })

  it('does not let what does not block hold a foreground owner back', async () => {
    const { clock, api, map, left, release } = fixture()
    const owner = await map('owner')
    const child = await map('child', [ownedBy(owner)], { finalizers: ['story.example/held'] })
    await clock.advance(1000)
    await api.delete(configMaps, keyOf(owner), { propagationPolicy: 'Foreground' })
    await clock.advance(1000)
    expect(await left()).toEqual(['default/child'])
    await release(child)
  })

  it('opens a circle of owners that wait for each other', async () => {
    const { clock, api, map, left } = fixture()
    const one = await map('one')
    const two = await map('two', [ownedBy(one, { blockOwnerDeletion: true })])
    const body = { metadata: { ownerReferences: [{ ...ownedBy(two, { blockOwnerDeletion: true }) }] } }
    await api.patch(configMaps, keyOf(one), { type: 'merge', body })
    await clock.advance(1000)
    await api.delete(configMaps, keyOf(one), { propagationPolicy: 'Foreground' })
    await clock.advance(60_000)
    expect(await left()).toEqual([])
  })

  it('finishes what was under way before it started', async () => {
    const clock = new VirtualClock()
    const server = new ApiServer({ clock, random: seededRandom(1) })
    const api = server.as(clusterAdmin)
    const make = (name: string, owners: OwnerReference[]) =>
      api.create(configMaps, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace: 'default', name, ownerReferences: owners },
      })
    const owner = await make('owner', [])
    await make('child', [ownedBy(owner, { blockOwnerDeletion: true })])
    const gone = await make('gone', [])
    await make('left-over', [ownedBy(gone)])
    await api.delete(configMaps, keyOf(gone))
    await api.delete(configMaps, keyOf(owner), { propagationPolicy: 'Foreground' })
    server.start()
    await clock.advance(5000)
    expect((await api.list(configMaps)).items).toEqual([])
  })

  it('does nothing any more after it was stopped', async () => {
    const { clock, server, api, map, left } = fixture()
    const owner = await map('owner')
    await map('child', [ownedBy(owner)])
    await clock.advance(1000)
    server.stop()
    await api.delete(configMaps, keyOf(owner))
    await clock.advance(60_000)
    expect(await left()).toEqual(['default/child'])
  })

  it('clears away ten thousand pods of one ReplicaSet in time that grows with their number', async () => {
    const { clock, api, left } = fixture()
    const labels = { app: 'web' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }] } }
    const owner = await api.create(replicaSets, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { namespace: 'default', name: 'web' },
      spec: { replicas: 10_000, selector: { matchLabels: labels }, template },
    })
    const ownerReferences = [ownedBy(owner, { controller: true, blockOwnerDeletion: true })]
    for (let index = 0; index < 10_000; index += 1) {
      const metadata = { namespace: 'default', name: `web-${index}`, labels, ownerReferences }
      await api.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec: template.spec })
    }
    await clock.advance(1000)
    await api.delete(replicaSets, keyOf(owner), { propagationPolicy: 'Foreground' })
    await clock.advance(60_000)
    expect([await left(pods), await left(replicaSets)]).toEqual([[], []])
  })

  it('leaves the same trace for the same seed', async () => {
    const trace = async () => {
      const { clock, api, map } = fixture()
      const seen: string[] = []
      const abort = new AbortController()
      void (async () => {
        for await (const event of api.watch(configMaps, { resourceVersion: '0', signal: abort.signal })) {
          if (event.type !== 'BOOKMARK') seen.push(`${clock.now()} ${event.type} ${JSON.stringify(event.object)}`)
        }
      })()
      const owner = await map('owner')
      for (let index = 0; index < 20; index += 1) await map(`child-${index}`, [ownedBy(owner)])
      await api.delete(configMaps, keyOf(owner), { propagationPolicy: 'Foreground' })
      await clock.advance(5000)
      abort.abort()
      return seen
    }
    const [first, second] = [await trace(), await trace()]
    expect(first.length).toBeGreaterThan(40)
    expect(second).toEqual(first)
  })

  describe('with kinds that come and go', () => {
    const group = 'story.example'
    const gates: ResourceType = { group, version: 'v1', plural: 'gates', kind: 'Gate', namespaced: true }
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `gates.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'gates', singular: 'gate', kind: 'Gate', listKind: 'GateList' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    } as KubeObject
    const gate = (name: string): KubeObject => ({
      apiVersion: `${group}/v1`,
      kind: 'Gate',
      metadata: { namespace: 'default', name },
    })

    it('deletes what an object of a new kind leaves behind', async () => {
      const { clock, api, map, left } = fixture()
      await api.create(customResourceDefinitions, definition)
      await clock.advance(5000)
      const owner = await api.create(gates, gate('owner'))
      await map('child', [ownedBy(owner)])
      await clock.advance(5000)
      expect(await left()).toEqual(['default/child'])
      await api.delete(gates, keyOf(owner))
      await clock.advance(5000)
      expect(await left()).toEqual([])
    })

    it('judges what names an owner of a kind that was not served, as soon as it is', async () => {
      const { clock, api, map, left } = fixture()
      await map('child', [{ apiVersion: `${group}/v1`, kind: 'Gate', name: 'never', uid: 'never-was' }])
      await clock.advance(5000)
      expect(await left()).toEqual(['default/child'])
      await api.create(customResourceDefinitions, definition)
      await clock.advance(5000)
      expect(await left()).toEqual([])
    })

    it('keeps what objects of a kind owned that is no longer served, rather than guess', async () => {
      const { clock, api, map, left } = fixture()
      await api.create(customResourceDefinitions, definition)
      await clock.advance(5000)
      const owner = await api.create(gates, gate('owner'))
      await clock.advance(5000)
      await api.delete(customResourceDefinitions, keyOf(definition))
      await map('child', [ownedBy(owner)])
      await clock.advance(5000)
      expect(await left()).toEqual(['default/child'])
    })
  })

  describe('when the API stumbles', () => {
    const failing = (server: ApiServer, clock: VirtualClock, replaced: (api: EmbeddedApi) => Partial<EmbeddedApi>) => {
      const api = server.as(clusterAdmin)
      return startGarbageCollector({
        api: decorated(api, replaced(api)),
        catalogue: server.catalogue,
        clock,
        observe: server.observe,
      })
    }

    async function orphanOf(api: EmbeddedApi): Promise<void> {
      const make = (name: string, ownerReferences: OwnerReference[]) =>
        api.create(configMaps, {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { namespace: 'default', name, ownerReferences },
        })
      const owner = await make('owner', [])
      await make('child', [ownedBy(owner)])
      await api.delete(configMaps, keyOf(owner))
    }

    it('tries again later', async () => {
      const clock = new VirtualClock()
      const server = new ApiServer({ clock, random: seededRandom(1) })
      const api = server.as(clusterAdmin)
      let failures = 3
      const collector = failing(server, clock, (real) => ({
        delete: async (type, key, options) => {
          if (failures-- > 0) throw new ApiError('InternalError', 'the disk is full')
          return real.delete(type, key, options)
        },
      }))
      await orphanOf(api)
      await clock.advance(5000)
      collector.stop()
      expect(failures).toBe(-1)
      expect((await api.list(configMaps)).items).toEqual([])
    })

    it('keeps what it cannot judge', async () => {
      const clock = new VirtualClock()
      const server = new ApiServer({ clock, random: seededRandom(1) })
      const api = server.as(clusterAdmin)
      const collector = failing(server, clock, (real) => ({
        get: async (type, key, options) => {
          if (key.name === 'owner') throw new ApiError('InternalError', 'the disk is full')
          return real.get(type, key, options)
        },
      }))
      await orphanOf(api)
      await clock.advance(60_000)
      collector.stop()
      expect((await api.list(configMaps)).items.map(({ metadata }) => metadata.name)).toEqual(['child'])
    })

    it('does not delete what was adopted between the judgement and the deletion', async () => {
      const clock = new VirtualClock()
      const server = new ApiServer({ clock, random: seededRandom(1) })
      const api = server.as(clusterAdmin)
      const metadata = { namespace: 'default', name: 'adopter' }
      const adopter = await api.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
      let isAdopted = false
      const collector = failing(server, clock, (real) => ({
        delete: async (type, key, options) => {
          if (!isAdopted) {
            isAdopted = true
            const body = { metadata: { ownerReferences: [{ ...ownedBy(adopter) }] } }
            await real.patch(configMaps, key, { type: 'merge', body })
          }
          return real.delete(type, key, options)
        },
      }))
      await orphanOf(api)
      await clock.advance(60_000)
      collector.stop()
      expect(isAdopted).toBe(true)
      expect((await api.list(configMaps)).items.map(({ metadata }) => metadata.name)).toEqual(['adopter', 'child'])
    })
  })
})
