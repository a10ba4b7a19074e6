import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { noOsd } from '@cofferdam/product/safety/ceph-map.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../harness/virtual-clock.ts'
import { defaultTimings } from './ceph-description.ts'
import { buildCrushTree } from './crush-tree.ts'
import { OsdMap } from './osd-map.ts'
import type { Pool } from './placement-group.ts'
import { PlacementGroups } from './placement-groups.ts'
import { smallDescription } from './testing/ceph-stage.ts'
import { createTimers } from './timers.ts'

function openGroups() {
  const { crush, pools: described } = smallDescription()
  const clock = new VirtualClock()
  const tree = buildCrushTree(crush, described)
  const pools = described.map((pool, index): Pool => {
    const rule = tree.rules[index + 1]
    if (rule === undefined) throw new Error('no rule')
    return { ...pool, pgCount: 8, id: index + 1, rule, readable: pool.k ?? 1 }
  })
  const map = new OsdMap({ clock, random: seededRandom(1), tree, fsid: 'f' })
  const groups = new PlacementGroups({ timers: createTimers(clock), map, pools, timings: defaultTimings })
  for (const osd of map.osds.keys()) map.markUp(osd, { host: 'node', pod: 'pod', process: 'uid', address: '' })
  groups.begin()
  return { clock, map, groups }
}

type Opened = ReturnType<typeof openGroups>

function turn({ map, groups }: Opened, osd: number, change: 'up' | 'down' | 'in' | 'out'): void {
  if (change === 'up' && !map.isUp(osd)) map.markUp(osd, { host: 'node', pod: 'pod', process: 'uid', address: '' })
  else if (change === 'down' && map.isUp(osd)) map.markDown(osd)
  else if (change === 'in' && !map.isIn(osd)) map.markIn(osd)
  else if (change === 'out' && map.isIn(osd)) map.markOut(osd, 'command')
  else return
  groups.follow(osd, change)
}

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
    if (group.state.includes('clean')) expect(group.acting).toEqual(group.up)
  }
}

describe('placement groups under any run of failures', () => {
  it('never act through an OSD that is down, serve only with min_size, and are clean only where they belong', async () => {
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
      { numRuns: 60 },
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
      { numRuns: 60 },
    )
  })
})
