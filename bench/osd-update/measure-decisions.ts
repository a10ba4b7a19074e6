import { chooseStarts } from '@cofferdam/product/capabilities/osd-update/domain/choose-starts.ts'
import { decideOsdUpdate } from '@cofferdam/product/capabilities/osd-update/domain/decide.ts'
import { recheckRound } from '@cofferdam/product/capabilities/osd-update/domain/recheck-round.ts'
import type { OsdUpdateSnapshot } from '@cofferdam/product/capabilities/osd-update/domain/snapshot.ts'
import type { StartInput } from '@cofferdam/product/capabilities/osd-update/domain/start-input.ts'
import { freshRecord } from '@cofferdam/product/capabilities/osd-update/domain/update-record.ts'
import { defaultUpdateSettings } from '@cofferdam/product/capabilities/osd-update/domain/update-settings.ts'
import type { CephMap } from '@cofferdam/product/safety/ceph-map.ts'
import { known } from '@cofferdam/product/shared/observed.ts'
import { cpuSecondsOf, type Row } from '../report/rows.ts'
import { idsOf, largeHost } from './example-cases.ts'

const nowMs = 1_800_000_000_000
const returns = 20

/** In the middle of an update: one OSD comes back, and everything is decided again. */
export async function measureDecisions(map: CephMap): Promise<Row[]> {
  const running = new Set(decideOsdUpdate(snapshotOf(map, new Set(), new Set())).start)
  const first = running.size
  const done = new Set<number>()
  const chosen: number[] = []
  const decided: number[] = []
  let started = 0
  for (const back of [...running].slice(0, returns)) {
    running.delete(back)
    done.add(back)
    const input = startInputOf(map, running, done)
    chosen.push(await cpuSecondsOf(() => void chooseStarts(input, recheckRound)))
    const snapshot = snapshotOf(map, running, done)
    let start: readonly number[] = []
    decided.push(
      await cpuSecondsOf(() => {
        start = decideOsdUpdate(snapshot).start
      }),
    )
    started += start.length
    for (const osd of start) running.add(osd)
  }
  const what = `${largeHost.name}, ${first} on their way`
  return [
    {
      measured: `${what}: which start after one return (${started} after ${returns}), median: CPU`,
      result: milliseconds(chosen),
      goal: '200 ms',
      reached: started > 0 && medianOf(chosen) <= 0.2,
    },
    {
      measured: `${what}: the whole decision after one return, median of ${returns}: CPU`,
      result: milliseconds(decided),
      goal: '250 ms',
      reached: medianOf(decided) <= 0.25,
    },
  ]
}

function startInputOf(map: CephMap, running: ReadonlySet<number>, done: ReadonlySet<number>): StartInput {
  return {
    map,
    settings: defaultUpdateSettings,
    pending: idsOf(map).filter((id) => !running.has(id) && !done.has(id)),
    unready: [],
    again: [],
    away: running,
    room: Math.floor(map.osds.length * 0.15) - running.size,
    ramp: undefined,
    running: [...running],
  }
}

function snapshotOf(map: CephMap, running: ReadonlySet<number>, done: ReadonlySet<number>): OsdUpdateSnapshot {
  const isAway = (id: number) => running.has(id)
  const isNew = (id: number) => running.has(id) || done.has(id)
  const ids = idsOf(map)
  return {
    nowMs,
    cluster: {
      namespace: 'rook-ceph',
      name: 'rook-ceph',
      uid: 'uid-1',
      generation: 1,
      isBeingDeleted: false,
      mode: 'own',
      settings: defaultUpdateSettings,
      isUpgrade: false,
    },
    osds: ids.map((id) => ({
      id,
      deployment: `rook-ceph-osd-${id}`,
      needsUpdate: !isNew(id),
      ...(isNew(id) && { startedMs: nowMs - 60_000 }),
      isPodReady: !isAway(id),
      hasStalled: false,
    })),
    ceph: known({
      map,
      isHealthy: true,
      isClean: known(running.size === 0),
      peered: new Set(ids.filter((id) => !isAway(id))),
    }),
    record: { ...freshRecord(1), ...(running.size > 0 && { startedMs: nowMs - 60_000 }) },
  }
}

function medianOf(seconds: readonly number[]): number {
  return [...seconds].sort((a, b) => a - b)[Math.floor(seconds.length / 2)] as number
}

function milliseconds(seconds: readonly number[]): string {
  return `${(medianOf(seconds) * 1000).toFixed(0)} ms`
}
