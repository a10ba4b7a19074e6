import { describe, expect, it } from 'vitest'
import { now } from '../../capabilities/ceph-drain/domain/testing/fixture.ts'
import { cluster, inSentences, key, ledgerWith } from '../../capabilities/ceph-drain/domain/testing/small-ledger.ts'
import { holdStorage, storageHold } from './hold-storage.ts'
import { emptyLedger, type Ledger, orphan } from './ledger.ts'

const wantedIn = (scope: string) => ({
  wants: 'hold' as const,
  requestId: `ceph-drain/${cluster.uid}/${scope}`,
  holder: 'ceph-drain of rook-ceph/my-cluster: osd.1 down',
  claim: { key, uid: cluster.uid, scope },
})

function hold(ledger: Ledger, scope: string, epoch?: number) {
  const held = holdStorage(ledger, { id: cluster, wanted: wantedIn(scope), epoch, now })
  return { ...held, says: inSentences(held.ledger) }
}

describe('holding a failure domain', () => {
  it('a free one is held and acted upon at once, in one change', () => {
    expect(hold(emptyLedger, 'zone-1')).toMatchObject({ epoch: 1, says: ['ceph-drain has zone-1, Acting at 1'] })
  })

  it('held already under our epoch, the ledger is the very same', () => {
    const ledger = ledgerWith('ceph-drain has zone-1')
    expect(hold(ledger, 'zone-1', 1).ledger).toBe(ledger)
  })

  it('what an earlier process held is carried on under a new epoch', () => {
    const carried = hold(ledgerWith('ceph-drain has zone-1'), 'zone-1')
    expect(carried).toMatchObject({ epoch: 2, says: ['ceph-drain has zone-1, Acting at 2'] })
  })

  it('what was given up for dead is taken up again', () => {
    const ledger = orphan(ledgerWith('ceph-drain has zone-1'), 'ceph-drain/uid-1/zone-1')
    expect(hold(ledger, 'zone-1', 1)).toMatchObject({ epoch: 2, says: ['ceph-drain has zone-1, Acting at 2'] })
  })

  it('the one that somebody holds is shared, though others wait', () => {
    const ledger = ledgerWith('reboot-a has zone-1', 'reboot-b waits for zone-2')
    expect(hold(ledger, 'zone-1').says).toEqual([
      'reboot-a has zone-1, Acting at 1',
      'ceph-drain has zone-1, Acting at 2',
      'reboot-b waits for zone-2',
    ])
  })

  it.each([
    ['somebody holds another one', ['reboot-a has zone-1']],
    ['somebody holds everything', ['fence has']],
  ])('%s: it is not held, the ledger is the very same, and no place in the queue is taken', (_why, sentences) => {
    const ledger = ledgerWith(...sentences)
    const refused = hold(ledger, 'zone-2')
    expect(refused.epoch).toBeUndefined()
    expect(refused.ledger).toBe(ledger)
  })

  it('who has waited for another one is not overtaken', () => {
    const waiting = ledgerWith('reboot-a has zone-1', 'reboot-b waits for zone-2')
    const ledger = { ...waiting, entries: [] }
    expect(hold(ledger, 'zone-1').epoch).toBeUndefined()
    expect(hold(ledger, 'zone-2').epoch).toBe(2)
  })

  it('more domains are held in place of the one before, in one change; when they cannot be had, it stays', () => {
    expect(hold(ledgerWith('ceph-drain has zone-1'), 'zone-1+zone-2', 1).says).toEqual([
      'ceph-drain has zone-1+zone-2, Acting at 2',
    ])
    const shared = ledgerWith('ceph-drain has zone-1', 'reboot-a has zone-1')
    expect(hold(shared, 'zone-1+zone-2', 1).ledger).toBe(shared)
  })
})

it('a task that failed names the storage, and the failure domain where it is about one', () => {
  expect([storageHold.describe('hold', cluster, wantedIn('zone-1')), storageHold.describe('release', cluster)]).toEqual(
    [`hold ${key} for zone-1`, `release ${key}`],
  )
})
