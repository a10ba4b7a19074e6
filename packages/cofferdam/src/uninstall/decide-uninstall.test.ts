import { describe, expect, it } from 'vitest'
import { known, unknown } from '../shared/observed.ts'
import { decideUninstall } from './decide-uninstall.ts'
import type { ManagedCeph, UninstallSnapshot } from './snapshot.ts'

const calm: UninstallSnapshot = {
  isOperatorRunning: true,
  ceph: [],
  longhorn: [],
  requests: [],
  holds: known([]),
  locks: [],
  keptFromRemediation: [],
  machineBudgets: [],
  hasPolicy: false,
  notSeen: [],
  wants: { isEvenNow: false, isWithoutSuccessor: false },
}
const ceph: ManagedCeph = { namespace: 'rook-ceph', name: 'rook-ceph', rookRuns: true, openDomains: [], noout: [] }
const request = { id: 'uid', name: 'worker-a1-x', node: 'worker-a1', phase: 'Drained' }
const hold = { key: 'storage/rook-ceph/rook-ceph', holder: 'osd-update of rook-ceph/rook-ceph', requestId: 'update' }

const blockedOf = (snapshot: UninstallSnapshot) =>
  decideUninstall(snapshot).checks.filter(({ state }) => state === 'blocked')

describe('what keeps Cofferdam from being removed', () => {
  const middles: Readonly<Record<string, readonly [Partial<UninstallSnapshot>, says: RegExp]>> = {
    'a request: its node would stay cordoned, or reboot while others hold nothing': [
      { requests: [request] },
      /worker-a1-x for node worker-a1 is Drained/,
    ],
    'an update that has stopped an OSD: the rest would go on with no check between rounds': [
      { holds: known([hold]) },
      /storage\/rook-ceph\/rook-ceph is held by osd-update/,
    ],
    'a ledger that cannot be read: who holds what is not known': [
      { holds: unknown('the ledger contradicts itself') },
      /contradicts itself/,
    ],
    'a failure domain that is away: nothing would hold the others back': [
      { ceph: [{ ...ceph, openDomains: ['a'] }] },
      /rook-ceph: failure domain a is away/,
    ],
    'noout that Cofferdam has set: Ceph would never replace what fails there': [
      { ceph: [{ ...ceph, noout: ['a'] }] },
      /noout on a/,
    ],
    'a node that Longhorn is asked to empty: it would be emptied for good': [
      { longhorn: [{ namespace: 'longhorn-system', changed: ['node worker-a1 is emptied'] }] },
      /node worker-a1 is emptied/,
    ],
    'a machine that is kept from remediation: it would be fenced at once': [
      { keptFromRemediation: ['machine/openshift-machine-api/worker-a1'] },
      /worker-a1 is kept from remediation/,
    ],
    'the lock of an owner: it would end without a word to them': [
      { locks: [{ budget: 'shop/orders', holder: 'ann', until: '2026-11-17T20:00:00Z' }] },
      /shop\/orders is locked by ann until/,
    ],
  }
  it.each(Object.entries(middles))('%s', (_, [change, says]) => {
    const snapshot = { ...calm, ...change }
    expect(blockedOf(snapshot)).toEqual([
      expect.objectContaining({ says: expect.stringMatching(says), wayOut: expect.stringContaining('--even-now') }),
    ])
    expect(blockedOf({ ...snapshot, wants: { ...snapshot.wants, isEvenNow: true } })).toEqual([])
  })

  it('a hold of a request is named once, with its request', () => {
    const holds = known([{ key: 'node/worker-a1', holder: 'pod-1', requestId: 'uid' }])
    expect(blockedOf({ ...calm, requests: [request], holds })).toHaveLength(1)
  })

  it('even now OSDs are not left without a budget: that needs a flag of its own', () => {
    const alone = {
      ...calm,
      ceph: [{ ...ceph, rookRuns: false }],
      wants: { isEvenNow: true, isWithoutSuccessor: false },
    }
    expect(blockedOf(alone)).toMatchObject([{ what: 'rook', wayOut: expect.stringContaining('--without-successor') }])
    const { losses } = decideUninstall({ ...alone, wants: { isEvenNow: false, isWithoutSuccessor: true } })
    expect(losses).toContain('cephcluster/rook-ceph/rook-ceph: OSDs, mons and other daemons have no budget')
    expect(blockedOf({ ...alone, wants: { isEvenNow: false, isWithoutSuccessor: true } })).toEqual([])
  })

  it('what may not be read keeps it, whatever flags are given: it may hold something that would stay for good', () => {
    const wants = { isEvenNow: true, isWithoutSuccessor: true }
    expect(blockedOf({ ...calm, notSeen: ['machines: forbidden'], wants })).toMatchObject([{ what: 'rights' }])
  })

  it('storage in the hands of an operator that does not run keeps it: nothing else can ask Ceph or unset noout', () => {
    const wants = { isEvenNow: true, isWithoutSuccessor: true }
    expect(blockedOf({ ...calm, isOperatorRunning: false, ceph: [ceph], wants })).toMatchObject([{ what: 'operator' }])
    const longhorn = [{ namespace: 'longhorn-system', changed: [] }]
    expect(blockedOf({ ...calm, isOperatorRunning: false, longhorn, wants })).toMatchObject([{ what: 'operator' }])
    expect(blockedOf({ ...calm, isOperatorRunning: false })).toEqual([])
  })
})

it('every loss is said before: nothing is unprotected without a word', () => {
  const { losses } = decideUninstall({
    ...calm,
    ceph: [ceph],
    longhorn: [{ namespace: 'longhorn-system', changed: [] }],
    locks: [{ budget: 'shop/orders', holder: 'ann', until: '' }],
    machineBudgets: ['openshift-machine-api/rook-ceph-rook-ceph'],
    hasPolicy: true,
  })
  expect(losses).toEqual([
    expect.stringContaining('Rook manages the budgets again'),
    expect.stringContaining('Longhorn decides drains alone'),
    expect.stringContaining('fenced whether Ceph is clean or not'),
    expect.stringContaining('the lock of ann has no effect'),
    expect.stringContaining('disruptionpolicy/cluster'),
    expect.stringContaining('eviction guard'),
  ])
})
