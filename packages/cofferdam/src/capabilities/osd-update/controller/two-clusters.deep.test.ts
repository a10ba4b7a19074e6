import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { deployments, namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import type { CephCommands } from '../../../ceph/ceph-commands.ts'
import { namespace } from '../../ceph-drain/testing/ceph-fixture.ts'
import { newImage, type OsdUpdateFixture, openOsdUpdateFixture } from '../testing/osd-update-fixture.ts'

const other = 'other-ceph'
const controllers = ['osd-update', 'ceph-drain'] as const

let fixture: OsdUpdateFixture
afterEach(() => fixture.close())

/** The same once more in another namespace: a cluster with OSDs that differ from what it wants. */
async function addOther(): Promise<void> {
  const { api } = fixture
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: other } })
  const cluster = await api.get(cephClusters, { namespace, name: 'rook-ceph' })
  const spec = { ...cluster.spec, cephVersion: { image: newImage } }
  const metadata = { name: 'rook-ceph', namespace: other }
  await api.create(cephClusters, { apiVersion: cluster.apiVersion, kind: cluster.kind, metadata, spec })
  for (const osd of await fixture.osds()) {
    const { name, labels = {}, annotations = {} } = osd.metadata
    await api.create(deployments, { ...osd, metadata: { name, namespace: other, labels, annotations } })
  }
  await fixture.seconds(30)
}

/** Seconds until all OSDs of the cluster are updated, with this Ceph behind the other one; without: it is alone. */
async function secondsToUpdate(elsewhere?: CephCommands): Promise<number> {
  fixture = await openOsdUpdateFixture()
  if (elsewhere !== undefined) await addOther()
  fixture.operate({ controllers, ...(elsewhere && { elsewhere }) })
  await fixture.seconds(60)
  await fixture.wantImage(newImage)
  const began = fixture.clock.now()
  expect(await fixture.until(async () => (await fixture.images()).join() === newImage, 600)).toBe(true)
  expect(fixture.broken).toEqual([])
  return (fixture.clock.now() - began) / 1_000
}

/** Answers nothing, ever; whoever has asked waits until it gives up by itself. */
const hanging: CephCommands = {
  run: (_, { signal } = {}) =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true })),
}
const broken: CephCommands = { run: () => Promise.resolve({ code: 0, out: '{"nonsense":', err: '' }) }
const throwing: CephCommands = { run: () => Promise.reject(new TypeError('a defect of ours')) }

describe('two CephClusters', () => {
  it.each([
    ['hangs', hanging],
    ['tells nonsense', broken],
    ['trips over a defect of ours', throwing],
  ])('one that %s takes no time from the other', async (_, elsewhere) => {
    const alone = await secondsToUpdate()
    await fixture.close()
    const beside = await secondsToUpdate(elsewhere)
    // Each round ends with the next report, and those come every five seconds.
    expect(beside).toBeLessThanOrEqual(alone + 20)
    const untouched = await fixture.api.list(deployments, { namespace: other, labelSelector: 'app=rook-ceph-osd' })
    expect(JSON.stringify(untouched.items)).not.toContain(newImage)
  })

  it('drains of the healthy one are let and held as ever while the update of the other hangs', async () => {
    fixture = await openOsdUpdateFixture()
    await addOther()
    fixture.operate({ controllers, elsewhere: hanging })
    await fixture.seconds(60)
    const before = await fixture.budgets()
    await fixture.cordon('node-x')
    expect(await fixture.evictOsd(0)).toBe('going')
    await fixture.seconds(20)
    expect(await fixture.evictOsd(2)).toBe('refused')
    await fixture.cordon('node-x', false)
    await fixture.seconds(180)
    expect(await fixture.budgets()).toEqual(before)
  })
})
