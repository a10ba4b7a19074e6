import { describe, expect, it } from 'vitest'
import { now } from '../../capabilities/ceph-drain/domain/testing/fixture.ts'
import { cluster, inSentences, key, ledgerWith } from '../../capabilities/ceph-drain/domain/testing/small-ledger.ts'
import { beginHold, isHeldAs, releaseHold, renewHold } from './hold-rules.ts'
import { storageHold } from './hold-storage.ts'
import { emptyLedger, type Ledger, type LedgerEntry, orphan, renew } from './ledger.ts'

const own = (ledger: Ledger, of = cluster) => storageHold.own(ledger, of)
const request = { requestId: 'R', holder: 'somebody', claims: [{ key, uid: cluster.uid, scope: 'zone-1' }], now }

describe('what a holder has', () => {
  const held = ledgerWith('ceph-drain has zone-1').entries[0] as LedgerEntry
  const requestId = 'ceph-drain/uid-1/zone-1'
  const cases: Record<string, { own: readonly LedgerEntry[]; epoch: number | undefined; then: boolean }> = {
    'is its own under its own epoch': { own: [held], epoch: 1, then: true },
    'is that of an earlier process under any other epoch': { own: [held], epoch: 2, then: false },
    'is not its own while it remembers no epoch': { own: [held], epoch: undefined, then: false },
    'is nothing to act on once it was taken for dead': { own: [{ ...held, state: 'Orphaned' }], epoch: 1, then: false },
    'is nothing to act on before the intent is written': {
      own: [{ ...held, state: 'Granted' }],
      epoch: 1,
      then: false,
    },
    'is not what it wants while it has something else': {
      own: [{ ...held, requestId: 'ceph-drain/uid-1/zone-2' }],
      epoch: 1,
      then: false,
    },
    'is not what it wants while it has something more': { own: [held, held], epoch: 1, then: false },
    'is nothing where there is no entry': { own: [], epoch: 1, then: false },
  }
  it.each(Object.entries(cases))('%s', (_, { own, epoch, then }) => {
    expect(isHeldAs(own, { requestId, epoch })).toBe(then)
  })
})

describe('beginning', () => {
  const waiting = { ...ledgerWith('reboot-a has zone-1', 'reboot-b waits for zone-2'), entries: [] }

  it('is granted and acted upon in one change, so that a crash leaves no grant that nobody acts on', () => {
    const begun = beginHold(emptyLedger, request, { asksNobody: false })
    expect(inSentences(begun.ledger)).toEqual(['R has zone-1, Acting at 1'])
  })

  it('waits for those who came earlier, without a place in the queue', () => {
    const refused = beginHold(waiting, request, { asksNobody: false })
    expect([refused.granted, refused.ledger === waiting]).toEqual([false, true])
  })

  it('passes by those who wait when it asks nobody, and they keep their places', () => {
    expect(inSentences(beginHold(waiting, request, { asksNobody: true }).ledger)).toEqual([
      'R has zone-1, Acting at 2',
      'reboot-b waits for zone-2',
    ])
  })

  it('is refused beside whoever holds another failure domain, though it asks nobody', () => {
    const ledger = ledgerWith('reboot-a has zone-2')
    expect(beginHold(ledger, request, { asksNobody: true })).toMatchObject({
      granted: false,
      ledger,
      obstacles: [{ holder: 'nodedisruption/reboot-a' }],
    })
  })
})

describe('beginning with nothing to hold', () => {
  it('begins nothing: its holder would act under an epoch that keeps no one away', () => {
    const nothing = { ...request, claims: [] }
    expect(beginHold(emptyLedger, nothing, { asksNobody: false })).toEqual({
      granted: false,
      obstacles: [],
      ledger: emptyLedger,
    })
  })
})

describe('showing that it lives', () => {
  it('moves the sequence, and nothing else', () => {
    const ledger = ledgerWith('ceph-drain has zone-1', 'reboot-a has zone-1')
    expect(renewHold(ledger, own(ledger), { epoch: 1 })).toEqual({
      ledger: (renew(ledger, { requestId: 'ceph-drain/uid-1/zone-1', epoch: 1 }) as { ledger: Ledger }).ledger,
      epoch: 1,
    })
  })

  it('of an entry that another process holds, takes it over', () => {
    const ledger = ledgerWith('ceph-drain has zone-1')
    expect(renewHold(ledger, own(ledger), { epoch: 7 }).epoch).toBe(2)
  })

  it('of an entry that is gone from the ledger tells that nothing is held: it would go on without a lock', () => {
    const lost = own(ledgerWith('ceph-drain has zone-1'))
    expect(renewHold(emptyLedger, lost, { epoch: 1 })).toEqual({ ledger: emptyLedger, epoch: undefined })
    expect(renewHold(emptyLedger, lost, { epoch: 7 })).toEqual({ ledger: emptyLedger, epoch: undefined })
  })

  it('without an entry tells that nothing is held', () => {
    expect(renewHold(emptyLedger, [], { epoch: 1 })).toEqual({ ledger: emptyLedger, epoch: undefined })
  })
})

describe('releasing', () => {
  it('frees what is ours and leaves what others hold', () => {
    const ledger = ledgerWith('ceph-drain has zone-1', 'reboot-a has zone-1')
    expect(inSentences(releaseHold(ledger, own(ledger), 1))).toEqual(['reboot-a has zone-1, Acting at 2'])
  })

  it('frees what an earlier process held, or what was given up for dead', () => {
    const ledger = orphan(ledgerWith('ceph-drain has zone-1'), 'ceph-drain/uid-1/zone-1')
    expect(releaseHold(ledger, own(ledger), undefined).entries).toEqual([])
  })

  it.each([1, undefined])(
    'under epoch %s frees all keys of a request at once, and no other with the second',
    (epoch) => {
      const claims = ['zone-1', 'zone-2'].map((scope, at) => ({ key: `${key}-${at}`, uid: `uid-${at}`, scope }))
      const { ledger } = beginHold(emptyLedger, { ...request, claims }, { asksNobody: false })
      expect(releaseHold(ledger, ledger.entries, epoch).entries).toEqual([])
    },
  )

  it('of another cluster with the same name frees nothing', () => {
    const ledger = ledgerWith('ceph-drain has zone-1')
    expect(releaseHold(ledger, own(ledger, { ...cluster, uid: 'uid-2' }), 1)).toBe(ledger)
  })
})
