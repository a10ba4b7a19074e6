import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import {
  configMaps,
  deployments,
  events,
  jobs,
  nodes,
  podDisruptionBudgets,
  pods,
} from '@cofferdam/kubernetes/api/resources.ts'
import { rookOperatorDeployment } from '@cofferdam/simulator/world/ceph/rook/budget-controller.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { namespace, openUpdateFixture, type UpdateFixture } from './testing/osd-update-fixture.ts'
import { openTenant } from './testing/tenant.ts'

let fixture: UpdateFixture
afterEach(() => fixture.close())

const rookImage = 'registry.example/rook/ceph:v1.18.8'

const evil: CephCluster = {
  apiVersion: 'ceph.rook.io/v1',
  kind: 'CephCluster',
  metadata: {
    namespace: 'team-a',
    name: 'rook-ceph',
    annotations: { 'cofferdam.io/rook-image': 'registry.example/evil:1', 'cofferdam.io/manage': 'true' },
  },
  spec: {
    cephVersion: { image: 'registry.example/evil:1' },
    dataDirHostPath: '/',
    disruptionManagement: { managePodBudgets: true },
    placement: { all: { tolerations: [{ operator: 'Exists' }] } },
    storage: { useAllNodes: true, useAllDevices: true },
  },
} as CephCluster

async function namesIn<T extends KubeObject>(type: ResourceType<T>, where: string): Promise<string[]> {
  const { items } = await fixture.api.list(type, { namespace: where })
  return items.map(({ metadata }) => metadata.name).sort()
}

describe('a tenant who may create CephClusters in a namespace of his own, and nothing else', () => {
  it('gets no privileged Job on any node, though OSDs are added to the cluster that the administrator named', async () => {
    fixture = await openUpdateFixture({ rookImage })
    const tenant = await openTenant(fixture.server, 'team-a', [
      { group: 'ceph.rook.io', resource: 'cephclusters', verbs: ['create'] },
    ])
    fixture.operate()
    await fixture.seconds(60)
    const before = (await fixture.api.list(nodes)).items.map(({ metadata, spec }) => [
      metadata.name,
      metadata.labels,
      spec,
    ])
    await tenant.create(cephClusters, evil)
    await fixture.seconds(180)
    for (const type of [jobs, pods, deployments, configMaps, podDisruptionBudgets, events]) {
      expect([type.plural, await namesIn<KubeObject>(type as ResourceType<KubeObject>, 'team-a')]).toEqual([
        type.plural,
        [],
      ])
    }
    expect(
      (await fixture.api.list(nodes)).items.map(({ metadata, spec }) => [metadata.name, metadata.labels, spec]),
    ).toEqual(before)
    await fixture.putDisks('storage-1', 'sdx')
    await fixture.until('the named cluster grows all the same', () => fixture.osdIds().length === 13, 60)
  })
})

describe('somebody who may edit ConfigMaps where the named cluster lives', () => {
  const status = (place: string) => ({ namespace, name: `rook-ceph-osd-${place}-status` })
  const forged = (ids: readonly number[], more: object = {}) =>
    JSON.stringify({
      status: 'completed',
      message: '',
      'pvc-backed-osd': false,
      osds: ids.map((id) => ({
        id,
        uuid: `00000000-0000-4000-8000-${String(id).padStart(12, '0')}`,
        location: 'root=default host=storage-1',
        ...more,
      })),
    })
  const rights = [{ group: '', resource: 'configmaps', verbs: ['get', 'list', 'patch', 'update'] }]

  it('has no OSD Deployment made, before, while or after a disk is prepared: each would be a privileged pod', async () => {
    fixture = await openUpdateFixture({ rookImage })
    const intruder = await openTenant(fixture.server, namespace, rights)
    fixture.operate()
    await fixture.seconds(60)
    const own = fixture.osdIds()
    const many = Array.from({ length: 200 }, (_, at) => 500 + at)
    // A result that was used long ago is made to look new.
    const annotations = { 'cofferdam.io/result-used': null }
    const edit = (text: string) =>
      intruder.patch(configMaps, status('storage-1'), {
        type: 'merge',
        body: { metadata: { annotations }, data: { status: text } },
      })
    await edit(forged(many))
    await fixture.seconds(60)
    expect(fixture.osdIds()).toEqual(own)
    // While the Job of a new disk runs, and when it has ended.
    await fixture.putDisks('storage-1', 'sdx')
    for (let at = 0; at < 40; at += 1) {
      await edit(forged(many))
      await fixture.seconds(0.5)
    }
    await fixture.seconds(60)
    expect(fixture.osdIds()).toEqual(own)
    // An OSD that Ceph knows and that has a Deployment is no way in either, nor is a path for its UUID.
    await edit(forged([12], { uuid: '../../../../etc' }))
    await fixture.seconds(60)
    expect(fixture.osdIds()).toEqual(own)
    expect(await fixture.told()).toContain('Warning OsdGrowthFailed')
    // The administrator asks for a new look, and the disk becomes an OSD.
    await fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/prepare-again': 'now' } } })
    await fixture.until('the disk has its OSD', () => fixture.osdIds().length === own.length + 1, 60)
  })
})

describe('a Rook that is scaled down, or gone for a moment', () => {
  const limits = async () => {
    const { items } = await fixture.api.list(deployments, { namespace, labelSelector: 'app=rook-ceph-osd' })
    return items.map(({ metadata, spec }) => [
      metadata.name,
      spec.template.spec.containers[0]?.image,
      spec.template.spec.containers[0]?.resources?.limits?.['memory'],
    ])
  }
  const rook = { namespace, name: 'rook-ceph-operator' }
  const openBesideRook = async (managePodBudgets: boolean) => {
    fixture = await openUpdateFixture({ isBesideRook: true })
    await fixture.patchCluster({
      spec: { disruptionManagement: { managePodBudgets }, resources: { osd: { limits: { memory: '4Gi' } } } },
    })
    for (const app of ['rook-ceph-mon', 'rook-ceph-mgr']) {
      await fixture.api.create(podDisruptionBudgets, {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { namespace, name: `${app}-pdb` },
        spec: { maxUnavailable: 1, selector: { matchLabels: { app } } },
      })
    }
    fixture.operate()
    await fixture.seconds(60)
    await fixture.want('v19.2.4')
    await fixture.seconds(60)
  }
  const budgetsNow = async () =>
    (await fixture.api.list(podDisruptionBudgets, { namespace })).items.map(({ metadata, spec }) => [
      metadata.name,
      metadata.uid,
      spec,
    ])

  it.each([true, false])(
    'has nothing taken over: what was set by hand stays, no OSD restarts and its budgets stay (managePodBudgets %s)',
    async (managePodBudgets) => {
      await openBesideRook(managePodBudgets)
      await fixture.api.patch(deployments, rook, { type: 'merge', body: { spec: { replicas: 0 } } })
      const osd = await fixture.api.get(deployments, { namespace, name: 'rook-ceph-osd-0' })
      const [first, ...others] = osd.spec.template.spec.containers
      const containers = [{ ...first, name: first?.name ?? '', resources: { limits: { memory: '16Gi' } } }, ...others]
      const template = { ...osd.spec.template, spec: { ...osd.spec.template.spec, containers } }
      await fixture.api.update(deployments, { ...osd, spec: { ...osd.spec, template } })
      const [before, budgets] = [await limits(), await budgetsNow()]
      await fixture.seconds(900)
      expect([await limits(), await budgetsNow()]).toEqual([before, budgets])
      expect(before[0]?.[2]).toBe('16Gi')
    },
  )

  it('and made again five seconds later finds every OSD and every budget as it was', async () => {
    await openBesideRook(true)
    const [before, budgets] = [await limits(), await budgetsNow()]
    await fixture.api.delete(deployments, rook)
    await fixture.seconds(5)
    await fixture.api.create(deployments, rookOperatorDeployment(namespace))
    await fixture.seconds(300)
    expect([await limits(), await budgetsNow()]).toEqual([before, budgets])
  })

  it('that runs where the administrator gave the OSDs to Cofferdam is told of, and no Deployment is touched', async () => {
    fixture = await openUpdateFixture()
    fixture.operate()
    await fixture.seconds(60)
    await fixture.api.create(deployments, rookOperatorDeployment(namespace))
    await fixture.want('v19.2.4')
    const before = await limits()
    await fixture.seconds(120)
    expect(await limits()).toEqual(before)
    expect(await fixture.told()).toContain('Warning OwnershipContested')
    await fixture.api.delete(deployments, rook)
    await fixture.until('all are updated', () => fixture.isUpdated('v19.2.4'), 1_200)
  })
})
