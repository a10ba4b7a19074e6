import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { configMaps } from '@cofferdam/kubernetes/api/resources.ts'
import type { WatchEvent } from '@cofferdam/kubernetes/client/kube-api.ts'
import { describe, expect, it } from 'vitest'
import type { EmbeddedApi } from '../embedded-api.ts'
import type { ServedApi } from './served-api.ts'
import { configMapNamed, configMapsPath, faceForTest, podNamed, podsPath } from './testing/face.ts'

/** The server, with this API for every user. */
function served(server: ServedApi, api: EmbeddedApi): ServedApi {
  const { catalogue, authorizer } = server
  return { catalogue, authorizer, authenticate: (token) => server.authenticate(token), as: () => api }
}

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'

/** Reads a watch line by line; ends the connection when told. */
async function openWatch(url: string, accept?: string) {
  const leave = new AbortController()
  const response = await fetch(url, { signal: leave.signal, ...(accept === undefined ? {} : { headers: { accept } }) })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  let text = ''
  return {
    response,
    leave: () => leave.abort(),
    // biome-ignore lint/suspicious/noExplicitAny: events are looked into freely by the tests
    async next(): Promise<any> {
      for (;;) {
        const at = text.indexOf('\n')
        if (at !== -1) {
          const line = text.slice(0, at)
          text = text.slice(at + 1)
          return JSON.parse(line)
        }
        const { done, value } = await reader.read()
        if (done) return undefined
        text += decoder.decode(value, { stream: true })
      }
    },
  }
}

describe('a watch over HTTP', () => {
  it('shows the present state, then what happens, in order', async () => {
    const { face, call } = await faceForTest()
    await call(configMapsPath, { body: configMapNamed('a') })
    const watch = await openWatch(`${face.url}${configMapsPath}?watch=true`)
    expect(watch.response.headers.get('content-type')).toBe('application/json')
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { kind: 'ConfigMap', metadata: { name: 'a' } } })
    const merge = { method: 'PATCH', type: 'application/merge-patch+json', body: { data: { x: '1' } } }
    await call(`${configMapsPath}/a`, merge)
    await call(`${configMapsPath}/a`, { method: 'DELETE' })
    expect(await watch.next()).toMatchObject({ type: 'MODIFIED', object: { data: { x: '1' } } })
    expect(await watch.next()).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'a' } } })
    watch.leave()
  })

  it('resumes after the version of a list', async () => {
    const { face, call } = await faceForTest()
    await call(configMapsPath, { body: configMapNamed('a') })
    const version = (await call(configMapsPath)).json.metadata.resourceVersion
    await call(configMapsPath, { body: configMapNamed('b') })
    const watch = await openWatch(`${face.url}${configMapsPath}?watch=true&resourceVersion=${version}`)
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'b' } } })
    watch.leave()
  })

  it('that asks for the state first is told where it ends', async () => {
    const { face, call } = await faceForTest()
    await call(configMapsPath, { body: configMapNamed('a') })
    const query = 'watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan'
    const watch = await openWatch(`${face.url}${configMapsPath}?${query}`)
    expect(await watch.next()).toMatchObject({ type: 'ADDED' })
    expect(await watch.next()).toMatchObject({
      type: 'BOOKMARK',
      object: {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } },
      },
    })
    watch.leave()
  })

  it('as a table heads only its first row', async () => {
    const { face, call } = await faceForTest()
    await call(podsPath, { body: podNamed('a') })
    const watch = await openWatch(`${face.url}${podsPath}?watch=true`, table)
    const first = (await watch.next()).object
    expect([first.kind, first.rows.length, first.columnDefinitions.length]).toEqual(['Table', 1, 9])
    await call(podsPath, { body: podNamed('b') })
    const second = (await watch.next()).object
    expect([second.columnDefinitions, second.rows[0].cells.slice(0, 4)]).toEqual([[], ['b', '0/1', 'Pending', '0']])
    watch.leave()
  })

  it('from a version that was forgotten gets 410 inside the stream, as clients expect', async () => {
    const { face, call, server } = await faceForTest()
    await call(configMapsPath, { body: configMapNamed('a') })
    const version = (await call(configMapsPath)).json.metadata.resourceVersion
    await call(configMapsPath, { body: configMapNamed('b') })
    server.compact()
    const watch = await openWatch(`${face.url}${configMapsPath}?watch=true&resourceVersion=${version}`)
    expect(watch.response.status).toBe(200)
    expect(await watch.next()).toMatchObject({
      type: 'ERROR',
      object: { kind: 'Status', code: 410, reason: 'Expired' },
    })
    expect(await watch.next()).toBeUndefined()
  })

  it('that is refused at once is refused with its code', async () => {
    const { face } = await faceForTest()
    const response = await fetch(`${face.url}${configMapsPath}?watch=true&labelSelector=a%20b`)
    expect([response.status, ((await response.json()) as { reason: string }).reason]).toEqual([400, 'BadRequest'])
  })

  it('that fails later is told so in the stream and ended', async () => {
    const { server, face: _ } = await faceForTest()
    const failing = async function* (): AsyncGenerator<WatchEvent> {
      yield { type: 'ADDED', object: configMapNamed('a') }
      await new Promise((resolve) => setImmediate(resolve))
      throw new ApiError('Expired', 'too old')
    }
    const broken = Object.assign(Object.create(server.as({ username: 'x', groups: ['system:masters'] })), {
      watch: failing,
    })
    const { face } = await faceForTest({
      server: served(server, broken),
    })
    const watch = await openWatch(`${face.url}${configMapsPath}?watch=true`)
    expect(await watch.next()).toMatchObject({ type: 'ADDED' })
    expect(await watch.next()).toMatchObject({ type: 'ERROR', object: { code: 410, message: 'too old' } })
    expect(await watch.next()).toBeUndefined()
  })

  it('whose caller leaves is ended on the server too', async () => {
    const { server } = await faceForTest()
    let isOpen = false
    const ended = new Promise<void>((resolve) => {
      const api = server.as({ username: 'x', groups: ['system:masters'] })
      const spied = Object.assign(Object.create(api), {
        async *watch(_: unknown, { signal }: { signal: AbortSignal }): AsyncGenerator<WatchEvent> {
          isOpen = true
          yield* []
          await new Promise<void>((left) => signal.addEventListener('abort', () => left()))
          resolve()
        },
      })
      void faceForTest({
        server: served(server, spied),
      }).then(async ({ face }) => {
        const watch = await openWatch(`${face.url}${configMapsPath}?watch=true`)
        watch.leave()
      })
    })
    await ended
    expect(isOpen).toBe(true)
  })

  it('costs others nothing: hundreds see one change each', async () => {
    const { face, api } = await faceForTest()
    const watches = await Promise.all(
      Array.from({ length: 200 }, () => openWatch(`${face.url}${configMapsPath}?watch=true&resourceVersion=0`)),
    )
    await api.create(configMaps, configMapNamed('a'))
    const seen = await Promise.all(watches.map((watch) => watch.next()))
    expect(new Set(seen.map((event) => event.object.metadata.uid)).size).toBe(1)
    for (const watch of watches) watch.leave()
  })
})
