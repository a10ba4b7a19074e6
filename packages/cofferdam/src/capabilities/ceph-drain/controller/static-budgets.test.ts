import {
  cephFilesystems,
  cephNfses,
  cephNvmeofGateways,
  cephObjectStores,
  cephRbdMirrors,
} from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { deployments, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { type CephFixture, namespace, openCephFixture, smallCluster } from '../testing/ceph-fixture.ts'

const services = `${smallCluster}
  filesystems: [{ name: files, active: 1, standby: true }]
  objectStores: [{ name: store, instances: 3 }]
  rbdMirrors: 2
  nfs: [{ name: share, active: 2 }]
  nvmeof: [{ name: blocks, instances: 2 }]
  filesystemMirrors: 2
`
const all = [
  'rook-ceph-fs-mirror-my-fs-mirror: at least 1 of app=rook-ceph-fs-mirror,app.kubernetes.io/part-of=my-fs-mirror',
  'rook-ceph-mds-files: at least 1 of rook_file_system=files',
  'rook-ceph-mgr-pdb: 1 of app=rook-ceph-mgr',
  'rook-ceph-mon-pdb: 1 of app=rook-ceph-mon',
  'rook-ceph-nfs-share: at least 1 of app=rook-ceph-nfs,ceph_nfs=share',
  'rook-ceph-nvmeof-blocks: at least 1 of app=rook-ceph-nvmeof,app.kubernetes.io/part-of=blocks',
  'rook-ceph-rbd-mirror-my-rbd-mirror: at least 1 of app=rook-ceph-rbd-mirror,app.kubernetes.io/part-of=my-rbd-mirror',
  'rook-ceph-rgw-store: at least 2 of rgw=store',
]

async function openGuarded(): Promise<CephFixture> {
  const fixture = await openCephFixture(services)
  fixture.operate({ controllers: ['ceph-static-budgets'] })
  await fixture.seconds(60)
  fixture.written.length = 0
  fixture.asked.length = 0
  return fixture
}

describe('the budgets of daemons that are alike', () => {
  it('are there for each kind that has more than one', async () => {
    const fixture = await openGuarded()
    expect(await fixture.budgets()).toEqual(all)
    await fixture.close()
  })

  it('follow every change of scale, and go where one is left', async () => {
    const fixture = await openGuarded()
    const store = { namespace, name: 'store' }
    const mirror = { namespace, name: 'rook-ceph-fs-mirror' }
    const scale = (instances: number) =>
      fixture.api.patch(cephObjectStores, store, { type: 'merge', body: { spec: { gateway: { instances } } } })
    const rgw = async () => (await fixture.budgets()).filter((text) => text.startsWith('rook-ceph-rgw'))
    await scale(5)
    await fixture.seconds(1)
    expect(await rgw()).toEqual(['rook-ceph-rgw-store: at least 4 of rgw=store'])
    await scale(2)
    await fixture.seconds(1)
    expect(await rgw()).toEqual(['rook-ceph-rgw-store: at least 1 of rgw=store'])
    await scale(1)
    await fixture.seconds(1)
    expect(await rgw()).toEqual([])
    await fixture.api.delete(cephFilesystems, { namespace, name: 'files' })
    await fixture.api.delete(cephNfses, { namespace, name: 'share' })
    await fixture.api.delete(cephRbdMirrors, { namespace, name: 'my-rbd-mirror' })
    await fixture.api.delete(cephNvmeofGateways, { namespace, name: 'blocks' })
    await fixture.api.patch(deployments, mirror, { type: 'merge', body: { spec: { replicas: 1 } } })
    await fixture.seconds(5)
    expect(await fixture.budgets()).toEqual(all.filter((text) => /-(mgr|mon)-/.test(text)))
    await fixture.close()
  })

  it('let no second monitor go while one is out of quorum', async () => {
    const fixture = await openGuarded()
    const mon = async () => (await fixture.budgets()).find((text) => text.startsWith('rook-ceph-mon'))
    const scale = (replicas: number) =>
      fixture.api.patch(
        deployments,
        { namespace, name: 'rook-ceph-mon-a' },
        { type: 'merge', body: { spec: { replicas } } },
      )
    await scale(0)
    await fixture.seconds(20)
    expect(await mon()).toBe('rook-ceph-mon-pdb: 0 of app=rook-ceph-mon')
    await scale(1)
    await fixture.seconds(60)
    expect(await mon()).toBe('rook-ceph-mon-pdb: 1 of app=rook-ceph-mon')
    await fixture.close()
  })

  it('stay as they are while Ceph is silent for a moment, and then let no monitor go', async () => {
    const fixture = await openGuarded()
    const mon = async () => (await fixture.budgets()).find((text) => text.startsWith('rook-ceph-mon'))
    fixture.ceph.controls.silence(true)
    const note = { type: 'merge' as const, body: { metadata: { annotations: { seen: 'now' } } } }
    await fixture.api.patch(deployments, { namespace, name: 'rook-ceph-mon-a' }, note)
    await fixture.seconds(28)
    expect(await mon()).toBe('rook-ceph-mon-pdb: 1 of app=rook-ceph-mon')
    await fixture.seconds(40)
    expect(await mon()).toBe('rook-ceph-mon-pdb: 0 of app=rook-ceph-mon')
    fixture.ceph.controls.silence(false)
    await fixture.seconds(30)
    expect(await mon()).toBe('rook-ceph-mon-pdb: 1 of app=rook-ceph-mon')
    await fixture.close()
  })

  it('are back at once when they are deleted by hand, and cost nothing while nothing happens', async () => {
    const fixture = await openGuarded()
    await fixture.api.delete(podDisruptionBudgets, { namespace, name: 'rook-ceph-mgr-pdb' })
    await fixture.clock.advance(100)
    expect(await fixture.budgets()).toEqual(all)
    fixture.written.length = 0
    await fixture.seconds(3_600)
    expect(fixture.written).toEqual([])
    expect(fixture.asked.length).toBeLessThanOrEqual(60)
    await fixture.close()
  })

  it('are handed back with the rest, but for one that somebody else owns', async () => {
    const fixture = await openGuarded()
    const { uid = '' } = (await fixture.api.get(deployments, { namespace, name: 'rook-ceph-mgr-a' })).metadata
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'rook-ceph-mgr-a', uid }]
    await fixture.api.delete(podDisruptionBudgets, { namespace, name: 'rook-ceph-mgr-pdb' })
    await fixture.seconds(1)
    await fixture.patchCluster({ spec: { disruptionManagement: { managePodBudgets: false } } })
    await fixture.seconds(5)
    expect(await fixture.budgets()).toEqual([])
    await fixture.api.create(podDisruptionBudgets, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'rook-ceph-mgr-pdb', namespace, ownerReferences },
      spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'mine' } } },
    })
    await fixture.patchCluster({ spec: { disruptionManagement: { managePodBudgets: true } } })
    await fixture.seconds(5)
    expect((await fixture.budgets()).find((text) => text.startsWith('rook-ceph-mgr'))).toBe(
      'rook-ceph-mgr-pdb: 0 of app=mine',
    )
    expect(await fixture.told()).toContain('Warning ObjectsUnusable')
    await fixture.close()
  })
})
