import { describe, expect, it } from 'vitest'
import { budgetReasons } from './budget-reasons.ts'
import type { CephDrainDecision } from './decision.ts'

const held = {
  osds: [1],
  nodes: ['node-y'],
  mayDrain: false,
  reason: 'OtherDomainDown',
  explanation: 'y waits.',
} as const
const block = (domain: string) =>
  ({
    name: `rook-ceph-osd-zone-${domain}`,
    maxUnavailable: 0,
    selector: { covers: 'domain', type: 'zone', domain },
  }) as const
const all = (maxUnavailable: number) =>
  ({ name: 'rook-ceph-osd', maxUnavailable, selector: { covers: 'all', exceptOsds: [] } }) as const

function reasonsOf(budgets: CephDrainDecision['budgets']): string[] {
  const decision = {
    reason: 'CephSilent',
    explanation: 'silent.',
    budgets,
    domains: [{ ...held, domain: 'y' }],
  } as const
  return budgetReasons(decision as unknown as CephDrainDecision).map(({ budget, reason }) => `${budget} ${reason}`)
}

const cases: Record<string, { given: CephDrainDecision['budgets']; then: string[] }> = {
  'a budget that lets one go has nothing to explain': { given: [all(1)], then: [] },
  'a block says what its own failure domain waits for': {
    given: [block('y')],
    then: ['rook-ceph-osd-zone-y OtherDomainDown'],
  },
  'the budget of all says what the cluster waits for': { given: [all(0)], then: ['rook-ceph-osd CephSilent'] },
  'a block without an answer of its own says what the cluster waits for': {
    given: [block('z')],
    then: ['rook-ceph-osd-zone-z CephSilent'],
  },
  'of very many failure domains the CephCluster alone says it: a hundred events help nobody': {
    given: Array.from({ length: 51 }, (_, index) => block(`${index}`)),
    then: [],
  },
}

describe('why budgets of OSDs allow nothing', () => {
  it.each(Object.entries(cases))('%s', (_sentence, { given, then }) => expect(reasonsOf(given)).toEqual(then))
})
