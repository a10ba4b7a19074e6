import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { expect, it } from 'vitest'
import { startWorld } from '../world/start-world.ts'
import { openScenario } from '../world/testing/scenario.ts'
import { parseClusterFile } from './cluster-file.ts'
import type { CephClusterDescription } from './describe-ceph.ts'
import { observeReadiness } from './readiness.ts'
import { seedCluster } from './seed-cluster.ts'
import { startCeph } from './start-ceph.ts'

const file = `
name: beside-rook
zones: [{ name: x }, { name: y }, { name: z }]
nodes:
  - { name: 'node-{zone}', roles: [worker], capacity: { cpu: 16, memory: 64Gi } }
ceph:
  rook: true
  pools: [{ name: data, failureDomain: zone, pgs: 16 }]
`

it('a Rook of the cluster file makes its budgets without any Cofferdam, so that there is something to adopt', async () => {
  const description = parseClusterFile(file, 'rook.yaml')
  const scenario = openScenario()
  const { api, clock, random } = scenario
  const world = startWorld({ api, clock, random })
  const ceph = startCeph(description.ceph as CephClusterDescription, { api, clock, random, world })
  try {
    await seedCluster(api, description)
    await scenario.seconds(120)
    expect((await observeReadiness(api, [ceph])).waitingFor).toEqual([])
    const { items } = await api.list(podDisruptionBudgets, { namespace: 'rook-ceph' })
    expect(items.map(({ metadata }) => metadata.name)).toEqual([
      'rook-ceph-mgr-pdb',
      'rook-ceph-mon-pdb',
      'rook-ceph-osd',
    ])
  } finally {
    await ceph.stop()
    world.stop()
    scenario.stop()
  }
})
