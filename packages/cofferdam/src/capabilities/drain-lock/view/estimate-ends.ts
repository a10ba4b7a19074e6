import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { ParsedAppLock } from '../../../ledger/rules/app-lock.ts'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import type { Observed } from '../../../shared/observed.ts'
import { type PastDrain, pastDrainsOf, usualTimeOf } from './estimate-drain.ts'

/** When something that is held is free again, as far as can be said. */
export interface EstimatedEnd {
  readonly at: string
  readonly restsOn: string
}

/**
 * When each key of the ledger is likely to be free, and each owner's lock ends at the latest.
 *
 * A request is taken to last as long as the last drain of its node did, or as the middle of all of the same intent on record. One that
 * lasts longer already has no estimate, nor has anything that no such record speaks of.
 */
export function estimateEnds({
  ledger,
  appLocks,
  disruptions,
  nowMs,
}: {
  readonly ledger: Observed<Ledger>
  readonly appLocks: ReadonlyMap<string, ParsedAppLock>
  /** All that are on record. */
  readonly disruptions: readonly NodeDisruption[]
  readonly nowMs: number
}): ReadonlyMap<string, EstimatedEnd> {
  const ends = new Map<string, EstimatedEnd>()
  const past = pastDrainsOf(disruptions)
  const requests = new Map(disruptions.map((each) => [each.metadata.uid ?? '', each]))
  for (const { key, requestId, since } of ledger.known ? ledger.value.entries : []) {
    const request = requests.get(requestId)
    const end = request && estimateRequest(request, past, parseRfc3339(since))
    if (end !== undefined && end.atMs > nowMs) ends.set(key, { at: rfc3339(end.atMs), restsOn: end.restsOn })
  }
  for (const [key, { lock }] of appLocks) {
    if (lock === undefined) continue
    const held = ends.get(key)
    const isLater = held === undefined || (parseRfc3339(held.at) ?? 0) < lock.untilMs
    if (isLater)
      ends.set(key, { at: rfc3339(lock.untilMs), restsOn: 'the end of the lock, unless its owner renews it' })
  }
  return ends
}

function estimateRequest(
  { spec }: NodeDisruption,
  past: readonly PastDrain[],
  sinceMs: number | undefined,
): { readonly atMs: number; readonly restsOn: string } | undefined {
  const { drains, middle, ofNode } = usualTimeOf(past, spec.intent)
  const own = ofNode.get(spec.nodeName)
  const seconds = own ?? middle
  if (seconds === undefined || sinceMs === undefined) return undefined
  const others = drains === 1 ? 'the one completed drain' : `${drains} completed drains`
  const restsOn = own === undefined ? `${others} on record` : `the last drain of ${spec.nodeName} on record`
  return { atMs: sinceMs + seconds * 1_000, restsOn: `${seconds} s, by ${restsOn}` }
}
