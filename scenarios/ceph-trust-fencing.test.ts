import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { deployments, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { trustsNone } from '@cofferdam/product/shared/ceph-trust/named-clusters.ts'
import { deployment } from '@cofferdam/simulator/world/testing/story.ts'
import { afterEach, expect, it } from 'vitest'
import { type FencingStage, openFencingStage } from './testing/fencing-stage.ts'
import { openTenant } from './testing/tenant.ts'

let stage: FencingStage
afterEach(() => stage.close())

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
  const tenant = await openTenant(stage.server, tenancy, [
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

const isMachine = (name: string) => stage.machineNames().includes(name)

it('a tenant with a CephCluster and fake OSDs of his own keeps no sick machine from being fenced', async () => {
  stage = await openFencingStage({ storage: 4, compute: 1 })
  await openTenancy()
  stage.operate()
  await stage.until('one machine may go', stage.isOpen, 60)
  const { items } = await stage.api.list(pods, { namespace: tenancy })
  expect(items).toHaveLength(6)
  expect(stage.labelled().filter((label) => label.includes('mine') || label.startsWith('compute'))).toEqual([])
  stage.sicken('storage-1')
  await stage.until('it is fenced', () => !isMachine('storage-1'), 480)
  expect(stage.oracle.violations).toEqual([])
})

it('an operator that comes without the names, as after an upgrade, frees no machine that was guarded before', async () => {
  stage = await openFencingStage({ storage: 4 })
  const named = stage.operate()
  await stage.until('one machine may go', stage.isOpen, 60)
  const labels = stage.labelled()
  const stopped = named.stop()
  await stage.seconds(30)
  await stopped
  stage.operate({ trust: trustsNone })
  await stage.until('no machine may go', () => !stage.isOpen(), 60)
  stage.sicken('storage-1', 'storage-2')
  await stage.seconds(900)
  expect([isMachine('storage-1'), isMachine('storage-2'), stage.labelled()]).toEqual([true, true, labels])
})

it('a tenant with a CephCluster and fake OSDs keeps no node from being drained, with real OSDs on it or without, and no budget is made of his objects', async () => {
  stage = await openFencingStage({ storage: 4, compute: 1 })
  await openTenancy()
  stage.operate()
  await stage.until('one machine may go', stage.isOpen, 60)
  for (const [name, node] of [
    ['plain', 'compute-1'],
    ['osds', 'storage-2'],
  ] as const) {
    await stage.request(name, node)
    await stage.until(`${node} may go`, () => stage.phaseOf(name) === 'Drained', 300)
    stage.reboot(node, 20)
    await stage.until(`${node} is back`, () => stage.phaseOf(name) === 'Completed', 400)
  }
  const { items } = await stage.api.list(podDisruptionBudgets, { namespace: tenancy })
  expect(items).toEqual([])
  // Nor is a fake Rook taken for the one of the named cluster.
  expect((await stage.told('rook-ceph')).filter((told) => told.startsWith('ManagedElsewhere'))).toEqual([])
})
