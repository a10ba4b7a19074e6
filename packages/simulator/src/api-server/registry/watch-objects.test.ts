import { configMaps, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { collect, configMap, fixture, inDefault, pod, refusalOf } from './testing/fixture.ts'

async function firstOf(events: AsyncIterable<unknown>): Promise<unknown> {
  return (await events[Symbol.asyncIterator]().next()).value
}

const inNamespace = { namespace: 'default' }

describe('a watch', () => {
  it('without a version begins with what is there, and goes on with what happens', async () => {
    const { api, clock } = fixture()
    await api.create(configMaps, configMap('b'))
    await api.create(configMaps, configMap('a'))
    await api.create(configMaps, configMap('elsewhere', {}, { namespace: 'kube-system' }))
    const watch = collect(api.watch(configMaps, inNamespace))
    await api.create(configMaps, configMap('c'))
    await clock.advance(0)
    expect(watch.seen).toEqual(['ADDED a 1006', 'ADDED b 1005', 'ADDED c 1008'])
  })

  it('shows its beginning as it was when the watch was opened, however slowly it is read', async () => {
    const { api, clock } = fixture()
    const made = await api.create(configMaps, configMap('a'))
    const events = api.watch(configMaps, inNamespace)
    await api.update(configMaps, { ...made, data: { late: 'yes' } })
    const watch = collect(events)
    await clock.advance(0)
    expect(watch.seen).toEqual(['ADDED a 1005', 'MODIFIED a 1006'])
  })

  it('with sendInitialEvents ends its beginning with a bookmark', async () => {
    const { api, clock } = fixture()
    await api.create(configMaps, configMap('a'))
    const query = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowBookmarks: true } as const
    const watch = collect(api.watch(configMaps, query))
    await clock.advance(0)
    expect(watch.seen).toEqual(['ADDED a 1005', 'BOOKMARK 1005 end of initial events'])
  })

  it('is told of that end also when it reads for longer than a minute: without it a client waits for ever', async () => {
    const { api, clock } = fixture()
    await api.create(configMaps, configMap('a'))
    const query = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowBookmarks: true } as const
    const events = api.watch(configMaps, query)
    await api.create(configMaps, configMap('b'))
    await clock.advance(70_000)
    const watch = collect(events)
    await clock.advance(0)
    expect(watch.seen).toEqual(['ADDED a 1005', 'BOOKMARK 1005 end of initial events', 'ADDED b 1006', 'BOOKMARK 1006'])
  })

  it('is told about every minute how far it has come, if it asked for that', async () => {
    const { api, clock } = fixture()
    const [told, untold] = [{ allowBookmarks: true }, {}].map((query) =>
      collect(api.watch(configMaps, { ...query, resourceVersion: '1004' })),
    )
    await api.create(pods, pod('of-another-kind'))
    await clock.advance(70_000)
    expect([told?.seen, untold?.seen]).toEqual([['BOOKMARK 1005'], []])
    await clock.advance(70_000)
    expect(told?.seen).toEqual(['BOOKMARK 1005', 'BOOKMARK 1005'])
  })

  it('ends when its time is over, with a last bookmark shortly before', async () => {
    const { api, clock } = fixture()
    const watch = collect(api.watch(configMaps, { resourceVersion: '1004', timeoutSeconds: 10, allowBookmarks: true }))
    await clock.advance(9_999)
    expect(watch).toEqual({ seen: ['BOOKMARK 1004'], ended: false })
    await clock.advance(1)
    expect(watch.ended).toBe(true)
    expect(clock.nextAt()).toBeUndefined()
  })

  it('ends when its signal fires, and leaves no timer behind', async () => {
    const { api, clock } = fixture()
    const abort = new AbortController()
    const watch = collect(api.watch(configMaps, { signal: abort.signal, allowBookmarks: true, timeoutSeconds: 60 }))
    await clock.advance(0)
    abort.abort()
    await clock.advance(0)
    expect(watch.ended).toBe(true)
    expect(clock.nextAt()).toBeUndefined()
  })

  it('whose reader stops reading is closed behind it', async () => {
    const { api, clock } = fixture()
    await api.create(configMaps, configMap('a'))
    for await (const event of api.watch(configMaps, { allowBookmarks: true })) if (event.type === 'ADDED') break
    expect(clock.nextAt()).toBeUndefined()
  })

  it('that falls behind further than the log reaches ends, and cannot resume: 410', async () => {
    const { api, clock } = fixture({ eventLogLength: 3 })
    const { resourceVersion } = await api.list(configMaps)
    const events = api.watch(configMaps, { resourceVersion })
    for (const name of ['a', 'b', 'c', 'd']) await api.create(configMaps, configMap(name))
    const watch = collect(events)
    await clock.advance(0)
    expect(watch).toEqual({ seen: [], ended: true })
    expect(await refusalOf(firstOf(api.watch(configMaps, { resourceVersion })))).toMatchObject({
      code: 410,
      reason: 'Expired',
      message: 'too old resource version: 1004 (1005)',
    })
  })

  it('resumes from any version the log still reaches', async () => {
    const { api, clock } = fixture({ eventLogLength: 3 })
    for (const name of ['a', 'b', 'c', 'd']) await api.create(configMaps, configMap(name))
    const watch = collect(api.watch(configMaps, { resourceVersion: '1005' }))
    await clock.advance(0)
    expect(watch.seen).toEqual(['ADDED b 1006', 'ADDED c 1007', 'ADDED d 1008'])
  })

  it('from the future is refused with 504 and the present version', async () => {
    const { api } = fixture()
    expect(await refusalOf(firstOf(api.watch(configMaps, { resourceVersion: '5000' })))).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      code: 504,
      reason: 'Timeout',
      message: 'Timeout: Too large resource version: 5000, current: 1004',
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
    })
  })

  it('from a version that is none is refused with 400', async () => {
    const { api } = fixture()
    const refusal = await refusalOf(firstOf(api.watch(configMaps, { resourceVersion: 'soon' })))
    expect([refusal.code, refusal.message]).toEqual([
      400,
      'resourceVersion: Invalid value: "soon": strconv.ParseUint: parsing "soon": invalid syntax',
    ])
  })
})

describe('a watch with a selector', () => {
  it('sees objects enter and leave the selection, and the last state it knew when they leave', async () => {
    const { api } = fixture()
    const made = await api.create(configMaps, configMap('a', { step: '1' }, { labels: { watched: 'no' } }))
    const { resourceVersion } = made.metadata
    const events = api.watch(configMaps, { labelSelector: 'watched=yes', ...(resourceVersion && { resourceVersion }) })
    const label = (watched: string, step: string) =>
      api.patch(configMaps, inDefault('a'), {
        type: 'merge',
        body: { metadata: { labels: { watched } }, data: { step } },
      })
    const entered = await label('yes', '2')
    const changed = await label('yes', '3')
    const left = await label('no', '4')
    const iterator = events[Symbol.asyncIterator]()
    const seen = [await iterator.next(), await iterator.next(), await iterator.next()].map(({ value }) => value)
    await iterator.return?.()
    const lastKnown = { ...changed.metadata, resourceVersion: left.metadata.resourceVersion }
    expect(seen).toEqual([
      { type: 'ADDED', object: entered },
      { type: 'MODIFIED', object: changed },
      { type: 'DELETED', object: { ...changed, metadata: lastKnown } },
    ])
  })

  it('by node sees a pod once it is bound', async () => {
    const { api, clock } = fixture()
    const watch = collect(api.watch(pods, { fieldSelector: 'spec.nodeName=n1' }))
    await api.create(pods, pod('elsewhere', { nodeName: 'n2' }))
    await api.create(pods, pod('bound'))
    await api.createSubresource(pods, inDefault('bound'), 'binding', { target: { kind: 'Node', name: 'n1' } })
    await clock.advance(0)
    expect(watch.seen).toEqual(['ADDED bound 1007'])
  })
})
