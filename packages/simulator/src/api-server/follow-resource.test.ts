import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { configMaps } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../harness/virtual-clock.ts'
import { ApiServer } from './api-server.ts'
import type { EmbeddedApi } from './embedded-api.ts'
import { followResource } from './follow-resource.ts'
import { decorated } from './testing/decorated-api.ts'
import { clusterAdmin } from './user-info.ts'

function stage(replaced: (api: EmbeddedApi) => Partial<EmbeddedApi> = () => ({})) {
  const clock = new VirtualClock()
  const api = new ApiServer({ clock, random: seededRandom(1) }).as(clusterAdmin)
  const told: string[] = []
  const abort = new AbortController()
  let ended: Promise<void> | undefined
  return {
    clock,
    told,
    start: () => {
      ended = followResource({ api: decorated(api, replaced(api)), clock, signal: abort.signal }, configMaps, {
        onPresent: ({ metadata }) => told.push(`${metadata.name} is there`),
        onGone: ({ metadata }) => told.push(`${metadata.name} has gone`),
        onComplete: () => told.push('that is all'),
      })
    },
    stop: async () => {
      abort.abort()
      await ended
    },
    make: (name: string) =>
      api.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name } }),
    remove: (name: string) => api.delete(configMaps, { namespace: 'default', name }),
  }
}

describe('following a resource', () => {
  it('tells what is there, that this is all, and then each change', async () => {
    const { clock, told, make, remove, start, stop } = stage()
    await make('a')
    start()
    await clock.advance(0)
    await make('b')
    await remove('a')
    await clock.advance(0)
    await stop()
    expect(told).toEqual(['a is there', 'that is all', 'b is there', 'a has gone'])
  })

  it('lists again after a gap, and tells what went meanwhile', async () => {
    let watches = 0
    const { clock, told, make, remove, start, stop } = stage((api) => ({
      watch: (type, query) => {
        watches += 1
        return watches === 2 ? api.watch(type, query) : refuse(new ApiError('Expired', 'too old'))
      },
      list: async (type, query) => {
        if (watches === 1) {
          await remove('a')
          await make('b')
        }
        return api.list(type, query)
      },
    }))
    await make('a')
    start()
    await clock.advance(0)
    await stop()
    expect(told).toEqual(['a is there', 'that is all', 'b is there', 'a has gone', 'that is all'])
  })

  it('goes on after the API was away for a while', async () => {
    let failures = 3
    const { clock, told, make, start, stop } = stage((api) => ({
      list: async (type, query) => {
        if (failures-- > 0) throw new ApiError('ServiceUnavailable', 'starting')
        return api.list(type, query)
      },
    }))
    await make('a')
    start()
    await clock.advance(2999)
    expect(told).toEqual([])
    await clock.advance(1)
    await stop()
    expect(told).toEqual(['a is there', 'that is all'])
  })

  it('tells nothing more once it was stopped', async () => {
    const { clock, told, make, start, stop } = stage()
    start()
    await clock.advance(0)
    await stop()
    await make('a')
    await clock.advance(5000)
    expect(told).toEqual(['that is all'])
  })
})

async function* refuse(error: ApiError): AsyncGenerator<never> {
  yield* []
  throw error
}
