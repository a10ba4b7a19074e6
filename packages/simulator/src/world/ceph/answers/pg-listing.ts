import type { SeenGroup } from '../ceph-state.ts'
import { noOsd } from '../no-osd.ts'
import { primaryOf } from '../placement-group.ts'
import { bytesPerObject } from './pg-dump.ts'
import { cephTime } from './times.ts'

const heading =
  'PG_STAT OBJECTS MISSING_ON_PRIMARY DEGRADED MISPLACED UNFOUND BYTES OMAP_BYTES* OMAP_KEYS* LOG DISK_LOG STATE STATE_STAMP VERSION REPORTED UP UP_PRIMARY ACTING ACTING_PRIMARY LAST_SCRUB SCRUB_STAMP LAST_DEEP_SCRUB DEEP_SCRUB_STAMP SNAPTRIMQ_LEN'

/** `pg dump pgs` as the table for people, which large clusters are read by. */
export function pgListing(seen: readonly SeenGroup[]): string {
  const note = '* NOTE: Omap statistics are gathered during deep scrub and may be inaccurate soon afterwards.'
  return [heading.split(' ').join('  '), ...seen.map(row), '', note, ''].join('\n')
}

function row({ group, report, state }: SeenGroup): string {
  const objects = report === undefined ? 0 : group.objects
  const up = report?.up ?? []
  const acting = report?.acting ?? []
  const scrubbed = cephTime(0)
  return [
    group.id,
    objects,
    0,
    report?.degraded ?? 0,
    report?.misplaced ?? 0,
    0,
    objects * bytesPerObject,
    0,
    0,
    objects,
    objects,
    state,
    cephTime(report?.changedMs ?? 0),
    `${report?.epoch ?? 0}'${objects}`,
    `${report?.epoch ?? 0}:${report?.sequence ?? 0}`,
    members(up),
    primaryOf(up),
    members(acting),
    primaryOf(acting),
    "0'0",
    scrubbed,
    "0'0",
    scrubbed,
    0,
  ].join('  ')
}

function members(osds: readonly number[]): string {
  return `[${osds.map((osd) => (osd === noOsd ? 'NONE' : osd)).join(',')}]`
}
