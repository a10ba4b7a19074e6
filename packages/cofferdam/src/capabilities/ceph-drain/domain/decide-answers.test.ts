import { describe, expect, it } from 'vitest'
import { decideCephDrain } from './decide.ts'
import { inWords, no, ours, type Scenario, settle, tell } from './testing/fixture.ts'
import { drained, inDrain, outcomeOf, twoEach } from './testing/outcome-table.ts'

describe('several zones at once', () => {
  const scenario: Scenario = {
    zones: twoEach,
    down: [1],
    cordoned: ['node-1', 'node-2'],
    settings: { maxDomains: 2 },
    budgets: ours('zone-2', 'zone-3'),
    state: inDrain,
  }

  it('go together where policy allows it and the data does', () => {
    expect(outcomeOf({ ...scenario, ceph: { openable: [['zone-1', 'zone-2']] } })).toMatchObject({
      budgets: ['zone-3'],
      open: ['zone-1', 'zone-2'],
    })
  })

  it('do not where the data does not', () => {
    expect(outcomeOf({ ...scenario, ceph: { openable: [] } })).toEqual(drained('zone-1', 'zone-2', 'zone-3'))
  })

  it('do not where policy does not', () => {
    const careful = { ...scenario, settings: {}, ceph: { openable: [['zone-1', 'zone-2']] } }
    expect(outcomeOf(careful)).toEqual(drained('zone-1', 'zone-2', 'zone-3'))
  })
})

describe('whose budgets they are', () => {
  it('beside Rook nothing is wanted but what is there, and the answers are given all the same', () => {
    const rook = { managesBudgets: true }
    const snapshot = tell({ mode: 'observe', rook, down: [1], cordoned: ['node-1'], budgets: ours('default') })
    const decision = decideCephDrain(snapshot)
    expect(decision.reason).toBe('ManagedElsewhere')
    expect(inWords(decision.budgets)).toEqual(['default'])
    expect(decision.state).toBe(snapshot.state)
    expect(decision.noout).toEqual({ set: [], unset: [] })
    expect(decision.domains.map(({ domain, mayDrain }) => [domain, mayDrain])).toEqual([
      ['zone-1', true],
      ['zone-2', false],
      ['zone-3', false],
    ])
  })

  it.each([
    ['observe', { managesBudgets: true }, 'ManagedElsewhere'],
    ['observe', { managesBudgets: false }, 'HandedBack'],
    ['observe', undefined, 'HandedBack'],
    ['contested', { managesBudgets: true }, 'BudgetsContested'],
  ] as const)('in mode %s with Rook %o it is said who has them, and how to hand them over', (mode, rook, reason) => {
    const decision = decideCephDrain(tell({ mode, ...(rook === undefined ? {} : { rook }) }))
    expect(decision.reason).toBe(reason)
    expect(decision.explanation).toContain('cofferdam adopt cephcluster/rook-ceph/my-cluster')
    expect(decision.claim).toEqual({ wants: 'release' })
  })
})

it('every zone has an answer with names in it', () => {
  const { decision } = settle(
    tell({ zones: twoEach, down: [1], cordoned: ['node-1'], verdicts: { 'zone-3': no }, budgets: ours('default') }),
  )
  expect(decision.explanation).toBe(
    'zone zone-1 may go (osd.1 down, node-1 being drained); every other zone is held. Waiting for clean data: active+undersized+degraded.',
  )
  expect(decision.domains).toEqual([
    {
      domain: 'zone-1',
      osds: [1, 4],
      nodes: ['node-1'],
      mayDrain: true,
      reason: 'DomainReleased',
      explanation: 'zone zone-1 may be drained: it is the failure domain that is allowed to be down.',
    },
    {
      domain: 'zone-2',
      osds: [2, 5],
      nodes: ['node-2'],
      mayDrain: false,
      reason: 'OtherDomainDown',
      explanation: 'zone zone-2 waits until zone-1 is back and all data is clean.',
    },
    {
      domain: 'zone-3',
      osds: [3, 6],
      nodes: ['node-3'],
      mayDrain: false,
      reason: 'OtherDomainDown',
      explanation: 'zone zone-3 waits until zone-1 is back and all data is clean.',
    },
  ])
})

it('a held cluster names the placement group that is in the way, and since when Ceph is silent', () => {
  const scarce = decideCephDrain(tell({ verdicts: { 'zone-1': no, 'zone-2': no, 'zone-3': no }, data: 'unclean' }))
  expect(scarce.explanation).toBe(
    'No OSD may go: placement group 1.1b of pool vm would be left with 1 of the 2 it needs and 2 more.',
  )
  const silent = decideCephDrain(tell({ silentMs: 60_000 }))
  expect(silent.explanation).toBe(
    'Ceph has not answered since 2026-01-01T11:59:00Z (no answer within 15 s): nothing more may go down.',
  )
})

it('what is wrong with single objects is named', () => {
  const { problems } = decideCephDrain(
    tell({
      zones: twoEach,
      missingNodes: ['node-3'],
      osd: {
        1: { topology: { host: 'node-1' } },
        2: { topology: { zone: 'zone-3' } },
        5: { nodeName: { known: false, why: 'it never ran' } },
      },
      budgets: [{ ...(ours('default')[0] as ReturnType<typeof ours>[number]), isOurs: false }],
    }),
  )
  expect(problems).toEqual([
    {
      object: 'deployment/rook-ceph-osd-1',
      problem: 'has no label topology-location-zone; CRUSH has it in zone-1',
    },
    {
      object: 'deployment/rook-ceph-osd-2',
      problem: 'says zone zone-3, and CRUSH has it in zone-2; it is held unless both are open',
    },
    { object: 'deployment/rook-ceph-osd-3', problem: 'its node node-3 does not exist' },
    { object: 'deployment/rook-ceph-osd-5', problem: 'its node is not known: it never ran' },
    { object: 'deployment/rook-ceph-osd-6', problem: 'its node node-3 does not exist' },
    {
      object: 'poddisruptionbudget/rook-ceph-osd',
      problem:
        'is not managed by Cofferdam and has the name of a budget that Cofferdam needs; it is left alone, and nothing is released until it is gone',
    },
  ])
})
