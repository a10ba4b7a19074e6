import { describe, expect, it } from 'vitest'
import { adopt, emptyLedger, grant, intend, type Ledger, orphan } from '../../../ledger/rules/ledger.ts'
import type { Fence } from './decision.ts'
import { fenceHold, fenceRequestId, holdFence, neededHolds, unneededHolds } from './hold-fence.ts'

const now = '2026-01-01T00:00:00Z'
const cluster = { namespace: 'rook-ceph', name: 'my-cluster', uid: 'uid-1' }
const key = 'storage/rook-ceph/my-cluster'
const fence = (more: Partial<Fence> = {}): Fence => {
  return { cluster, node: 'n1', machine: 'm-n1', scope: 'a', bootID: '', sinceMs: 0, isOver: false, ...more }
}
const id = 'fencing/uid-1/a'

/** `reboot-1 holds a`, `ceph-drain/uid-1/b holds b`, `reboot-2 waits for b`. */
function ledgerWith(...sentences: readonly string[]): Ledger {
  return sentences.reduce<Ledger>((ledger, sentence) => {
    const [requestId = '', , scope = ''] = sentence.replace('waits for', 'waits').split(' ')
    const answer = grant(ledger, {
      requestId,
      holder: `holder of ${requestId}`,
      claims: [{ key, uid: '', scope }],
      now,
    })
    if (answer.granted !== sentence.includes(' holds ')) throw new Error(`it cannot be that ${sentence}`)
    if (!answer.granted) return answer.ledger
    const begun = intend(answer.ledger, { requestId, epoch: answer.epoch })
    return begun.ok ? begun.ledger : ledger
  }, emptyLedger)
}

const says = ({ entries }: Ledger) =>
  entries.map(({ requestId, scope, state, epoch, renewSequence }) => {
    return `${requestId} holds ${scope || 'all'}, ${state} at ${epoch}, renewed ${renewSequence}`
  })

function hold(ledger: Ledger, epoch?: number, more: Partial<Fence> = {}) {
  const wanted = fence(more)
  const step = holdFence(ledger, { id: fenceRequestId(wanted), wanted, epoch, now })
  return { ...step, says: says(step.ledger) }
}

describe('a fence that is under way', () => {
  it('holds its failure domain, acted upon at once, and says which machine it is', () => {
    const held = hold(emptyLedger)
    expect(held).toMatchObject({ epoch: 1, says: [`${id} holds a, Acting at 1, renewed 0`] })
    expect(held.ledger.entries[0]?.holder).toBe(
      'fencing of rook-ceph/my-cluster: machine m-n1 of node n1 is being fenced',
    )
  })

  it('holds all of the storage where it is not known which failure domain it is in', () => {
    expect(hold(emptyLedger, undefined, { scope: '' }).says).toEqual([
      'fencing/uid-1/ holds all, Acting at 1, renewed 0',
    ])
  })

  it('holds the failure domain that it is in now, once that is known: a drain of its node, before it is terminated, would wait for it for ever', () => {
    const { ledger } = hold(emptyLedger, undefined, { scope: '' })
    const moved = hold(ledger, undefined, { formerScope: '' })
    expect(moved.says).toEqual([`${id} holds a, Acting at 3, renewed 0`])
    const needed = neededHolds([fence({ formerScope: '' })])
    expect(unneededHolds(ledger, needed)).toEqual([])
    expect(unneededHolds(moved.ledger, needed)).toEqual([])
  })

  it('keeps what it has while somebody else has the failure domain that it is in now', () => {
    const ledger = ledgerWith('reboot-1 holds b', 'fencing/uid-1/b holds b')
    const refused = hold(ledger, undefined, { formerScope: 'b' })
    expect(refused.ledger).toBe(ledger)
    expect(unneededHolds(ledger, neededHolds([fence({ formerScope: 'b' })]))).toEqual([])
  })

  it('goes along with a drain of the same failure domain', () => {
    expect(hold(ledgerWith('reboot-1 holds a')).epoch).toBe(2)
  })

  it('asks nobody who waits: it has begun, and they keep their places', () => {
    const waiting = ledgerWith('reboot-1 holds a', 'reboot-2 waits for b')
    const held = hold({ ...waiting, entries: [] })
    expect([held.epoch, held.ledger.tickets]).toEqual([2, waiting.tickets])
  })

  it('shows that it lives while its epoch is its own', () => {
    expect(hold(hold(emptyLedger).ledger, 1).says).toEqual([`${id} holds a, Acting at 1, renewed 1`])
  })

  it.each([
    ['an earlier process held', (ledger: Ledger) => ledger, undefined],
    [
      'another process took over',
      (ledger: Ledger) => adopt(ledger, { requestId: id, holder: 'x' })?.ledger ?? ledger,
      1,
    ],
    ['was taken for dead', (ledger: Ledger) => orphan(ledger, id), 1],
  ] as const)('takes up what %s, under a new epoch', (_, change, epoch) => {
    const ledger = change(hold(emptyLedger).ledger)
    expect(hold(ledger, epoch)).toMatchObject({
      epoch: ledger.nextEpoch,
      says: [`${id} holds a, Acting at ${ledger.nextEpoch}, renewed 0`],
    })
  })

  it('beside somebody who holds another failure domain changes nothing, and people are told that two things are down', () => {
    const ledger = ledgerWith('reboot-1 holds b')
    expect(hold(ledger)).toMatchObject({
      ledger,
      epoch: undefined,
      problem: {
        object: 'cephcluster/rook-ceph/my-cluster',
        problem: 'machine m-n1 is being fenced although holder of reboot-1 holds the storage',
      },
    })
  })

  it('beside what ceph-drain holds of the same cluster is no problem: that keeps others off as well', () => {
    const refused = hold(ledgerWith('ceph-drain/uid-1/b holds b'))
    expect([refused.epoch, refused.problem]).toEqual([undefined, undefined])
  })
})

describe('what fences need', () => {
  it('is one hold for all fences of a failure domain, and none for those that are over', () => {
    const fences = [fence(), fence({ machine: 'm-n2' }), fence({ scope: 'b', isOver: true })]
    expect([...neededHolds(fences).keys()]).toEqual([id])
  })

  it('leaves all else that fences hold unneeded, also of a cluster that is gone, and never what others hold', () => {
    const ledger = ledgerWith('fencing/uid-1/a holds a', 'fencing/uid-0/a holds a', 'reboot-1 holds a')
    expect(unneededHolds(ledger, neededHolds([fence()]))).toEqual(['fencing/uid-0/a'])
    expect(unneededHolds(ledger, new Map())).toEqual(['fencing/uid-1/a', 'fencing/uid-0/a'])
  })
})

it('a hold that fails is reported by what it was for, and one that is given back by that', () => {
  expect(fenceHold.describe('hold', id)).toBe('hold the storage of machines that are being fenced')
  expect(fenceHold.describe('release', id)).toBe('release the storage of machines that were fenced')
})
