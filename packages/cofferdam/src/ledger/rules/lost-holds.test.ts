import { describe, expect, it } from 'vitest'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import type { Claim } from './claim.ts'
import { emptyLedger, entriesOf, grant, intend, type Ledger } from './ledger.ts'
import { type ActedRecord, findLostHolds, parseActedRecord, recallLedger, restoreHolds } from './lost-holds.ts'

const now = '2026-01-01T00:00:00Z'
const record: ActedRecord = {
  requestId: 'R1',
  name: 'reboot-a',
  nodeName: 'a',
  epoch: 7,
  bootID: 'boot-1',
  claims: [claim('node/a'), claim('pdb/shop/web')],
}

function claim(key: string, scope = ''): Claim {
  return { key, uid: `uid of ${key}`, scope }
}

function take(ledger: Ledger, requestId: string, ...claims: Claim[]): Ledger {
  return grant(ledger, { requestId, holder: `holder of ${requestId}`, claims, now }).ledger
}

function begin(ledger: Ledger, requestId: string): Ledger {
  const begun = intend(ledger, { requestId, epoch: entriesOf(ledger, requestId)[0]?.epoch ?? 0 })
  if (!begun.ok) throw new Error(begun.why)
  return begun.ledger
}

function disruption(status: NodeDisruption['status']): NodeDisruption {
  const spec = { nodeName: 'a', intent: 'Reboot' as const, honourSkipDrain: true }
  const object = { apiVersion: 'cofferdam.io/v1alpha1', kind: 'NodeDisruption', spec }
  const metadata = { name: 'reboot-a', uid: 'R1' }
  return status === undefined ? { ...object, metadata } : { ...object, metadata, status }
}

describe('a record tells of keys that must be held', () => {
  const status = {
    epoch: 7,
    nodeUid: 'uid of node/a',
    bootIDBefore: 'boot-1',
    lockedBudgets: [{ namespace: 'shop', name: 'web', uid: 'uid of pdb/shop/web' }],
  }
  for (const phase of ['Draining', 'Drained', 'Recovering'] as const) {
    it(`in phase ${phase}: its node and its budgets`, () => {
      expect(parseActedRecord(disruption({ ...status, phase }))).toEqual(record)
    })
  }
  for (const phase of ['Pending', 'Waiting', 'Locking', 'Completed', 'Rejected'] as const) {
    it(`in phase ${phase}: none, for nothing was touched or all has ended`, () => {
      expect(parseActedRecord(disruption({ ...status, phase }))).toBeUndefined()
    })
  }
  it('after it fell back: only its node, for the budgets were given up', () => {
    const fallen = parseActedRecord(disruption({ ...status, phase: 'Draining', hasFallenBack: true }))
    expect(fallen?.claims.map(({ key }) => key)).toEqual(['node/a'])
  })
  it('while storage recovers: not the budgets of pods that run again, which somebody else may hold by now', () => {
    const { lockedBudgets } = status
    const shop = { namespace: 'shop', name: 'web', uid: 'another by the same name' }
    for (const releasedBudgets of [lockedBudgets, [shop]]) {
      const recovering = parseActedRecord(disruption({ ...status, phase: 'Recovering', releasedBudgets }))
      expect(recovering?.claims.map(({ key }) => key)).toEqual(['node/a'])
    }
  })
  it('only once it has been written: a new request holds nothing', () => {
    expect(parseActedRecord(disruption(undefined))).toBeUndefined()
  })
})

describe('what was lost', () => {
  it('is held again as an orphan with its epoch and its boot, and that epoch is never given out again', () => {
    const orphan = { holder: 'rebuilt from nodedisruption/reboot-a', requestId: 'R1', epoch: 7, state: 'Orphaned' }
    const rest = { since: now, renewSequence: 0 }
    expect(restoreHolds(emptyLedger, [record], now)).toEqual({
      ...emptyLedger,
      nextEpoch: 8,
      entries: [
        { ...claim('node/a'), ...orphan, ...rest, bootID: 'boot-1' },
        { ...claim('pdb/shop/web'), ...orphan, ...rest },
      ],
    })
  })

  it('is not entered twice', () => {
    const once = restoreHolds(emptyLedger, [record], now)
    expect(restoreHolds(once, [record], now)).toBe(once)
    expect(findLostHolds(once, [record])).toEqual([])
  })

  it('takes the place of its own ticket', () => {
    const ledger = take(take(emptyLedger, 'R2', claim('node/b')), 'R1', claim('node/b'))
    expect(restoreHolds(ledger, [record], now).tickets).toEqual([])
  })

  it('takes everything from whoever was granted one of its keys and has not acted', () => {
    const ledger = take(emptyLedger, 'R2', claim('pdb/shop/web'), claim('node/b'))
    const restored = restoreHolds(ledger, [record], now)
    expect(entriesOf(restored, 'R2')).toEqual([])
    expect(entriesOf(restored, 'R1')).toHaveLength(2)
  })

  it('belongs to the later of two records: the earlier one had released it, and its node would go with nothing held', () => {
    const later = { ...record, requestId: 'R2', name: 'reboot-b', epoch: 8, claims: [claim('pdb/shop/web')] }
    for (const lost of [
      [record, later],
      [later, record],
    ]) {
      const holders = new Map(
        restoreHolds(emptyLedger, lost, now).entries.map(({ key, requestId }) => [key, requestId]),
      )
      expect(Object.fromEntries(holders)).toEqual({ 'node/a': 'R1', 'pdb/shop/web': 'R2' })
    }
  })

  it('gives whoever was granted one of its keys its place in the queue back: the loss was none of its doing', () => {
    const ledger = take(take(emptyLedger, 'R2', claim('pdb/shop/web'), claim('node/b')), 'R3', claim('node/b'))
    const { tickets } = restoreHolds(ledger, [record], now)
    expect(tickets.map(({ requestId }) => requestId)).toEqual(['R2', 'R3'])
  })

  it('gives one that was granted two of its keys one place back, and not one for each: the second would be held up by the first', () => {
    const ledger = take(emptyLedger, 'R2', claim('pdb/shop/web'), claim('node/a'))
    const restored = restoreHolds(ledger, [record], now)
    expect(restored.tickets.map(({ requestId }) => requestId)).toEqual(['R2'])
    expect(restored.entries.map(({ requestId }) => requestId)).toEqual(['R1', 'R1'])
  })

  it('is missed though a grant from before is there: the budgets that came later would be free while the node is away', () => {
    const ledger = take(emptyLedger, 'R1', claim('node/a'))
    expect(findLostHolds(ledger, [record])).toEqual([record])
    const restored = restoreHolds(ledger, [record], now)
    expect(restored.entries.map(({ key, epoch, state }) => [key, epoch, state])).toEqual([
      ['node/a', 7, 'Orphaned'],
      ['pdb/shop/web', 7, 'Orphaned'],
    ])
  })

  it('is not missed under its own epoch: there the intent alone is missing, and the request writes it again', () => {
    const ledger = take({ ...emptyLedger, nextEpoch: 7 }, 'R1', claim('node/a'), claim('pdb/shop/web'))
    expect(findLostHolds(ledger, [record])).toEqual([])
  })

  it('takes a key from an earlier holder that was put back with the ledger: whoever drains now would go on without its budget', () => {
    const begun = begin(take(emptyLedger, 'R2', claim('pdb/shop/web'), claim('node/b')), 'R2')
    const restored = restoreHolds(begun, [record], now)
    expect(restored.entries.map(({ key, requestId }) => [key, requestId])).toEqual([
      ['node/b', 'R2'],
      ['node/a', 'R1'],
      ['pdb/shop/web', 'R1'],
    ])
  })

  it('leaves a key to whoever has acted on it meanwhile: the ledger never contradicts itself', () => {
    const begun = begin(take({ ...emptyLedger, nextEpoch: 8 }, 'R2', claim('pdb/shop/web')), 'R2')
    const restored = restoreHolds(begun, [record], now)
    expect(restored.entries.map(({ key, requestId }) => [key, requestId])).toEqual([
      ['pdb/shop/web', 'R2'],
      ['node/a', 'R1'],
    ])
  })
})

describe('a stored ledger, held against the epochs on record', () => {
  const acted = disruption({ phase: 'Drained', epoch: 7, nodeUid: 'uid of node/a', bootIDBefore: 'boot-1' })
  const waits = disruption({ phase: 'Waiting' })
  const unwritten = disruption(undefined)

  it('that is newer than all of them is as it was, down to the object', () => {
    const ledger = { ...emptyLedger, nextEpoch: 8 }
    const recalled = recallLedger(ledger, { epochs: [3, 7], disruptions: [acted, waits, unwritten] })
    expect(recalled).toEqual({ ledger, isBehind: false, lost: [] })
    expect(recalled.ledger).toBe(ledger)
  })

  it('that was deleted gives out no epoch twice, and says which requests had acted: their nodes may be away', () => {
    const recalled = recallLedger(emptyLedger, { epochs: [3], disruptions: [acted, waits, unwritten] })
    expect([
      recalled.ledger.nextEpoch,
      recalled.isBehind,
      recalled.lost.map(({ requestId, epoch }) => [requestId, epoch]),
    ]).toEqual([8, true, [['R1', 7]]])
  })

  it('that is behind an epoch of another record is behind, though no request has acted', () => {
    expect(recallLedger(emptyLedger, { epochs: [3, 12, 5], disruptions: [waits] })).toEqual({
      ledger: { ...emptyLedger, nextEpoch: 13 },
      isBehind: true,
      lost: [],
    })
  })

  it('a request that was never granted anything has lost nothing, whatever its phase says', () => {
    expect(parseActedRecord(disruption({ phase: 'Draining', epoch: 0 }))).toBeUndefined()
  })
})
