import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { drainNode } from '@cofferdam/simulator/world/testing/drain.ts'
import { describe, expect, it } from 'vitest'
import { type CephStage, namespace, openCephStage } from '../testing/ceph-stage.ts'

const calm = ['rook-ceph-osd: 1 of all']
const draining = [
  'rook-ceph-osd-zone-y: 0 of topology-location-zone=y',
  'rook-ceph-osd-zone-z: 0 of topology-location-zone=z',
]

async function openGuarded(): Promise<CephStage> {
  const stage = await openCephStage()
  stage.operate()
  await stage.seconds(120)
  stage.written.length = 0
  stage.asked.length = 0
  return stage
}

async function nooutBuckets({ ceph }: CephStage): Promise<string[]> {
  const { out } = await ceph.commands.run({ prefix: 'osd dump' })
  return Object.keys((JSON.parse(out) as { crush_node_flags: object }).crush_node_flags)
}

describe('a drain', () => {
  it('is led through: one zone opens with its first OSD, no data moves, and all is as before when the node is back', async () => {
    const stage = await openGuarded()
    expect(await stage.budgets()).toEqual(calm)

    const drained = drainNode(stage, 'node-x')
    // A manager of Ceph goes with the node: until another has taken over, nothing more may go.
    await stage.seconds(1)
    expect(await stage.budgets()).toEqual(['rook-ceph-osd: 0 of all'])
    await stage.seconds(14)
    expect(await stage.budgets()).toEqual(draining)
    expect(await nooutBuckets(stage)).toEqual(['x'])
    await stage.seconds(60)
    await drained
    expect((await stage.record()).data).toMatchObject({
      'draining-failure-domain': 'x',
      'set-no-out': 'true',
      'cofferdam.io_own-noout': 'x',
    })

    await stage.cordon('node-x', false)
    await stage.seconds(180)
    expect(await stage.budgets()).toEqual(calm)
    expect(await nooutBuckets(stage)).toEqual([])
    expect((await stage.record()).data).toMatchObject({ 'draining-failure-domain': '', 'cofferdam.io_own-noout': '' })
    expect(await stage.told()).toEqual([
      'Normal AnyOsdMayGo',
      'Normal SafetyUnknown',
      'Normal DomainReleased',
      'Normal RecoveryAwaited',
      'Normal AnyOsdMayGo',
    ])
    await stage.close()
  })

  it('writes the intent first, then closes the budget of all, then sets noout, and exchanges the budget for blocks last', async () => {
    const stage = await openGuarded()
    await stage.cordon('node-x')
    expect(await stage.evictOsd(0)).toBe('going')
    await stage.clock.advance(500)
    expect(
      stage.written.filter((write) => !write.includes('events')).filter((write) => write.includes('budgets')),
    ).toEqual([
      'update poddisruptionbudgets/rook-ceph-osd',
      'create poddisruptionbudgets/rook-ceph-osd-zone-y',
      'create poddisruptionbudgets/rook-ceph-osd-zone-z',
      'update poddisruptionbudgets/rook-ceph-osd',
    ])
    expect(stage.written.find((write) => !write.includes('events'))).toBe('update configmaps/rook-ceph-pdbstatemap')
    expect(stage.asked.slice(0, 6)).toEqual([
      'osd dump',
      'osd crush dump',
      'pg dump',
      'osd dump',
      'osd ok-to-stop',
      'osd set-group',
    ])
    expect(await Promise.all([stage.evictOsd(1), stage.evictOsd(2), stage.evictOsd(4)])).toEqual([
      'going',
      'refused',
      'refused',
    ])
    await stage.close()
  })

  it('does not begin while Ceph itself says no: the zone stays held, and an alarm is raised once', async () => {
    const stage = await openGuarded()
    stage.ceph.controls.lieOkToStop('no')
    await stage.cordon('node-x')
    const evicted = drainNode(stage, 'node-x')
    await stage.seconds(20)
    const record = await stage.record()
    expect(record.metadata.annotations?.['cofferdam.io/reason']).toBe('CephDisagrees')
    expect(await stage.told()).toContain('Warning CephDisagrees')
    expect(await stage.metrics.registry.metrics()).toMatch(/cofferdam_ceph_disagreements_total\{[^}]*\} 1\n/)
    stage.ceph.controls.lieOkToStop(undefined)
    await stage.seconds(90)
    await evicted
    await stage.close()
  })

  it('a flag that Ceph refuses to set is on record for as long as that lasts, and the drain goes on', async () => {
    const stage = await openGuarded()
    stage.refused.add('osd set-group')
    const problems = async () => (await stage.record()).metadata.annotations?.['cofferdam.io/problems'] ?? ''
    await stage.cordon('node-x')
    expect(await stage.evictOsd(0)).toBe('going')
    await stage.seconds(20)
    expect(await problems()).toContain('noout could not be set')
    expect(await stage.evictOsd(1)).toBe('going')
    stage.refused.clear()
    await stage.seconds(20)
    expect(await problems()).toBe('')
    await stage.close()
  })

  it('a Ceph that calls unsafe sets safe, as 20.2.4 does, is found out and told; drains go on by our own reckoning', async () => {
    const stage = await openCephStage()
    stage.ceph.controls.lieOkToStop('yes')
    stage.operate()
    await stage.seconds(30)
    expect((await stage.record()).metadata.annotations?.['cofferdam.io/problems']).toContain('is wrong and is ignored')
    expect(await stage.metrics.registry.metrics()).toMatch(/cofferdam_ceph_disagreements_total\{[^}]*\} 1\n/)
    await stage.cordon('node-x')
    expect(await stage.evictOsd(0)).toBe('going')
    await stage.seconds(20)
    expect(await Promise.all([stage.evictOsd(1), stage.evictOsd(2)])).toEqual(['going', 'refused'])
    await stage.close()
  })

  it('does not begin on our word alone: without an opinion of Ceph the zone stays held, however long that lasts', async () => {
    const stage = await openGuarded()
    stage.refused.add('osd ok-to-stop')
    await stage.cordon('node-x')
    expect(await stage.evictOsd(0)).toBe('going')
    await stage.seconds(600)
    expect(await stage.evictOsd(1)).not.toBe('going')
    expect((await stage.record()).metadata.annotations?.['cofferdam.io/problems']).toContain(
      'Ceph gives no ok-to-stop answer for it',
    )
    stage.refused.clear()
    await stage.seconds(20)
    expect(await stage.evictOsd(1)).toBe('going')
    await stage.close()
  })
})

describe('an idle cluster', () => {
  it('costs no write and at most one question to Ceph a minute, over two hours', async () => {
    const stage = await openGuarded()
    const minutes = 2 * 60
    await stage.seconds(minutes * 60)
    expect(stage.written).toEqual([])
    expect(new Set(stage.asked)).toEqual(new Set(['status']))
    expect(stage.asked.length).toBeLessThanOrEqual(minutes)
    await stage.close()
  })
})

describe('a budget that somebody changes by hand', () => {
  it('is back at once when it was deleted, without a question to Ceph', async () => {
    const stage = await openGuarded()
    await stage.api.delete(podDisruptionBudgets, { namespace, name: 'rook-ceph-osd' })
    await stage.clock.advance(100)
    expect(await stage.budgets()).toEqual(calm)
    expect(stage.asked).toEqual([])
    await stage.close()
  })

  it('is as it was at once when it was edited', async () => {
    const stage = await openGuarded()
    const key = { namespace, name: 'rook-ceph-osd' }
    await stage.api.patch(podDisruptionBudgets, key, { type: 'merge', body: { spec: { maxUnavailable: 6 } } })
    await stage.clock.advance(100)
    expect(await stage.budgets()).toEqual(calm)
    await stage.close()
  })
})

describe('a Ceph that does not answer', () => {
  it('changes nothing for 30 s, then holds everything, says since when, and lets go when it is back', async () => {
    const stage = await openGuarded()
    stage.ceph.controls.silence(true)
    await stage.cordon('node-x')
    await stage.seconds(28)
    expect(await stage.budgets()).toEqual(calm)
    await stage.seconds(40)
    expect(await stage.budgets()).toEqual(['rook-ceph-osd: 0 of all'])
    const notes = (await stage.record()).metadata.annotations ?? {}
    expect(notes['cofferdam.io/reason']).toBe('CephSilent')
    expect(notes['cofferdam.io/ceph-silent-since']).toMatch(/^2026-01-01T00:03:/)
    stage.ceph.controls.silence(false)
    await stage.seconds(30)
    expect(await stage.budgets()).toEqual(calm)
    expect((await stage.record()).metadata.annotations?.['cofferdam.io/ceph-silent-since']).toBeUndefined()
    expect(await stage.told()).toEqual([
      'Normal AnyOsdMayGo',
      'Normal CephAnswerAwaited',
      'Warning CephSilent',
      'Normal AnyOsdMayGo',
    ])
    await stage.close()
  })

  it('is still silent since the same time for the operator that comes next', async () => {
    const stage = await openCephStage()
    const first = stage.operate()
    await stage.seconds(120)
    stage.ceph.controls.silence(true)
    await stage.cordon('node-x')
    await stage.seconds(20)
    const stopped = first.stop()
    await stage.seconds(11)
    await stopped
    const before = (await stage.record()).metadata.annotations?.['cofferdam.io/ceph-silent-since']
    stage.operate()
    await stage.seconds(20)
    expect(await stage.budgets()).toEqual(['rook-ceph-osd: 0 of all'])
    expect((await stage.record()).metadata.annotations?.['cofferdam.io/ceph-silent-since']).toBe(before)
    await stage.close()
  })
})
