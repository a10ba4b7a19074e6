import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { configMaps } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { describe, expect, it } from 'vitest'
import { changedApi, openScenario } from './testing/scenario.ts'
import { View } from './view.ts'

function configMap(name: string, data: Record<string, string> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data }
}

async function openView(change: (api: KubeApi) => Partial<KubeApi> = () => ({})) {
  const scenario = openScenario()
  const api = changedApi(scenario.api, change(scenario.api))
  const view = new View({ api, clock: scenario.clock, type: configMaps })
  const log: string[] = []
  view.subscribe(({ key, before, after }) => {
    const what = before === undefined ? 'came' : after === undefined ? 'went' : 'changed'
    log.push(`${key} ${what} ${after?.data?.['v'] ?? ''}`.trim())
  })
  return { ...scenario, view, log }
}

describe('a view', () => {
  it('tells of what was there, of every change and of what went, in order', async () => {
    const { api, clock, view, log } = await openView()
    await api.create(configMaps, configMap('a', { v: '1' }))
    await clock.advance(10)
    await api.create(configMaps, configMap('b', { v: '1' }))
    await api.patch(configMaps, { namespace: 'default', name: 'a' }, { type: 'merge', body: { data: { v: '2' } } })
    await api.delete(configMaps, { namespace: 'default', name: 'b' })
    await clock.advance(10)
    expect(log).toEqual(['default/a came 1', 'default/b came 1', 'default/a changed 2', 'default/b went'])
    view.stop()
  })

  it('goes back with a server that is restored from a backup, and tells what went, came back and is as before', async () => {
    const { api, clock, server, view, log } = await openView()
    await api.create(configMaps, configMap('a', { v: '1' }))
    await api.create(configMaps, configMap('b', { v: '1' }))
    const backup = server.backup()
    await api.delete(configMaps, { namespace: 'default', name: 'b' })
    await api.patch(configMaps, { namespace: 'default', name: 'a' }, { type: 'merge', body: { data: { v: '2' } } })
    await api.create(configMaps, configMap('c', { v: '1' }))
    await clock.advance(1_000)
    log.length = 0
    server.restore(backup)
    await clock.advance(1_000)
    expect(log.sort()).toEqual(['default/a changed 1', 'default/b came 1', 'default/c went'])
    await api.patch(configMaps, { namespace: 'default', name: 'a' }, { type: 'merge', body: { data: { v: '3' } } })
    await clock.advance(10)
    expect(view.get('default/a')?.data?.['v']).toBe('3')
    view.stop()
  })

  it('shows a write at once when its answer was recorded, and does not tell of it again', async () => {
    const { api, clock, view, log } = await openView()
    await clock.advance(10)
    const written = await api.create(configMaps, configMap('a', { v: '1' }))
    view.record(written)
    expect(view.get('default/a')).toBe(written)
    await clock.advance(10)
    expect(log).toEqual(['default/a came 1'])
    view.stop()
  })

  it('does not bring back an object whose recorded answer is older than what the watch has told', async () => {
    const { api, clock, view } = await openView()
    await clock.advance(10)
    const written = await api.create(configMaps, configMap('a'))
    await api.delete(configMaps, { namespace: 'default', name: 'a' })
    await clock.advance(10)
    view.record(written)
    expect(view.size).toBe(0)
    view.stop()
  })

  it('keeps a new object of the same name when the end of the old one is told late', async () => {
    const { api, clock, view } = await openView()
    await api.create(configMaps, configMap('a', { v: 'old' }))
    await clock.advance(10)
    view.recordDeleted(await api.delete(configMaps, { namespace: 'default', name: 'a' }))
    expect(view.get('default/a')).toBeUndefined()
    view.record(await api.create(configMaps, configMap('a', { v: 'new' })))
    await clock.advance(10)
    expect(view.get('default/a')?.data).toEqual({ v: 'new' })
    view.stop()
  })

  it('lists again after the server has forgotten, and tells of what changed meanwhile', async () => {
    let watches = 0
    const { api, clock, view, log } = await openView((base) => ({
      watch: (type, query) => {
        watches += 1
        if (watches === 1) {
          const next = () => Promise.reject(new ApiError('Expired', 'too old resource version'))
          return { [Symbol.asyncIterator]: () => ({ next }) }
        }
        return base.watch(type, query)
      },
    }))
    await api.create(configMaps, configMap('a'))
    await clock.advance(1_000)
    await api.create(configMaps, configMap('b'))
    await clock.advance(1_000)
    expect({ log, watches }).toEqual({ log: ['default/a came', 'default/b came'], watches: 2 })
    view.stop()
  })

  it('that lists again never shows what there never was: with the old budget gone and the new one not there yet, an oracle blamed the operator', async () => {
    let forget: () => void = () => undefined
    const next = () =>
      new Promise<never>((_, reject) => {
        forget = () => reject(new ApiError('Expired', 'too old resource version'))
      })
    const { api, clock, view } = await openView(() => ({
      watch: () => ({ [Symbol.asyncIterator]: () => ({ next }) }),
    }))
    await api.create(configMaps, configMap('old'))
    await clock.advance(10)
    forget()
    await clock.advance(1_000)
    const shown: string[][] = []
    view.subscribe(() => shown.push([...view.values()].map(({ metadata }) => metadata.name)))
    await api.create(configMaps, configMap('new'))
    await api.delete(configMaps, { namespace: 'default', name: 'old' })
    forget()
    await clock.advance(1_000)
    expect(shown).toEqual([['old'], ['new'], ['new']])
    view.stop()
  })

  it('goes on after the server has closed the watch, without a gap and without repeating itself', async () => {
    let watches = 0
    const { api, clock, view, log } = await openView((base) => ({
      watch: (type, query) => {
        watches += 1
        const events = base.watch(type, query)
        return {
          async *[Symbol.asyncIterator]() {
            for await (const event of events) {
              yield event
              if (watches < 3) return
            }
          },
        }
      },
    }))
    await clock.advance(10)
    for (const name of ['a', 'b', 'c', 'd']) await api.create(configMaps, configMap(name))
    await clock.advance(5_000)
    expect(log).toEqual(['default/a came', 'default/b came', 'default/c came', 'default/d came'])
    view.stop()
  })

  it('keeps its indexes in step with changes', async () => {
    const { api, clock, view } = await openView()
    const byValue = view.indexBy('value', ({ data }) => (data?.['v'] === undefined ? [] : [data['v']]))
    await api.create(configMaps, configMap('a', { v: '1' }))
    await api.create(configMaps, configMap('b', { v: '1' }))
    await clock.advance(10)
    await api.patch(configMaps, { namespace: 'default', name: 'a' }, { type: 'merge', body: { data: { v: '2' } } })
    await api.delete(configMaps, { namespace: 'default', name: 'b' })
    await clock.advance(10)
    const names = (value: string) => [...byValue(value)].map(({ metadata }) => metadata.name)
    expect({ one: names('1'), two: names('2') }).toEqual({ one: [], two: ['a'] })
    view.stop()
  })
})
