import type { DisruptionAnswer } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import type { NodeState } from '../../explain/explanation.ts'
import { ageText } from '../../shared/age-text.ts'
import type { TextStyle } from '../../shared/paint.ts'
import { nodeStateText } from '../explain/explain-text.ts'

/** A node that is drained without a request: by kubectl or another tool. */
export type OtherDrain = { readonly name: string } & NodeState

export interface TableContent {
  readonly headings: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** So many columns from the left are never cut. Default: one. */
  readonly whole?: number
}

const columns = ['NODE', 'REQUEST', 'PHASE', 'FOR', 'ASKED BY', 'BLOCKED BY']

/** Requests first, what is blocked first among them; then what other tools drain. */
export function drainTable(
  {
    drains,
    otherDrains,
  }: { readonly drains: readonly DisruptionAnswer[]; readonly otherDrains: readonly OtherDrain[] },
  { now, paint, isWide }: TextStyle & { readonly isWide: boolean },
): TableContent {
  const blockedFirst = drains.toSorted((a, b) => Number(b.isBlocked) - Number(a.isBlocked))
  const more = ({ intent, purpose = '', requester = '', blockedBy: [first] }: DisruptionAnswer) =>
    isWide ? [intent, purpose, requester, first?.wayOut ?? ''] : []
  return {
    whole: 2,
    headings: isWide ? [...columns, 'INTENT', 'PURPOSE', 'REQUESTER', 'WAY OUT'] : columns,
    rows: [
      ...blockedFirst.map((drain) => [
        drain.node,
        drain.request,
        phaseText(drain),
        ageText(drain.since, now) ?? '',
        drain.askedBy ?? drain.requester ?? '',
        drain.isBlocked ? paint('red', blockersText(drain.blockedBy, isWide)) : '',
        ...more(drain),
      ]),
      ...otherDrains.map((node) => [
        node.name,
        '',
        nodeStateText(node, { now }),
        ageText(node.drainSince ?? node.cordonedSince, now) ?? '',
        node.cordonedBy ?? '',
      ]),
    ],
  }
}

function phaseText({ phase, isCancelled, breakGlass }: DisruptionAnswer): string {
  return [phase, ...(isCancelled ? ['cancelled'] : []), ...(breakGlass === undefined ? [] : ['break-glass'])].join(', ')
}

/** The first with its holder; `explain nodedisruption/NAME` has them all. */
function blockersText(blockedBy: DisruptionAnswer['blockedBy'], isWide: boolean): string {
  const texts = blockedBy.map(({ object, reason, holder }) => `${object} (${reason}, ${holder})`)
  const [first = '', ...more] = texts
  if (isWide) return texts.join(', ')
  return more.length === 0 ? first : `${first} and ${more.length} more`
}
