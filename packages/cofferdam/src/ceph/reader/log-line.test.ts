import { expect, it } from 'vitest'
import { isAboutOsds, osdsIn } from './log-line.ts'

it.each([
  ['osd.1 failed (root=default,host=vm) (connection refused reported by osd.0)', [1, 0]],
  ['osd.2 failed (root=default,host=vm) (1 reporters from different osd after 8.001008 >= grace 4.000000)', [2]],
  ['2026-11-16T05:01:10.116+0000 mon.a [INF] osd.12 marked itself down and dead', [12]],
  ['osd.4 [v2:10.0.0.4:6800/1,v1:10.0.0.4:6801/1] boot', [4]],
  ['osd.7 marked down after no beacon for 900.3 seconds', [7]],
  ['Marking osd.7 out (has been down for 600 seconds)', [7]],
  ['Health check failed: 1 osds down (OSD_DOWN)', []],
  ['Health check failed: 1 host (2 osds) down (OSD_HOST_DOWN)', []],
  ['Health check failed: Possible data damage: 1 pg inconsistent (PG_DAMAGED)', []],
  ['osdmap e9: 4 total, 3 up, 4 in', []],
])('Ceph is asked because of: %s', (line, osds) => {
  expect([isAboutOsds(line), osdsIn(line)]).toEqual([true, osds])
})

it.each([
  'Health check update: Degraded data redundancy: 20/60 objects degraded (33.333%), 16 pgs degraded (PG_DEGRADED)',
  'pgmap v12: 64 pgs: 64 active+clean; 0 B data',
  '1.2f scrub ok',
  'purged_snaps scrub ok',
  'Cluster is now healthy',
  'mon.a is new leader, mons a,b,c in quorum (ranks 0,1,2)',
  '',
])('Ceph is not asked because of what stands in the log all day: %s', (line) => {
  expect(isAboutOsds(line)).toBe(false)
})
