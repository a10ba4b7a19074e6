import { type CephFixture, namespace } from '@cofferdam/product/capabilities/ceph-drain/testing/ceph-fixture.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type BesideRook, budgetWrites, openBesideRook } from './testing/beside-rook.ts'
import { watchHandOver } from './testing/hand-over-oracle.ts'

let stage: BesideRook
let fixture: CephFixture

afterEach(async () => {
  expect(fixture.failures).toEqual([])
  await stage.close()
})

async function open(): Promise<void> {
  stage = await openBesideRook()
  fixture = stage.fixture
}

async function drain(node: string, osds: readonly number[]): Promise<void> {
  await fixture.cordon(node)
  for (const osd of osds) {
    expect(await fixture.evictOsd(osd)).toBe('going')
    await fixture.seconds(20)
  }
}

describe('budgets that Rook has managed', () => {
  it('are taken over in place and given back in place: at no moment is an OSD without one, and nobody writes to what is not his', async () => {
    await open()
    expect(await stage.marks()).toEqual(['rook-ceph-mgr-pdb', 'rook-ceph-mon-pdb', 'rook-ceph-osd'])
    stage.operate()
    await fixture.seconds(30)
    expect(budgetWrites(fixture.written)).toEqual([])
    const oracle = watchHandOver({ api: fixture.api, namespace })

    await stage.adopt()
    await fixture.seconds(30)
    expect(await stage.marks()).toEqual(['rook-ceph-mgr-pdb', 'rook-ceph-mon-pdb*', 'rook-ceph-osd*'])
    stage.rooksWrites.length = 0
    await fixture.seconds(300)
    expect(budgetWrites(stage.rooksWrites)).toEqual([])

    await stage.release()
    await fixture.seconds(60)
    expect(await stage.marks()).toEqual(['rook-ceph-mgr-pdb', 'rook-ceph-mon-pdb', 'rook-ceph-osd'])
    expect(Object.keys((await stage.stateMap())?.data ?? {})).toEqual(['draining-failure-domain'])
    fixture.written.length = 0
    await fixture.seconds(300)
    expect(budgetWrites(fixture.written)).toEqual([])
    await oracle.stop()
    expect(oracle.gaps).toEqual([])
  }, 60_000)

  it('in the middle of a drain that Rook let in: the same drain goes on, its noout is ended by us, and nothing else may go', async () => {
    await open()
    stage.operate()
    await drain('node-x', [0])
    await fixture.seconds(60)
    expect(await stage.marks()).toContain('rook-ceph-osd-zone-y')
    expect(await stage.noout()).toEqual(['x'])
    const oracle = watchHandOver({ api: fixture.api, namespace }, () => ['x'])
    await stage.adopt()
    await fixture.seconds(30)
    expect(await stage.marks()).toEqual([
      'rook-ceph-mgr-pdb',
      'rook-ceph-mon-pdb*',
      'rook-ceph-osd-zone-y*',
      'rook-ceph-osd-zone-z*',
    ])
    expect(await fixture.evictOsd(2)).toBe('refused')
    expect(await fixture.evictOsd(1)).toBe('going')
    await fixture.seconds(20)
    await fixture.cordon('node-x', false)
    await fixture.seconds(180)
    expect([await stage.noout(), await fixture.budgets()]).toEqual([
      [],
      expect.arrayContaining(['rook-ceph-osd: 1 of all']),
    ])
    await oracle.stop()
    expect(oracle.gaps).toEqual([])
  }, 60_000)

  it('given back in the middle of a drain: Rook goes on with the drain that we began and ends its noout; blocking budgets of ours would have stayed for hours', async () => {
    await open()
    stage.operate()
    await stage.adopt()
    await fixture.seconds(30)
    await drain('node-x', [0])
    expect([await stage.marks(), await stage.noout()]).toEqual([
      expect.arrayContaining(['rook-ceph-osd-zone-y*']),
      ['x'],
    ])
    const oracle = watchHandOver({ api: fixture.api, namespace }, () => ['x'])
    await stage.release()
    await fixture.seconds(30)
    expect((await stage.marks()).filter((name) => name.endsWith('*'))).toEqual([])
    expect(await stage.noout()).toEqual(['x'])
    const kept = Object.keys((await stage.stateMap())?.data ?? {}).sort()
    expect(kept).toEqual([
      'draining-failure-domain',
      'draining-failure-domain-duration',
      'set-no-out',
      'x-noout-last-set-at',
    ])
    expect(await fixture.evictOsd(2)).toBe('refused')
    await fixture.cordon('node-x', false)
    await fixture.seconds(240)
    expect([await stage.noout(), await stage.marks()]).toEqual([
      [],
      ['rook-ceph-mgr-pdb', 'rook-ceph-mon-pdb', 'rook-ceph-osd'],
    ])
    await oracle.stop()
    expect(oracle.gaps).toEqual([])
  }, 60_000)

  it("given to nobody: every budget, flag and ConfigMap of ours goes, and the mgr budget, which is Rook's, stays", async () => {
    await open()
    stage.operate()
    await stage.adopt()
    await fixture.seconds(30)
    await drain('node-x', [0])
    await stage.release(false)
    await fixture.seconds(30)
    expect([await stage.marks(), await stage.noout(), await stage.stateMap()]).toEqual([
      ['rook-ceph-mgr-pdb'],
      [],
      undefined,
    ])
    fixture.written.length = 0
    await fixture.seconds(300)
    expect(budgetWrites(fixture.written)).toEqual([])
  }, 60_000)

  it('are not taken over because Rook is gone, for five seconds or for good; it is reported once', async () => {
    await open()
    stage.operate()
    await fixture.seconds(30)
    await stage.scaleRook(0)
    await fixture.seconds(5)
    await stage.scaleRook(1)
    await fixture.seconds(30)
    await stage.scaleRook(0)
    await fixture.seconds(600)
    expect(budgetWrites(fixture.written)).toEqual([])
    expect(await stage.marks()).toEqual(['rook-ceph-mgr-pdb', 'rook-ceph-mon-pdb', 'rook-ceph-osd'])
    const problems = (await fixture.observed()).metadata.annotations?.['cofferdam.io/problems']
    expect(problems).toMatch(/^cephcluster\/rook-ceph: Rook's operator does not run/)
  }, 60_000)

  it('claimed by both are changed by Cofferdam no more, and that is said', async () => {
    await open()
    stage.operate()
    await fixture.seconds(30)
    fixture.written.length = 0
    await fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/budgets': 'manage' } } })
    await fixture.seconds(120)
    expect(budgetWrites(fixture.written)).toEqual([])
    expect(await fixture.told()).toContain('Warning BudgetsContested')
    expect((await fixture.observed()).metadata.annotations?.['cofferdam.io/budgets']).toBe('contested')
  }, 60_000)
})
