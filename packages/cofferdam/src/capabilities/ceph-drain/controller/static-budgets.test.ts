import { cephFilesystems, cephNfses, cephObjectStores, cephRbdMirrors } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { deployments, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { type CephStage, namespace, openCephStage, smallCluster } from '../testing/ceph-stage.ts'

const services = `${smallCluster}
  filesystems: [{ name: files, active: 1, standby: true }]
  objectStores: [{ name: store, instances: 3 }]
  rbdMirrors: 2
  nfs: [{ name: share, active: 2 }]
`
const all = [
  'rook-ceph-mds-files: at least 1 of rook_file_system=files',
  'rook-ceph-mgr-pdb: 1 of app=rook-ceph-mgr',
  'rook-ceph-mon-pdb: 1 of app=rook-ceph-mon',
  'rook-ceph-nfs-share: at least 1 of app=rook-ceph-nfs,ceph_nfs=share',
  'rook-ceph-rbd-mirror-my-rbd-mirror: at least 1 of app=rook-ceph-rbd-mirror,app.kubernetes.io/part-of=my-rbd-mirror',
  'rook-ceph-rgw-store: at least 2 of rgw=store',
]

async function openGuarded(): Promise<CephStage> {
  const stage = await openCephStage(services)
  stage.operate({ controllers: ['ceph-static-budgets'] })
  await stage.seconds(60)
  stage.written.length = 0
  stage.asked.length = 0
  return stage
}

describe('the budgets of daemons that are alike', () => {
  it('are there for each kind that has more than one', async () => {
    const stage = await openGuarded()
    expect(await stage.budgets()).toEqual(all)
    await stage.close()
  })

  it('follow every change of scale, and go where one is left', async () => {
    const stage = await openGuarded()
    const store = { namespace, name: 'store' }
    const scale = (instances: number) =>
      stage.api.patch(cephObjectStores, store, { type: 'merge', body: { spec: { gateway: { instances } } } })
    const rgw = async () => (await stage.budgets()).filter((text) => text.startsWith('rook-ceph-rgw'))
    await scale(5)
    await stage.seconds(1)
    expect(await rgw()).toEqual(['rook-ceph-rgw-store: at least 4 of rgw=store'])
    await scale(2)
    await stage.seconds(1)
    expect(await rgw()).toEqual(['rook-ceph-rgw-store: at least 1 of rgw=store'])
    await scale(1)
    await stage.seconds(1)
    expect(await rgw()).toEqual([])
    await stage.api.delete(cephFilesystems, { namespace, name: 'files' })
    await stage.api.delete(cephNfses, { namespace, name: 'share' })
    await stage.api.delete(cephRbdMirrors, { namespace, name: 'my-rbd-mirror' })
    await stage.seconds(5)
    expect(await stage.budgets()).toEqual(all.filter((text) => /-(mgr|mon)-/.test(text)))
    await stage.close()
  })

  it('let no second monitor go while one is out of quorum', async () => {
    const stage = await openGuarded()
    const mon = async () => (await stage.budgets()).find((text) => text.startsWith('rook-ceph-mon'))
    const scale = (replicas: number) =>
      stage.api.patch(
        deployments,
        { namespace, name: 'rook-ceph-mon-a' },
        { type: 'merge', body: { spec: { replicas } } },
      )
    await scale(0)
    await stage.seconds(20)
    expect(await mon()).toBe('rook-ceph-mon-pdb: 0 of app=rook-ceph-mon')
    await scale(1)
    await stage.seconds(60)
    expect(await mon()).toBe('rook-ceph-mon-pdb: 1 of app=rook-ceph-mon')
    await stage.close()
  })

  it('stay as they are while Ceph is silent for a moment, and then let no monitor go', async () => {
    const stage = await openGuarded()
    const mon = async () => (await stage.budgets()).find((text) => text.startsWith('rook-ceph-mon'))
    stage.ceph.controls.silence(true)
    const note = { type: 'merge' as const, body: { metadata: { annotations: { seen: 'now' } } } }
    await stage.api.patch(deployments, { namespace, name: 'rook-ceph-mon-a' }, note)
    await stage.seconds(28)
    expect(await mon()).toBe('rook-ceph-mon-pdb: 1 of app=rook-ceph-mon')
    await stage.seconds(40)
    expect(await mon()).toBe('rook-ceph-mon-pdb: 0 of app=rook-ceph-mon')
    stage.ceph.controls.silence(false)
    await stage.seconds(30)
    expect(await mon()).toBe('rook-ceph-mon-pdb: 1 of app=rook-ceph-mon')
    await stage.close()
  })

  it('are back at once when they are deleted by hand, and cost nothing while nothing happens', async () => {
    const stage = await openGuarded()
    await stage.api.delete(podDisruptionBudgets, { namespace, name: 'rook-ceph-mgr-pdb' })
    await stage.clock.advance(100)
    expect(await stage.budgets()).toEqual(all)
    stage.written.length = 0
    await stage.seconds(3_600)
    expect(stage.written).toEqual([])
    expect(stage.asked.length).toBeLessThanOrEqual(60)
    await stage.close()
  })

  it('are handed back with the rest, but for one that somebody else owns', async () => {
    const stage = await openGuarded()
    const { uid = '' } = (await stage.api.get(deployments, { namespace, name: 'rook-ceph-mgr-a' })).metadata
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'rook-ceph-mgr-a', uid }]
    await stage.api.delete(podDisruptionBudgets, { namespace, name: 'rook-ceph-mgr-pdb' })
    await stage.seconds(1)
    await stage.patchCluster({ spec: { disruptionManagement: { managePodBudgets: false } } })
    await stage.seconds(5)
    expect(await stage.budgets()).toEqual([])
    await stage.api.create(podDisruptionBudgets, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'rook-ceph-mgr-pdb', namespace, ownerReferences },
      spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'mine' } } },
    })
    await stage.patchCluster({ spec: { disruptionManagement: { managePodBudgets: true } } })
    await stage.seconds(5)
    expect((await stage.budgets()).find((text) => text.startsWith('rook-ceph-mgr'))).toBe(
      'rook-ceph-mgr-pdb: 0 of app=mine',
    )
    expect(await stage.told()).toContain('Warning ObjectsUnusable')
    await stage.close()
  })
})
