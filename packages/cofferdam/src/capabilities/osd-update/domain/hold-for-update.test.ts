import { describe, expect, it } from 'vitest'
import { orphan } from '../../../ledger/rules/ledger.ts'
import { updateRequestId } from '../../../ledger/rules/update-request.ts'
import { cluster, inSentences, key, ledgerWith } from '../../ceph-drain/domain/testing/small-ledger.ts'
import { now } from '../../ceph-drain/domain/testing/stage.ts'
import { giveBackAfterUpdate, holdForUpdate } from './hold-for-update.ts'

const requestId = updateRequestId(cluster)
const wanted = {
  wants: 'hold',
  requestId,
  holder: 'osd-update of rook-ceph/my-cluster',
  claim: { key, uid: cluster.uid, scope: '' },
} as const
const first = holdForUpdate(ledgerWith(), wanted, { epoch: undefined, now })

describe('the ledger and an update', () => {
  it('has all of the storage held and marked as acted upon before the first OSD goes', () => {
    expect([inSentences(first.ledger), first.epoch]).toEqual([['osd-update has , Acting at 1'], 1])
  })

  it('stays the very same while the same process goes on', () => {
    const again = holdForUpdate(first.ledger, wanted, { epoch: 1, now })
    expect([again.ledger === first.ledger, again.epoch]).toEqual([true, 1])
  })

  it('gives a new process an epoch of its own, so that the earlier one is refused', () => {
    const next = holdForUpdate(first.ledger, wanted, { epoch: undefined, now })
    expect([inSentences(next.ledger), next.epoch]).toEqual([['osd-update has , Acting at 2'], 2])
  })

  it('is taken up again where the holder was taken for dead', () => {
    const next = holdForUpdate(orphan(first.ledger, requestId), wanted, { epoch: 1, now })
    expect([inSentences(next.ledger), next.epoch]).toEqual([['osd-update has , Acting at 2'], 2])
  })

  for (const sentence of ['reboot-a has zone-1', 'ceph-drain has zone-1']) {
    it(`is left as it is, without a place in the queue, while ${sentence}`, () => {
      const ledger = ledgerWith(sentence)
      const refused = holdForUpdate(ledger, wanted, { epoch: undefined, now })
      expect([refused.ledger === ledger, refused.epoch]).toEqual([true, undefined])
    })
  }

  it('is free for others when the update gives it back, by whichever process', () => {
    const freed = [1, undefined].map((epoch) => giveBackAfterUpdate(first.ledger, { cluster, epoch }))
    expect(freed.map(({ ledger, epoch }) => [inSentences(ledger), epoch])).toEqual([
      [[], undefined],
      [[], undefined],
    ])
  })

  it('is not touched by giving back what is not held', () => {
    const ledger = ledgerWith('reboot-a has zone-1')
    expect(giveBackAfterUpdate(ledger, { cluster, epoch: undefined }).ledger === ledger).toBe(true)
  })
})
