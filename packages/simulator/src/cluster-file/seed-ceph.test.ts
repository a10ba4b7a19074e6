import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { deployments, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { expect, it } from 'vitest'
import { startWorld } from '../world/start-world.ts'
import { openScenario } from '../world/testing/scenario.ts'
import { parseClusterFile } from './cluster-file.ts'
import type { CephClusterDescription } from './describe-ceph.ts'
import { seedCeph } from './seed-ceph.ts'
import { buildNode } from './seed-cluster.ts'

it('every daemon finds its node and becomes ready, and a second seeding changes nothing', async () => {
  const description = parseClusterFile(
    `
zones: [{ name: x }, { name: y }, { name: z }]
nodes: [{ name: "node-{zone}" }]
ceph: { osds: { perNode: 2 }, filesystems: [{ name: myfs }], objectStores: [{ name: my-store, instances: 2 }] }
`,
    'my.yaml',
  )
  const scenario = openScenario()
  const { api, clock, random } = scenario
  const world = startWorld({ api, clock, random, onFailure: (failure) => scenario.failures.push(failure) })
  try {
    for (const node of description.nodes) await api.create(nodes, buildNode(node))
    await seedCeph(api, description.ceph as CephClusterDescription, description.pace)
    await scenario.seconds(15)
    const made = await scenario.list(deployments)
    expect(made.map(({ metadata, status }) => `${metadata.name} ${status?.readyReplicas}`)).toEqual([
      'rook-ceph-mds-myfs-a 1',
      'rook-ceph-mds-myfs-b 1',
      'rook-ceph-mgr-a 1',
      'rook-ceph-mgr-b 1',
      'rook-ceph-mon-a 1',
      'rook-ceph-mon-b 1',
      'rook-ceph-mon-c 1',
      'rook-ceph-osd-0 1',
      'rook-ceph-osd-1 1',
      'rook-ceph-osd-2 1',
      'rook-ceph-osd-3 1',
      'rook-ceph-osd-4 1',
      'rook-ceph-osd-5 1',
      'rook-ceph-rgw-my-store-a 2',
    ])
    const osds = (await api.list(pods, { labelSelector: 'app=rook-ceph-osd' })).items
    expect(osds.map(({ metadata, spec }) => `osd.${metadata.labels?.['osd']} ${spec.nodeName}`).sort()).toEqual([
      'osd.0 node-x',
      'osd.1 node-x',
      'osd.2 node-y',
      'osd.3 node-y',
      'osd.4 node-z',
      'osd.5 node-z',
    ])
    expect((await scenario.list(cephClusters))[0]).toMatchObject({
      status: { phase: 'Ready', message: 'Cluster created successfully' },
    })

    await seedCeph(api, description.ceph as CephClusterDescription, description.pace)
    expect(await scenario.list(deployments)).toEqual(made)
    expect(scenario.failures).toEqual([])
  } finally {
    world.stop()
    scenario.stop()
  }
})
