import { customResourceDefinitions } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { expect, it } from 'vitest'
import { ApiServer } from '../api-server/api-server.ts'
import { clusterAdmin } from '../api-server/user-info.ts'
import { VirtualClock } from '../harness/virtual-clock.ts'
import { rookDefinitions } from './rook-definitions.ts'

const clusters = {
  group: 'ceph.rook.io',
  version: 'v1',
  plural: 'cephclusters',
  kind: 'CephCluster',
  namespaced: true,
} as const

function cephCluster(mons: number) {
  return {
    apiVersion: 'ceph.rook.io/v1',
    kind: 'CephCluster',
    metadata: { name: 'rook-ceph', namespace: 'default' },
    spec: { mon: { count: mons, volumeClaimTemplate: { spec: {} } }, network: { provider: 'host' } },
  }
}

it("Rook's kinds are served: fields we describe are checked, the others are kept", async () => {
  const server = new ApiServer({ clock: new VirtualClock(), random: seededRandom(1) })
  const api = server.as(clusterAdmin)
  server.start()
  try {
    for (const definition of rookDefinitions()) await api.create(customResourceDefinitions, definition)
    const { items } = await api.list(customResourceDefinitions)
    expect(items.map(({ metadata }) => metadata.name)).toEqual([
      'cephblockpools.ceph.rook.io',
      'cephclusters.ceph.rook.io',
      'cephfilesystemmirrors.ceph.rook.io',
      'cephfilesystems.ceph.rook.io',
      'cephnfses.ceph.rook.io',
      'cephnvmeofgateways.ceph.rook.io',
      'cephobjectstores.ceph.rook.io',
      'cephrbdmirrors.ceph.rook.io',
    ])
    expect(await api.create(clusters, cephCluster(3), { fieldValidation: 'Strict' })).toMatchObject(cephCluster(3))
    await expect(
      api.create(clusters, { ...cephCluster(10), metadata: { name: 'too-many', namespace: 'default' } }),
    ).rejects.toMatchObject({ reason: 'Invalid' })
  } finally {
    server.stop()
  }
})
