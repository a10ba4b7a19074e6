import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { explainHolds } from '../capabilities/drain-lock/view/hold-view.ts'
import { mergeBlockers } from '../shared/merge-blockers.ts'
import type { PodExplanation } from './explanation.ts'
import type { PodJudgement } from './judge-pod.ts'
import { judgePods } from './judge-pods.ts'
import type { GuardSnapshot } from './snapshot.ts'

/** May this pod be evicted now, and if not, what stands in its way? */
export function explainPod({ pod, ...cluster }: GuardSnapshot & { readonly pod: Pod }): PodExplanation {
  const { holds } = cluster
  const [judged] = judgePods([pod], cluster) as [PodJudgement]
  const keys = judged.answer.budgets.map((name) => `pdb/${name}`)
  const blockers = mergeBlockers(judged.blockers)
  return {
    object: `pod/${keyText(keyOf(pod))}`,
    mayGo: blockers.length === 0,
    summary: summaries[judged.answer.verdict],
    blockers,
    holds: holds === undefined ? [] : explainHolds(holds, (key) => keys.includes(key)),
    pod: judged.answer,
  }
}

const summaries = {
  goes: 'It may be evicted now.',
  'in-turn': 'It may be evicted now.',
  waits: 'It may not be evicted now.',
  leaving: 'It is already terminating.',
  stays: 'A drain does not evict it.',
}
