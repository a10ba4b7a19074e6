import { describe, expect, it } from 'vitest'
import { releaseHold } from '../../../ledger/rules/hold-rules.ts'
import { emptyLedger, orphan } from '../../../ledger/rules/ledger.ts'
import { arbiterOf } from '../../../ledger/rules/storage-arbiter.ts'
import { updateRequestId } from '../../../ledger/rules/update-request.ts'
import { now } from '../../ceph-drain/domain/testing/fixture.ts'
import { cluster, inSentences, key, ledgerWith } from '../../ceph-drain/domain/testing/small-ledger.ts'
import { holdForUpdate, stepAside, updateHold, withThoseWhoWaited } from './hold-for-update.ts'

const requestId = updateRequestId(cluster)
const wanted = {
  wants: 'hold',
  requestId,
  holder: 'osd-update of rook-ceph/my-cluster',
  claim: { key, uid: cluster.uid, scope: '' },
} as const
const first = holdForUpdate(ledgerWith(), { wanted, epoch: undefined, now })

describe('the ledger and an update', () => {
  it('has all of the storage held and marked as acted upon before the first OSD goes', () => {
    expect([inSentences(first.ledger), first.epoch]).toEqual([['osd-update has , Acting at 1'], 1])
  })

  it('stays the very same while the same process goes on', () => {
    const again = holdForUpdate(first.ledger, { wanted, epoch: 1, now })
    expect([again.ledger === first.ledger, again.epoch]).toEqual([true, 1])
  })

  it('gives a new process an epoch of its own, so that the earlier one is refused', () => {
    const next = holdForUpdate(first.ledger, { wanted, epoch: undefined, now })
    expect([inSentences(next.ledger), next.epoch]).toEqual([['osd-update has , Acting at 2'], 2])
  })

  it('is taken up again where the holder was taken for dead', () => {
    const next = holdForUpdate(orphan(first.ledger, requestId), { wanted, epoch: 1, now })
    expect([inSentences(next.ledger), next.epoch]).toEqual([['osd-update has , Acting at 2'], 2])
  })

  for (const sentence of ['reboot-a has zone-1', 'ceph-drain has zone-1']) {
    it(`is left as it is, without a place in the queue, while ${sentence}`, () => {
      const ledger = ledgerWith(sentence)
      const refused = holdForUpdate(ledger, { wanted, epoch: undefined, now })
      expect([refused.ledger === ledger, refused.epoch]).toEqual([true, undefined])
    })
  }

  it('is free for others when the update gives it back, by whichever process', () => {
    const own = updateHold.own(first.ledger, cluster)
    expect([1, undefined].map((epoch) => inSentences(releaseHold(first.ledger, own, epoch)))).toEqual([[], []])
  })

  it('is not touched by giving back what is not held', () => {
    const ledger = ledgerWith('reboot-a has zone-1')
    expect(releaseHold(ledger, updateHold.own(ledger, cluster), undefined) === ledger).toBe(true)
  })
})

describe('an update that released the storage', () => {
  const waiting = arbiterOf(ledgerWith('reboot-a has zone-1', 'reboot-b waits for zone-2'), cluster)
  const nobody = arbiterOf(emptyLedger, cluster)
  const aside = stepAside(waiting, 1_000)
  const names = (arbiter: typeof waiting) => arbiter.tickets.map(({ requestId }) => requestId)

  it('steps aside for nobody where nobody waited', () => {
    expect(stepAside(nobody, 1_000)).toBeUndefined()
  })

  const cases: Record<string, { given: typeof waiting; nowMs: number; then: string[] }> = {
    'does not overtake those who waited before storage has told them that they may go': {
      given: nobody,
      nowMs: 15_999,
      then: ['reboot-b'],
    },
    'goes on when they have not taken it in time': { given: nobody, nowMs: 16_000, then: [] },
    'counts those once who wait still': { given: waiting, nowMs: 2_000, then: ['reboot-b'] },
    'counts those no more who hold it now': {
      given: arbiterOf(ledgerWith('reboot-b has zone-2'), cluster),
      nowMs: 2_000,
      then: [],
    },
  }
  it.each(Object.entries(cases))('%s', (_, { given, nowMs, then }) => {
    expect(names(withThoseWhoWaited(given, aside, nowMs))).toEqual(then)
  })
})
