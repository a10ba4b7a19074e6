import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import type { HoldView } from '../capabilities/drain-lock/view/hold-view.ts'
import { emptyLedger } from '../ledger/rules/ledger.ts'
import { known, unknown } from '../shared/observed.ts'
import { explainBudget } from './explain-budget.ts'
import { explainPod } from './explain-pod.ts'
import { type Verdict, verdictOf } from './judge-unread.ts'
import type { GuardSnapshot } from './snapshot.ts'
import { instanceManager } from './testing/longhorn-objects.ts'
import { budget, now, osdBudget, osdPod, pod } from './testing/sample-objects.ts'

const ceph = 'cephclusters.ceph.rook.io: cephclusters is forbidden'
const record = 'configmap rook-ceph/rook-ceph-pdbstatemap: configmaps is forbidden'
const replicas = 'replicas.longhorn.io: replicas is forbidden'
const ledger = 'disruptionledger cluster: disruptionledgers is forbidden'
const machines = 'machines.cluster.x-k8s.io: machines is forbidden'
const manager = instanceManager('worker-a1')
const openManager = {
  ...manager.budget,
  status: { observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 1, desiredHealthy: 0, expectedPods: 1 },
}

function holdsOf(isLedgerKnown: boolean, hasGuard: boolean | undefined): HoldView {
  return {
    nowMs: Date.parse(now),
    ledger: isLedgerKnown ? known(emptyLedger) : unknown('disruptionledgers is forbidden'),
    hasGuard,
    appLocks: new Map(),
    disruptions: [],
    leftByRequest: [],
  }
}

interface Case {
  readonly given: Pod
  readonly budgets: GuardSnapshot['budgets']
  readonly unread: readonly string[]
  readonly isLedgerKnown?: boolean
  readonly hasGuard?: boolean | undefined
  readonly then: Verdict
  readonly by?: string
}

const osd = osdPod(4, { zone: 'a', node: 'worker-a1' })

const cases: Record<string, Case> = {
  'an OSD whose CephCluster may not be read was called free, and the drain met a closed zone': {
    given: osd,
    budgets: [osdBudget()],
    unread: [ceph],
    then: 'unknown',
    by: 'cephclusters.ceph.rook.io',
  },
  'an OSD whose record of decisions may not be read is not known either': {
    given: osd,
    budgets: [osdBudget()],
    unread: [record],
    then: 'unknown',
    by: 'configmap rook-ceph/rook-ceph-pdbstatemap',
  },
  'an OSD that its budget keeps is blocked, whatever else could not be read': {
    given: osd,
    budgets: [osdBudget(undefined, { disruptionsAllowed: 0 })],
    unread: [ceph],
    then: 'blocked',
    by: 'pdb/rook-ceph/rook-ceph-osd',
  },
  'the pod of a shop is free though Ceph may not be read: it has nothing to do with it': {
    given: pod('web-1'),
    budgets: [budget('web')],
    unread: [ceph, replicas, machines],
    then: 'free',
  },
  'an instance manager is not known while replicas may not be read: the last copy of a volume may be on its node': {
    given: manager.pod,
    budgets: [openManager],
    unread: [replicas],
    then: 'unknown',
    by: 'replicas.longhorn.io',
  },
  'a pod under a budget is not known while the ledger may not be read, for the guard may refuse it': {
    given: pod('web-1'),
    budgets: [budget('web')],
    unread: [ledger],
    isLedgerKnown: false,
    then: 'unknown',
    by: 'disruptionledger cluster',
  },
  'a pod under a budget is free without the ledger where no guard asks it': {
    given: pod('web-1'),
    budgets: [budget('web')],
    unread: [ledger],
    isLedgerKnown: false,
    hasGuard: false,
    then: 'free',
  },
  'a pod without a budget is free without the ledger: nothing in it can hold the pod': {
    given: pod('web-1'),
    budgets: [],
    unread: [ledger],
    isLedgerKnown: false,
    then: 'free',
  },
}

describe('what could not be read', () => {
  it.each(Object.entries(cases))('%s', (_name, { given, budgets, unread, isLedgerKnown = true, then, by, ...rest }) => {
    const holds = holdsOf(isLedgerKnown, 'hasGuard' in rest ? rest.hasGuard : true)
    const guards = { pods: [given], budgets, storage: [], holds, unread }
    const answer = explainPod({ pod: given, ...guards })
    expect({ verdict: verdictOf(answer), by: answer.blockers[0]?.object }).toEqual({ verdict: then, by })
    const [over] = budgets
    if (over === undefined) return
    expect(verdictOf(explainBudget({ ...guards, budget: over }))).toBe(then)
  })
})
