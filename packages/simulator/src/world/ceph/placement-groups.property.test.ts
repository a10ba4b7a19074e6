import { noOsd } from '@cofferdam/product/safety/ceph-map.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runsOf } from '../../../../../test/property-runs.ts'
import { realMembers } from './placement-group.ts'
import { type Opened, openGroups, turn } from './testing/groups-fixture.ts'

const steps = fc.array(
  fc.record({
    osd: fc.nat({ max: 11 }),
    change: fc.constantFrom('up' as const, 'down' as const, 'in' as const, 'out' as const),
    waitMs: fc.constantFrom(0, 200, 1_000, 5_000, 60_000),
  }),
  { maxLength: 25 },
)

/** Between any two steps. */
function checkAlways({ map, groups }: Opened): void {
  for (const group of groups.list) {
    const members = group.acting.filter((osd) => osd !== noOsd)
    expect(members.filter((osd) => !map.isUp(osd))).toEqual([])
    expect(new Set(members).size).toBe(members.length)
    expect(members.length).toBeLessThanOrEqual(group.pool.size)
    if (group.state.startsWith('active')) expect(members.length).toBeGreaterThanOrEqual(group.pool.minSize)
    const hasPlaces = realMembers(group.up).length === group.pool.size
    if (group.state.includes('clean') && hasPlaces) expect(group.acting).toEqual(group.up)
  }
}

describe('placement groups under any run of failures', () => {
  it('never act through an OSD that is down, serve only with min_size, and are clean elsewhere only where CRUSH has too few places', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (run) => {
        const opened = openGroups()
        for (const { osd, change, waitMs } of run) {
          turn(opened, osd, change)
          checkAlways(opened)
          await opened.clock.advance(waitMs)
          checkAlways(opened)
        }
      }),
      { numRuns: runsOf(60) },
    )
  })

  it('are all clean again, and reported so at the last epoch, once every OSD is up and in and time has passed', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (run) => {
        const opened = openGroups()
        const { clock, map, groups } = opened
        for (const { osd, change, waitMs } of run) {
          turn(opened, osd, change)
          await clock.advance(waitMs)
        }
        for (const osd of map.osds.keys()) for (const change of ['up', 'in'] as const) turn(opened, osd, change)
        await clock.advance(300_000)
        expect(new Set(groups.list.map(({ state }) => state))).toEqual(new Set(['active+clean']))
        expect(new Set(groups.list.map((group) => groups.reports.of(group)?.state))).toEqual(new Set(['active+clean']))
        expect(new Set(groups.list.map((group) => groups.reports.of(group)?.epoch))).toEqual(new Set([map.epoch]))
        expect(groups.remapped).toEqual([])
        expect(clock.nextAt()).toBe(undefined)
      }),
      { numRuns: runsOf(60) },
    )
  })
})
