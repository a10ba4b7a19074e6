import { describe, expect, it } from 'vitest'
import type { Claim } from './claim.ts'
import {
  adopt,
  breakLocks,
  emptyLedger,
  entriesOf,
  type GrantAnswer,
  grant,
  intend,
  type Ledger,
  type LedgerChange,
  type LedgerEntry,
  orphan,
  purge,
  raiseEpoch,
  release,
  renew,
  withdraw,
} from './ledger.ts'

const now = '2026-01-01T00:00:00Z'
const nodeA = claim('node/a')
const nodeB = claim('node/b')
const web = claim('pdb/shop/web')
const db = claim('pdb/shop/db')

function claim(key: string, scope = '', uid = `uid of ${key}`): Claim {
  return { key, uid, scope }
}

function ask(ledger: Ledger, requestId: string, claims: readonly Claim[], holder = `holder of ${requestId}`) {
  return grant(ledger, { requestId, holder, claims, now })
}

function granted(answer: GrantAnswer): { readonly epoch: number; readonly ledger: Ledger } {
  if (!answer.granted) throw new Error(`refused because of ${answer.obstacles.map(({ key }) => key).join()}`)
  return answer
}

function after(change: LedgerChange): Ledger {
  if (!change.ok) throw new Error(change.why)
  return change.ledger
}

function held(ledger: Ledger, requestId: string): string[] {
  return entriesOf(ledger, requestId).map(({ key, state, epoch }) => `${key} ${state} at ${epoch}`)
}

/** R1 acts on node a and the budget web, with epoch 1. */
function acting(): Ledger {
  const { ledger } = granted(ask(emptyLedger, 'R1', [nodeA, web]))
  return after(intend(ledger, { requestId: 'R1', epoch: 1, bootID: 'boot-1' }))
}

describe('a grant', () => {
  it('gives all claims under one epoch and says who has them', () => {
    const { epoch, ledger } = granted(ask(emptyLedger, 'R1', [nodeA, web]))
    const entry = { holder: 'holder of R1', requestId: 'R1', epoch: 1, state: 'Granted', since: now, renewSequence: 0 }
    expect([epoch, ledger]).toEqual([
      1,
      {
        ...emptyLedger,
        nextEpoch: 2,
        nextTicket: 2,
        entries: [
          { ...nodeA, ...entry, place: { number: 1 } },
          { ...web, ...entry },
        ],
      },
    ])
  })

  it('gives nothing when one of many claims is held, and leaves a ticket that names who waits for what', () => {
    const before = acting()
    const answer = ask(before, 'R2', [nodeB, web])
    expect(answer).toEqual({
      granted: false,
      obstacles: [{ key: web.key, kind: 'held', requestId: 'R1', holder: 'holder of R1', state: 'Acting', since: now }],
      ledger: {
        ...before,
        nextTicket: 3,
        tickets: [
          {
            requestId: 'R2',
            number: 2,
            holder: 'holder of R2',
            since: now,
            claims: [
              { key: nodeB.key, scope: '' },
              { key: web.key, scope: '' },
            ],
          },
        ],
      },
    })
  })

  it('is the same when asked again, down to the object, so that nothing is written', () => {
    const first = granted(ask(emptyLedger, 'R1', [nodeA, web]))
    const again = granted(ask(first.ledger, 'R1', [web, nodeA]))
    expect(again.epoch).toBe(first.epoch)
    expect(again.ledger).toBe(first.ledger)
    const waiting = ask(first.ledger, 'R2', [web])
    expect(ask(waiting.ledger, 'R2', [web]).ledger).toBe(waiting.ledger)
  })

  it('goes to a new holder of the same request only with an epoch of its own, and the old epoch is void', () => {
    const { ledger } = granted(ask(emptyLedger, 'R1', [nodeA], 'old'))
    const taken = granted(ask(ledger, 'R1', [nodeA], 'new'))
    expect(taken.epoch).toBe(2)
    expect(entriesOf(taken.ledger, 'R1').map(({ holder }) => holder)).toEqual(['new'])
    expect(intend(taken.ledger, { requestId: 'R1', epoch: 1 })).toEqual({ ok: false, why: 'other-epoch' })
  })

  it('that asks for more before anything was touched holds nothing while it waits', () => {
    const one = granted(ask(emptyLedger, 'R1', [web])).ledger
    const two = granted(ask(one, 'R2', [nodeB])).ledger
    const answer = ask(two, 'R2', [nodeB, web])
    expect(answer.granted).toBe(false)
    expect(held(answer.ledger, 'R2')).toEqual([])
    expect(answer.ledger.tickets.map(({ requestId }) => requestId)).toEqual(['R2'])
  })

  it('that asks for more and gets it has one new epoch for all of it', () => {
    const { ledger } = granted(ask(emptyLedger, 'R1', [nodeA]))
    expect(held(granted(ask(ledger, 'R1', [nodeA, web])).ledger, 'R1')).toEqual([
      'node/a Granted at 2',
      'pdb/shop/web Granted at 2',
    ])
  })

  it('that asks for less before anything was touched gives back the rest and keeps its epoch', () => {
    const { ledger } = granted(ask(emptyLedger, 'R1', [nodeA, web]))
    expect(held(granted(ask(ledger, 'R1', [nodeA])).ledger, 'R1')).toEqual(['node/a Granted at 1'])
  })

  it('never grows once the node may go: it is refused, and what is held stays held', () => {
    const before = acting()
    expect(ask(before, 'R1', [nodeA, web, db])).toEqual({
      granted: false,
      obstacles: [{ key: db.key, kind: 'held', requestId: 'R1', holder: 'holder of R1', state: 'Acting', since: now }],
      ledger: before,
    })
  })

  it('never shrinks once the node may go: what was acted upon still counts', () => {
    const before = acting()
    expect(granted(ask(before, 'R1', [nodeA])).ledger).toBe(before)
  })

  it('takes a budget that was made anew under its old name for another one', () => {
    const { ledger } = granted(ask(emptyLedger, 'R1', [web]))
    const anew = claim(web.key, '', 'another uid')
    expect(granted(ask(ledger, 'R1', [anew])).ledger.entries).toMatchObject([{ uid: 'another uid', epoch: 2 }])
    expect(ask(ledger, 'R2', [anew]).granted).toBe(false)
  })

  const scopes: Record<string, [string, string, boolean]> = {
    'shares storage with another node of the same failure domain': ['zone-a', 'zone-a', true],
    'waits while another failure domain is away': ['zone-a', 'zone-b', false],
    'waits for whoever shares with nobody': ['', 'zone-a', false],
    'shares with nobody when it names no failure domain': ['zone-a', '', false],
    'never shares what has no scope': ['', '', false],
  }
  for (const [scenario, [first, second, isGranted]] of Object.entries(scopes)) {
    it(scenario, () => {
      const { ledger } = granted(ask(emptyLedger, 'R1', [claim('storage/rook/ceph', first)]))
      expect(ask(ledger, 'R2', [claim('storage/rook/ceph', second)]).granted).toBe(isGranted)
    })
  }

  it('makes one entry of a claim that is made twice, and shares with nobody when it spans two domains', () => {
    const storage = (scope: string) => claim('storage/rook/ceph', scope)
    const { ledger } = granted(ask(emptyLedger, 'R1', [nodeA, nodeA, storage('zone-a'), storage('zone-b')]))
    expect(ledger.entries.map(({ key, scope }) => [key, scope])).toEqual([
      ['node/a', ''],
      ['storage/rook/ceph', ''],
    ])
    expect(granted(ask(ledger, 'R1', [nodeA, storage('zone-a'), storage('zone-b')])).ledger).toBe(ledger)
  })
})

describe('waiting', () => {
  it('in a crossed pair ends: the one goes, the other waits with nothing in its hands, then goes too', () => {
    const first = granted(ask(emptyLedger, 'R1', [nodeA, web, db])).ledger
    const second = ask(first, 'R2', [nodeB, db, web])
    expect(second.granted).toBe(false)
    expect(held(second.ledger, 'R2')).toEqual([])
    const freed = after(release(second.ledger, { requestId: 'R1', epoch: 1 }))
    const then = granted(ask(freed, 'R2', [nodeB, db, web])).ledger
    expect(held(then, 'R2')).toHaveLength(3)
    expect(then.tickets).toEqual([])
  })

  it('for a key keeps later requests off it, and nobody off other keys', () => {
    const one = granted(ask(emptyLedger, 'R1', [web])).ledger
    const waiting = ask(one, 'R2', [web, db]).ledger
    expect(ask(waiting, 'R3', [db])).toMatchObject({
      granted: false,
      obstacles: [
        { key: db.key, kind: 'earlier-ticket', requestId: 'R2', holder: 'holder of R2', state: 'Waiting', since: now },
      ],
    })
    expect(ask(waiting, 'R4', [nodeB]).granted).toBe(true)
  })

  it('keeps its place when it needs something else meanwhile', () => {
    const one = granted(ask(emptyLedger, 'R1', [web])).ledger
    const two = ask(one, 'R2', [web]).ledger
    const three = ask(two, 'R3', [web]).ledger
    const changed = ask(three, 'R2', [web, db]).ledger
    expect(changed.tickets.map(({ requestId, number, claims }) => [requestId, number, claims.length])).toEqual([
      ['R2', 1, 2],
      ['R3', 2, 1],
    ])
  })

  it('ends without a trace when the ticket is withdrawn', () => {
    const one = granted(ask(emptyLedger, 'R1', [web])).ledger
    expect(withdraw(ask(one, 'R2', [web]).ledger, 'R2')).toEqual({ ...one, nextTicket: 2 })
    expect(withdraw(one, 'R2')).toBe(one)
  })
})

describe('an intent', () => {
  it('is told on every key, and on the node with the boot that goes', () => {
    expect(acting().entries.map(({ key, state, bootID }) => [key, state, bootID])).toEqual([
      ['node/a', 'Acting', 'boot-1'],
      ['pdb/shop/web', 'Acting', undefined],
    ])
  })

  it('told again after the reboot still names the boot that went', () => {
    const before = acting()
    expect(after(intend(before, { requestId: 'R1', epoch: 1, bootID: 'boot-2' }))).toBe(before)
  })
})

type Change = (ledger: Ledger, by: { requestId: string; epoch: number }) => LedgerChange
const changes: readonly [string, Change][] = [
  ['intend', intend],
  ['renew', renew],
  ['release', release],
]

describe.each(changes)('%s', (_, attempt) => {
  it('is refused to whoever holds nothing', () => {
    expect(attempt(emptyLedger, { requestId: 'R1', epoch: 1 })).toEqual({ ok: false, why: 'not-held' })
    expect(attempt(acting(), { requestId: 'R2', epoch: 1 })).toEqual({ ok: false, why: 'not-held' })
  })

  it('is refused to a holder that was replaced', () => {
    const { ledger } = adopt(acting(), { requestId: 'R1', holder: 'new' }) as { ledger: Ledger }
    expect(attempt(ledger, { requestId: 'R1', epoch: 1 })).toEqual({ ok: false, why: 'other-epoch' })
  })

  it('is refused with an epoch that was never given out', () => {
    expect(attempt(acting(), { requestId: 'R1', epoch: 2 })).toEqual({ ok: false, why: 'other-epoch' })
  })

  it('is refused to a holder that was given up for dead, until it adopts what it left', () => {
    const orphaned = orphan(acting(), 'R1')
    expect(attempt(orphaned, { requestId: 'R1', epoch: 1 })).toEqual({ ok: false, why: 'not-granted' })
    const adopted = adopt(orphaned, { requestId: 'R1', holder: 'old' }) as { epoch: number; ledger: Ledger }
    expect(attempt(adopted.ledger, { requestId: 'R1', epoch: adopted.epoch }).ok).toBe(true)
  })

  it('is refused to a holder one of whose keys was broken', () => {
    const broken = breakLocks(acting(), { keys: [web.key], by: 'eve', reason: 'outage', at: now })
    expect(attempt(broken, { requestId: 'R1', epoch: 1 })).toEqual({ ok: false, why: 'not-granted' })
  })
})

describe('a holder that is gone', () => {
  it('leaves free what it never touched', () => {
    const { ledger } = granted(ask(emptyLedger, 'R1', [nodeA, web]))
    expect(orphan(ledger, 'R1').entries).toEqual([])
  })

  it('leaves what it acted upon counted: nobody else gets it', () => {
    const orphaned = orphan(acting(), 'R1')
    expect(held(orphaned, 'R1')).toEqual(['node/a Orphaned at 1', 'pdb/shop/web Orphaned at 1'])
    expect(ask(orphaned, 'R2', [web]).granted).toBe(false)
    expect(orphan(orphaned, 'R1')).toBe(orphaned)
  })

  it('comes back as Acting under a new epoch when the same request asks again', () => {
    const answer = granted(ask(orphan(acting(), 'R1'), 'R1', [nodeA, web]))
    expect(held(answer.ledger, 'R1')).toEqual(['node/a Acting at 2', 'pdb/shop/web Acting at 2'])
    expect(entriesOf(answer.ledger, 'R1')[0]?.bootID).toBe('boot-1')
  })

  it('is buried once what it did has ended, but not when somebody adopted it meanwhile', () => {
    const orphaned = orphan(acting(), 'R1')
    expect(purge(orphaned, 'R1').entries).toEqual([])
    const { ledger } = adopt(orphaned, { requestId: 'R1', holder: 'new' }) as { ledger: Ledger }
    expect(purge(ledger, 'R1')).toBe(ledger)
    expect(purge(emptyLedger, 'R1')).toBe(emptyLedger)
  })

  it('that held nothing leaves nothing to adopt', () => {
    expect(adopt(emptyLedger, { requestId: 'R1', holder: 'new' })).toBeUndefined()
  })
})

describe('breaking a lock', () => {
  const word = { by: 'eve', reason: 'outage', at: now }

  it('frees the key, tells who did it and why, and orphans what else its holder had begun', () => {
    const broken = breakLocks(acting(), { keys: [web.key], ...word })
    expect(held(broken, 'R1')).toEqual(['node/a Orphaned at 1'])
    expect(broken.broken).toEqual([{ key: web.key, ...word, formerHolder: 'holder of R1' }])
    expect(granted(ask(broken, 'R2', [web])).epoch).toBe(2)
  })

  it('of something nobody holds changes nothing', () => {
    const before = acting()
    expect(breakLocks(before, { keys: [db.key], ...word })).toBe(before)
  })

  it('spares the request that breaks, and lets it pass whoever waited before it', () => {
    const one = granted(ask(emptyLedger, 'R1', [web])).ledger
    const queue = ask(ask(one, 'R2', [web]).ledger, 'R3', [web, nodeB]).ledger
    const broken = breakLocks(queue, { keys: [web.key], ...word, sparing: 'R3' })
    expect(broken.tickets.map(({ requestId }) => requestId)).toEqual(['R3'])
    expect(ask(broken, 'R2', [web]).granted).toBe(false)
    expect(ask(broken, 'R3', [web, nodeB]).granted).toBe(true)
    const own = granted(ask(emptyLedger, 'R1', [web])).ledger
    expect(breakLocks(own, { keys: [web.key], ...word, sparing: 'R1' })).toBe(own)
  })

  it('remembers the last twenty', () => {
    let ledger: Ledger = emptyLedger
    for (let count = 1; count <= 25; count += 1) {
      ledger = granted(ask(ledger, `R${count}`, [web])).ledger
      ledger = breakLocks(ledger, { keys: [web.key], ...word, reason: `outage ${count}` })
    }
    expect(ledger.broken.map(({ reason }) => reason)).toEqual(
      Array.from({ length: 20 }, (_, index) => `outage ${index + 6}`),
    )
  })
})

describe('an epoch seen elsewhere', () => {
  const cases: Record<string, [number, number]> = {
    'that is higher than any of this ledger is never given out again': [41, 42],
    'that is the next one is skipped': [2, 3],
    'that is old news changes nothing': [1, 2],
    'that is beyond reason is not believed': [Number.MAX_SAFE_INTEGER, 2],
    'that is no number is not believed': [Number.NaN, 2],
  }
  for (const [scenario, [seen, next]] of Object.entries(cases)) {
    it(scenario, () => {
      const ledger = acting()
      const raised = raiseEpoch(ledger, seen)
      expect(raised).toEqual({ ...ledger, nextEpoch: next })
      if (next === ledger.nextEpoch) expect(raised).toBe(ledger)
    })
  }
})

describe('renewing', () => {
  it('moves the count of every key of the request and of no other', () => {
    const two = granted(ask(acting(), 'R2', [nodeB])).ledger
    const counts = after(renew(two, { requestId: 'R1', epoch: 1 })).entries.map(
      ({ key, renewSequence }: LedgerEntry) => [key, renewSequence],
    )
    expect(counts).toEqual([
      ['node/a', 1],
      ['pdb/shop/web', 1],
      ['node/b', 0],
    ])
  })
})

describe('what is done for one request leaves all others as they were', () => {
  /** R1 acts on node a and web, R2 has node b granted, R3 waits for web. */
  const busy = (): Ledger => ask(granted(ask(acting(), 'R2', [nodeB])).ledger, 'R3', [web]).ledger

  it('when it is adopted: another process must not find itself the holder of every drain', () => {
    const adopted = adopt(busy(), { requestId: 'R1', holder: 'new' })
    expect(adopted?.epoch).toBe(3)
    expect([held(adopted?.ledger as Ledger, 'R1'), held(adopted?.ledger as Ledger, 'R2')]).toEqual([
      ['node/a Acting at 3', 'pdb/shop/web Acting at 3'],
      ['node/b Granted at 2'],
    ])
    expect(adopted?.ledger.entries.map(({ holder }) => holder)).toEqual(['new', 'new', 'holder of R2'])
  })

  it('when it is adopted, the next grant has a later epoch still: two holders with one epoch could both write', () => {
    const adopted = adopt(busy(), { requestId: 'R1', holder: 'new' })?.ledger as Ledger
    expect(granted(ask(adopted, 'R4', [db])).epoch).toBe(4)
  })

  it('what was only granted stays so for whoever adopts it: nothing has begun', () => {
    const adopted = adopt(busy(), { requestId: 'R2', holder: 'new' })?.ledger as Ledger
    expect(held(adopted, 'R2')).toEqual(['node/b Granted at 3'])
  })

  it('when it needs less than it was granted: the rest is free, and others keep theirs', () => {
    const both = granted(ask(granted(ask(emptyLedger, 'R1', [nodeA, web, db])).ledger, 'R2', [nodeB])).ledger
    const less = granted(ask(both, 'R1', [nodeA, db]))
    expect([held(less.ledger, 'R1'), held(less.ledger, 'R2'), less.epoch]).toEqual([
      ['node/a Granted at 1', 'pdb/shop/db Granted at 1'],
      ['node/b Granted at 2'],
      1,
    ])
  })

  it('when it needs less and has begun, it keeps all: what was taken down is still away', () => {
    expect(held(granted(ask(acting(), 'R1', [nodeA])).ledger, 'R1')).toEqual([
      'node/a Acting at 1',
      'pdb/shop/web Acting at 1',
    ])
  })

  it('when its locks are broken: who waits for something else keeps its place, and so does who is not to lose any', () => {
    const waiting = ['R3', 'R4', 'R5'].reduce(
      (ledger, id) => ask(ledger, id, id === 'R5' ? [nodeA] : [web, nodeA]).ledger,
      acting(),
    )
    const broken = breakLocks(waiting, { keys: [web.key], by: 'eve', reason: 'outage', at: now, sparing: 'R4' })
    expect(broken.tickets.map(({ requestId }) => requestId)).toEqual(['R4', 'R5'])
    expect(held(broken, 'R1')).toEqual(['node/a Orphaned at 1'])
  })
})

describe('an epoch from elsewhere', () => {
  it('is believed up to what a ledger could ever reach, and not beyond: it would run out of epochs', () => {
    expect([2 ** 52, 2 ** 52 + 1, Number.NaN, 0.5].map((seen) => raiseEpoch(emptyLedger, seen).nextEpoch)).toEqual([
      2 ** 52 + 1,
      1,
      1,
      1,
    ])
  })
})
