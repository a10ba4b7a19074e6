import { namespace } from '@cofferdam/product/capabilities/ceph-drain/testing/ceph-fixture.ts'
import { writeOperatorLease } from '@cofferdam/product/cli/testing/write-operator-lease.ts'
import { dyingAfter } from '@cofferdam/product/operator/testing/dying-after.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type BesideRook, budgetWrites, openBesideRook } from './testing/beside-rook.ts'
import { watchHandOver } from './testing/hand-over-oracle.ts'
import { runHandOver } from './testing/run-hand-over.ts'

const subject = 'cephcluster/rook-ceph/rook-ceph'
const atRooks = ['rook-ceph-mgr-pdb', 'rook-ceph-mon-pdb', 'rook-ceph-osd']
const atOurs = ['rook-ceph-mgr-pdb', 'rook-ceph-mon-pdb*', 'rook-ceph-osd*']

let stage: BesideRook

afterEach(() => stage.close())

async function open(): Promise<void> {
  stage = await openBesideRook()
  await writeOperatorLease(stage.fixture)
}

const run = (words: readonly string[], options: Parameters<typeof runHandOver>[2] = {}) =>
  runHandOver(stage.fixture, words, options)

describe('cofferdam adopt and release', () => {
  it('show the plan, hand over, prove it, and hand back; afterwards nobody writes to what is not his', async () => {
    await open()
    const { fixture, marks, rooksWrites } = stage
    stage.operate()
    await fixture.seconds(30)
    const oracle = watchHandOver({ api: fixture.api, namespace })
    const planned = await run(['adopt', subject, '--dry-run'])
    expect([planned.code, planned.out]).toEqual([0, expect.any(String)])
    expect(planned.out).toContain('change    spec.disruptionManagement.managePodBudgets: false')
    expect(await marks()).toEqual(atRooks)

    const adopted = await run(['adopt', subject])
    expect([adopted.code, await marks()]).toEqual([0, atOurs])
    expect(adopted.out).toContain('0 moments without protection')
    rooksWrites.length = 0
    await fixture.seconds(300)
    expect(budgetWrites(rooksWrites)).toEqual([])
    expect((await run(['adopt', subject])).code).toBe(0)

    const released = await run(['release', subject])
    expect([released.code, await marks()]).toEqual([0, atRooks])
    expect(released.out).toContain('0 moments without protection')
    fixture.written.length = 0
    await fixture.seconds(300)
    expect(budgetWrites(fixture.written)).toEqual([])
    await oracle.stop()
    expect(oracle.gaps).toEqual([])
  })

  it('in the middle of two drains hand over without a gap, and both drains end', async () => {
    await open()
    const { fixture, marks } = stage
    stage.operate()
    await fixture.seconds(30)
    await fixture.cordon('node-x')
    await fixture.cordon('node-y')
    expect(await fixture.evictOsd(0)).toBe('going')
    await fixture.seconds(60)
    const oracle = watchHandOver({ api: fixture.api, namespace }, () => ['x'])
    expect((await run(['adopt', subject])).code).toBe(0)
    expect(await fixture.evictOsd(2)).toBe('refused')
    expect(await fixture.evictOsd(1)).toBe('going')
    const released = await run(['release', subject])
    expect(released.code).toBe(0)
    expect(await fixture.evictOsd(2)).toBe('refused')
    expect(oracle.gaps).toEqual([])
    await oracle.stop()
    await fixture.cordon('node-x', false)
    await fixture.seconds(240)
    expect(await fixture.evictOsd(2)).toBe('going')
    await fixture.cordon('node-y', false)
    await fixture.seconds(300)
    expect([await marks(), await stage.noout()]).toEqual([atRooks, []])
  })

  it('change nothing where no operator would take over, and say what to do', async () => {
    await open()
    const { fixture, marks } = stage
    const refused = await run(['adopt', subject])
    expect([refused.code, await marks()]).toEqual([3, atRooks])
    expect(refused.out).toContain('--ceph-clusters')
    stage.operate()
    await fixture.seconds(30)
    expect((await run(['adopt', subject])).code).toBe(0)
    await stage.scaleRook(0)
    const kept = await run(['release', subject])
    expect([kept.code, await marks()]).toEqual([3, atOurs])
    expect(kept.out).toContain('--without-successor')
    const removed = await run(['release', subject, '--without-successor'])
    expect([removed.code, await marks()]).toEqual([0, ['rook-ceph-mgr-pdb']])
    expect(await run(['adopt', 'rook-ceph'])).toMatchObject({ code: 2 })
  })

  it('interrupted, or with an operator that dies after any of its writes, go on when repeated, and leave no OSD without a budget', async () => {
    let deaths = 0
    for (let writes = 0; writes < 12; writes += 1) {
      await open()
      const { fixture, marks } = stage
      const first = stage.operate()
      await fixture.seconds(30)
      const oracle = watchHandOver({ api: fixture.api, namespace })
      const stopped = first.stop()
      await fixture.seconds(11)
      await stopped
      const line = dyingAfter(fixture.api, writes)
      const mortal = stage.operate(line.api)
      expect([0, 4]).toContain((await run(['adopt', subject], { seconds: 15 })).code)
      const dead = mortal.stop()
      await fixture.seconds(11)
      await dead
      const next = stage.operate()
      expect([(await run(['adopt', subject])).code, await marks()]).toEqual([0, atOurs])
      const ended = next.stop()
      await fixture.seconds(11)
      await ended
      const last = dyingAfter(fixture.api, writes)
      const dying = stage.operate(last.api)
      expect([0, 4]).toContain((await run(['release', subject], { seconds: 15 })).code)
      const gone = dying.stop()
      await fixture.seconds(11)
      await gone
      stage.operate()
      expect([(await run(['release', subject])).code, await marks()]).toEqual([0, atRooks])
      await oracle.stop()
      expect(oracle.gaps).toEqual([])
      deaths += [line, last].filter((each) => each.died()).length
      if (!line.died() && !last.died()) break
      await stage.close()
    }
    expect(deaths).toBeGreaterThan(4)
  })
})
