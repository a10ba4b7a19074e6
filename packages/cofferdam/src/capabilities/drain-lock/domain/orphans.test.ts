import { describe, expect, it } from 'vitest'
import type { Claim } from '../../../ledger/rules/claim.ts'
import { emptyLedger, grant, intend, type Ledger, orphan } from '../../../ledger/rules/ledger.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { applyOrphans, decideOrphans, heartbeat, type KeyFacts, nodesToReopen, type OrphanSnapshot } from './orphans.ts'

const now = '2026-01-01T00:00:00Z'
const renewMs = 20_000
const node: Claim = { key: 'node/a', uid: 'node-uid', scope: '' }
const web: Claim = { key: 'pdb/shop/web', uid: 'web-uid', scope: '' }
const ceph: Claim = { key: 'storage/rook/ceph', uid: 'ceph-uid', scope: 'zone-a' }

function take(ledger: Ledger, requestId: string, ...claims: Claim[]): Ledger {
  return grant(ledger, { requestId, holder: `holder of ${requestId}`, claims, now }).ledger
}

const granted = take(emptyLedger, 'R1', node, web, ceph)
const acting = acted(granted)
const orphaned = orphan(acting, 'R1')
/** R2 waits for what R1 acts upon. */
const behind = take(acting, 'R2', node)
/** R1 let go, and R2 has not taken what it waited for. */
const turn: Ledger = { ...behind, entries: [] }

function acted(ledger: Ledger): Ledger {
  const change = intend(ledger, { requestId: 'R1', epoch: 1, bootID: 'boot-1' })
  if (!change.ok) throw new Error(change.why)
  return change.ledger
}

function seen(ledger: Ledger, over: Partial<OrphanSnapshot> = {}): OrphanSnapshot {
  const none = new Set<string>()
  return { ledger, living: none, vanished: none, heartbeats: new Map(), renewMs, facts: new Map(), ...over }
}

function silentFor(ledger: Ledger, requestId: string, unchangedMs: number): Partial<OrphanSnapshot> {
  return { heartbeats: new Map([[requestId, { beat: heartbeat(ledger, requestId), unchangedMs }]]) }
}

function steps(snapshot: OrphanSnapshot): string[] {
  return decideOrphans(snapshot).map(({ step, requestId, reason }) => `${step} ${requestId}: ${reason}`)
}

describe('what a request left', () => {
  const cases: Record<string, [OrphanSnapshot, string[]]> = {
    'is left alone while the request is there': [seen(behind, { living: new Set(['R1', 'R2']) }), []],
    'is left alone while it is not known whether the request is there': [seen(behind), []],
    'is free when it vanished before it had touched anything': [
      seen(granted, { vanished: new Set(['R1']) }),
      ['free R1: GrantFreed'],
    ],
    'still counts when it vanished after it had begun': [
      seen(acting, { vanished: new Set(['R1']) }),
      ['orphan R1: HolderGone'],
    ],
    'as a ticket behind an earlier one shows no life and is not given up: it waits for others': [
      seen(take(turn, 'R3', node), silentFor(take(turn, 'R3', node), 'R3', 3 * renewMs)),
      [],
    ],
    'as a place of a limit goes with its node: it would be taken for ever': [
      seen(orphan(acted(take(emptyLedger, 'R1', node, { key: 'limit/all', uid: '', scope: 'R1' })), 'R1'), {
        facts: new Map<string, KeyFacts>([['node/a', { kind: 'node', node: undefined }]]),
      }),
      ['purge R1: OrphanBuried'],
    ],
    'as a ticket is withdrawn when it vanished': [
      seen(behind, { living: new Set(['R1']), vanished: new Set(['R2']) }),
      ['withdraw R2: TicketWithdrawn'],
    ],
    'counts as given up after three renewals that never came': [
      seen(acting, silentFor(acting, 'R1', 60_000)),
      ['orphan R1: HolderGone'],
    ],
    'counts as looked after until then': [seen(acting, silentFor(acting, 'R1', 59_999)), []],
    'counts as looked after when it was renewed since it was timed': [
      seen(acting, { heartbeats: new Map([['R1', { beat: '1.7.Acting', unchangedMs: 600_000 }]]) }),
      [],
    ],
    'as a ticket is withdrawn when its turn came and it took nothing': [
      seen(turn, silentFor(turn, 'R2', 60_000)),
      ['withdraw R2: TicketWithdrawn'],
    ],
    'as a ticket behind others is never given up for silence': [
      seen(behind, { living: new Set(['R1']), ...silentFor(behind, 'R2', 6_000_000) }),
      [],
    ],
  }
  for (const [scenario, [snapshot, then]] of Object.entries(cases)) {
    it(scenario, () => {
      expect(steps(snapshot)).toEqual(then)
    })
  }
})

type NodeSeen = NonNullable<Extract<KeyFacts, { kind: 'node' }>['node']>
type BudgetSeen = NonNullable<Extract<KeyFacts, { kind: 'budget' }>['budget']>
type StorageSeen = NonNullable<Extract<KeyFacts, { kind: 'storage' }>['storage']>

/** Everything as before, but for what is said. */
function facts(
  over: {
    node?: Partial<NodeSeen> | 'gone'
    budget?: Partial<BudgetSeen> | 'gone'
    storage?: Partial<StorageSeen> | 'gone'
  } = {},
): ReadonlyMap<string, KeyFacts> {
  const back: NodeSeen = { uid: 'node-uid', bootID: 'boot-2', isReady: true, isCordoned: false }
  const healthy: BudgetSeen = { uid: 'web-uid', isCounted: true, currentHealthy: 3, desiredHealthy: 2 }
  const clean: StorageSeen = { uid: 'ceph-uid', isClean: known(true) }
  return new Map<string, KeyFacts>([
    [node.key, { kind: 'node', node: over.node === 'gone' ? undefined : { ...back, ...over.node } }],
    [web.key, { kind: 'budget', budget: over.budget === 'gone' ? undefined : { ...healthy, ...over.budget } }],
    [ceph.key, { kind: 'storage', storage: over.storage === 'gone' ? undefined : { ...clean, ...over.storage } }],
  ])
}

describe('an orphan is buried', () => {
  const cases: Record<string, ReadonlyMap<string, KeyFacts>> = {
    'when the node is back in another boot and everything on it is well': facts(),
    'when the node is back, though nobody has uncordoned it': facts({ node: { isCordoned: true } }),
    'when the node never went down and takes pods again': facts({ node: { bootID: 'boot-1' } }),
    'when the node is gone': facts({ node: 'gone' }),
    'when another node has the name': facts({ node: { uid: 'another', isReady: false } }),
    'when the budget is gone': facts({ budget: 'gone' }),
    'when another budget has the name': facts({ budget: { uid: 'another', currentHealthy: 0 } }),
    'when the storage is gone': facts({ storage: 'gone' }),
  }
  for (const [scenario, now] of Object.entries(cases)) {
    it(scenario, () => {
      const decisions = decideOrphans(seen(orphaned, { facts: now }))
      expect(decisions).toMatchObject([{ step: 'purge', reason: 'OrphanBuried', requestId: 'R1' }])
      expect(applyOrphans(orphaned, decisions).entries).toEqual([])
    })
  }
})

describe('an orphan still counts, and it is said what is awaited,', () => {
  const cases: Record<string, [ReadonlyMap<string, KeyFacts>, string]> = {
    'while the node is away': [facts({ node: { isReady: false } }), 'node/a is not ready'],
    'while the node is cordoned in its old boot: somebody may be about to reboot it': [
      facts({ node: { bootID: 'boot-1', isCordoned: true } }),
      'node/a is cordoned and has not been rebooted yet',
    ],
    'while the cordoned node does not tell its boot': [
      facts({ node: { bootID: '', isCordoned: true } }),
      'node/a is cordoned and has not been rebooted yet',
    ],
    'while pods of the budget are missing': [facts({ budget: { currentHealthy: 1 } }), 'pdb/shop/web has 1 of 2 pods'],
    'while nobody has counted the pods of the budget': [
      facts({ budget: { isCounted: false } }),
      'the pods of pdb/shop/web have not been counted',
    ],
    'while storage recovers': [facts({ storage: { isClean: known(false) } }), 'storage/rook/ceph is not clean yet'],
    'while storage does not answer': [
      facts({ storage: { isClean: unknown('Ceph is silent') } }),
      'it is not known whether storage/rook/ceph is clean: Ceph is silent',
    ],
    'while nobody looked': [
      new Map(),
      'node/a could not be read; pdb/shop/web could not be read; storage/rook/ceph could not be read',
    ],
    'while two things are not as before': [
      facts({ node: { isReady: false }, storage: { isClean: known(false) } }),
      'node/a is not ready; storage/rook/ceph is not clean yet',
    ],
  }
  for (const [scenario, [now, awaited]] of Object.entries(cases)) {
    it(scenario, () => {
      const decisions = decideOrphans(seen(orphaned, { facts: now }))
      const keys = 'node/a, pdb/shop/web, storage/rook/ceph'
      expect(decisions).toEqual([
        {
          step: 'keep',
          requestId: 'R1',
          holder: 'holder of R1',
          keys: keys.split(', '),
          reason: 'OrphanHeld',
          explanation: `holder of R1 is gone, and ${awaited}. ${keys} stay held until then.`,
        },
      ])
      expect(applyOrphans(orphaned, decisions)).toBe(orphaned)
    })
  }
})

describe('the node of an orphan', () => {
  const unclean = { storage: { isClean: known(false) } }
  const cases: Record<string, [ReadonlyMap<string, KeyFacts>, readonly string[]]> = {
    'is opened again when it is back, though storage still recovers': [
      facts({ ...unclean, node: { isCordoned: true } }),
      ['node/a'],
    ],
    'is left alone while it is away': [facts({ ...unclean, node: { isCordoned: true, isReady: false } }), []],
    'is left alone in its old boot: somebody may be about to reboot it': [
      facts({ node: { isCordoned: true, bootID: 'boot-1' } }),
      [],
    ],
    'is left alone when it is open': [facts(unclean), []],
    'is left alone when it is another of the same name': [facts({ node: { isCordoned: true, uid: 'another' } }), []],
  }
  it.each(Object.entries(cases))('%s', (_sentence, [now, opened]) => {
    expect(nodesToReopen(seen(orphaned, { facts: now })).map(({ key }) => key)).toEqual(opened)
  })

  it('is left to its request where that is there again', () => {
    const now = facts({ node: { isCordoned: true } })
    expect(nodesToReopen(seen(orphaned, { living: new Set(['R1']), facts: now }))).toEqual([])
  })
})

it('an orphan of a request that is there again is its own to adopt, even when all has ended', () => {
  expect(decideOrphans(seen(orphaned, { living: new Set(['R1']), facts: facts() }))).toEqual([])
})

it('decisions applied twice change nothing the second time', () => {
  const decisions = decideOrphans(seen(behind, { vanished: new Set(['R1', 'R2']) }))
  const once = applyOrphans(behind, decisions)
  expect(once.entries.map(({ state }) => state)).toEqual(['Orphaned', 'Orphaned', 'Orphaned'])
  expect(once.tickets).toEqual([])
  expect(applyOrphans(once, decisions)).toBe(once)
})

it('a ticket without a name is told by its request when it is withdrawn', () => {
  const nameless = { ...behind, tickets: behind.tickets.map((ticket) => ({ ...ticket, holder: '' })) }
  const [withdrawn] = decideOrphans(seen(nameless, { living: new Set(['R1']), vanished: new Set(['R2']) }))
  expect(withdrawn?.explanation).toBe('request R2 waited for node/a and is gone; the others continue without it.')
})
