import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { configMaps, deployments, jobs, namespaces, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, expect, it } from 'vitest'
import { type CephFixture, openCephFixture } from './testing/ceph-fixture.ts'

const file = `
pace: { readyAfterSeconds: 3, terminationSeconds: 2 }
zones: [{ name: hall }]
nodes: [{ name: "node-{n}", count: 4 }]
ceph:
  osds: { perNode: 1 }
  pools: [{ name: replicapool, failureDomain: host, pgs: 16 }]
  pace: { recoveryPgsPerSecond: 50 }
`

let fixture: CephFixture
afterEach(() => fixture.close())

/** A CephCluster whose namespace is named, and where nobody has granted the operator anything. */
async function addUngranted(namespace: string): Promise<void> {
  const { api } = fixture
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const { apiVersion, kind, spec } = await api.get(cephClusters, { namespace: 'rook-ceph', name: 'rook-ceph' })
  await api.create(cephClusters, { apiVersion, kind, metadata: { namespace, name: 'archive' }, spec: spec ?? {} })
}

it('with rights in the namespace of its Ceph cluster alone the operator guards a whole drain, and a named namespace without rights takes nothing from it', async () => {
  fixture = await openCephFixture(file, { alsoNamed: [{ namespace: 'archive', name: 'archive' }] })
  await addUngranted('archive')
  fixture.startOperator()
  await fixture.until('OSDs have the default budget', () => fixture.osdBudgets().join() === 'rook-ceph-osd', 90)
  const drain = fixture.drain('node-1')
  await fixture.until('the node is empty', () => fixture.osdsOn('node-1').length === 0, 120)
  expect(drain).toBeDefined()
  expect(fixture.osdBudgets().every((name) => name.startsWith('rook-ceph-osd-host-'))).toBe(true)
  await fixture.uncordon('node-1')
  await fixture.until('the default budget is back', () => fixture.osdBudgets().join() === 'rook-ceph-osd', 300)
  for (const type of [deployments, configMaps, jobs, podDisruptionBudgets]) {
    expect((await fixture.api.list(type as typeof configMaps, { namespace: 'archive' })).items).toEqual([])
  }
  expect(fixture.oracle.violations).toEqual([])
})

it('without rights in the namespace of Longhorn every reading of Longhorn still ends, instead of one warning for each change of a node', async () => {
  fixture = await openCephFixture(file)
  fixture.startOperator()
  await fixture.until('OSDs have the default budget', () => fixture.osdBudgets().join() === 'rook-ceph-osd', 90)
  await fixture.cordon('node-1')
  await fixture.seconds(20)
  const lines = (await fixture.metrics.registry.metrics()).split('\n')
  const passes = lines.filter((line) => line.startsWith('cofferdam_reconciles_total{controller="longhorn-drain"'))
  expect(passes.filter((line) => line.includes('"done"')).length).toBe(1)
  expect(passes.filter((line) => line.includes('"failed"'))).toEqual([])
})
