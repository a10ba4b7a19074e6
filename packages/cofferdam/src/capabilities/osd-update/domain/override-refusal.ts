import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { OsdUpdateDecision } from './decision.ts'
import { withoutNeverBegun } from './never-begun.ts'
import { overridePatienceMs, withOverride } from './override-start.ts'
import type { UpdatePassSnapshot } from './pass-snapshot.ts'
import { overrideInForce } from './update-override.ts'

/**
 * Ceph refuses a set that our own reckoning lets stop. Where a setting overrides that, the first of the set is tried alone; if Ceph
 * has refused that too for a minute, it is updated all the same. Undefined: nothing is overridden.
 * Assumes: Ceph was asked about one at least.
 */
export function overriddenRefusal(
  { seen, refusedSinceMs = seen.nowMs }: UpdatePassSnapshot,
  decision: OsdUpdateDecision,
  { asked, running }: { readonly asked: readonly number[]; readonly running: readonly number[] },
): OsdUpdateDecision | undefined {
  const by = overrideInForce(seen.cluster.settings)
  const osd = asked[0] as number
  if (by === undefined || running.length > 0) return undefined
  if (asked.length > 1) return startedAlone(decision, osd)
  if (seen.nowMs - refusedSinceMs < overridePatienceMs) return undefined
  const override = { osd, by, harm: 'Ceph does not call it ok-to-stop' }
  return {
    ...startedAlone(decision, osd),
    override,
    record: { ...decision.record, overrides: withOverride(decision.record, override, seen.nowMs) },
    explanation: `osd.${osd} starts alone although Ceph does not call it ok-to-stop, because ${by} is set`,
  }
}

/** The decision with the OSD that this pass has asked about alone, after Ceph refused the set that it is of. */
export function narrowedByRefusal({ seen, heard }: UpdatePassSnapshot, decision: OsdUpdateDecision): OsdUpdateDecision {
  const [osd, ...others] = heard.okToStop?.osds ?? []
  const isNarrowed =
    osd !== undefined &&
    others.length === 0 &&
    decision.start.length > 1 &&
    decision.start.includes(osd) &&
    isSameJson(decision.progress.running, decision.start) &&
    overrideInForce(seen.cluster.settings) !== undefined
  return isNarrowed ? startedAlone(decision, osd) : decision
}

function startedAlone(decision: OsdUpdateDecision, osd: number): OsdUpdateDecision {
  const others = decision.start.filter((id) => id !== osd)
  const why = 'it waits for the one that is updated alone'
  return withoutNeverBegun(
    decision,
    others.map((other) => ({ osd: other, why, isHeld: false })),
    [],
  )
}
