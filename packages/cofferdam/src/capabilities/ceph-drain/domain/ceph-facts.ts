import { isJsonObject, isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { isWithin } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { CephMap, PgTable } from '../../../safety/ceph-map.ts'
import type { CephFacts } from '../../../shared/ceph-facts.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'

/** Of more states, buckets or OSDs than this the first are recorded: they share an object with the answers. */
const mostStates = 24
const mostNames = 100

/** What is recorded of a poll for people to read; nothing is decided by it. */
export function cephFactsOf(
  { pgs, flags, bucketFlags, osds }: CephMap,
  quorum: Observed<{ readonly mons: readonly string[]; readonly inQuorum: readonly string[] }> | undefined,
): CephFacts {
  const buckets = Object.keys(bucketFlags).filter((bucket) => bucketFlags[bucket]?.includes('noout') === true)
  return {
    pgs: countStates(pgs),
    noout: {
      isClusterWide: flags.includes('noout'),
      buckets: buckets.sort().slice(0, mostNames),
      osds: osds.flatMap(({ id, hasNoout }) => (hasNoout === true ? [id] : [])).slice(0, mostNames),
    },
    ...(quorum?.known === true && { mons: monsOf(quorum.value) }),
  }
}

function monsOf({ mons, inQuorum }: { readonly mons: readonly string[]; readonly inQuorum: readonly string[] }) {
  const sorted = [...mons].sort()
  return {
    inQuorum: sorted.filter((name) => inQuorum.includes(name)),
    out: sorted.filter((name) => !inQuorum.includes(name)),
  }
}

/** A cluster at rest scrubs all the time: counted as states of their own, scrubs would have the record written at every poll. */
function countStates({ count, states, stateNames }: PgTable): Record<string, number> {
  const names = stateNames.map((name) => name.replaceAll(/\+(?:scrubbing|deep)(?=\+|$)/g, ''))
  const counts = new Map<string, number>()
  for (let at = 0; at < count; at += 1) {
    const name = names[states[at] as number] as string
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const sorted = [...counts].sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1))
  const rest = sorted.slice(mostStates).reduce((sum, [, many]) => sum + many, 0)
  return Object.fromEntries([...sorted.slice(0, mostStates), ...(rest > 0 ? [['other', rest] as const] : [])])
}

/** So long counts alone may be out of date: while data recovers they change with every poll. */
const countsLastMs = 30_000

/** The facts as the text of one annotation; what is there already where only counts differ that were recorded a moment ago. */
export function buildCephFacts(present: string | undefined, facts: CephFacts, now: string): string {
  const text = JSON.stringify({ at: now, ...facts })
  const last = present === undefined ? undefined : parseCephFacts(present)
  if (present === undefined || last?.known !== true) return text
  const { at = '' } = JSON.parse(present) as { readonly at?: string }
  const isRecent = isWithin(Date.parse(now), Date.parse(at), countsLastMs)
  return isSameBut(last.value, facts, isRecent) ? present : text
}

function isSameBut(last: CephFacts, facts: CephFacts, isRecent: boolean): boolean {
  const pgsOf = ({ pgs }: CephFacts) => (isRecent ? Object.keys(pgs).sort() : pgs)
  const partsOf = (each: CephFacts) => ({ pgs: pgsOf(each), noout: each.noout, mons: each.mons ?? null })
  return isSameJson(partsOf(last), partsOf(facts))
}

/** Reads what was recorded; fields that a newer version added are passed over. */
export function parseCephFacts(text: string): Observed<CephFacts> {
  let facts: unknown
  try {
    facts = JSON.parse(text)
  } catch {
    return unknown('it is no JSON')
  }
  if (!isJsonObject(facts)) return unknown('it is no JSON object')
  const { pgs, noout, mons } = facts
  if (!isJsonObject(pgs) || !Object.values(pgs).every(isCount)) return unknown('pgs are no counts')
  if (!isJsonObject(noout)) return unknown('noout is missing')
  const { isClusterWide, buckets, osds } = noout
  if (typeof isClusterWide !== 'boolean' || !isListOf(buckets, isText) || !isListOf(osds, isCount)) {
    return unknown('noout is incomplete')
  }
  const seen = { pgs: pgs as Record<string, number>, noout: { isClusterWide, buckets, osds } }
  if (mons === undefined) return known(seen)
  if (!isJsonObject(mons)) return unknown('mons are no object')
  const { inQuorum, out } = mons
  if (!isListOf(inQuorum, isText) || !isListOf(out, isText)) return unknown('mons are incomplete')
  return known({ ...seen, mons: { inQuorum, out } })
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isListOf<T>(value: unknown, isItem: (item: unknown) => item is T): value is readonly T[] {
  return Array.isArray(value) && value.every(isItem)
}
