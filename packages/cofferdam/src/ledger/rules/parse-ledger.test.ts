import type { Json } from '@cofferdam/kubernetes/api/json.ts'
import { describe, expect, it } from 'vitest'
import type { DisruptionLedger } from '../../shared/kinds/disruption-ledger.ts'
import { breakLocks, emptyLedger, type GrantAnswer, grant, intend, type Ledger, type LedgerEntry } from './ledger.ts'
import { ledgerStatus, parseLedger } from './parse-ledger.ts'

const now = '2026-01-01T00:00:00Z'

function stored(status?: Json): DisruptionLedger {
  const object = { apiVersion: 'cofferdam.io/v1alpha1', kind: 'DisruptionLedger', metadata: { name: 'cluster' } }
  return (status === undefined ? object : { ...object, status: JSON.parse(JSON.stringify(status)) }) as DisruptionLedger
}

function ask(ledger: Ledger, requestId: string, ...keys: string[]): GrantAnswer {
  const claims = keys.map((key) => ({ key, uid: `uid of ${key}`, scope: key.startsWith('storage/') ? 'zone-a' : '' }))
  return grant(ledger, { requestId, holder: `holder of ${requestId}`, claims, now })
}

/** Something of everything: an acting request, one that waits, a lock that was broken. */
function busy(): Ledger {
  const acting = intend(ask(emptyLedger, 'R1', 'node/a', 'storage/rook/ceph').ledger, {
    requestId: 'R1',
    epoch: 1,
    bootID: 'boot-1',
  })
  if (!acting.ok) throw new Error(acting.why)
  const { ledger } = ask(ask(acting.ledger, 'R2', 'node/a').ledger, 'R3', 'pdb/shop/web')
  return breakLocks(ledger, { keys: ['pdb/shop/web'], by: 'eve', reason: 'outage', at: now })
}

it('what was written is what is read', () => {
  expect(parseLedger(stored(ledgerStatus(busy()) as unknown as Json))).toEqual({ known: true, value: busy() })
})

it('places in the queue outlive the process: who was passed by, who stepped aside and who may step back', () => {
  const passed = { requestId: 'R9', number: 1, holder: 'h', since: now, claims: [{ key: 'node/z', scope: '' }] }
  const { ledger } = ask(emptyLedger, 'R1', 'node/a')
  const [entry] = ledger.entries
  const written: Ledger = {
    ...ledger,
    nextTicket: 9,
    entries: [
      { ...(entry as Ledger['entries'][number]), place: { number: 4, overtaken: 2 } },
      { ...(entry as Ledger['entries'][number]), key: 'node/b', place: { number: 5 } },
    ],
    tickets: [
      { ...passed, aside: 'Once', overtaken: 1 },
      { ...passed, requestId: 'R8', number: 2, aside: 'Always' },
      { ...passed, requestId: 'R7', number: 3, since: '' },
    ],
    appLocks: [{ budget: 'shop/web', text: 'ab', since: now, written: now, until: now }],
  }
  expect(parseLedger(stored(ledgerStatus(written) as unknown as Json))).toEqual({ known: true, value: written })
})

it('two requests in one failure domain of a storage do not contradict each other', () => {
  const { ledger } = ask(ask(emptyLedger, 'R1', 'storage/rook/ceph').ledger, 'R2', 'storage/rook/ceph')
  expect(parseLedger(stored(ledgerStatus(ledger) as unknown as Json))).toEqual({ known: true, value: ledger })
  expect(ledger.entries).toHaveLength(2)
})

describe('an empty ledger is what is read', () => {
  const cases: Record<string, DisruptionLedger | undefined> = {
    'when the object is absent': undefined,
    'when nothing was ever written': stored(),
    'when its status is empty': stored({}),
    'when only a condition was written': stored({ conditions: [] }),
  }
  for (const [scenario, object] of Object.entries(cases)) {
    it(scenario, () => {
      expect(parseLedger(object)).toEqual({ known: true, value: emptyLedger })
    })
  }
})

describe('a ledger written by an older or a foreign hand', () => {
  it('may leave out what has a plain meaning when it is absent', () => {
    const entry = { key: 'node/a', uid: 'u', holder: 'h', requestId: 'R1', epoch: 1, state: 'Granted', since: now }
    const tickets = [{ requestId: 'R2', number: 1, claims: [{ key: 'node/a' }] }]
    expect(parseLedger(stored({ nextEpoch: 2, nextTicket: 2, entries: [entry], tickets }))).toEqual({
      known: true,
      value: {
        ...emptyLedger,
        nextEpoch: 2,
        nextTicket: 2,
        entries: [{ ...entry, scope: '', renewSequence: 0 }],
        tickets: [{ requestId: 'R2', number: 1, holder: '', since: '', claims: [{ key: 'node/a', scope: '' }] }],
      },
    })
  })
})

describe('what a later version noted in the ledger is not lost by a write of this one, or a rollback would leave holds half described:', () => {
  const note = { urgency: 'high' }
  const noted = (ledger: Ledger) => {
    const status = ledgerStatus(ledger)
    const each = <T extends object>(parts: readonly T[] = []) => parts.map((part) => ({ ...part, ...note }))
    return stored({
      ...status,
      ...note,
      entries: each(status.entries),
      tickets: each(status.tickets),
      broken: each(status.broken),
    } as unknown as Json).status
  }

  it('a ledger with such notes is read as one without them', () => {
    const status = noted(busy()) as unknown as Json
    expect(parseLedger(stored(status))).toEqual({ known: true, value: busy() })
  })

  it('on the ledger and on each part that is still there', () => {
    const before = noted(busy())
    expect(ledgerStatus(busy(), before)).toEqual(before)
  })

  it('not on a part that came since, nor on a grant of another epoch', () => {
    const [held, ...others] = busy().entries as [LedgerEntry, ...LedgerEntry[]]
    const next = { ...busy(), nextEpoch: 9, entries: [{ ...held, epoch: 8 }, ...others], tickets: [] }
    const [granted, kept] = ledgerStatus(next, noted(busy())).entries ?? []
    expect(granted).toEqual({ ...held, epoch: 8 })
    expect(kept).toMatchObject(note)
  })
})

describe('nonsense is unknown, with the field or the contradiction named:', () => {
  const acting = { key: 'node/a', uid: 'u', holder: 'h1', requestId: 'R1', epoch: 1, state: 'Acting', since: now }
  const entry = (over: object = {}) => ({ ...acting, ...over })
  const ticket = (over: object = {}) => ({ requestId: 'R2', number: 1, claims: [], ...over })
  const cases: Record<string, [object, string | RegExp]> = {
    'a number that is text': [{ nextEpoch: 'seven' }, /^the ledger cannot be read: status\.nextEpoch: /],
    'an epoch beyond counting': [{ nextEpoch: 2 ** 53 }, /^the ledger cannot be read: status\.nextEpoch: /],
    'an epoch that is no number': [{ nextEpoch: 1.5 }, /^the ledger cannot be read: status\.nextEpoch: /],
    'a state that does not exist': [
      { nextEpoch: 2, entries: [entry({ state: 'Gone' })] },
      /^the ledger cannot be read: status\.entries\.0\.state: /,
    ],
    'an entry without a key': [
      { nextEpoch: 2, entries: [entry({ key: undefined })] },
      /^the ledger cannot be read: status\.entries\.0\.key: /,
    ],
    'entries that are no list': [{ entries: { a: 1 } }, /^the ledger cannot be read: status\.entries: /],
    'an epoch from the future': [
      { nextEpoch: 1, entries: [entry()] },
      'the ledger contradicts itself: node/a has epoch 1, which was not given out yet',
    ],
    'two holders of one key': [
      { nextEpoch: 3, entries: [entry(), entry({ requestId: 'R2', epoch: 2, holder: 'h2' })] },
      'the ledger contradicts itself: node/a is held by h1 and by h2',
    ],
    'one holder twice': [
      { nextEpoch: 2, entries: [entry(), entry()] },
      'the ledger contradicts itself: node/a is held twice by request R1',
    ],
    'two epochs of one request': [
      { nextEpoch: 3, entries: [entry(), entry({ key: 'node/b', epoch: 2 })] },
      'the ledger contradicts itself: node/b and node/a of request R1 differ in epoch',
    ],
    'a ticket from the future': [
      { nextTicket: 1, tickets: [ticket()] },
      'the ledger contradicts itself: request R2 has ticket 1, which was not given out yet',
    ],
    'a request that holds and waits': [
      { nextEpoch: 2, nextTicket: 2, entries: [entry()], tickets: [ticket({ requestId: 'R1' })] },
      'the ledger contradicts itself: request R1 holds and waits',
    ],
    'a request that waits twice': [
      { nextTicket: 3, tickets: [ticket(), ticket({ number: 2 })] },
      'the ledger contradicts itself: request R2 waits twice',
    ],
  }
  for (const [scenario, [status, why]] of Object.entries(cases)) {
    it(scenario, () => {
      const parsed = parseLedger(stored(status as Json))
      expect(parsed).toEqual({ known: false, why: typeof why === 'string' ? why : expect.stringMatching(why) })
    })
  }
})
