import { describe, expect, it } from 'vitest'
import { isReadable, osdOfHolder, realMembers } from './placement-group.ts'
import { type Opened, openGroups, turn } from './testing/groups-fixture.ts'

/** Groups that fewer OSDs serve than their pool asks for. */
function belowFloor({ groups }: Opened): string[] {
  return groups.list.filter(({ acting, pool }) => realMembers(acting).length < pool.minSize).map(({ id }) => id)
}

describe('placement groups that CRUSH wants elsewhere', () => {
  const away = [0, 1, 2, 3]

  /** Some OSDs hold nothing and are down, and the next map counts them in again. */
  async function openWithOsdsAway(): Promise<Opened> {
    const opened = openGroups()
    for (const osd of away) turn(opened, osd, 'out')
    await opened.clock.advance(600_000)
    for (const osd of away) turn(opened, osd, 'down')
    await opened.clock.advance(60_000)
    expect(belowFloor(opened)).toEqual([])
    return opened
  }

  it('are served by those who have them until the copies are there: a map that names OSDs which are down takes no group out of reach', async () => {
    const opened = await openWithOsdsAway()
    const before = new Map(opened.groups.list.map(({ id, acting }) => [id, acting.join()]))
    for (const osd of away) turn(opened, osd, 'in')
    const moved = opened.groups.list.filter(({ id, up }) => before.get(id) !== up.join())
    expect(moved.length).toBeGreaterThan(3)
    expect(belowFloor(opened)).toEqual([])
    expect(moved.filter(({ id, acting }) => before.get(id) !== acting.join())).toEqual([])
    expect(opened.groups.remapped.map(({ id }) => id).sort()).toEqual(moved.map(({ id }) => id).sort())
  })

  it('say so while they are filled, and change over when that is done', async () => {
    const opened = openGroups()
    const osds = [0, 1, 2]
    for (const osd of osds) turn(opened, osd, 'out')
    await opened.clock.advance(600_000)
    const before = new Map(opened.groups.list.map(({ id, acting }) => [id, [...acting].sort()]))
    for (const osd of osds) turn(opened, osd, 'in')
    await opened.clock.advance(3_000)
    const moving = opened.groups.list.filter(({ up, acting }) => up.join() !== acting.join())
    expect(moving.length).toBeGreaterThan(3)
    for (const { id, state, acting } of moving) {
      expect(state).toMatch(/^active\+remapped\+backfill(ing|_wait)$/)
      expect([...acting].sort()).toEqual(before.get(id))
    }
    await opened.clock.advance(600_000)
    expect(opened.groups.list.filter(({ up, acting }) => up.join() !== acting.join())).toEqual([])
    expect(opened.groups.remapped).toEqual([])
  })

  it('are clean where they are if there is no place for them: who waits for a place would wait for ever', async () => {
    const opened = openGroups()
    for (const osd of away) turn(opened, osd, 'out')
    await opened.clock.advance(600_000)
    const homeless = opened.groups.list.filter(({ up, pool }) => realMembers(up).length < pool.size)
    expect(homeless.length).toBeGreaterThan(3)
    expect(new Set(homeless.map(({ state }) => state))).toEqual(new Set(['active+clean+remapped']))
  })
})

it('a group is read where all who ever had a part of it are up: what one lacks was written to the others, and it would be down for ever', () => {
  const { groups } = openGroups()
  const chunks = groups.list.find(({ pool }) => pool.kind === 'erasure')
  if (chunks === undefined) throw new Error('there is no pool of chunks')
  const keys = [...chunks.holders.keys()]
  for (const key of keys.slice(1)) chunks.holders.set(key, 1)
  const without = (lost: number | undefined) => (osd: number) => osd !== lost
  expect(isReadable(chunks, without(undefined))).toBe(true)
  expect(isReadable(chunks, without(osdOfHolder(keys[1] as number)))).toBe(false)
})
