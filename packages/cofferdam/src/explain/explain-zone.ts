import { mergeBlockers } from '../shared/merge-blockers.ts'
import type { Explanation, NodeExplanation } from './explanation.ts'

/** One node of a failure domain, as `explain node` judges it. */
export interface MemberAnswer {
  readonly node: string
  readonly mayGo: boolean
  readonly summary: string
  /** `node/…`, `pdb/…`: what is in its way. */
  readonly blockedBy: readonly string[]
}

export interface ZoneExplanation extends Explanation {
  /** `zone`, `rack`, … */
  readonly domainType: string
  readonly nodes: readonly MemberAnswer[]
}

/** May each node of this failure domain be drained now? Which of them may go together is for `plan drain` to say. */
export function explainZone(
  { name, domainType }: { readonly name: string; readonly domainType: string },
  explained: readonly NodeExplanation[],
): ZoneExplanation {
  const held = explained.filter(({ mayGo }) => !mayGo)
  const keys = new Map(
    explained.flatMap(({ holds }) => holds.map((each) => [`${each.key} ${each.holder}`, each] as const)),
  )
  return {
    object: `${domainType}/${name}`,
    mayGo: held.length === 0,
    summary: summaryOf(explained.length, held.length),
    blockers: mergeBlockers(held.flatMap(({ blockers }) => blockers)),
    holds: [...keys.values()],
    domainType,
    nodes: explained.map(({ object, mayGo, summary, blockers }) => ({
      node: object.slice('node/'.length),
      mayGo,
      summary,
      blockedBy: [...new Set(blockers.map((each) => each.object))],
    })),
  }
}

function summaryOf(total: number, held: number): string {
  if (total === 1) return held === 0 ? 'Its only node may be drained now.' : 'Its only node may not be drained now.'
  if (held === 0) return `Each of its ${total} nodes may be drained now.`
  return held === total
    ? `None of its ${total} nodes may be drained now.`
    : `${held} of its ${total} nodes may not be drained now.`
}
