import type { OsdUpdateDecision, UpdateNoout } from './decision.ts'
import type { CephForUpdate, OsdUpdateSnapshot, UpdateRecord } from './snapshot.ts'
import { upOsds } from './sort-osds.ts'

/**
 * An OSD that is updated must not be marked out meanwhile: its data would be copied for nothing. So it carries noout from before it
 * stops until it is back, is given up, or the update is none of ours any more. An OSD that does not come back loses it with the freeze: then
 * Ceph marks it out and makes its data whole elsewhere.
 *
 * Guarantees: only what is recorded as ours is unset, and it stays recorded until Ceph shows it gone; a flag that was there before is
 * neither recorded nor unset, and one that somebody took away is not set again. Flags of CRUSH buckets are those of ceph-drain, and not touched.
 * Assumes: the record is written before the flags are.
 */
export function decideUpdateNoout(
  { cluster }: Pick<OsdUpdateSnapshot, 'cluster'>,
  seen: CephForUpdate | undefined,
  given: { readonly record: UpdateRecord; readonly running: readonly number[]; readonly start: readonly number[] },
): { readonly noout: UpdateNoout; readonly record: UpdateRecord } {
  const { record } = given
  const own = record.noout ?? []
  if (seen === undefined) return { noout: nothing, record }
  const present = new Set(seen.map.osds.filter(({ hasNoout }) => hasNoout === true).map(({ id }) => id))
  const wereDown = new Set(record.wereDown)
  const up = upOsds(seen)
  const isOurs = cluster.mode !== 'off' && !cluster.isBeingDeleted
  const stopping = given.start.filter((id) => up.has(id))
  const wanted = new Set(isOurs ? [...given.running.filter((id) => !wereDown.has(id)), ...stopping] : [])
  const isSetForAll = seen.map.flags.includes('noout')
  const set = isSetForAll ? [] : stopping.filter((id) => wanted.has(id) && !present.has(id)).sort(ascending)
  const unset = own.filter((id) => present.has(id) && !wanted.has(id)).sort(ascending)
  const kept = own.filter((id) => present.has(id) || wanted.has(id))
  const owned = [...new Set([...kept, ...set])].sort(ascending)
  const { noout: _, ...others } = record
  const isSame = owned.length === own.length && owned.every((id, at) => id === own[at])
  return {
    noout: { set, unset },
    record: isSame ? record : { ...others, ...(owned.length > 0 && { noout: owned }) },
  }
}

/** The decision where only these OSDs are stopped: nobody owns a flag that is not set. Assumes: what is to be set is recorded. */
export function withNooutOf(decision: OsdUpdateDecision, stopped: readonly number[]): OsdUpdateDecision {
  const { noout, record } = decision
  const unused = new Set((noout?.set ?? []).filter((id) => !stopped.includes(id)))
  if (noout === undefined || unused.size === 0) return decision
  const owned = (record.noout as readonly number[]).filter((id) => !unused.has(id))
  const { noout: _, ...others } = record
  return {
    ...decision,
    noout: { ...noout, set: noout.set.filter((id) => !unused.has(id)) },
    record: { ...others, ...(owned.length > 0 && { noout: owned }) },
  }
}

const nothing: UpdateNoout = { set: [], unset: [] }
const ascending = (a: number, b: number) => a - b
