import { describe, expect, it } from 'vitest'
import { decideCephDrain } from './decide.ts'
import { isAhead, narrowTurn, type StorageTurn } from './storage-turn.ts'
import { inWords, no, ours, type Scenario, settle, tell } from './testing/fixture.ts'
import { arbiterWith } from './testing/small-ledger.ts'

const mons = { a: 'node-1', b: 'node-2', c: 'node-3' }
const twoEach = { 'zone-1': [1, 11], 'zone-2': [2, 12], 'zone-3': [3, 13] }
const blocked2and3 = ours('zone-2', 'zone-3')

interface Row {
  readonly given: Scenario
  readonly domains: readonly string[]
  /** Nodes whose mons and mgrs stay. */
  readonly held: readonly string[]
}

const rows: Record<string, Row> = {
  'nobody has lost anything: no mon beside OSDs may be the first to go, or two drains could each take one half': {
    given: { mons, budgets: ours('default') },
    domains: [],
    held: ['node-1', 'node-2', 'node-3'],
  },
  'both nodes are cordoned and nobody has lost an OSD: the mons of both stay': {
    given: { mons, cordoned: ['node-1', 'node-2'], budgets: ours('default') },
    domains: [],
    held: ['node-1', 'node-2', 'node-3'],
  },
  'an OSD has left node-1: its mon may follow, and that of node-2 stays though its drain has begun too': {
    given: {
      zones: twoEach,
      mons,
      down: [1],
      cordoned: ['node-1', 'node-2'],
      budgets: blocked2and3,
      state: { openDomains: ['zone-1'] },
    },
    domains: ['zone-1'],
    held: ['node-2', 'node-3'],
  },
  'an OSD that crashes and stays on its node holds the mon beside it: the drain has to wait for it all the same': {
    given: { mons, cephDown: [2], data: 'clean', osd: { 2: { isReady: false, hasPodOnNode: true } } },
    domains: [],
    held: ['node-1', 'node-2', 'node-3'],
  },
  'no OSD is left on node-1, and all data is clean elsewhere: nothing holds its mon': {
    given: { mons, down: [1], data: 'clean', cordoned: ['node-1'] },
    domains: [],
    held: ['node-2', 'node-3'],
  },
  'a request holds zone-2 in the ledger, and nobody else may begin: the mon there may go before any OSD': {
    given: { mons, arbiter: arbiterWith('reboot-b has zone-2'), budgets: ours('default') },
    domains: ['zone-2'],
    held: ['node-1', 'node-3'],
  },
  'a request holds zone-2, which must stay for its data: the mon stays as well': {
    given: { mons, verdicts: { 'zone-2': no }, arbiter: arbiterWith('reboot-b has zone-2') },
    domains: [],
    held: ['node-1', 'node-2', 'node-3'],
  },
  'Ceph is silent for a moment: whose turn it is stays so': {
    given: { mons, down: [1], silentMs: 1_000, budgets: blocked2and3, state: { openDomains: ['zone-1'] } },
    domains: ['zone-1'],
    held: ['node-2', 'node-3'],
  },
  'Ceph is silent for long: no mon may go': {
    given: {
      zones: twoEach,
      mons,
      down: [1],
      silentMs: 60_000,
      budgets: blocked2and3,
      state: { openDomains: ['zone-1'] },
    },
    domains: [],
    held: ['node-1', 'node-2', 'node-3'],
  },
}

describe('the nodes that may lose all of Ceph that runs on them', () => {
  it.each(Object.entries(rows))('%s', (_sentence, { given, domains, held }) => {
    const { turn } = decideCephDrain(tell(given))
    expect([turn?.domains, Object.keys(turn?.heldNodes ?? {})]).toEqual([domains, held])
  })
})

describe('a mon that left a cordoned node by other means than an eviction', () => {
  it('opens the zone of its node, so that the other drain cannot take what this one needs', () => {
    const lost: Scenario = { mons, lostMons: ['a'], cordoned: ['node-1', 'node-2'], budgets: ours('default') }
    const { decision } = settle(tell(lost))
    expect([inWords(decision.budgets), decision.reason]).toEqual([['closed but 1'], 'DomainReleased'])
    expect(decision.explanation).toMatch(/^zone zone-1 may go \(mon.a down, node-1 being drained\)/)
  })

  it('opens nothing while its node is not drained: it comes back by itself', () => {
    const { decision } = settle(tell({ mons, lostMons: ['a'], budgets: ours('default') }))
    expect(inWords(decision.budgets)).toEqual(['default'])
  })

  it('is no reason to speak of drains that wait for each other where five mons can lose one', () => {
    const five = { ...mons, d: 'node-2', e: 'node-3' }
    const crossed: Scenario = {
      zones: twoEach,
      mons: five,
      lostMons: ['a'],
      down: [2],
      cordoned: ['node-1', 'node-2'],
      verdicts: { 'zone-1': no, 'zone-3': no },
    }
    expect(settle(tell(crossed)).decision.problems).toEqual([])
  })

  it('is named with the way out when the other node has lost OSDs already: neither drain can end by itself', () => {
    const crossed: Scenario = {
      zones: twoEach,
      mons,
      lostMons: ['a'],
      down: [2],
      cordoned: ['node-1', 'node-2'],
      verdicts: { 'zone-1': no, 'zone-3': no },
    }
    const { decision } = settle(tell(crossed))
    expect(inWords(decision.budgets)).toEqual(['zone-1', 'zone-3'])
    expect(decision.problems).toEqual([
      {
        object: 'node/node-1',
        problem:
          'its drain and that of node-2 wait for each other: mon.a is down here and its OSDs wait for zone zone-2, where osd.2 is down and a mon waits for mon.a; uncordon node-1, and drain it again when zone zone-2 is back',
      },
    ])
  })
})

describe('between two turns', () => {
  const turn = (domains: string[], ...held: string[]): StorageTurn => ({
    domains,
    heldNodes: Object.fromEntries(held.map((node) => [node, 'osd.1'])),
    openNodes: [],
  })

  it('only what both allow is allowed', () => {
    expect(narrowTurn(turn(['x'], 'b', 'c'), turn(['y'], 'a', 'c'))).toEqual(turn([], 'b', 'c', 'a'))
    expect(narrowTurn(undefined, turn(['y'], 'a', 'c'))).toEqual(turn([], 'a', 'c'))
  })

  it.each([
    ['a mon of the last turn may still go', { turn: turn([], 'a', 'b'), looseNodes: ['a'] }, true],
    ['a mon could go when the look began', { turn: turn(['x'], 'b'), looseNodes: [] }, true],
    ['nobody has looked at the budgets of mons', { turn: turn([], 'a', 'b'), looseNodes: undefined }, true],
    ['all mons are held since before the look', { turn: turn([], 'a', 'b'), looseNodes: ['m'] }, false],
  ])('no OSD is let go while %s, and else it is', (_sentence, inForce, then) => {
    expect(isAhead(inForce, turn([], 'a', 'b'))).toBe(then)
  })
})
