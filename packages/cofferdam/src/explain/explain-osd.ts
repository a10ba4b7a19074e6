import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { explainHolds, type HoldAnswer } from '../capabilities/drain-lock/view/hold-view.ts'
import { explainOsdUpdate, type OsdUpdateAnswer } from '../capabilities/osd-update/view/explain-osd-update.ts'
import type { SeenUpdate } from '../capabilities/osd-update/view/summarize-update.ts'
import { storageKey } from '../ledger/rules/storage-arbiter.ts'
import { mergeBlockers } from '../shared/merge-blockers.ts'
import type { Explanation, PodAnswer } from './explanation.ts'
import { judgePods } from './judge-pods.ts'
import type { GuardSnapshot } from './snapshot.ts'

export interface OsdExplanation extends Explanation {
  /** The pods of the OSD, each judged as a pod; two while one makes way for the other. */
  readonly pods: readonly PodAnswer[]
  /** How far its update is; it has no bearing on whether the OSD may go. */
  readonly osdUpdate: OsdUpdateAnswer
}

/** May the pod of this OSD be evicted now, and if not, what stands in its way? */
export function explainOsd(
  guards: GuardSnapshot,
  asked: { readonly osd: number; readonly object: string; readonly osdPods: readonly Pod[]; readonly seen: SeenUpdate },
): OsdExplanation {
  const { osd, object, osdPods, seen } = asked
  const judged = judgePods(osdPods, guards)
  const pods = judged.map(({ answer }) => answer)
  const blockers = mergeBlockers(judged.flatMap((each) => each.blockers))
  return {
    object,
    mayGo: blockers.length === 0,
    summary: summaryOf(pods, blockers.length > 0),
    blockers,
    holds: osdHolds(guards, seen, pods),
    pods,
    osdUpdate: explainOsdUpdate(seen, osd),
  }
}

/** What is held of the storage, and of the budgets over these pods. */
export function osdHolds({ holds }: GuardSnapshot, { cluster }: SeenUpdate, pods: readonly PodAnswer[]): HoldAnswer[] {
  if (holds === undefined) return []
  const { namespace = '', name } = cluster.metadata
  const keys = new Set([storageKey({ namespace, name }), ...pods.flatMap(({ budgets }) => budgets.map(keyOfBudget))])
  return [...explainHolds(holds, (key) => keys.has(key))]
}

function keyOfBudget(name: string): string {
  return `pdb/${name}`
}

function summaryOf(pods: readonly PodAnswer[], isBlocked: boolean): string {
  if (isBlocked) return 'Its pod may not be evicted now.'
  if (pods.length === 0) return 'It has no pod, so there is nothing to evict.'
  return pods.every(({ verdict }) => verdict === 'leaving')
    ? 'Its pod is already terminating.'
    : 'Its pod may be evicted now.'
}
