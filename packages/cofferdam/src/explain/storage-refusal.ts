import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { mustStayText } from '../ledger/rules/decide-eviction.ts'
import type { Blocker } from '../shared/blocker.ts'
import { isReason, type Reason } from '../shared/reasons.ts'
import type { PodJudgement } from './judge-pod.ts'

/** What the API server says itself, and as well. */
const plainReasons: readonly string[] = [
  'BudgetExhausted',
  'BudgetImpossible',
  'BudgetNotCounted',
  'BudgetOverlap',
  'BudgetUncountable',
] satisfies Reason[]

/** An explanation of hundreds of placement groups helps nobody who waits for a drain. */
const mostLetters = 400

/** What `explain pod` says of a pod that is held for storage, as the one sentence that a drain prints; undefined for all others. */
export function refusalOfStorage({ metadata }: Pod, { answer, blockers }: PodJudgement) {
  const [first] = blockers
  const { namespace = '', name } = metadata
  if (answer.verdict !== 'waits' || first === undefined || !isReason(first.reason)) return undefined
  if (plainReasons.includes(first.reason)) return undefined
  const more = blockers.length === 1 ? '' : `, and ${blockers.length - 1} more`
  const target = { namespace, name }
  return {
    allowed: false,
    reason: first.reason,
    message: mustStayText(target, {
      why: `${shortened(whyText(first))}${more}`,
      ends: `it waits for ${shortened(first.unblocks)} (cofferdam explain pod/${namespace}/${name})`,
    }),
    cause: answer.budgets.length === 0 ? first.object : `pdb/${answer.budgets[0]}`,
  } as const
}

function whyText({ reason, explanation, holder, since }: Blocker): string {
  const says = explanation.replace(/\.$/, '')
  return `${says} (${reason}${since === undefined ? '' : ` since ${since}`}, held by ${holder})`
}

function shortened(text: string): string {
  const plain = text.replace(/\.$/, '')
  return plain.length > mostLetters ? `${plain.slice(0, mostLetters)}…` : plain
}
