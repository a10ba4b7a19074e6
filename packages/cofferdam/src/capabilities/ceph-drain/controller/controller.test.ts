import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { drainNode } from '@cofferdam/simulator/world/testing/drain.ts'
import { describe, expect, it } from 'vitest'
import { type CephFixture, namespace, openCephFixture } from '../testing/ceph-fixture.ts'

const calm = ['rook-ceph-osd: 1 of all']
const draining = [
  'rook-ceph-osd-zone-y: 0 of topology-location-zone=y',
  'rook-ceph-osd-zone-z: 0 of topology-location-zone=z',
]

async function openGuarded(): Promise<CephFixture> {
  const fixture = await openCephFixture()
  fixture.operate()
  await fixture.seconds(120)
  fixture.written.length = 0
  fixture.asked.length = 0
  return fixture
}

async function nooutBuckets({ ceph }: CephFixture): Promise<string[]> {
  const { out } = await ceph.commands.run({ prefix: 'osd dump' })
  return Object.keys((JSON.parse(out) as { crush_node_flags: object }).crush_node_flags)
}

describe('a drain', () => {
  it('is led through: one zone opens with its first OSD, no data moves, and all is as before when the node is back', async () => {
    const fixture = await openGuarded()
    expect(await fixture.budgets()).toEqual(calm)

    const drained = drainNode(fixture, 'node-x')
    // A manager of Ceph goes with the node: until another has taken over, nothing more may go.
    await fixture.seconds(1)
    expect(await fixture.budgets()).toEqual(['rook-ceph-osd: 0 of all'])
    await fixture.seconds(14)
    expect(await fixture.budgets()).toEqual(draining)
    expect(await nooutBuckets(fixture)).toEqual(['x'])
    await fixture.seconds(60)
    await drained
    expect((await fixture.record()).data).toMatchObject({
      'draining-failure-domain': 'x',
      'set-no-out': 'true',
      'cofferdam.io_own-noout': 'x',
    })

    await fixture.cordon('node-x', false)
    await fixture.seconds(180)
    expect(await fixture.budgets()).toEqual(calm)
    expect(await nooutBuckets(fixture)).toEqual([])
    expect((await fixture.record()).data).toMatchObject({ 'draining-failure-domain': '', 'cofferdam.io_own-noout': '' })
    expect(await fixture.told()).toEqual([
      'Normal AnyOsdMayGo',
      'Normal SafetyUnknown',
      'Normal DomainReleased',
      'Normal RecoveryAwaited',
      'Normal AnyOsdMayGo',
    ])
    await fixture.close()
  })

  it('writes the intent first, then closes the budget of all, then sets noout, and exchanges the budget for blocks last', async () => {
    const fixture = await openGuarded()
    await fixture.cordon('node-x')
    expect(await fixture.evictOsd(0)).toBe('going')
    await fixture.clock.advance(500)
    expect(
      fixture.written.filter((write) => !write.includes('events')).filter((write) => write.includes('budgets')),
    ).toEqual([
      'update poddisruptionbudgets/rook-ceph-osd',
      'create poddisruptionbudgets/rook-ceph-osd-zone-y',
      'create poddisruptionbudgets/rook-ceph-osd-zone-z',
      'update poddisruptionbudgets/rook-ceph-osd',
    ])
    expect(fixture.written.find((write) => !write.includes('events'))).toBe('update configmaps/rook-ceph-pdbstatemap')
    expect(fixture.asked.slice(0, 6)).toEqual([
      'osd dump',
      'osd crush dump',
      'pg dump',
      'osd dump',
      'osd ok-to-stop',
      'osd set-group',
    ])
    expect(await Promise.all([fixture.evictOsd(1), fixture.evictOsd(2), fixture.evictOsd(4)])).toEqual([
      'going',
      'refused',
      'refused',
    ])
    await fixture.close()
  })

  it('does not begin while Ceph itself says no: the zone stays held, and an alarm is raised once', async () => {
    const fixture = await openGuarded()
    fixture.ceph.controls.lieOkToStop('no')
    await fixture.cordon('node-x')
    const evicted = drainNode(fixture, 'node-x')
    await fixture.seconds(20)
    const record = await fixture.record()
    expect(record.metadata.annotations?.['cofferdam.io/reason']).toBe('CephDisagrees')
    expect(await fixture.told()).toContain('Warning CephDisagrees')
    expect(await fixture.metrics.registry.metrics()).toMatch(/cofferdam_ceph_disagreements_total\{[^}]*\} 1\n/)
    fixture.ceph.controls.lieOkToStop(undefined)
    await fixture.seconds(90)
    await evicted
    await fixture.close()
  })

  it('a flag that Ceph refuses to set is on record for as long as that lasts, and the drain goes on', async () => {
    const fixture = await openGuarded()
    fixture.refused.add('osd set-group')
    const problems = async () => (await fixture.record()).metadata.annotations?.['cofferdam.io/problems'] ?? ''
    await fixture.cordon('node-x')
    expect(await fixture.evictOsd(0)).toBe('going')
    await fixture.seconds(20)
    expect(await problems()).toContain('noout could not be set')
    expect(await fixture.evictOsd(1)).toBe('going')
    fixture.refused.clear()
    await fixture.seconds(20)
    expect(await problems()).toBe('')
    await fixture.close()
  })

  it('a Ceph that calls unsafe sets safe, as 20.2.4 does, is found out and told; drains go on by our own reckoning', async () => {
    const fixture = await openCephFixture()
    fixture.ceph.controls.lieOkToStop('yes')
    fixture.operate()
    await fixture.seconds(30)
    expect((await fixture.record()).metadata.annotations?.['cofferdam.io/problems']).toContain(
      'is wrong and is ignored',
    )
    expect(await fixture.metrics.registry.metrics()).toMatch(/cofferdam_ceph_disagreements_total\{[^}]*\} 1\n/)
    await fixture.cordon('node-x')
    expect(await fixture.evictOsd(0)).toBe('going')
    await fixture.seconds(20)
    expect(await Promise.all([fixture.evictOsd(1), fixture.evictOsd(2)])).toEqual(['going', 'refused'])
    await fixture.close()
  })

  it('does not begin on our word alone: without an opinion of Ceph the zone stays held, however long that lasts', async () => {
    const fixture = await openGuarded()
    fixture.refused.add('osd ok-to-stop')
    await fixture.cordon('node-x')
    expect(await fixture.evictOsd(0)).toBe('going')
    await fixture.seconds(600)
    expect(await fixture.evictOsd(1)).not.toBe('going')
    expect((await fixture.record()).metadata.annotations?.['cofferdam.io/problems']).toContain(
      'Ceph gives no ok-to-stop answer for it',
    )
    fixture.refused.clear()
    await fixture.seconds(20)
    expect(await fixture.evictOsd(1)).toBe('going')
    await fixture.close()
  })
})

describe('a budget that blocks', () => {
  it('says why in kubectl describe pdb, once for each change of the answer, however long the drain lasts', async () => {
    const fixture = await openGuarded()
    expect(await fixture.told('PodDisruptionBudget')).toEqual([])
    const drained = drainNode(fixture, 'node-x')
    await fixture.seconds(75)
    await drained
    const told = await fixture.told('PodDisruptionBudget')
    expect(told.filter((each) => each.startsWith('rook-ceph-osd-zone-'))).toEqual([
      'rook-ceph-osd-zone-y: OtherDomainDown',
      'rook-ceph-osd-zone-z: OtherDomainDown',
    ])
    fixture.written.length = 0
    await fixture.seconds(1_800)
    expect(await fixture.told('PodDisruptionBudget')).toEqual(told)
    expect(fixture.written.filter((write) => write.includes('events') || write.includes('budgets'))).toEqual([])
    await fixture.close()
  })
})

describe('an idle cluster', () => {
  it('costs no write and at most one question to Ceph a minute, over two hours', async () => {
    const fixture = await openGuarded()
    const minutes = 2 * 60
    await fixture.seconds(minutes * 60)
    expect(fixture.written).toEqual([])
    expect(new Set(fixture.asked)).toEqual(new Set(['status']))
    expect(fixture.asked.length).toBeLessThanOrEqual(minutes)
    await fixture.close()
  })
})

describe('a budget that somebody changes by hand', () => {
  it('is back at once when it was deleted, without a question to Ceph', async () => {
    const fixture = await openGuarded()
    await fixture.api.delete(podDisruptionBudgets, { namespace, name: 'rook-ceph-osd' })
    await fixture.clock.advance(100)
    expect(await fixture.budgets()).toEqual(calm)
    expect(fixture.asked).toEqual([])
    await fixture.close()
  })

  it('is as it was at once when it was edited', async () => {
    const fixture = await openGuarded()
    const key = { namespace, name: 'rook-ceph-osd' }
    await fixture.api.patch(podDisruptionBudgets, key, { type: 'merge', body: { spec: { maxUnavailable: 6 } } })
    await fixture.clock.advance(100)
    expect(await fixture.budgets()).toEqual(calm)
    await fixture.close()
  })
})

describe('a Ceph that does not answer', () => {
  it('changes nothing for 30 s, then holds everything, says since when, and lets go when it is back', async () => {
    const fixture = await openGuarded()
    fixture.ceph.controls.silence(true)
    await fixture.cordon('node-x')
    await fixture.seconds(28)
    expect(await fixture.budgets()).toEqual(calm)
    await fixture.seconds(40)
    expect(await fixture.budgets()).toEqual(['rook-ceph-osd: 0 of all'])
    const notes = (await fixture.record()).metadata.annotations ?? {}
    expect(notes['cofferdam.io/reason']).toBe('CephSilent')
    expect(notes['cofferdam.io/ceph-silent-since']).toMatch(/^2026-01-01T00:03:/)
    fixture.ceph.controls.silence(false)
    await fixture.seconds(30)
    expect(await fixture.budgets()).toEqual(calm)
    expect((await fixture.record()).metadata.annotations?.['cofferdam.io/ceph-silent-since']).toBeUndefined()
    expect(await fixture.told()).toEqual([
      'Normal AnyOsdMayGo',
      'Normal CephAnswerAwaited',
      'Warning CephSilent',
      'Normal AnyOsdMayGo',
    ])
    await fixture.close()
  })

  it('is still silent since the same time for the operator that comes next', async () => {
    const fixture = await openCephFixture()
    const first = fixture.operate()
    await fixture.seconds(120)
    fixture.ceph.controls.silence(true)
    await fixture.cordon('node-x')
    await fixture.seconds(20)
    const stopped = first.stop()
    await fixture.seconds(11)
    await stopped
    const before = (await fixture.record()).metadata.annotations?.['cofferdam.io/ceph-silent-since']
    fixture.operate()
    await fixture.seconds(20)
    expect(await fixture.budgets()).toEqual(['rook-ceph-osd: 0 of all'])
    expect((await fixture.record()).metadata.annotations?.['cofferdam.io/ceph-silent-since']).toBe(before)
    await fixture.close()
  })

  it('is recorded once, not every ten seconds, when a millisecond passes now and then while a snapshot is taken', async () => {
    const fixture = await openCephFixture()
    let readings = 0
    fixture.operate({
      clock: {
        now() {
          readings += 1
          return fixture.clock.now() + Math.floor(readings / 3)
        },
        after: (delayMs, callback) => fixture.clock.after(delayMs, callback),
      },
    })
    await fixture.seconds(120)
    fixture.ceph.controls.silence(true)
    await fixture.seconds(180)
    expect((await fixture.record()).metadata.annotations?.['cofferdam.io/reason']).toBe('CephSilent')
    fixture.written.length = 0
    await fixture.seconds(600)
    expect(fixture.written).toEqual([])
    await fixture.close()
  })
})
