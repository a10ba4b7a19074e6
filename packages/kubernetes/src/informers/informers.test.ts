import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../api/api-error.ts'
import type { ConfigMap } from '../api/core.ts'
import { configMaps, namespaces, secrets } from '../api/resources.ts'
import type { KubeApi } from '../client/kube-api.ts'
import { seededRandom } from '../runtime/random.ts'
import type { Informers } from './informers.ts'
import { ListInformers } from './list-informers.ts'
import { WatchInformers } from './watch-informers.ts'

const indexes = { namespace: ({ metadata }: ConfigMap) => [metadata.namespace ?? ''] }
const absent = { ...configMaps, group: 'none.example', plural: 'nothings', kind: 'Nothing' }

async function openCluster() {
  const clock = new VirtualClock()
  const api = new ApiServer({ clock, random: seededRandom(1) }).as(clusterAdmin)
  for (const name of ['a', 'b', 'c']) {
    await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    for (const app of ['x', 'y']) {
      const metadata = { namespace: name, name: app, labels: { app } }
      await api.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { at: `${name}/${app}` } })
    }
  }
  return { api, clock }
}

const ways = {
  'by watches': async (api: KubeApi, clock: VirtualClock, read: (informers: Informers) => () => unknown) => {
    const informers = new WatchInformers({ api, clock, random: seededRandom(2), onError() {} })
    const tell = read(informers)
    await clock.advance(5_000)
    const told = tell()
    informers.stop()
    await clock.advance(60_000)
    return told
  },
  'by one list of each kind': async (
    api: KubeApi,
    clock: VirtualClock,
    read: (informers: Informers) => () => unknown,
  ) => {
    const informers = new ListInformers({ api, clock, signal: new AbortController().signal, notSeen: [] })
    const tell = read(informers)
    await informers.settled()
    return tell()
  },
}

describe.each(Object.entries(ways))('a reader that is fed %s', (_, feed) => {
  it('sees what its selectors ask for, as its projection keeps it', async () => {
    const { api, clock } = await openCluster()
    const told = await feed(api, clock, (informers) => {
      const all = informers.open('all', { type: configMaps, project: ({ data }: ConfigMap) => data?.['at'] ?? '' })
      const some = informers.open('some', { type: configMaps, namespace: 'b', labelSelector: 'app=y', indexes })
      return () => ({
        all: [...all.list()].sort(),
        one: all.get({ namespace: 'c', name: 'x' }),
        some: some.byIndex('namespace', 'b').map(({ data }) => data?.['at']),
        areRead: [all.synced, some.synced],
      })
    })
    expect(told).toEqual({
      all: ['a/x', 'a/y', 'b/x', 'b/y', 'c/x', 'c/y'],
      one: 'c/x',
      some: ['b/y'],
      areRead: [true, true],
    })
  })

  it('finds a kind that the cluster does not have read and empty, and can say that it is absent', async () => {
    const { api, clock } = await openCluster()
    let isTold = false
    const told = await feed(api, clock, (informers) => {
      const view = informers.openOptional('nothings', { type: absent, onAbsent: () => (isTold = true) })
      const there = informers.openOptional('configmaps', { type: configMaps })
      return () => [view.synced, view.isServed(), [...view.list()], there.isServed()]
    })
    expect([told, isTold]).toEqual([[true, false, [], true], true])
  })

  it('loses one namespace that it may not read, not the others; whoever asks for that one hears why', async () => {
    const { api, clock } = await openCluster()
    const refuse = (namespace: string | undefined) => {
      if (namespace === 'b') throw new ApiError('Forbidden', 'configmaps is forbidden in "b"')
    }
    const limited: KubeApi = {
      ...bound(api),
      list: async (type, query) => {
        refuse(query?.namespace)
        return api.list(type, query)
      },
      watch: (type, query) => {
        refuse(query?.namespace)
        return api.watch(type, query)
      },
    }
    const told = await feed(limited, clock, (informers) => {
      const view = informers.openScoped('scoped', { type: configMaps, namespaces: ['a', 'b'], indexes })
      return () => [view.synced, [...view.list()].length, refusalOf(() => view.byIndex('namespace', 'b'))]
    })
    expect(told).toEqual([true, 2, 'configmaps is forbidden in "b"'])
  })

  it('is refused a namespace that it has not named: nothing there is taken for "nothing is there"', async () => {
    const { api, clock } = await openCluster()
    const told = await feed(api, clock, (informers) => {
      const view = informers.openScoped('scoped', { type: configMaps, namespaces: ['a'], indexes })
      return () => refusalOf(() => view.byIndex('namespace', 'c'))
    })
    expect(told).toBe('configmaps in the namespace "c" are not read: it is not named')
  })
})

describe('one list of each kind', () => {
  it('is taken once however many read it, and what may not be read is noted and stays unread', async () => {
    const { api, clock } = await openCluster()
    const asked: string[] = []
    const limited = {
      list: async (...[type, query]: Parameters<KubeApi['list']>) => {
        asked.push(type.plural)
        if (type.plural === 'secrets') throw new ApiError('Forbidden', 'secrets is forbidden')
        return api.list(type, query)
      },
    } as Pick<KubeApi, 'list'>
    const notSeen: string[] = []
    const informers = new ListInformers({ api: limited, clock, signal: new AbortController().signal, notSeen })
    const views = [1, 2, 3].map((at) => informers.open(`maps ${at}`, { type: configMaps }))
    const hidden = informers.open('secrets', { type: secrets })
    await informers.settled()
    expect(views.map((view) => [...view.list()].length)).toEqual([6, 6, 6])
    expect([asked, hidden.synced, hidden.ageMs()]).toEqual([['configmaps', 'secrets'], false, Number.POSITIVE_INFINITY])
    expect(notSeen).toEqual(['secrets: secrets is forbidden'])
  })

  it('ends with the error where the server cannot be reached: half a picture is no answer', async () => {
    const { clock } = await openCluster()
    const api = { list: () => Promise.reject(new Error('connection refused')) } as Pick<KubeApi, 'list'>
    const informers = new ListInformers({ api, clock, signal: new AbortController().signal, notSeen: [] })
    const view = informers.open('maps', { type: configMaps })
    await expect(informers.settled()).rejects.toThrow('connection refused')
    expect(view.synced).toBe(false)
  })
})

describe('watches', () => {
  it('refuse a second view of the same name: the first would never be stopped', async () => {
    const { api, clock } = await openCluster()
    const informers = new WatchInformers({ api, clock, random: seededRandom(2), onError() {} })
    informers.open('maps', { type: configMaps })
    expect(() => informers.open('maps', { type: configMaps })).toThrow('two views are called maps')
    await clock.advance(1_000)
    expect(Object.keys(informers.ages())).toEqual(['maps'])
    informers.stop()
    await clock.advance(60_000)
  })
})

function refusalOf(read: () => unknown): string | undefined {
  try {
    read()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

function bound(api: KubeApi): KubeApi {
  return {
    get: (...request) => api.get(...request),
    list: (...request) => api.list(...request),
    watch: (...request) => api.watch(...request),
    create: (...request) => api.create(...request),
    update: (...request) => api.update(...request),
    patch: (...request) => api.patch(...request),
    delete: (...request) => api.delete(...request),
    createSubresource: (...request) => api.createSubresource(...request),
    deleteCollection: (...request) => api.deleteCollection(...request),
  }
}
