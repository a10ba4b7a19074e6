import type { HoldAnswer } from '../../capabilities/drain-lock/view/hold-view.ts'
import { ageText } from '../../shared/age-text.ts'
import type { TextStyle } from '../../shared/paint.ts'
import { holdWords } from '../explain/explain-tables.ts'
import type { TableContent } from './drain-table.ts'

/** What is held or locked, in the order of the view. */
export function lockTable(
  locks: readonly HoldAnswer[],
  { now, paint, isWide }: TextStyle & { readonly isWide: boolean },
): TableContent {
  return {
    headings: ['LOCK', 'STATE', 'BY', 'FOR', 'UNTIL', 'WHAT', ...(isWide ? ['ENDS', 'OVERRIDE'] : [])],
    rows: locks.map(({ key, scope, state, holder, since, until = '', says, ends, override }) => [
      scope === undefined ? key : `${key} (${scope})`,
      paint(state === 'Orphaned' || state === 'Ignored' ? 'yellow' : 'cyan', holdWords[state]),
      holder,
      ageText(since, now) ?? '',
      until,
      says,
      ...(isWide ? [ends, override] : []),
    ]),
  }
}
