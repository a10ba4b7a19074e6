import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { configMaps, deployments, jobs, namespaces, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, expect, it } from 'vitest'
import { type CephStage, openCephStage } from './testing/ceph-stage.ts'

const file = `
pace: { readyAfterSeconds: 3, terminationSeconds: 2 }
zones: [{ name: hall }]
nodes: [{ name: "node-{n}", count: 4 }]
ceph:
  osds: { perNode: 1 }
  pools: [{ name: replicapool, failureDomain: host, pgs: 16 }]
  pace: { recoveryPgsPerSecond: 50 }
`

let stage: CephStage
afterEach(() => stage.close())

/** A CephCluster whose namespace is named, and where nobody has granted the operator anything. */
async function addUngranted(namespace: string): Promise<void> {
  const { api } = stage
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const { apiVersion, kind, spec } = await api.get(cephClusters, { namespace: 'rook-ceph', name: 'rook-ceph' })
  await api.create(cephClusters, { apiVersion, kind, metadata: { namespace, name: 'archive' }, spec: spec ?? {} })
}

it('with rights in the namespace of its Ceph cluster alone the operator guards a whole drain, and a named namespace without rights takes nothing from it', async () => {
  stage = await openCephStage(file, { alsoNamed: [{ namespace: 'archive', name: 'archive' }] })
  await addUngranted('archive')
  stage.startOperator()
  await stage.until('OSDs have the default budget', () => stage.osdBudgets().join() === 'rook-ceph-osd', 90)
  const drain = stage.drain('node-1')
  await stage.until('the node is empty', () => stage.osdsOn('node-1').length === 0, 120)
  expect(drain).toBeDefined()
  expect(stage.osdBudgets().every((name) => name.startsWith('rook-ceph-osd-host-'))).toBe(true)
  await stage.uncordon('node-1')
  await stage.until('the default budget is back', () => stage.osdBudgets().join() === 'rook-ceph-osd', 300)
  for (const type of [deployments, configMaps, jobs, podDisruptionBudgets]) {
    expect((await stage.api.list(type as typeof configMaps, { namespace: 'archive' })).items).toEqual([])
  }
  expect(stage.oracle.violations).toEqual([])
})
