import { describe, expect, it } from 'vitest'
import { known } from '../../../shared/observed.ts'
import { explainNo } from './answers.ts'
import { decideCephDrain } from './decide.ts'
import { inWords, no, ours, type Scenario, settle, tell } from './testing/fixture.ts'
import { drained, inDrain, outcomeOf, twoEach } from './testing/outcome-table.ts'
import { arbiterWith } from './testing/small-ledger.ts'

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

it('a drain that has taken an OSD which the data needs before the next is told that it waits for itself, and what ends that (short seed 703161)', () => {
  const stuck: Scenario = {
    zones: twoEach,
    down: [1, 2],
    cordoned: ['node-1'],
    verdicts: { 'zone-1': no, 'zone-2': no, 'zone-3': no },
    state: inDrain,
    budgets: ours('zone-2', 'zone-3'),
  }
  const wayOut =
    'The drain of node-1 has taken osd.1: where the data does not recover without, this drain waits for itself; uncordon node-1 to let it start (cofferdam uncordon ends a request), and drain again when all data is clean.'
  const { explanation, domains } = decideCephDrain(tell(stuck))
  expect([explanation, ...domains.map((answer) => answer.explanation)].map((said) => said.includes(wayOut))).toEqual([
    true,
    true,
    false,
    false,
  ])
  const moved = { ...stuck, down: [2, 3], osd: { 2: { nodeName: known('node-1') } } }
  expect(decideCephDrain(tell(moved)).domains[0]?.explanation).toContain('The drain of node-1 has taken osd.2:')
  const isSaid = (given: Scenario) => JSON.stringify(decideCephDrain(tell(given))).includes('waits for itself')
  expect([
    isSaid({ ...stuck, cordoned: [] }),
    isSaid({ ...stuck, verdicts: {} }),
    isSaid({ ...stuck, down: [2] }),
    isSaid({ ...stuck, down: [1, 2, 4] }),
  ]).toEqual([false, false, false, false])
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

describe('why a zone must stay, in words', () => {
  const doubt = { pg: '1.0', pool: 'vm', state: 'active+clean+inconsistent' }
  const trouble = { pg: '1.1b', pool: 'vm', left: 1, floor: 2 }
  const rows: Record<string, [Parameters<typeof explainNo>[0], string]> = {
    'one placement group in doubt is named with its repair': [
      { may: 'no', troubles: [], troubleCount: 0, doubts: [doubt], doubtCount: 1 },
      'placement group 1.0 of pool vm is active+clean+inconsistent; to do: ceph pg repair 1.0 (what is damaged: rados list-inconsistent-obj 1.0)',
    ],
    'of several in doubt the others are counted: who repairs one would think it done': [
      { may: 'no', troubles: [], troubleCount: 0, doubts: [doubt], doubtCount: 3 },
      'placement group 1.0 of pool vm is active+clean+inconsistent and 2 more are in doubt; to do: ceph pg repair 1.0 (what is damaged: rados list-inconsistent-obj 1.0)',
    ],
    'one group with too few copies is named, and no others are spoken of': [
      { may: 'no', troubles: [trouble], troubleCount: 1 },
      'placement group 1.1b of pool vm would be left with 1 of the 2 it needs',
    ],
    'a group that would lose a site says which': [
      { may: 'no', troubles: [{ ...trouble, lostSite: 'site-a' }], troubleCount: 2 },
      'placement group 1.1b of pool vm would have no copy left in site-a, and must keep one on each site and 1 more',
    ],
    'groups that nobody names are counted': [
      { may: 'no', troubles: [], troubleCount: 2 },
      '2 placement groups would have too few copies',
    ],
  }
  it.each(Object.entries(rows))('%s', (_sentence, [verdict, then]) => {
    expect(explainNo(verdict)).toBe(then)
  })
})

describe('where CRUSH and the labels do not tell a zone', () => {
  const twoBuckets = {
    domains: ['zone-1', 'zone.1'].map((domain, at) => ({ domain, osds: [at + 1], verdict: { may: 'yes' as const } })),
  }
  const rows: Record<string, [Scenario, string]> = {
    'two buckets with one label are not told apart: draining one would take the other along': [
      { zones: { 'zone-1': [1, 2] }, ceph: twoBuckets },
      'zone-1 SafetyUnknown',
    ],
    'OSDs that CRUSH has not, and that do not run, may go: nothing is on them': [
      { zones: { 'zone-1': [1] }, down: [1], data: 'clean', ceph: { domains: [] } },
      'zone-1 SafeToDrain',
    ],
    'an empty label is none: OSDs of all zones would be one failure domain': [
      { zones: { 'zone-1': [1] }, osd: { 1: { topology: { zone: '' } } }, ceph: { domains: [] } },
      '',
    ],
  }
  it.each(Object.entries(rows))('%s', (_sentence, [scenario, then]) => {
    const { domains } = decideCephDrain(tell(scenario))
    expect(domains.map(({ domain, reason }) => `${domain} ${reason}`).join()).toBe(then)
  })
})

describe('a cluster without OSDs', () => {
  const empty: Scenario = { zones: {}, budgets: [] }
  const rows: Record<string, [Scenario, string]> = {
    'that answers has nothing to protect, and gets no budget that would select OSDs to come': [empty, 'NoOsds'],
    'that is silent for a moment gets none either': [{ ...empty, silentMs: 1_000 }, 'CephAnswerAwaited'],
    'that is silent for long gets none either': [{ ...empty, silentMs: 600_000 }, 'CephSilent'],
  }
  it.each(Object.entries(rows))('%s', (_sentence, [scenario, reason]) => {
    const decision = decideCephDrain(tell(scenario))
    expect([decision.reason, decision.budgets]).toEqual([reason, []])
  })
})

it('budgets of others are named in order, whichever was listed first: each order would be an event', () => {
  const theirs = ours('zone-2', 'zone-3').map((budget) => ({ ...budget, isOurs: false }))
  const named = (budgets: typeof theirs) =>
    decideCephDrain(tell({ down: [1], cordoned: ['node-1'], budgets })).problems.map(({ object }) => object)
  expect(named(theirs)).toEqual([
    'poddisruptionbudget/rook-ceph-osd-zone-zone-2',
    'poddisruptionbudget/rook-ceph-osd-zone-zone-3',
  ])
  expect(named(theirs.toReversed())).toEqual(named(theirs))
})

it('of more OSDs than fit into a sentence the first are named', () => {
  const many = Array.from({ length: 14 }, (_, id) => id)
  const { explanation } = decideCephDrain(
    tell({ zones: { 'zone-1': many, 'zone-2': [20], 'zone-3': [21] }, down: many, cordoned: ['node-1'] }),
  )
  expect(explanation).toContain('osd.10, osd.11 and 2 more down')
})

it('whoever holds all of the storage is named before anything about data: else each OSD that moves is an event', () => {
  const arbiter = arbiterWith('osd-update has ')
  expect(decideCephDrain(tell({ arbiter, data: 'unclean' })).reason).toBe('StorageKeyHeld')
})

it('a zone whose OSDs are down while somebody holds another one is held, and says by whom', () => {
  const { decision } = settle(
    tell({
      zones: twoEach,
      down: [1],
      cordoned: ['node-1'],
      state: inDrain,
      budgets: ours('default'),
      arbiter: arbiterWith('reboot-b has zone-2'),
    }),
  )
  expect([decision.reason, decision.state.openDomains]).toEqual(['StorageKeyHeld', ['zone-1']])
  expect(decision.explanation).toMatch(/^zone zone-1 \(osd.1 down.*\) is held: .*reboot-b/)
})

describe('what ceph-drain asks the ledger for', () => {
  const many = Array.from({ length: 14 }, (_, id) => id + 1)
  const rows: Record<string, [Scenario, string]> = {
    'names the OSDs that are down and the node that is drained': [
      { down: [1], cordoned: ['node-1'] },
      'osd.1 down, node-1 being drained',
    ],
    'names ten OSDs at most: the ledger takes no longer text, and then nothing would be held': [
      { zones: { 'zone-1': many, 'zone-2': [20], 'zone-3': [21] }, down: many },
      'osd.1, osd.2, osd.3, osd.4, osd.5, osd.6, osd.7, osd.8, osd.9, osd.10 and 4 more down',
    ],
    'says that a zone recovers whose OSDs are back': [
      { data: 'unclean', state: inDrain, budgets: ours('zone-2', 'zone-3') },
      'zone zone-1 recovers',
    ],
  }
  it.each(Object.entries(rows))('%s', (_sentence, [scenario, then]) => {
    const { claim } = decideCephDrain(tell({ arbiter: arbiterWith(), ...scenario }))
    expect(claim?.wants === 'hold' && claim.holder).toBe(`ceph-drain of rook-ceph/my-cluster: ${then}`)
  })

  it('is nothing where somebody else holds another zone: what failed has failed', () => {
    const arbiter = arbiterWith('reboot-b has zone-2')
    expect(decideCephDrain(tell({ arbiter, down: [1] })).claim).toBeUndefined()
  })

  it('is nothing for an OSD that is in no zone: no domain of its own could be held', () => {
    const given = { down: [1], cephDown: [], osd: { 1: { topology: {} } }, ceph: { domains: [] } }
    expect(decideCephDrain(tell({ arbiter: arbiterWith(), ...given })).claim).toBeUndefined()
  })
})
