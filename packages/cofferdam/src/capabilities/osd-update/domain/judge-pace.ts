import { isTouched } from './pace-osds.ts'
import type { AskedPass, OpenOsd, PaceState } from './pace-state.ts'
import type { RookPass } from './rook-pass.ts'
import type { CephForUpdate, OsdPace, OsdUpdateSnapshot, UpdatableOsd, UpdateRecord } from './snapshot.ts'
import { isBack, upOsds } from './sort-osds.ts'
import { withFailure } from './update-record.ts'

/** So long Rook may take to begin a pass that it was asked for; then it is asked again. */
export const reactionSeconds = 120
/** Rook is scaled to none: so long its last process may need to end. */
const endingSeconds = 60
/** After Rook did not react: for so long nothing is opened, so that drains have the storage. */
const pauseSeconds = 300

/**
 * Who of the round is done, and whether a pass of Rook is to be asked for.
 *
 * Guarantees: an OSD leaves the round when Rook has changed it and it is back, or when a pass that began after it was opened has ended
 * without changing it. One that Rook has not touched leaves it otherwise only while no pass runs, so that none can begin that still
 * sees it open. One that did not come back stays: its cure has to reach it.
 * Fails closed: while it is not known what Rook does, everything stays as it is.
 */
export function judgePace(
  snapshot: OsdUpdateSnapshot,
  { before, judged: record }: { readonly before: UpdateRecord; readonly judged: UpdateRecord },
): UpdateRecord {
  const { cluster, osds, recordProblem } = snapshot
  if (recordProblem !== undefined) return record
  if (cluster.mode !== 'pace') return withoutPace(record, osds)
  const { pace } = snapshot
  if (pace === undefined) return record
  const byId = new Map(osds.map((osd) => [osd.id, osd]))
  const ceph = snapshot.ceph?.known === true ? snapshot.ceph.value : undefined
  const hasPassed = hasWholePass(pace, snapshot.rook)
  const isGivenUp = isOverdue(pace, snapshot)
  const walked: number[] = []
  const skipped: number[] = []
  const open: OpenOsd[] = []
  let isDropped = false
  for (const opened of pace.open) {
    const osd = byId.get(opened.osd)
    if (osd?.pace?.hold !== 'none') continue
    if (isTouched(osd, opened)) {
      if (!isBack(osd, ceph)) open.push({ ...opened, touchedMs: opened.touchedMs ?? snapshot.nowMs })
      else if (osd.pace.isImageWanted) walked.push(osd.id)
    } else if (hasPassed) {
      ;(osd.pace.isImageWanted ? walked : skipped).push(osd.id)
    } else if (isGivenUp) isDropped = true
    else open.push(opened)
  }
  const { pass: _, notBeforeMs, ...rest } = pace
  const pass = open.length === 0 ? undefined : nextPass(pace, open, { snapshot, byId })
  const pauseMs = isDropped ? snapshot.nowMs + pauseSeconds * 1_000 : notBeforeMs
  const judged: UpdateRecord = {
    ...record,
    // Each when it leaves the round, and not when the whole round is over.
    ...(snapshot.isWalking === true && { done: before.done + walked.length }),
    pace: {
      ...rest,
      pending: walked.length === 0 ? pace.pending : pace.pending.filter((osd) => !walked.includes(osd)),
      open,
      ...(pass !== undefined && { pass }),
      ...(pauseMs !== undefined && pauseMs > snapshot.nowMs && { notBeforeMs: pauseMs }),
    },
  }
  const why =
    'a whole pass of Rook has left it as it is, with another image than the CephCluster wants; the log of Rook says why'
  return skipped.reduce((noted, osd) => withFailure(noted, { osd, why, atMs: snapshot.nowMs }), judged)
}

/** Who was open and is not any more: nothing of them is awaited. */
export function leftRound({ pace }: OsdUpdateSnapshot, record: UpdateRecord): ReadonlySet<number> {
  const isOpen = new Set(record.pace?.open.map(({ osd }) => osd))
  return new Set((pace?.open ?? []).map(({ osd }) => osd).filter((osd) => !isOpen.has(osd)))
}

/**
 * Nothing is opened beside an open round but OSDs that are down: that takes nothing away, and may be what Rook's pass waits for.
 */
export function besideRound(
  start: readonly number[],
  { pace }: Pick<UpdateRecord, 'pace'>,
  seen: Pick<CephForUpdate, 'map'>,
): readonly number[] {
  if (pace === undefined || pace.open.length === 0) return start
  const up = upOsds(seen)
  return start.filter((osd) => !up.has(osd))
}

/** The round that begins now. */
export function withOpened(
  record: UpdateRecord,
  start: readonly number[],
  { nowMs, osds, isWalking }: OsdUpdateSnapshot,
): UpdateRecord {
  const { pace } = record
  if (pace === undefined || isWalking !== true || start.length === 0) return record
  const byId = new Map(osds.map((osd) => [osd.id, osd]))
  const { pass: _, notBeforeMs: __, ...rest } = pace
  const opened = start.map(
    (osd): OpenOsd => ({ osd, atMs: nowMs, generation: generationOf(byId.get(osd) as UpdatableOsd) }),
  )
  const others = pace.open.filter(({ osd }) => !start.includes(osd))
  return {
    ...record,
    pace: { ...rest, open: [...others, ...opened].sort((a, b) => a.osd - b.osd), rounds: pace.rounds + 1 },
  }
}

/** Assumes: OSDs are paced. */
function generationOf({ pace }: UpdatableOsd): number {
  return (pace as OsdPace).generation
}

/** Where OSDs are not paced any more it is forgotten when the last label is gone. */
function withoutPace(record: UpdateRecord, osds: readonly UpdatableOsd[]): UpdateRecord {
  if (record.pace === undefined || osds.some(({ pace }) => pace?.hold === 'ours')) return record
  const { pace: _, ...rest } = record
  return rest
}

function hasWholePass({ pass }: PaceState, rook: RookPass | undefined): boolean {
  if (pass?.isSeen !== true || rook?.state !== 'resting') return false
  return rook.failure === undefined || rook.hasFinishedOsds === true
}

/** Rook has not reacted for too long, and nothing of it runs that could react now. */
function isOverdue({ open }: PaceState, { nowMs, cluster, rook, rookOperator }: OsdUpdateSnapshot): boolean {
  const first = open.reduce((least, { atMs }) => Math.min(least, atMs), Number.POSITIVE_INFINITY)
  if (rookOperator?.state === 'stopped') return nowMs - first >= endingSeconds * 1_000
  return rook?.state === 'resting' && nowMs - first >= cluster.settings.deadlineSeconds * 1_000
}

function nextPass(
  { pass }: PaceState,
  open: readonly OpenOsd[],
  { snapshot, byId }: { readonly snapshot: OsdUpdateSnapshot; readonly byId: ReadonlyMap<number, UpdatableOsd> },
): AskedPass | undefined {
  const { nowMs, rook } = snapshot
  if (rook === undefined) return pass
  const isResting = rook.state === 'resting'
  if (pass !== undefined) {
    if (!isResting) return { ...pass, isSeen: true }
    // It failed before it came to the OSDs; Rook tries again by itself.
    if (pass.isSeen === true) return hasWholePass({ pass } as PaceState, rook) ? pass : { atMs: pass.atMs }
    return nowMs - pass.atMs < reactionSeconds * 1_000 ? pass : { atMs: nowMs }
  }
  const isAwaited = open.some((opened) => {
    const osd = byId.get(opened.osd)
    return osd !== undefined && !isTouched(osd, opened)
  })
  return isResting && isAwaited ? { atMs: nowMs } : undefined
}
