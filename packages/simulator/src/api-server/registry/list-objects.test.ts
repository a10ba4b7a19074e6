import { configMaps, events, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { ListQuery } from '@cofferdam/kubernetes/client/kube-api.ts'
import { describe, expect, it } from 'vitest'
import { continueText } from './continue-token.ts'
import { configMap, type Fixture, fixture, inDefault, pod, refusalOf } from './testing/fixture.ts'

async function withMaps(names: readonly string[], options = {}): Promise<Fixture> {
  const made = fixture(options)
  for (const name of names) await made.api.create(configMaps, configMap(name))
  return made
}

async function pagesOf({ api }: Fixture, query: ListQuery): Promise<string[][]> {
  const pages: string[][] = []
  let continueToken: string | undefined
  do {
    const page = await api.list(configMaps, { ...query, ...(continueToken === undefined ? {} : { continueToken }) })
    pages.push(page.items.map(({ metadata }) => metadata.name))
    continueToken = page.continueToken
  } while (continueToken !== undefined)
  return pages
}

describe('pages of a list', () => {
  it('hold what the limit allows, in the order of the names', async () => {
    const made = await withMaps(['c', 'a', 'e', 'b', 'd'])
    expect(await pagesOf(made, { namespace: 'default', limit: 2 })).toEqual([['a', 'b'], ['c', 'd'], ['e']])
    expect(await pagesOf(made, { namespace: 'default', limit: 5 })).toEqual([['a', 'b', 'c', 'd', 'e']])
  })

  it('say how many are left within the namespace, unless something is selected', async () => {
    const made = await withMaps(['a', 'b', 'c'])
    await made.api.create(configMaps, configMap('z', {}, { namespace: 'kube-system' }))
    const left = async (query: ListQuery) => (await made.api.list(configMaps, query)).remainingItemCount
    expect(await left({ namespace: 'default', limit: 1 })).toBe(2)
    expect(await left({ limit: 1 })).toBe(3)
    expect(await left({ limit: 1, labelSelector: '!none' })).toBeUndefined()
  })

  it('show the moment of the first page, whatever happens between them', async () => {
    const { api } = await withMaps(['a', 'b', 'c'])
    const first = await api.list(configMaps, { limit: 1 })
    await api.delete(configMaps, inDefault('b'))
    await api.create(configMaps, configMap('bb'))
    const rest = await api.list(configMaps, { continueToken: first.continueToken as string })
    expect(rest.items.map(({ metadata }) => metadata.name)).toEqual(['b', 'c'])
    expect(rest.resourceVersion).toBe(first.resourceVersion)
  })

  it('cannot be turned after a compaction: 410, and the reader starts again', async () => {
    const { api, server } = await withMaps(['a', 'b'])
    const { continueToken } = await api.list(configMaps, { limit: 1 })
    await api.create(configMaps, configMap('c'))
    server.compact()
    expect(await refusalOf(api.list(configMaps, { limit: 1, continueToken: continueToken as string }))).toMatchObject({
      code: 410,
      reason: 'Expired',
    })
  })

  it('are refused with 400 for a token that no list gave', async () => {
    const { api } = fixture()
    for (const continueToken of ['x', continueText({ version: 0, start: 'a' })]) {
      expect((await refusalOf(api.list(configMaps, { continueToken }))).code).toBe(400)
    }
  })
})

describe('the version of a list', () => {
  it('is that of the latest write to anything', async () => {
    const { api, server } = await withMaps(['a'])
    await api.create(pods, pod('p'))
    expect((await api.list(configMaps)).resourceVersion).toBe(String(server.version))
  })

  it('asked for exactly shows the state of then', async () => {
    const { api } = await withMaps(['a'])
    const { resourceVersion } = await api.list(configMaps)
    await api.delete(configMaps, inDefault('a'))
    const then = await api.list(configMaps, { resourceVersion, resourceVersionMatch: 'Exact' })
    expect([then.resourceVersion, then.items.map(({ metadata }) => metadata.name)]).toEqual([resourceVersion, ['a']])
  })

  it('asked for exactly and forgotten is refused with 410', async () => {
    const { api, server } = await withMaps(['a'])
    const { resourceVersion } = await api.list(configMaps)
    await api.create(configMaps, configMap('b'))
    server.compact()
    expect(await refusalOf(api.list(configMaps, { resourceVersion, resourceVersionMatch: 'Exact' }))).toMatchObject({
      code: 410,
      message: 'The resourceVersion for the provided list is too old.',
    })
  })

  it('from the future is refused with 504, one that is none with 400, a match without a version with 422', async () => {
    const { api } = fixture()
    const codes = await Promise.all(
      [
        { resourceVersion: '9999999' },
        { resourceVersion: '-1' },
        { resourceVersionMatch: 'Exact' as const },
        { resourceVersion: '0', resourceVersionMatch: 'Exact' as const },
      ].map(async (query) => (await refusalOf(api.list(configMaps, query))).code),
    )
    expect(codes).toEqual([504, 400, 422, 422])
  })
})

describe('a field selector', () => {
  it('finds the pods of a node among many, in one namespace or in all', async () => {
    const { api } = fixture()
    for (let at = 0; at < 300; at += 1) {
      const namespace = at % 2 === 0 ? 'default' : 'kube-system'
      await api.create(pods, pod(`p${String(at).padStart(3, '0')}`, { nodeName: `n${at % 100}` }, { namespace }))
    }
    const found = async (query: ListQuery) => (await api.list(pods, query)).items.map(({ metadata }) => metadata.name)
    const fieldSelector = 'spec.nodeName=n7'
    expect(await found({ fieldSelector })).toEqual(['p007', 'p107', 'p207'])
    expect(await found({ fieldSelector, namespace: 'default' })).toEqual([])
    expect(await found({ fieldSelector, limit: 3 })).toEqual(['p007', 'p107', 'p207'])
    expect(await found({ fieldSelector, limit: 2 })).toEqual(['p007', 'p107'])
    expect(await found({ fieldSelector: `${fieldSelector},metadata.name!=p107` })).toEqual(['p007', 'p207'])
    await api.delete(pods, { namespace: 'kube-system', name: 'p107' }, { gracePeriodSeconds: 0 })
    expect(await found({ fieldSelector })).toEqual(['p007', 'p207'])
  })

  it('finds what an object leaves out by its zero value: nodes that are not cordoned', async () => {
    const { api } = fixture()
    const node = (name: string, spec = {}) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name }, spec })
    await api.create(nodes, node('calm'))
    await api.create(nodes, node('cordoned', { unschedulable: true }))
    const named = async (fieldSelector: string) =>
      (await api.list(nodes, { fieldSelector })).items.map(({ metadata }) => metadata.name)
    expect(await named('spec.unschedulable=false')).toEqual(['calm'])
    expect(await named('spec.unschedulable=true')).toEqual(['cordoned'])
    expect(await named('spec.unschedulable!=true')).toEqual(['calm'])
  })

  it('on a field that nobody selects by is refused with 400 and its name', async () => {
    const { api } = fixture()
    expect(await refusalOf(api.list(pods, { fieldSelector: 'spec.hostname=x' }))).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: 'field label not supported: spec.hostname',
    })
  })
})

describe('events', () => {
  const newEvents = { ...events, group: 'events.k8s.io' }
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'e1', namespace: 'default' },
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
    reason: 'Evicted',
    message: 'made room',
    type: 'Normal',
    source: { component: 'drainer' },
    count: 2,
  } as const

  it('are one set of objects with two faces', async () => {
    const { api } = fixture()
    await api.create(events, event)
    expect(await api.get(newEvents, inDefault('e1'))).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
      note: 'made room',
      deprecatedSource: { component: 'drainer' },
      deprecatedCount: 2,
    })
    const fieldSelector = 'regarding.name=p'
    expect((await api.list(newEvents, { fieldSelector })).items.map(({ metadata }) => metadata.name)).toEqual(['e1'])
    await api.delete(newEvents, inDefault('e1'))
    expect((await api.list(events)).items).toEqual([])
  })

  it('written with the new face are read with the old one', async () => {
    const { api } = fixture()
    const written = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'e2', namespace: 'default' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      regarding: { kind: 'Node', name: 'n1' },
      reason: 'Cordoned',
      action: 'Cordon',
      note: 'no new pods',
      type: 'Normal',
      reportingController: 'cofferdam.io/operator',
      reportingInstance: 'operator-1',
    }
    await api.create(newEvents, written as unknown as typeof event)
    expect(await api.get(events, inDefault('e2'))).toMatchObject({
      apiVersion: 'v1',
      involvedObject: { kind: 'Node', name: 'n1' },
      message: 'no new pods',
      reportingComponent: 'cofferdam.io/operator',
    })
  })
})
