import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { openPacedFixture, type PacedFixture } from './testing/osd-update-pace.ts'

const roleBindings: ResourceType = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
}

let fixture: PacedFixture
afterEach(() => fixture.close())

async function openPaced(): Promise<void> {
  fixture = await openPacedFixture()
  fixture.operate()
  await fixture.until('all are held', () => fixture.labels().length === 12, 120)
}

const isDone = (version: string) => fixture.isUpdated(version) && fixture.isOver() && fixture.labels().length === 12
const someOpen = () => fixture.until('a round is open', () => fixture.open().length > 0, 300)

describe('a pace beside what others do', () => {
  it('an OSD that a person labelled keeps his label, is updated by nobody, and is named', async () => {
    fixture = await openPacedFixture()
    await fixture.setLabel(3, 'true')
    fixture.operate()
    await fixture.until('all are held', () => fixture.labels().length === 12, 120)
    await fixture.want('v19.2.4')
    await fixture.until('the others run it', () => fixture.oracle.started.length >= 11 && fixture.isOver(), 1_800)
    await fixture.seconds(120)
    expect(fixture.labels()).toEqual(fixture.allHeld().map((line) => (line.startsWith('3:') ? '3: true' : line)))
    expect(fixture.versionsByOsd().filter((line) => !line.endsWith('v19.2.4'))).toEqual(['3: v19.2.3'])
    expect(fixture.record()?.data?.['blocked']).toContain('its Deployment has the label ceph.rook.io/do-not-reconcile')
    expect([fixture.oracle.violations, fixture.oracle.below]).toEqual([[], []])
  })

  it('Rook that goes in the middle of a round: the rest stays held, drains go on, and it ends when Rook is back', async () => {
    await openPaced()
    await fixture.want('v19.2.4')
    await someOpen()
    await fixture.scaleRook(0)
    await fixture.until(
      'nothing is open and the storage is free',
      () => fixture.isOver() && fixture.open().length === 0,
      300,
    )
    const before = fixture.oracle.started.length
    await fixture.until('it is told', async () => (await fixture.told()).includes('Warning RookNotResponding'), 300)
    await fixture.request('reboot', 'storage-5')
    await fixture.until('the node may reboot', () => fixture.phaseOf('reboot') === 'Drained', 600)
    fixture.world.kubelet.reboot('storage-5', 20)
    await fixture.until('the request is over', () => fixture.phaseOf('reboot') === 'Completed', 400)
    expect(fixture.oracle.started.length).toBe(before)
    await fixture.scaleRook(1)
    await fixture.until('all run it and are held again', () => isDone('v19.2.4'), 2_400)
    expect([fixture.oracle.violations, fixture.oracle.below]).toEqual([[], []])
  })

  it('a pace that begins while Rook is in the middle of its own rollout: what Rook has read counts, then all are held', async () => {
    fixture = await openPacedFixture({ annotations: { 'cofferdam.io/updates': 'plan' } })
    fixture.operate()
    await fixture.seconds(60)
    await fixture.want('v19.2.4')
    await fixture.until('Rook has begun', () => (fixture.rookLoop?.batches.length ?? 0) > 1, 300)
    await fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/updates': 'pace' } } })
    await fixture.until('all run it and are held', () => isDone('v19.2.4'), 2_400)
    await fixture.seconds(60)
    expect(fixture.labels()).toEqual(fixture.allHeld())
    expect(fixture.oracle.below).toEqual([])
  })

  it('a request for a node and a paced update never have the storage at the same time, and both end', async () => {
    await openPaced()
    await fixture.want('v19.2.4')
    await fixture.until('some are on their way', () => fixture.oracle.onTheWay().length > 0, 300)
    await fixture.request('reboot', 'storage-5')
    await fixture.until('the node may reboot', () => fixture.phaseOf('reboot') === 'Drained', 900)
    fixture.world.kubelet.reboot('storage-5', 20)
    await fixture.until('the request is over', () => fixture.phaseOf('reboot') === 'Completed', 400)
    await fixture.until('all run it and are held again', () => isDone('v19.2.4'), 2_400)
    expect([fixture.oracle.violations, fixture.oracle.below]).toEqual([[], []])
  })

  it('pace given up in the middle of a round: every label of ours goes, a person keeps his, and nothing else is touched', async () => {
    await openPaced()
    await fixture.setLabel(9, 'true')
    await fixture.want('v19.2.4')
    await fixture.until('some are on their way', () => fixture.oracle.onTheWay().length > 0, 300)
    await fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/updates': 'plan' } } })
    await fixture.until('our labels are gone', () => fixture.labels().join() === '9: true', 60)
    await fixture.until('the storage is free', () => fixture.holders().length === 0, 300)
    await fixture.seconds(60)
    expect(fixture.labels()).toEqual(['9: true'])
    expect(fixture.record()?.data?.['record']).not.toContain('"pace"')
    expect(fixture.oracle.below).toEqual([])
    expect(await fixture.told()).not.toContain('Warning OsdUpdateFrozen')
  })

  it('without deploy/ceph-pace nothing is held, no round is counted as begun, and the missing right is told once', async () => {
    fixture = await openPacedFixture()
    const binding = { namespace: 'rook-ceph', name: 'cofferdam:ceph-pace:osd-update' }
    await fixture.api.delete(roleBindings, binding)
    fixture.operate()
    await fixture.want('v19.2.4')
    await fixture.until('Rook has updated all by itself', () => fixture.isUpdated('v19.2.4'), 2_400)
    await fixture.seconds(120)
    expect([fixture.labels(), fixture.holders()]).toEqual([[], []])
    expect((await fixture.told()).filter((told) => told === 'Warning RightsMissing')).toHaveLength(1)
  })

  it('OSDs that are to be restarted are restarted in safe rounds, each back before the next, and stay held for Rook', async () => {
    await openPaced()
    const asked = { metadata: { annotations: { 'cofferdam.io/restart-osds': rfc3339(fixture.clock.now()) } } }
    await fixture.patchCluster(asked)
    await fixture.until('all were restarted', () => fixture.oracle.started.length >= 12 && fixture.isOver(), 2_400)
    await fixture.seconds(60)
    expect(fixture.oracle.started.map((start) => Number.parseInt(start, 10)).toSorted((a, b) => a - b)).toEqual(
      fixture.osdIds(),
    )
    expect(fixture.labels()).toEqual(fixture.allHeld())
    expect([fixture.oracle.violations, fixture.oracle.below]).toEqual([[], []])
  })
})
