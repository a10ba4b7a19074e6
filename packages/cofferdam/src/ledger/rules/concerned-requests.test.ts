import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Claim } from './claim.ts'
import { concernedRequests } from './concerned-requests.ts'
import { emptyLedger, enqueue, entriesOf, grant, intend, type Ledger, release, renew } from './ledger.ts'

const now = '2026-01-01T00:00:00Z'
const place: Claim = { key: 'limit/workers', uid: '', scope: '', most: 1 }

function node(name: string): Claim {
  return { key: `node/${name}`, uid: name, scope: '' }
}

function ask(ledger: Ledger, requestId: string, ...claims: readonly Claim[]): Ledger {
  return grant(ledger, { requestId, holder: requestId, claims, now }).ledger
}

function end(ledger: Ledger, requestId: string): Ledger {
  const changed = release(ledger, { requestId, epoch: entriesOf(ledger, requestId)[0]?.epoch ?? 0 })
  return changed.ok ? changed.ledger : ledger
}

describe('whom a change of the ledger concerns', () => {
  it('is the next in line and whoever ended, not the hundreds behind them: each reads the whole ledger', () => {
    let before = ask(emptyLedger, 'first', node('first'), place)
    for (let number = 0; number < 500; number += 1) before = ask(before, `R${number}`, node(`${number}`), place)
    const { requestIds, keys } = concernedRequests(before, end(before, 'first'))
    expect([...keys].sort()).toEqual(['limit/workers', 'node/first'])
    expect([...requestIds]).toContain('R0')
    expect(requestIds.size).toBeLessThan(10)
  })

  it('is nobody when a heartbeat is all that changed', () => {
    const before = ask(emptyLedger, 'first', node('first'))
    const beaten = renew(before, { requestId: 'first', epoch: 1 })
    const { requestIds, keys } = concernedRequests(before, beaten.ok ? beaten.ledger : emptyLedger)
    expect([requestIds.size, keys.size]).toEqual([0, 0])
  })

  const claims = fc.uniqueArray(
    fc.record({
      key: fc.constantFrom('node/a', 'node/b', 'pdb/shop/web', 'storage/rook-ceph/c', 'limit/workers'),
      uid: fc.constant('U'),
      scope: fc.constantFrom('', 'zone-a', 'zone-b'),
      most: fc.constant(2),
    }),
    { minLength: 1, maxLength: 3, selector: ({ key }) => key },
  )
  const requestId = fc.constantFrom('R1', 'R2', 'R3', 'R4', 'R5')
  const deed = fc.oneof(
    fc.record({ do: fc.constant('ask' as const), requestId, claims }),
    fc.record({
      do: fc.constant('wait' as const),
      requestId,
      claims,
      aside: fc.constantFrom('Once' as const, 'Always' as const),
    }),
    fc.record({ do: fc.constant('begin' as const), requestId }),
    fc.record({ do: fc.constant('end' as const), requestId }),
  )

  it('is everyone who had something in the way before and has nothing now: it would wait for minutes otherwise', () => {
    fc.assert(
      fc.property(fc.array(deed, { maxLength: 25 }), (deeds) => {
        let ledger = emptyLedger
        for (const each of deeds) {
          const before = ledger
          ledger = done(ledger, each)
          const { requestIds } = concernedRequests(before, ledger)
          for (const ticket of ledger.tickets) {
            const wanted = ticket.claims.map((claim) => ({ ...claim, uid: 'U', most: 2 }))
            const mayGo = (at: Ledger) =>
              grant(at, { requestId: ticket.requestId, holder: ticket.holder, claims: wanted, now }).granted
            if (!mayGo(before) && mayGo(ledger)) expect([...requestIds]).toContain(ticket.requestId)
          }
        }
      }),
      { numRuns: 500 },
    )
  })

  function done(ledger: Ledger, each: typeof deed extends fc.Arbitrary<infer D> ? D : never): Ledger {
    if (each.do === 'ask') return ask(ledger, each.requestId, ...each.claims)
    if (each.do === 'end') return end(ledger, each.requestId)
    if (each.do === 'wait') return enqueue(ledger, { holder: each.requestId, now, ...each })
    const epoch = entriesOf(ledger, each.requestId)[0]?.epoch ?? 0
    const begun = intend(ledger, { requestId: each.requestId, epoch })
    return begun.ok ? begun.ledger : ledger
  }
})
