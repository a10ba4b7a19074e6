import { describe, expect, it } from 'vitest'
import { decideCephDrain } from '../../capabilities/ceph-drain/domain/decide.ts'
import {
  inWords,
  no,
  now,
  ours,
  type Scenario,
  settle,
  tell,
} from '../../capabilities/ceph-drain/domain/testing/fixture.ts'
import { arbiterWith, cluster, key, ledgerWith } from '../../capabilities/ceph-drain/domain/testing/small-ledger.ts'
import { known, unknown } from '../../shared/observed.ts'
import type { Reason } from '../../shared/reasons.ts'
import { emptyLedger, orphan } from './ledger.ts'
import { arbiterOf, openingRule, scopeOf, storageArbiter } from './storage-arbiter.ts'

interface Outcome {
  readonly reason: Reason
  readonly budgets: readonly string[]
  readonly open?: readonly string[]
  /** `hold zone-1`, `release`, or nothing where the ledger stays as it is. */
  readonly claim?: string
}

function outcomeOf(scenario: Scenario): Outcome {
  const { decision } = settle(tell(scenario))
  const { openDomains } = decision.state
  const { claim } = decision
  const wish = claim?.wants === 'hold' ? `hold ${claim.claim.scope}` : claim?.wants
  return {
    reason: decision.reason,
    budgets: inWords(decision.budgets),
    ...(openDomains.length === 0 ? {} : { open: openDomains }),
    ...(wish === undefined ? {} : { claim: wish }),
  }
}

const drainOf1: Scenario = { down: [1], cordoned: ['node-1'] }
const drainOf2: Scenario = { down: [2], cordoned: ['node-2'] }
const unreadable = unknown('the ledger cannot be read')

const rows: Record<string, { given: Scenario; then: Outcome }> = {
  'nobody holds anything and all OSDs run: any one may go, and nothing is asked of the ledger': {
    given: { arbiter: arbiterWith() },
    then: { reason: 'AnyOsdMayGo', budgets: ['default'], claim: 'release' },
  },
  'without a ledger it is as ever, and nothing is wanted of it': {
    given: drainOf1,
    then: { reason: 'DomainReleased', budgets: ['zone-2', 'zone-3'], open: ['zone-1'] },
  },
  'a drain has taken its first OSD: the zone is wanted from the ledger, and opened': {
    given: { ...drainOf1, arbiter: arbiterWith() },
    then: { reason: 'DomainReleased', budgets: ['zone-2', 'zone-3'], open: ['zone-1'], claim: 'hold zone-1' },
  },
  'somebody holds a zone and nothing is down: only there may an OSD go first': {
    given: { arbiter: arbiterWith('reboot-a has zone-1') },
    then: { reason: 'StorageKeyHeld', budgets: ['default but 2,3', 'zone-2', 'zone-3'], claim: 'release' },
  },
  'somebody holds all of it, whatever the zone: no OSD may go': {
    given: { arbiter: arbiterWith('fence has') },
    then: { reason: 'StorageKeyHeld', budgets: ['closed'], claim: 'release' },
  },
  'somebody holds all of it, and what he takes down leaves too few copies: he is the reason, or each OSD he restarts would be two events':
    {
      given: {
        down: [1],
        verdicts: { 'zone-2': no, 'zone-3': no },
        arbiter: arbiterWith('osd-update has'),
      },
      then: { reason: 'StorageKeyHeld', budgets: ['closed'] },
    },
  'the zone that somebody holds loses its first OSD to him: it is shared, and opened': {
    given: { ...drainOf1, arbiter: arbiterWith('reboot-a has zone-1') },
    then: { reason: 'DomainReleased', budgets: ['zone-2', 'zone-3'], open: ['zone-1'], claim: 'hold zone-1' },
  },
  'it is shared though somebody else waits for another one: he waits no longer for it': {
    given: { ...drainOf1, arbiter: arbiterWith('reboot-a has zone-1', 'reboot-b waits for zone-2') },
    then: { reason: 'DomainReleased', budgets: ['zone-2', 'zone-3'], open: ['zone-1'], claim: 'hold zone-1' },
  },
  'a drain took an OSD of another zone in the very moment before: that zone is not opened, and nobody else may go': {
    given: { ...drainOf2, arbiter: arbiterWith('reboot-a has zone-1') },
    then: { reason: 'StorageKeyHeld', budgets: ['closed'] },
  },
  'an OSD of another zone fails by itself: that is told, and the zone is not opened': {
    given: { down: [2], arbiter: arbiterWith('reboot-a has zone-1') },
    then: { reason: 'StorageKeyHeld', budgets: ['closed'] },
  },
  'both zones lost OSDs to drains: the one that is held in the ledger is opened, though the other comes first by name':
    {
      given: { down: [1, 2], cordoned: ['node-1', 'node-2'], arbiter: arbiterWith('reboot-b has zone-2') },
      then: { reason: 'DomainReleased', budgets: ['zone-1', 'zone-3'], open: ['zone-2'], claim: 'hold zone-2' },
    },
  'the zone that is held in the ledger is not opened while the data needs it': {
    given: { ...drainOf1, verdicts: { 'zone-1': no }, arbiter: arbiterWith('reboot-a has zone-1') },
    then: { reason: 'TooFewCopies', budgets: ['closed'], claim: 'hold zone-1' },
  },
  'an OSD failed by itself: its zone is held in the ledger, too': {
    given: { down: [2], arbiter: arbiterWith() },
    then: { reason: 'DomainReleased', budgets: ['zone-1', 'zone-3'], open: ['zone-2'], claim: 'hold zone-2' },
  },
  'OSDs of two zones failed, and neither may go: both are held in the ledger together': {
    given: { down: [1, 2], verdicts: { 'zone-1': no, 'zone-2': no, 'zone-3': no }, arbiter: arbiterWith() },
    then: { reason: 'TooFewCopies', budgets: ['closed'], claim: 'hold zone-1+zone-2' },
  },
  'who waits for another zone comes first: the drained one is not opened until he steps aside': {
    given: { ...drainOf1, arbiter: onlyTicketForZone2() },
    // The one OSD that the default budget spares is gone already.
    then: { reason: 'StorageKeyHeld', budgets: ['default but 2,3', 'zone-2', 'zone-3'] },
  },
  'who only waits keeps nobody from beginning': {
    given: { arbiter: onlyTicketForZone2() },
    then: { reason: 'AnyOsdMayGo', budgets: ['default'], claim: 'release' },
  },
  'our own entry from before is no obstacle': {
    given: { ...drainOf1, arbiter: arbiterWith('ceph-drain has zone-1') },
    then: { reason: 'DomainReleased', budgets: ['zone-2', 'zone-3'], open: ['zone-1'], claim: 'hold zone-1' },
  },
  'the OSDs are back and data is not clean: the zone stays held in the ledger': {
    given: {
      data: 'unclean',
      state: { openDomains: ['zone-1'] },
      budgets: ours('zone-2', 'zone-3'),
      arbiter: arbiterWith('ceph-drain has zone-1'),
    },
    then: { reason: 'RecoveryAwaited', budgets: ['zone-2', 'zone-3'], open: ['zone-1'], claim: 'hold zone-1' },
  },
  'all is clean again: the zone is given back': {
    given: {
      state: { openDomains: ['zone-1'] },
      budgets: ours('zone-2', 'zone-3'),
      arbiter: arbiterWith('ceph-drain has zone-1'),
    },
    then: { reason: 'AnyOsdMayGo', budgets: ['default'], claim: 'release' },
  },
  'a zone is open and somebody took the key from us: it is closed again': {
    given: {
      ...drainOf1,
      state: { openDomains: ['zone-1'] },
      budgets: ours('zone-2', 'zone-3'),
      arbiter: arbiterWith('reboot-b has zone-2'),
    },
    then: { reason: 'StorageKeyHeld', budgets: ['zone-1', 'zone-2', 'zone-3'], open: ['zone-1'] },
  },
  'a zone is open and the ledger has forgotten everything: it stays open, and is asked for again': {
    given: {
      ...drainOf1,
      state: { openDomains: ['zone-1'] },
      budgets: ours('zone-2', 'zone-3'),
      arbiter: arbiterWith(),
    },
    then: { reason: 'DomainReleased', budgets: ['zone-2', 'zone-3'], open: ['zone-1'], claim: 'hold zone-1' },
  },
  'the ledger cannot be read and nothing is down: no OSD may go first': {
    given: { arbiter: unreadable },
    then: { reason: 'LedgerUnknown', budgets: ['closed'] },
  },
  'the ledger cannot be read and a drain has taken its first OSD: the zone waits': {
    given: { ...drainOf1, arbiter: unreadable },
    then: { reason: 'LedgerUnknown', budgets: ['closed'] },
  },
  'the ledger cannot be read and a zone is open already: it stays open': {
    given: { ...drainOf1, state: { openDomains: ['zone-1'] }, budgets: ours('zone-2', 'zone-3'), arbiter: unreadable },
    then: { reason: 'DomainReleased', budgets: ['zone-2', 'zone-3'], open: ['zone-1'] },
  },
  'Ceph is silent: the ledger stays as it is': {
    given: { ...drainOf1, silentMs: 60_000, arbiter: arbiterWith('ceph-drain has zone-1') },
    then: { reason: 'CephSilent', budgets: ['closed'] },
  },
  'the budgets are left to Rook: nothing is held for it': {
    given: {
      ...drainOf1,
      mode: 'observe',
      rook: { managesBudgets: true },
      arbiter: arbiterWith('ceph-drain has zone-1'),
    },
    then: { reason: 'ManagedElsewhere', budgets: [], claim: 'release' },
  },
  'several zones may be away together: they are held as one': {
    given: {
      down: [1],
      zones: { 'zone-1': [1], 'zone-2': [2], 'zone-3': [3], 'zone-4': [4] },
      cordoned: ['node-1', 'node-2'],
      settings: { maxDomains: 2 },
      ceph: { openable: [['zone-1', 'zone-2']] },
      arbiter: arbiterWith('ceph-drain has zone-1'),
    },
    then: {
      reason: 'DomainReleased',
      budgets: ['zone-3', 'zone-4'],
      open: ['zone-1', 'zone-2'],
      claim: 'hold zone-1+zone-2',
    },
  },
  'several zones may be away together, and somebody holds one of them: only that one is opened': {
    given: {
      down: [1],
      zones: { 'zone-1': [1], 'zone-2': [2], 'zone-3': [3], 'zone-4': [4] },
      cordoned: ['node-1', 'node-2'],
      settings: { maxDomains: 2 },
      ceph: { openable: [['zone-1', 'zone-2']] },
      arbiter: arbiterWith('reboot-a has zone-1'),
    },
    then: {
      reason: 'DomainReleased',
      budgets: ['zone-2', 'zone-3', 'zone-4'],
      open: ['zone-1'],
      claim: 'hold zone-1',
    },
  },
}

function onlyTicketForZone2() {
  const arbiter = arbiterWith('reboot-a has zone-1', 'reboot-b waits for zone-2')
  return arbiter.known ? { known: true as const, value: { ...arbiter.value, others: [] } } : arbiter
}

describe('the ledger and the budgets', () => {
  it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
    expect(outcomeOf(given)).toEqual(then)
  })
})

it('whoever waits is told who holds what, since when, and what ends it', () => {
  const { domains, explanation } = decideCephDrain(tell({ arbiter: arbiterWith('reboot-a has zone-1') }))
  const held = `nodedisruption/reboot-a holds zone-1 of storage/rook-ceph/my-cluster since ${now}; it is released when what was taken down is back and all data is clean`
  expect(explanation).toBe(`zone zone-2, zone-3 may not be drained: ${held}.`)
  expect(domains.map(({ domain, mayDrain, reason, explanation: why }) => [domain, mayDrain, reason, why])).toEqual([
    ['zone-1', true, 'SafeToDrain', 'zone zone-1 may be drained now.'],
    ['zone-2', false, 'StorageKeyHeld', `zone zone-2 waits: ${held}.`],
    ['zone-3', false, 'StorageKeyHeld', `zone zone-3 waits: ${held}.`],
  ])
})

it('what is held says why: what is down, and who is being drained', () => {
  const { claim } = decideCephDrain(tell({ down: [1], cordoned: ['node-1'], arbiter: arbiterWith() }))
  expect(claim).toEqual({
    wants: 'hold',
    requestId: 'ceph-drain/uid-1/zone-1',
    holder: 'ceph-drain of rook-ceph/my-cluster: osd.1 down, node-1 being drained',
    claim: { key: 'storage/rook-ceph/my-cluster', uid: 'uid-1', scope: 'zone-1' },
  })
})

it('a scope for many domains fits into the ledger, and is the same in any order', () => {
  const many = Array.from({ length: 50 }, (_, index) => `zone-${index}`)
  expect(scopeOf(['b', 'a'])).toBe('a+b')
  expect(scopeOf(many).length).toBeLessThanOrEqual(80)
  expect(scopeOf([...many].reverse())).toBe(scopeOf(many))
})

describe('what the ledger says of a storage', () => {
  it('is nothing without a ledger, what is not known where it cannot be read, and else who holds and who waits', () => {
    const ledger = ledgerWith('reboot-a has zone-1', 'reboot-b waits for zone-2')
    expect([undefined, unreadable, known(ledger)].map((each) => storageArbiter(each, cluster))).toEqual([
      {},
      { arbiter: unreadable },
      { arbiter: known(arbiterOf(ledger, cluster)) },
    ])
  })

  it('is of this storage alone: what is held and wanted elsewhere opens and closes nothing here', () => {
    const ledger = ledgerWith('reboot-a has zone-1', 'reboot-b waits for zone-2')
    const other = arbiterOf(ledger, { ...cluster, name: 'other' })
    expect([other.own, other.others, other.tickets]).toEqual([[], [], []])
    const here = arbiterOf(ledgerWith('ceph-drain has zone-1', 'reboot-b waits for zone-2'), cluster)
    expect([here.own.length, here.others.length, here.tickets.length]).toEqual([1, 0, 1])
  })

  it('keeps a request that stepped aside for a person from holding up the others', () => {
    const ledger = ledgerWith('reboot-a has zone-1', 'reboot-b waits for zone-2')
    const aside = { ...ledger, tickets: ledger.tickets.map((ticket) => ({ ...ticket, aside: 'Always' as const })) }
    expect(arbiterOf(aside, cluster).tickets).toEqual([])
  })

  const ruleOf = (...sentences: string[]) => openingRule(arbiterWith(...sentences), (domain) => domain === 'zone-3')
  const words = (given: ReturnType<typeof openingRule>, domain: string) =>
    given.hindranceTo(domain, 'open')?.explanation

  it('names the holder, since when and what ends it', () => {
    expect([
      words(ruleOf('reboot-a has zone-1'), 'zone-2'),
      words(ruleOf('fence has'), 'zone-2'),
      words(ruleOf('reboot-a has zone-1', 'reboot-b waits for zone-2'), 'zone-1'),
    ]).toEqual([
      `nodedisruption/reboot-a holds zone-1 of ${key} since ${now}; it is released when what was taken down is back and all data is clean`,
      `nodedisruption/fence holds all of ${key} since ${now}; it is released when what was taken down is back and all data is clean`,
      undefined,
    ])
  })

  it('names a holder that gave no name by its request, and one that is gone as such', () => {
    const ledger = orphan(ledgerWith('reboot-a has zone-1'), 'reboot-a')
    const nameless = { ...ledger, entries: ledger.entries.map((entry) => ({ ...entry, holder: '', since: '' })) }
    const rule = openingRule(known(arbiterOf(nameless, cluster)), () => false)
    expect(words(rule, 'zone-2')).toBe(
      `request reboot-a holds zone-1 of ${key}; its holder is gone; it is released when what the holder started has ended, or by break-glass`,
    )
  })

  it('names who waits and comes first, where a domain that is not open yet would overtake it', () => {
    const waiting = ledgerWith('reboot-a has zone-1', 'reboot-b waits for zone-2')
    const free = { ...waiting, entries: emptyLedger.entries }
    const rule = openingRule(known(arbiterOf(free, cluster)), (domain) => domain === 'zone-3')
    expect([
      words(rule, 'zone-1'),
      words(rule, 'zone-3'),
      rule.mayOpen(['zone-3']),
      rule.mayOpen(['zone-3', 'zone-1']),
    ]).toEqual([
      `nodedisruption/reboot-b has waited for ${key} since ${now} and is first in the queue; it continues or steps aside by itself`,
      undefined,
      true,
      false,
    ])
    expect(rule.mayBegin('zone-1'), 'it may begin all the same').toBe(true)
  })

  it('lets only what is open stay open while the ledger cannot be read', () => {
    const rule = openingRule(unreadable, (domain) => domain === 'zone-3')
    expect([
      rule.mayOpen(['zone-3']),
      rule.mayOpen(['zone-3', 'zone-1']),
      rule.mayBegin('zone-1'),
      rule.hindranceTo('zone-3', 'open'),
      rule.hindranceTo('zone-1', 'begin'),
    ]).toEqual([
      true,
      false,
      false,
      undefined,
      { reason: 'LedgerUnknown', explanation: 'who holds the storage is not known: the ledger cannot be read' },
    ])
  })
})
