import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { deployments, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { trustsNone } from '@cofferdam/product/shared/ceph-trust/named-clusters.ts'
import { deployment } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, expect, it } from 'vitest'
import { type FencingFixture, openFencingFixture } from './testing/fencing-fixture.ts'
import { openTenant } from './testing/tenant.ts'

let fixture: FencingFixture
afterEach(() => fixture.close())

const tenancy = 'team-a'

const cluster: CephCluster = {
  apiVersion: 'ceph.rook.io/v1',
  kind: 'CephCluster',
  metadata: { namespace: tenancy, name: 'mine', annotations: { 'cofferdam.io/manage': 'true' } },
  spec: { disruptionManagement: { managePodBudgets: true, manageMachineDisruptionBudgets: true } },
} as CephCluster

/** Looks like an OSD that runs on a node with real ones. */
function fakeOsd(id: number, node: string): Deployment {
  const labels = {
    app: 'rook-ceph-osd',
    osd: String(id),
    'ceph-osd-id': String(id),
    'topology-location-host': node,
  }
  const pod = { nodeSelector: { 'kubernetes.io/hostname': node } }
  const made = deployment(`rook-ceph-osd-${id}`, { replicas: 1, pod })
  const { template } = made.spec
  return {
    ...made,
    metadata: { name: made.metadata.name, namespace: tenancy, labels },
    spec: { ...made.spec, selector: { matchLabels: labels }, template: { ...template, metadata: { labels } } },
  }
}

/** Both in his own namespace, and nothing else anywhere. */
async function openTenancy(): Promise<void> {
  const tenant = await openTenant(fixture.server, tenancy, [
    { group: 'ceph.rook.io', resource: 'cephclusters', verbs: ['create'] },
    { group: 'apps', resource: 'deployments', verbs: ['create'] },
  ])
  await tenant.create(cephClusters, cluster)
  const hosts = ['storage-1', 'storage-2', 'storage-3', 'storage-4', 'compute-1']
  for (const [id, node] of hosts.entries()) await tenant.create(deployments, fakeOsd(id, node))
  // What looks like a Rook would have everything left to it.
  const { metadata, spec } = deployment('rook-ceph-operator', { replicas: 1 })
  const labels = { operator: 'rook', 'storage-backend': 'ceph' }
  const rook = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: metadata.name, namespace: tenancy, labels },
    spec,
  }
  await tenant.create(deployments, rook)
}

const isMachine = (name: string) => fixture.machineNames().includes(name)

it('a tenant with a CephCluster and fake OSDs of his own keeps no sick machine from being fenced', async () => {
  fixture = await openFencingFixture({ storage: 4, compute: 1 })
  await openTenancy()
  fixture.operate()
  await fixture.until('one machine may go', fixture.isOpen, 60)
  const { items } = await fixture.api.list(pods, { namespace: tenancy })
  expect(items).toHaveLength(6)
  expect(fixture.labelled().filter((label) => label.includes('mine') || label.startsWith('compute'))).toEqual([])
  fixture.sicken('storage-1')
  await fixture.until('it is fenced', () => !isMachine('storage-1'), 480)
  expect(fixture.oracle.violations).toEqual([])
})

it('an operator that comes without the names, as after an upgrade, frees no machine that was guarded before', async () => {
  fixture = await openFencingFixture({ storage: 4 })
  const named = fixture.operate()
  await fixture.until('one machine may go', fixture.isOpen, 60)
  const labels = fixture.labelled()
  const stopped = named.stop()
  await fixture.seconds(30)
  await stopped
  fixture.operate({ trust: trustsNone })
  await fixture.until('no machine may go', () => !fixture.isOpen(), 60)
  fixture.sicken('storage-1', 'storage-2')
  await fixture.seconds(900)
  expect([isMachine('storage-1'), isMachine('storage-2'), fixture.labelled()]).toEqual([true, true, labels])
})

it('a tenant with a CephCluster and fake OSDs keeps no node from being drained, with real OSDs on it or without, and no budget is made of his objects', async () => {
  fixture = await openFencingFixture({ storage: 4, compute: 1 })
  await openTenancy()
  fixture.operate()
  await fixture.until('one machine may go', fixture.isOpen, 60)
  for (const [name, node] of [
    ['plain', 'compute-1'],
    ['osds', 'storage-2'],
  ] as const) {
    await fixture.request(name, node)
    await fixture.until(`${node} may go`, () => fixture.phaseOf(name) === 'Drained', 300)
    fixture.reboot(node, 20)
    await fixture.until(`${node} is back`, () => fixture.phaseOf(name) === 'Completed', 400)
  }
  const { items } = await fixture.api.list(podDisruptionBudgets, { namespace: tenancy })
  expect(items).toEqual([])
  // Nor is a fake Rook taken for the one of the named cluster.
  expect((await fixture.told('rook-ceph')).filter((told) => told.startsWith('ManagedElsewhere'))).toEqual([])
})
