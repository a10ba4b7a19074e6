import type { CephMap, CephOsd } from './ceph-map.ts'

/** No cluster comes near it; an id beyond is nonsense, and must not make us reserve memory for it. */
const maxOsdId = 1 << 20

/** Indexed by OSD id: 0 where the map has none of that id, 1 where it is down, 2 where it is up. */
export type OsdPresence = Uint8Array

export const absent = 0
export const down = 1
export const up = 2

function tableLength(osds: readonly CephOsd[]): number {
  let highest = -1
  for (const { id } of osds) if (id > highest && id <= maxOsdId) highest = id
  return highest + 1
}

export function osdPresence(osds: readonly CephOsd[]): OsdPresence {
  const presence = new Uint8Array(tableLength(osds))
  for (const { id, isUp } of osds) if (id in presence) presence[id] = isUp ? up : down
  return presence
}

/** Indexed by OSD id: the epoch in which it last went down or came up. */
export function lastChanges(osds: readonly CephOsd[]): Int32Array {
  const changes = new Int32Array(tableLength(osds))
  for (const { id, upFrom, downAt } of osds) if (id in changes) changes[id] = Math.max(upFrom, downAt)
  return changes
}

/** Whether the placement group's own report is older than the last change of one of its OSDs: then its row is outdated. */
export function isWaiting({ pgs }: CephMap, pg: number, changes: Int32Array): boolean {
  const reported = pgs.reportedEpochs[pg] as number
  for (let at = pgs.offsets[pg] as number; at < (pgs.offsets[pg + 1] as number); at += 1) {
    if ((changes[pgs.acting[at] as number] ?? 0) > reported) return true
  }
  for (let at = pgs.upOffsets[pg] as number; at < (pgs.upOffsets[pg + 1] as number); at += 1) {
    if ((changes[pgs.up[at] as number] ?? 0) > reported) return true
  }
  return false
}

/**
 * How many placement groups have yet to report the last change of their OSDs.
 *
 * One that Ceph itself calls stale and that has no OSD up is not waited for: nobody is there to report it.
 */
export function stalePgCount(map: CephMap): number {
  const changes = lastChanges(map.osds)
  const presence = osdPresence(map.osds)
  const givenUp = map.pgs.stateNames.map((state) => state.split('+').includes('stale'))
  let count = 0
  for (let pg = 0; pg < map.pgs.count; pg += 1) {
    if (!isWaiting(map, pg, changes)) continue
    if (givenUp[map.pgs.states[pg] as number] === true && !hasMemberUp(map, pg, presence)) continue
    count += 1
  }
  return count
}

/** Whether every placement group has been reported since the last change of its OSDs, by OSDs that knew no newer map than this. */
export function isFresh(map: CephMap): boolean {
  return newestReport(map) <= map.epoch && stalePgCount(map) === 0
}

/** A report from a later epoch than the map's proves that the map, and with it who is up, is out of date. */
export function newestReport({ pgs }: CephMap): number {
  let newest = 0
  for (let pg = 0; pg < pgs.count; pg += 1) {
    const reported = pgs.reportedEpochs[pg] as number
    if (reported > newest) newest = reported
  }
  return newest
}

function hasMemberUp({ pgs }: CephMap, pg: number, presence: OsdPresence): boolean {
  for (let at = pgs.offsets[pg] as number; at < (pgs.offsets[pg + 1] as number); at += 1) {
    if (presence[pgs.acting[at] as number] === up) return true
  }
  for (let at = pgs.upOffsets[pg] as number; at < (pgs.upOffsets[pg + 1] as number); at += 1) {
    if (presence[pgs.up[at] as number] === up) return true
  }
  return false
}
