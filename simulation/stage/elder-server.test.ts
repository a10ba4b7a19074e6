import { configMaps } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi, WatchEvent } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { expect, it } from 'vitest'
import { hazardApi } from './hazard-api.ts'
import { noHazards } from './hazards.ts'

const namespace = 'default'
const minuteMs = 60_000

/** Two ConfigMaps, one of which was made after the server that answers fell behind. */
async function openBehind() {
  const clock = new VirtualClock()
  const random = seededRandom(1)
  const server = new ApiServer({ clock, random })
  server.start()
  const admin: KubeApi = server.as(clusterAdmin)
  const hazards = noHazards()
  const api = hazardApi(admin, { clock, random, hazards: [hazards] })
  const create = (name: string) =>
    admin.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name } })
  await create('old')
  const { resourceVersion } = await admin.list(configMaps, { namespace })
  const { metadata } = await create('new')
  hazards.elder = { resourceVersion, untilMs: clock.now() + minuteMs }
  return { clock, server, api, latest: metadata.resourceVersion ?? '', resourceVersion }
}

const names = (events: readonly WatchEvent[]) =>
  events.map((event) => (event.type === 'BOOKMARK' ? 'bookmark' : `${event.type} ${event.object.metadata.name}`))

it('a list shows what was before, under the version of that time, until the server has caught up', async () => {
  const { api, clock, server, resourceVersion } = await openBehind()
  const listed = async () => (await api.list(configMaps, { namespace })).items.map(({ metadata }) => metadata.name)
  expect(await listed()).toEqual(['old'])
  expect((await api.list(configMaps, { namespace })).resourceVersion).toBe(resourceVersion)
  await clock.advance(minuteMs)
  expect(await listed()).toEqual(['new', 'old'])
  server.stop()
})

it('a read of one object is answered by those that are not behind, as Kubernetes answers it', async () => {
  const { api, server } = await openBehind()
  expect((await api.get(configMaps, { namespace, name: 'new' })).metadata.name).toBe('new')
  server.stop()
})

it('a watch that asks for the state gets the one from before, and what it missed once the server has caught up', async () => {
  const { api, clock, server } = await openBehind()
  const events: WatchEvent[] = []
  const abort = new AbortController()
  const following = (async () => {
    const query = {
      namespace,
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      allowBookmarks: true,
    } as const
    for await (const event of api.watch(configMaps, { ...query, signal: abort.signal })) events.push(event)
  })()
  await clock.advance(minuteMs / 2)
  expect(names(events)).toEqual(['ADDED old', 'bookmark'])
  await clock.advance(minuteMs)
  expect(names(events).slice(0, 3)).toEqual(['ADDED old', 'bookmark', 'ADDED new'])
  abort.abort()
  await following
  server.stop()
})

it('who has seen more than the server is refused, and has to list again', async () => {
  const { api, server, latest } = await openBehind()
  const watch = api.watch(configMaps, { namespace, resourceVersion: latest })[Symbol.asyncIterator]()
  await expect(watch.next()).rejects.toMatchObject({
    details: { causes: [{ reason: 'ResourceVersionTooLarge' }] },
  })
  server.stop()
})
