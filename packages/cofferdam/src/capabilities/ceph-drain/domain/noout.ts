import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { CephView } from '../../../safety/ceph-view.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import type { ChosenDomains } from './choose-domains.ts'
import type { Layout } from './layout.ts'
import type { CephDrainSnapshot } from './snapshot.ts'
import type { DrainState } from './state-map.ts'

export interface NooutDecision {
  readonly set: readonly string[]
  readonly unset: readonly string[]
  readonly state: Pick<DrainState, 'wantsNoout' | 'nooutSince' | 'ownNoout' | 'seenNoout' | 'removedNoout'>
  /** Flags that somebody removed in the middle of a drain. */
  readonly problems: readonly ObjectProblem[]
  /** When the next one runs out. */
  readonly expiresInMs: number | undefined
}

/**
 * Decides on which CRUSH buckets data must not move.
 *
 * Only for a domain that was chosen for a drain, until its OSDs are back or the maintenance time is over; a domain that
 * failed first and was cordoned later counts from then on.
 *
 * Guarantees: unset is only what is recorded as ours, and it stays recorded until Ceph shows it gone; a flag that an
 * administrator set is neither recorded nor unset, and one that was removed in the middle of a drain is not set again in that drain.
 * Assumes: the state is written before the flags are.
 */
export function decideNoout(
  snapshot: Pick<CephDrainSnapshot, 'nowMs' | 'state' | 'cluster'>,
  { nooutBuckets }: Pick<CephView, 'nooutBuckets'>,
  layout: Layout,
  { chosen }: Pick<ChosenDomains, 'chosen'>,
): NooutDecision {
  const { nowMs, state } = snapshot
  const present = new Set(nooutBuckets)
  const ours = new Set(state.ownNoout)
  const limitMs = snapshot.cluster.settings.osdMaintenanceTimeoutMinutes * 60_000
  const nooutSince: Record<string, string> = {}
  const wanted = new Set<string>()
  let expiresInMs: number | undefined
  for (const domain of layout.domains.filter(({ name }) => chosen.includes(name))) {
    const recorded = Object.hasOwn(state.nooutSince, domain.name) ? state.nooutSince[domain.name] : undefined
    const isAway = layout.missing.some((osd) => osd.domain === domain.name)
    const isWanted = domain.isDrained || (recorded !== undefined && isAway)
    const since = recorded ?? (isWanted ? rfc3339(nowMs) : undefined)
    if (since === undefined) continue
    nooutSince[domain.name] = since
    const leftMs = (parseRfc3339(since) ?? nowMs) + limitMs - nowMs
    if (!isWanted || leftMs <= 0 || domain.bucket === undefined) continue
    wanted.add(domain.bucket)
    expiresInMs = Math.min(leftMs, expiresInMs ?? leftMs)
  }
  // What was never seen may never have been set: this process, or one before it, was interrupted.
  const isRemoved = (bucket: string) => state.removedNoout.includes(bucket) || state.seenNoout.includes(bucket)
  const removedNoout = [...wanted].filter((bucket) => !present.has(bucket) && isRemoved(bucket)).sort()
  const set = [...wanted].filter((bucket) => !present.has(bucket) && !isRemoved(bucket)).sort()
  const unset = [...ours].filter((bucket) => !wanted.has(bucket) && present.has(bucket)).sort()
  const kept = [...ours].filter((bucket) => present.has(bucket) || set.includes(bucket))
  return {
    set,
    unset,
    state: {
      wantsNoout: wanted.size > 0,
      nooutSince,
      ownNoout: [...new Set([...kept, ...set])].sort(),
      seenNoout: kept.filter((bucket) => wanted.has(bucket) && present.has(bucket)).sort(),
      // Somebody who sets it again meanwhile has it, and it is not ours.
      removedNoout: [...wanted].filter((bucket) => removedNoout.includes(bucket) || isAgain(bucket)).sort(),
    },
    problems: removedNoout.map((bucket) => ({
      object: `bucket/${bucket}`,
      problem:
        'noout was removed by another client in the middle of this drain and is not set again until the next one: its OSDs are marked out ' +
        'after mon_osd_down_out_interval, and their data is copied elsewhere; to avoid that, run ' +
        `ceph osd set-group noout ${bucket}, and ceph osd unset-group noout ${bucket} after the drain`,
    })),
    expiresInMs,
  }

  function isAgain(bucket: string): boolean {
    return present.has(bucket) && state.removedNoout.includes(bucket)
  }
}
