import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../api/kube-object.ts'
import type { ResourceType } from '../api/resource-type.ts'
import { customResourceDefinitions } from '../api/resources.ts'
import { seededRandom } from '../runtime/random.ts'
import { createOptionalCache } from './optional-cache.ts'

const boats: ResourceType = { group: 'story.io', version: 'v1', plural: 'boats', kind: 'Boat', namespaced: true }
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'boats.story.io' },
  spec: {
    group: 'story.io',
    scope: 'Namespaced',
    names: { plural: 'boats', singular: 'boat', kind: 'Boat', listKind: 'BoatList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
} as KubeObject

describe('a cache of a kind that may be missing', () => {
  it('is read and empty while the kind is missing, says so once, and finds the kind when it is installed', async () => {
    const clock = new VirtualClock()
    const random = seededRandom(1)
    const server = new ApiServer({ clock, random })
    server.start()
    const api = server.as(clusterAdmin)
    const told: unknown[] = []
    const cache = createOptionalCache({
      api,
      type: boats,
      clock,
      random,
      onError: (error) => told.push(error),
      onAbsent: () => told.push('absent'),
    })
    const synced = cache.whenSynced()
    await clock.advance(10 * 60_000)
    await synced
    expect([cache.synced, cache.list(), told]).toEqual([true, [], ['absent']])
    expect(cache.ageMs()).toBeLessThanOrEqual(60_000)

    await api.create(customResourceDefinitions, definition)
    await api.create(boats, {
      apiVersion: 'story.io/v1',
      kind: 'Boat',
      metadata: { namespace: 'default', name: 'ark' },
    })
    await clock.advance(60_000)
    expect(cache.list().map(({ metadata }) => metadata.name)).toEqual(['ark'])
    const stopped = cache.stop()
    await clock.advance(1_000)
    await stopped
    server.stop()
  })
})
