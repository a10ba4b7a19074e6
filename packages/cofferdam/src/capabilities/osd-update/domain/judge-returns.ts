import type { OsdUpdateSnapshot, UpdateRecord } from './snapshot.ts'
import { isBack, type SortedOsds, type StartedOsd } from './sort-osds.ts'
import { freshRecord } from './update-record.ts'

/** What is remembered, for the generation at hand: another one begins anew, but what is restarting stays so. */
export function recordOfGeneration({
  cluster,
  record,
}: Pick<OsdUpdateSnapshot, 'record'> & { readonly cluster: { readonly generation: number } }): UpdateRecord {
  if (record.generation === cluster.generation) return record
  const { lastEndedMs, settledMs, wereDown, turns, noout, overrides, pace, writtenFor } = record
  return {
    ...freshRecord(cluster.generation),
    lastEndedMs,
    ...(settledMs !== undefined && { settledMs }),
    ...(wereDown !== undefined && { wereDown }),
    ...(turns !== undefined && { turns }),
    ...(noout !== undefined && { noout }),
    ...(overrides !== undefined && { overrides }),
    ...(pace !== undefined && { pace }),
    ...(writtenFor !== undefined && { writtenFor }),
  }
}

/**
 * Who came back, and who did not.
 *
 * Guarantees: while an OSD is late the rest is frozen, unless it was down before it was touched; it thaws when the last such OSD is
 * back. With nothing new, the same record comes back.
 * Fails closed: an OSD is late by what Kubernetes says of its pod even when Ceph does not answer, but never back.
 */
export function judgeReturns(snapshot: OsdUpdateSnapshot, record: UpdateRecord, sorted: SortedOsds): UpdateRecord {
  const thawed = withoutReturned(snapshot, record)
  const wereDown = new Set(thawed.wereDown)
  const known = new Set(thawed.failed.map(({ osd }) => osd))
  const late = sorted.away
    .filter((osd) => !known.has(osd.id) && !sorted.again.includes(osd))
    .flatMap((osd) => {
      const why = whyLate(osd, snapshot)
      return why === undefined ? [] : [{ osd: osd.id, why, atMs: snapshot.nowMs }]
    })
  const failed = late.length === 0 ? thawed.failed : [...thawed.failed, ...late]
  const out = new Set(sorted.away.map(({ id }) => id))
  const frozen = thawed.frozen ?? failed.find(({ osd }) => out.has(osd) && !wereDown.has(osd))
  const isSame = failed === thawed.failed && frozen === thawed.frozen
  return settled(isSame ? thawed : { ...thawed, failed, frozen }, sorted, snapshot.nowMs)
}

function withoutReturned({ osds, ceph }: OsdUpdateSnapshot, record: UpdateRecord): UpdateRecord {
  if (record.failed.length === 0 && record.frozen === undefined) return record
  const seen = ceph?.known === true ? ceph.value : undefined
  const noted = new Set([...record.failed, ...(record.frozen ? [record.frozen] : [])].map(({ osd }) => osd))
  const returned = new Set(
    osds.filter((osd) => noted.has(osd.id) && !osd.needsUpdate && isBack(osd, seen)).map(({ id }) => id),
  )
  // What froze the rest stays what it is though somebody took its Deployment away: nobody has shown that the change is good.
  const existing = new Set(osds.map(({ id }) => id))
  for (const id of noted) if (!existing.has(id) && id !== record.frozen?.osd) returned.add(id)
  if (returned.size === 0) return record
  return {
    ...record,
    failed: record.failed.filter(({ osd }) => !returned.has(osd)),
    frozen: record.frozen && returned.has(record.frozen.osd) ? undefined : record.frozen,
  }
}

function whyLate(osd: StartedOsd, { nowMs, cluster, ceph }: OsdUpdateSnapshot): string | undefined {
  if (osd.awaitsRook === true) return undefined
  const isCephAskedFor = osd.isPodReady
  if (isCephAskedFor && ceph?.known !== true) return undefined
  if (osd.hasStalled && !osd.isPodReady) return 'its Deployment has stopped progressing'
  const { deadlineSeconds } = cluster.settings
  if (nowMs - (osd.touchedMs ?? osd.startedMs) < deadlineSeconds * 1000) return undefined
  const lack = osd.isPodReady
    ? 'its pod is ready, but Ceph does not have it up with all its placement groups peered'
    : 'its pod is not ready'
  return `it was not back ${deadlineSeconds} s after its update began: ${lack}`
}

/** Moves on the time before which everything is settled, and counts what came back by it. */
function settled(record: UpdateRecord, { away, back }: SortedOsds, nowMs: number): UpdateRecord {
  if (away.length === 0 && back.length === 0) return record
  const wereDown = new Set(record.wereDown)
  const givenUp = new Set(record.failed.map(({ osd }) => osd).filter((osd) => wereDown.has(osd)))
  const awaited = away.filter(({ id }) => !givenUp.has(id))
  const all = [...away, ...back]
  const settledMs =
    awaited.length === 0
      ? all.reduce((latest, { startedMs }) => Math.max(latest, startedMs + 1), nowMs)
      : awaited.reduce((first, { startedMs }) => Math.min(first, startedMs), Number.POSITIVE_INFINITY)
  if (settledMs <= (record.settledMs ?? 0)) return record
  const stillOut = away.filter(({ id, startedMs }) => wereDown.has(id) && startedMs >= settledMs).map(({ id }) => id)
  const { wereDown: _, ...others } = record
  return {
    ...others,
    settledMs,
    ...(stillOut.length > 0 && { wereDown: stillOut }),
    done: record.done + back.filter(({ startedMs }) => startedMs < settledMs).length,
    lastEndedMs: awaited.length === 0 ? nowMs : record.lastEndedMs,
  }
}
