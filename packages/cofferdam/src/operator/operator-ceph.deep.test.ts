import {
  cephFilesystemMirrors,
  cephFilesystems,
  cephNfses,
  cephNvmeofGateways,
  cephObjectStores,
  cephRbdMirrors,
} from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { deployments, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { deployment, openScenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { describe, expect, it } from 'vitest'
import {
  type CephFixture,
  namespace,
  openCephFixture,
  smallCluster,
} from '../capabilities/ceph-drain/testing/ceph-fixture.ts'
import { createMetrics } from './metrics.ts'
import { startOperator } from './operator.ts'
import { describeRights, type RightsCase } from './testing/describe-rights.ts'

/** A drain, a hand on a budget, Rook's own operator that comes and goes, and the end of it: everything that ceph-drain reads and writes. */
async function drainScenario(fixture: CephFixture, start: () => void): Promise<unknown> {
  start()
  await fixture.seconds(60)
  const guarded = await fixture.budgets()
  const key = { namespace, name: 'rook-ceph-osd' }
  await fixture.api.patch(podDisruptionBudgets, key, { type: 'merge', body: { spec: { maxUnavailable: 6 } } })
  await fixture.seconds(1)
  const mended = await fixture.budgets()
  await fixture.cordon('node-x')
  await fixture.evictOsd(0)
  // Before the Deployment's own status tells of it: the pod does at once.
  await fixture.clock.advance(5)
  const draining = await fixture.budgets()
  await fixture.seconds(5)
  const record = await fixture.record().catch(() => undefined)
  await fixture.patchCluster({ spec: { disruptionManagement: { managePodBudgets: false } } })
  await fixture.seconds(5)
  const handedBack = await fixture.budgets()
  await fixture.patchCluster({ spec: { disruptionManagement: { managePodBudgets: true } } })
  await fixture.seconds(5)
  const rook = deployment('rook-ceph-operator', { replicas: 1 })
  const labels = { operator: 'rook', 'storage-backend': 'ceph' }
  await fixture.api.create(deployments, { ...rook, metadata: { ...rook.metadata, namespace, labels } })
  await fixture.seconds(5)
  await fixture.cordon('node-x', false)
  await fixture.seconds(60)
  const observed = await fixture.observed().catch(() => undefined)
  await fixture.api.delete(deployments, { namespace, name: rook.metadata.name })
  await fixture.seconds(5)
  const left = await fixture.observed().catch(() => undefined)
  return {
    guarded,
    mended,
    draining,
    noout: record?.data?.['cofferdam.io_own-noout'],
    handedBack,
    observed: observed?.metadata.annotations?.['cofferdam.io/explanation'],
    left: left?.metadata.name,
    told: await fixture.told(),
  }
}

const services = `${smallCluster}
  filesystems: [{ name: files, active: 1, standby: true }]
  objectStores: [{ name: store, instances: 2 }]
  rbdMirrors: 2
  nfs: [{ name: share, active: 2 }]
  nvmeof: [{ name: blocks, instances: 2 }]
  filesystemMirrors: 2
`

async function limits(fixture: CephFixture): Promise<string> {
  const short = (text: string) =>
    text.replace(/^rook-ceph-(.*?)(?:-pdb|-my-rbd-mirror|-my-fs-mirror)?: (.*?) of .*$/, '$1 $2')
  return (await fixture.budgets()).map(short).join(', ')
}

/** Scales up every service, gives the mirror of file systems to another object, and loses a monitor. */
async function scaleScenario(fixture: CephFixture, start: () => void): Promise<unknown> {
  const { uid = '' } = (await fixture.api.get(deployments, { namespace, name: 'rook-ceph-mgr-a' })).metadata
  await fixture.api.create(podDisruptionBudgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: {
      name: 'rook-ceph-mgr-pdb',
      namespace,
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'rook-ceph-mgr-a', uid }],
    },
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'rook-ceph-mgr' } } },
  })
  start()
  await fixture.seconds(40)
  const guarded = await limits(fixture)
  const change = (type: ResourceType, name: string, spec: object) =>
    fixture.api.patch(type, { namespace, name }, { type: 'merge', body: { spec } as never })
  await change(cephFilesystems as ResourceType, 'files', { metadataServer: { activeCount: 2 } })
  await change(cephObjectStores as ResourceType, 'store', { gateway: { instances: 4 } })
  await change(cephRbdMirrors as ResourceType, 'my-rbd-mirror', { count: 3 })
  await change(cephNfses as ResourceType, 'share', { server: { active: 5 } })
  await change(cephNvmeofGateways as ResourceType, 'blocks', { instances: 3 })
  const seen = await fixture.api.get(cephFilesystemMirrors, { namespace, name: 'my-fs-mirror' })
  await fixture.api.create(cephFilesystemMirrors, { ...seen, metadata: { namespace, name: 'other' } })
  const labels = { 'app.kubernetes.io/part-of': 'other' }
  const daemon = { namespace, name: 'rook-ceph-fs-mirror' }
  await fixture.api.patch(deployments, daemon, { type: 'merge', body: { metadata: { labels } } })
  await fixture.seconds(1)
  const scaled = await limits(fixture)
  await change(deployments as ResourceType, 'rook-ceph-mon-a', { replicas: 0 })
  await fixture.seconds(20)
  const monLost = await limits(fixture)
  await fixture.api.delete(podDisruptionBudgets, { namespace, name: 'rook-ceph-mon-pdb' })
  await fixture.seconds(1)
  const mended = await limits(fixture)
  await fixture.patchCluster({ spec: { disruptionManagement: { managePodBudgets: false } } })
  await fixture.seconds(5)
  return { guarded, scaled, monLost, mended, handedBack: await limits(fixture), told: await fixture.told() }
}

const cases: Record<string, RightsCase<CephFixture>> = {
  'ceph-drain': {
    controller: 'ceph-drain',
    open: () => openCephFixture(smallCluster),
    scenario: drainScenario,
    whole: {
      guarded: ['rook-ceph-osd: 1 of all'],
      mended: ['rook-ceph-osd: 1 of all'],
      draining: [
        'rook-ceph-osd-zone-y: 0 of topology-location-zone=y',
        'rook-ceph-osd-zone-z: 0 of topology-location-zone=z',
      ],
      noout: 'x',
      handedBack: [],
      observed:
        'The budgets of rook-ceph/rook-ceph are handed over to Cofferdam, and spec.disruptionManagement.managePodBudgets has Rook manage them too; Cofferdam changes none of them. To hand them over: cofferdam adopt cephcluster/rook-ceph/rook-ceph. Any one OSD may go, and its zone may follow.',
      left: undefined,
      told: [
        'Normal AnyOsdMayGo',
        'Normal DomainReleased',
        'Normal HandedBack',
        'Normal DomainReleased',
        'Warning BudgetsContested',
        'Warning ObjectsUnusable',
        'Normal AnyOsdMayGo',
      ],
    },
  },
  'ceph-static-budgets': {
    controller: 'ceph-static-budgets',
    open: () => openCephFixture(services),
    scenario: scaleScenario,
    whole: {
      guarded:
        'fs-mirror at least 1, mds-files at least 1, mgr 1, mon 1, nfs-share at least 1, nvmeof-blocks at least 1, rbd-mirror at least 1, rgw-store at least 1',
      scaled:
        'fs-mirror-other at least 1, mds-files at least 2, mgr 1, mon 1, nfs-share at least 4, nvmeof-blocks at least 2, rbd-mirror at least 2, rgw-store at least 3',
      monLost:
        'fs-mirror-other at least 1, mds-files at least 2, mgr 1, mon 0, nfs-share at least 4, nvmeof-blocks at least 2, rbd-mirror at least 2, rgw-store at least 3',
      mended:
        'fs-mirror-other at least 1, mds-files at least 2, mgr 1, mon 0, nfs-share at least 4, nvmeof-blocks at least 2, rbd-mirror at least 2, rgw-store at least 3',
      handedBack: 'mgr 1',
      told: ['Warning ObjectsUnusable'],
    },
  },
}

describeRights(cases)

describe('an operator in a cluster without Rook', () => {
  it('is ready, asks for its kinds now and then, and reports no failure', async () => {
    const scenario = openScenario()
    const warnings: unknown[] = []
    const log = { info() {}, warn: (facts: unknown) => warnings.push(facts), error() {}, debug() {} } as never
    const operator = startOperator({
      api: scenario.api,
      clock: scenario.clock,
      random: scenario.random.stream('operator'),
      log,
      metrics: createMetrics(),
      controllers: ['ceph-drain', 'ceph-static-budgets'],
      dryRun: false,
    })
    await scenario.seconds(600)
    expect(operator.health.map(({ check }) => check())).toEqual([{ ok: true }, { ok: true }])
    expect(warnings).toEqual([])
    const stopped = operator.stop()
    await scenario.seconds(30)
    await stopped
    scenario.stop()
  })
})
