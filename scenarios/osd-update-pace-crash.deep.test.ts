import { expect, it } from 'vitest'
import { stepOf } from '../test/property-runs.ts'
import { openPacedFixture } from './testing/osd-update-pace.ts'

it('an operator of Cofferdam that dies after any of its writes: the next one ends the walk, each OSD is changed once, and all are held again', async () => {
  const ends: string[] = []
  for (let writes = 0; writes < 200; writes += stepOf(3)) {
    const fixture = await openPacedFixture({ storage: 3, osdsPerNode: 1, pgs: 8, rookUpdates: 'osds-only' })
    const mortal = fixture.operate()
    await fixture.until('all are held', () => fixture.labels().length === 3, 120)
    mortal.killAfter(writes)
    await fixture.want('v19.2.4')
    const isDone = () => fixture.isUpdated('v19.2.4') && fixture.isOver() && fixture.labels().length === 3
    for (let seconds = 0; seconds < 400 && !mortal.isDead() && !isDone(); seconds += 1) await fixture.seconds(1)
    const hasDied = mortal.isDead()
    fixture.operate()
    await fixture.until('all run it and are held again', isDone, 1_800)
    const { violations, below, started } = fixture.oracle
    expect([writes, violations, below, [...started].sort()]).toEqual([
      writes,
      [],
      [],
      fixture.osdIds().map((osd) => `${osd} v19.2.4`),
    ])
    await fixture.close()
    ends.push(hasDied ? 'died' : 'lived')
    if (!hasDied) break
  }
  expect(ends.at(-1)).toBe('lived')
  expect(ends.length).toBeGreaterThan(12)
})
