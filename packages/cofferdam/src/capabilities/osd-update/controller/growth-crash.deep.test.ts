import { expect, it } from 'vitest'
import { dyingAfter } from '../../../operator/testing/dying-after.ts'
import { openOsdGrowthFixture } from '../testing/osd-growth-fixture.ts'

const controllers = ['osd-growth'] as const

it('an operator that dies after any of its writes: the next one has every disk made an OSD once, and leaves nothing behind', async () => {
  const ends: string[] = []
  for (let writes = 0; writes < 40; writes += 1) {
    const fixture = await openOsdGrowthFixture()
    const line = dyingAfter(fixture.api, writes)
    const mortal = fixture.operate({ api: line.api, controllers })
    await fixture.grow({ 'node-x': 'sdx,sdy', 'node-z': 'sdz' })
    await fixture.seconds(60)
    const dead = mortal.stop()
    await fixture.seconds(11)
    await dead

    fixture.operate({ controllers })
    await fixture.seconds(60)
    expect([writes, await fixture.ids(), await fixture.jobs(), await fixture.statuses()]).toEqual([
      writes,
      [0, 1, 2, 3, 4, 5, 6, 7, 8],
      [],
      ['node-x: completed, used', 'node-y: completed, used', 'node-z: completed, used'],
    ])
    await fixture.close()
    ends.push(line.died() ? 'died' : 'lived')
    if (!line.died()) break
  }
  expect(ends.at(-1)).toBe('lived')
  expect(ends.length).toBeGreaterThan(12)
})
