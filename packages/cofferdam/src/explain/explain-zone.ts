import { mergeBlockers } from '../shared/merge-blockers.ts'
import { downPartText } from './down-part.ts'
import type { Explanation, NodeExplanation } from './explanation.ts'

/** One node of a failure domain, as `explain node` judges it. */
export interface MemberAnswer {
  readonly node: string
  readonly isReady: boolean
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
    summary: summaryOf(explained),
    blockers: mergeBlockers(held.flatMap(({ blockers }) => blockers)),
    holds: [...keys.values()],
    domainType,
    nodes: explained.map(({ object, mayGo, summary, blockers, node }) => ({
      node: object.slice('node/'.length),
      isReady: node.isReady,
      mayGo,
      summary,
      blockedBy: [...new Set(blockers.map((each) => each.object))],
    })),
  }
}

function summaryOf(explained: readonly NodeExplanation[]): string {
  const total = explained.length
  const ready = explained.filter(({ node }) => node.isReady)
  const down = total - ready.length
  if (down > 0 && ready.length > 0) return partlyDown(explained, ready)
  const held = explained.filter(({ mayGo }) => !mayGo).length
  const says = drainText(total, held)
  return down === 0 ? says : `Down: ${total === 1 ? 'its only node is' : 'all its nodes are'} NotReady. ${says}`
}

/** At three in the morning what is down comes first, and what may go is only the rest. */
function partlyDown(explained: readonly NodeExplanation[], ready: readonly NodeExplanation[]): string {
  const held = ready.filter(({ mayGo }) => !mayGo).length
  const down = { down: explained.length - ready.length, total: explained.length, what: 'nodes' } as const
  const isDownHeld = explained.some(({ mayGo, node }) => !mayGo && !node.isReady)
  const some = held === 0 || held === ready.length ? [] : [`all but ${held} of it`]
  const says = downPartText(down, held < ready.length)
  return [says, ...some, ...(isDownHeld ? ['a drain of what is down waits'] : [])].join('; ').concat('.')
}

function drainText(total: number, held: number): string {
  if (total === 1) return held === 0 ? 'Its only node may be drained now.' : 'Its only node may not be drained now.'
  if (held === 0) return `Each of its ${total} nodes may be drained now.`
  return held === total
    ? `None of its ${total} nodes may be drained now.`
    : `${held} of its ${total} nodes may not be drained now.`
}
