import { describe, expect, it } from 'vitest'
import { decideDisruption } from '../decide.ts'
import { acting, inWords, locked, type Outcome, type Scenario, tell } from './fixture.ts'

/** Rows about a request that holds its node and its budget. */
export function actingTable(name: string, rows: Record<string, { given: Scenario; then: Outcome }>): void {
  describe(name, () => {
    it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
      expect(inWords(decideDisruption(tell({ budgets: [locked()], ledger: acting, ...given })))).toEqual(then)
    })
  })
}
