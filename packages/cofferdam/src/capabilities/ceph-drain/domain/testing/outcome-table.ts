import { describe, expect, it } from 'vitest'
import type { Reason } from '../../../../shared/reasons.ts'
import { inWords, type Scenario, settle, tell } from './fixture.ts'

export interface Outcome {
  readonly reason: Reason
  readonly budgets: readonly string[]
  readonly open?: readonly string[]
  readonly noout?: readonly string[]
}

/** What stands when everything decided has been written and nothing changes any more. */
export function outcomeOf(scenario: Scenario): Outcome {
  const { decision, snapshot } = settle(tell(scenario))
  const { openDomains } = decision.state
  const noout = snapshot.ceph.known ? snapshot.ceph.value.nooutBuckets : []
  return {
    reason: decision.reason,
    budgets: inWords(decision.budgets),
    ...(openDomains.length === 0 ? {} : { open: openDomains }),
    ...(noout.length === 0 ? {} : { noout }),
  }
}

export function table(name: string, rows: Record<string, { given: Scenario; then: Outcome }>): void {
  describe(name, () => {
    it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
      expect(outcomeOf(given)).toEqual(then)
    })
  })
}

export const calm: Outcome = { reason: 'AnyOsdMayGo', budgets: ['default'] }
export const released = (zone: string, ...budgets: string[]): Outcome => ({
  reason: 'DomainReleased',
  budgets,
  open: [zone],
})
export const drained = (zone: string, ...budgets: string[]): Outcome => ({
  ...released(zone, ...budgets),
  noout: [zone],
})

export const inDrain = { openDomains: ['zone-1'] }
export const twoEach = { 'zone-1': [1, 4], 'zone-2': [2, 5], 'zone-3': [3, 6] }
