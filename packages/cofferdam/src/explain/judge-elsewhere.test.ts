import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { entry, ledgerOf, nowMs } from '../capabilities/drain-lock/domain/testing/fixture.ts'
import type { HoldView } from '../capabilities/drain-lock/view/hold-view.ts'
import type { Ledger } from '../ledger/rules/ledger.ts'
import { known, type Observed, unknown } from '../shared/observed.ts'
import { explainPod } from './explain-pod.ts'
import type { GuardSnapshot } from './snapshot.ts'
import { budget, osdBudget, osdPod, pod } from './testing/sample-objects.ts'

const osd = osdPod(2, { zone: 'zone-y', node: 'node-b' })
const mon = pod('rook-ceph-mon-b', { namespace: 'rook-ceph', node: 'node-b', labels: { app: 'rook-ceph-mon' } })
const monBudget = budget(
  'rook-ceph-mon-pdb',
  { disruptionsAllowed: 1 },
  {
    metadata: { namespace: 'rook-ceph' },
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'rook-ceph-mon' } } },
  },
)
/** As Rook keeps it: one OSD of all may go, whoever drains. */
const open = osdBudget(undefined, { disruptionsAllowed: 1 })
const held = (scope: string, facts = {}) =>
  known(
    ledgerOf(entry('storage/rook-ceph/rook-ceph', { state: 'Acting', scope, holder: 'nodedisruption/x', ...facts })),
  )

function holds(ledger: Observed<Ledger>, hasGuard: boolean | undefined = true): HoldView {
  return { nowMs, ledger, hasGuard, appLocks: new Map(), disruptions: [], leftByRequest: [] }
}

const cases: Record<string, { pod?: Pod; holds: HoldView; budgets?: GuardSnapshot['budgets']; then: string }> = {
  'an OSD outside the failure domain that a request holds waits, though Rook’s budget allows one: the guard refuses it':
    {
      holds: holds(held('zone-x')),
      then: 'waits OtherDomainDown',
    },
  'an OSD of the very failure domain that is held goes, as the guard lets it': {
    holds: holds(held('zone-y')),
    then: 'goes BudgetAllows',
  },
  'a mon beside such an OSD waits like it': {
    pod: mon,
    holds: holds(held('zone-x')),
    then: 'waits OtherDomainDown',
  },
  'where no guard is registered nothing refuses it, and it is not called blocked': {
    holds: holds(held('zone-x'), false),
    then: 'goes BudgetAllows',
  },
  'a hold whose holder is gone keeps nobody, here as in the guard': {
    holds: holds(held('zone-x', { state: 'Orphaned' })),
    then: 'goes BudgetAllows',
  },
  'an OSD that no budget covers goes: the guard holds up nobody whom no budget counts on': {
    holds: holds(held('zone-x')),
    budgets: [],
    then: 'goes NoBudget',
  },
  'a ledger that cannot be read holds nobody by itself': {
    holds: holds(unknown('no answer')),
    then: 'goes BudgetAllows',
  },
}

describe('an OSD while another failure domain is held in the ledger', () => {
  it.each(Object.entries(cases))(
    '%s',
    (_sentence, { pod: asked = osd, holds: seen, budgets = [open, monBudget], then }) => {
      const explained = explainPod({ pod: asked, pods: [osd, mon], budgets, storage: [], holds: seen })
      expect(`${explained.pod.verdict} ${explained.pod.reason}`).toBe(then)
      expect(explained.mayGo).toBe(explained.pod.verdict === 'goes')
    },
  )

  it('names the holder, since when, and what ends it, in the words that the guard gives to kubectl', () => {
    const seen = holds(held('zone-x'))
    const [blocker] = explainPod({ pod: osd, pods: [osd], budgets: [open], storage: [], holds: seen }).blockers
    expect(blocker).toMatchObject({
      object: 'storage/rook-ceph/rook-ceph',
      explanation:
        'failure domain zone-x of storage/rook-ceph/rook-ceph is away or being drained since 2026-01-01T12:00:00Z (nodedisruption/x)',
      holder: 'nodedisruption/x',
      since: '2026-01-01T12:00:00Z',
      unblocks: 'its own may follow when that is back and all data is clean, and drains retry by themselves',
    })
  })
})
