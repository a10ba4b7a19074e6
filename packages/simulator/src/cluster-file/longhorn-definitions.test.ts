import { longhornNodes, longhornReplicas, longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { customResourceDefinitions } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { expect, it } from 'vitest'
import { ApiServer } from '../api-server/api-server.ts'
import { clusterAdmin } from '../api-server/user-info.ts'
import { VirtualClock } from '../harness/virtual-clock.ts'
import { longhornDefinitions } from './longhorn-definitions.ts'

it("Longhorn's kinds are served: fields we describe are checked, the others are kept, and status is written apart", async () => {
  const server = new ApiServer({ clock: new VirtualClock(), random: seededRandom(1) })
  const api = server.as(clusterAdmin)
  server.start()
  try {
    for (const definition of longhornDefinitions()) await api.create(customResourceDefinitions, definition)
    const apiVersion = 'longhorn.io/v1beta2'
    const setting = { apiVersion, kind: 'Setting', metadata: { name: 'node-drain-policy', namespace: 'default' } }
    expect(await api.create(longhornSettings, { ...setting, value: 'always-allow' })).toMatchObject({
      value: 'always-allow',
    })
    const replica = { apiVersion, kind: 'Replica', metadata: { name: 'r', namespace: 'default' } }
    const spec = { nodeID: 'n', unmapMarkDiskChainRemovedEnabled: true }
    const created = await api.create(longhornReplicas, {
      ...replica,
      spec,
      status: { currentState: 'running' },
    })
    expect(created).toMatchObject({ spec })
    expect(created.status).toBeUndefined()
    const wrong = { ...replica, metadata: { ...replica.metadata, name: 'w' }, spec: { evictionRequested: 'yes' } }
    await expect(api.create(longhornReplicas, wrong as never)).rejects.toMatchObject({ reason: 'Invalid' })
    const node = { apiVersion, kind: 'Node', metadata: { name: 'n', namespace: 'default' } }
    const refused = [
      { allowScheduling: true, evictionRequested: true },
      { disks: { d: { allowScheduling: true, evictionRequested: true } } },
    ]
    for (const wish of refused) {
      await expect(api.create(longhornNodes, { ...node, spec: wish })).rejects.toThrow('need to disable scheduling')
    }
    const accepted = {
      allowScheduling: false,
      evictionRequested: true,
      disks: { d: { allowScheduling: true, tags: ['ssd'] } },
    }
    expect(await api.create(longhornNodes, { ...node, spec: accepted })).toMatchObject({ spec: accepted })
  } finally {
    server.stop()
  }
})
