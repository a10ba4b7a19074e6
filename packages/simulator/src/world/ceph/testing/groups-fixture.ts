import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { VirtualClock } from '../../../harness/virtual-clock.ts'
import { defaultTimings } from '../ceph-description.ts'
import { buildCrushTree } from '../crush-tree.ts'
import { OsdMap } from '../osd-map.ts'
import type { Pool } from '../placement-group.ts'
import { PlacementGroups } from '../placement-groups.ts'
import { createTimers } from '../timers.ts'
import { smallDescription } from './ceph-fixture.ts'

/** Placement groups and their map, without a cluster around them. */
export function openGroups() {
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

export type Opened = ReturnType<typeof openGroups>

/** One OSD goes up, down, in or out, unless it is so already. */
export function turn({ map, groups }: Opened, osd: number, change: 'up' | 'down' | 'in' | 'out'): void {
  if (change === 'up' && !map.isUp(osd)) map.markUp(osd, { host: 'node', pod: 'pod', process: 'uid', address: '' })
  else if (change === 'down' && map.isUp(osd)) map.markDown(osd)
  else if (change === 'in' && !map.isIn(osd)) map.markIn(osd)
  else if (change === 'out' && map.isIn(osd)) map.markOut(osd, 'command')
  else return
  groups.follow(osd, change)
}
