import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { longhornNodes, longhornReplicas, longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { customResourceDefinitions } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ApiServer } from '../api-server/api-server.ts'
import type { EmbeddedApi } from '../api-server/embedded-api.ts'
import { clusterAdmin } from '../api-server/user-info.ts'
import { VirtualClock } from '../harness/virtual-clock.ts'
import { genuineObject, releasedKinds } from '../world/longhorn/testing/released-definitions.ts'
import { longhornDefinitions } from './longhorn-definitions.ts'

const apiVersion = 'longhorn.io/v1beta2'
let server: ApiServer
let api: EmbeddedApi
beforeEach(async () => {
  server = new ApiServer({ clock: new VirtualClock(), random: seededRandom(1) })
  api = server.as(clusterAdmin)
  server.start()
  for (const definition of longhornDefinitions()) await api.create(customResourceDefinitions, definition)
})
afterEach(() => server.stop())

it("Longhorn's kinds are served: fields we describe are checked, the others are kept, and status is written apart", async () => {
  const setting = { apiVersion, kind: 'Setting', metadata: { name: 'node-drain-policy', namespace: 'default' } }
  expect(await api.create(longhornSettings, { ...setting, value: 'always-allow' })).toMatchObject({
    value: 'always-allow',
  })
  const replica = { apiVersion, kind: 'Replica', metadata: { name: 'r', namespace: 'default' } }
  const spec = { nodeID: 'n', unmapMarkDiskChainRemovedEnabled: true }
  const created = await api.create(longhornReplicas, { ...replica, spec, status: { currentState: 'running' } })
  expect(created).toMatchObject({ spec })
  expect(created.status).toBeUndefined()
  const wrong = { ...replica, metadata: { ...replica.metadata, name: 'w' }, spec: { evictionRequested: 'yes' } }
  await expect(api.create(longhornReplicas, wrong as never)).rejects.toMatchObject({ reason: 'Invalid' })
})

it.each(releasedKinds.map((type) => [type.kind, type] as const))(
  'a genuine %s is taken with all of its fields, however strictly it is checked: it can be applied here as on a real cluster',
  async (kind, type) => {
    const strict = { fieldValidation: 'Strict' } as const
    const genuine = genuineObject(kind, 'default')
    const { status, ...written } = genuine as typeof genuine & { status: object }
    const created = await api.create(type, genuine, strict)
    expect(created).toMatchObject(written)
    const reported = await api.update(type, { ...created, status } as typeof created, {
      ...strict,
      subresource: 'status',
    })
    expect(reported).toMatchObject({ ...written, status })
  },
)

it('a node or disk that is to be emptied must be closed for new replicas first, as Longhorn demands, and the refusal names the field', async () => {
  const spec = { allowScheduling: true, disks: { d: { allowScheduling: true, tags: ['ssd'] } } }
  const key = { namespace: 'default', name: 'n' }
  await api.create(longhornNodes, { apiVersion, kind: 'Node', metadata: key, spec })
  const change = (body: JsonObject) => api.patch(longhornNodes, key, { type: 'merge', body: { spec: body } })
  const refusals: readonly (readonly [JsonObject, string])[] = [
    [{ evictionRequested: true }, 'spec.allowScheduling: Invalid value: need to disable scheduling on this node'],
    [
      { disks: { d: { evictionRequested: true } } },
      'spec.disks[d].allowScheduling: Invalid value: need to disable scheduling on this disk',
    ],
  ]
  for (const [body, message] of refusals) {
    const refusal = await change(body).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ reason: 'Invalid', message: expect.stringContaining(message) })
  }
  const closed = { allowScheduling: false, evictionRequested: true, disks: { d: { allowScheduling: true } } }
  expect(await change(closed)).toMatchObject({ spec: closed })
  const disk = { disks: { d: { allowScheduling: false, evictionRequested: true, tags: ['ssd'] } } }
  expect(await change(disk)).toMatchObject({ spec: disk })
  await expect(change({ disks: { d: { allowScheduling: true } } })).rejects.toMatchObject({ reason: 'Invalid' })
})
