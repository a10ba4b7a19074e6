import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { describe, expect, it } from 'vitest'
import { managedLabels } from '../capabilities/ceph-drain/domain/budget-mark.ts'
import type { Blocker } from '../shared/blocker.ts'
import { explainBudget } from './explain-budget.ts'
import type { BudgetSnapshot } from './judge-budget.ts'
import { budget, earlier, osdBudget, osdPod, pod, storageView } from './testing/sample-objects.ts'

const three = [pod('web-1'), pod('web-2', { node: 'worker-b1' }), pod('web-3', { node: 'worker-c1' })]
const none = { disruptionsAllowed: 0 }
const waiting = ['pod/shop/web-1', 'pod/shop/web-2', 'pod/shop/web-3']
const deletePastIt = 'kubectl -n shop delete pod NAME bypasses the budget; shop/web then has one healthy pod less'

const given = (of: PodDisruptionBudget, pods = three, storage: BudgetSnapshot['storage'] = []): BudgetSnapshot => ({
  budget: of,
  pods,
  storage,
})

const blocked: Record<string, { given: BudgetSnapshot; then: Blocker }> = {
  'a budget whose pods are not healthy names them, says why and since when': {
    given: given(budget('web', { ...none, currentHealthy: 2 }), [
      pod('web-1'),
      pod('web-2'),
      pod('web-3', {
        isReady: false,
        status: {
          phase: 'Pending',
          conditions: [
            { type: 'PodScheduled', status: 'False', message: '0/9 nodes are available', lastTransitionTime: earlier },
          ],
        },
      }),
    ]),
    then: {
      object: 'pdb/shop/web',
      reason: 'BudgetExhausted',
      explanation: 'it needs 2 healthy pods and has 2 of 3',
      holder: 'pod/shop/web-3',
      since: earlier,
      causes: [{ object: 'pod/shop/web-3', says: 'has no node: 0/9 nodes are available', since: earlier }],
      unblocks: 'more than 2 healthy pods',
      override: deletePastIt,
      waiting: waiting.slice(0, 2),
    },
  },
  'a budget with a crashing pod too many can be told to let the unready go': {
    given: given(budget('web', { ...none, currentHealthy: 1 }), [
      pod('web-1'),
      ...['web-2', 'web-3'].map((name) =>
        pod(name, {
          status: {
            phase: 'Running',
            conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: earlier }],
            containerStatuses: [
              {
                name: 'main',
                ready: false,
                restartCount: 7,
                image: '',
                imageID: '',
                state: { waiting: { reason: 'CrashLoopBackOff' } },
              },
            ],
          },
        }),
      ),
    ]),
    then: {
      object: 'pdb/shop/web',
      reason: 'BudgetExhausted',
      explanation: 'it needs 2 healthy pods and has 1 of 3',
      holder: 'pod/shop/web-2, pod/shop/web-3',
      since: earlier,
      causes: ['web-2', 'web-3'].map((name) => ({
        object: `pod/shop/${name}`,
        says: 'is not ready: CrashLoopBackOff',
        since: earlier,
      })),
      unblocks: 'more than 2 healthy pods',
      override: `kubectl -n shop patch pdb web --type merge -p '{"spec":{"unhealthyPodEvictionPolicy":"AlwaysAllow"}}' lets those go that are not ready`,
      waiting,
    },
  },
  'a budget whose last disruption was granted names the pod that has not begun to go': {
    given: given(budget('web', { ...none, disruptedPods: { 'web-2': earlier } })),
    then: {
      object: 'pdb/shop/web',
      reason: 'BudgetExhausted',
      explanation: 'all evictions it allows are granted and have not ended yet',
      holder: 'pod/shop/web-2',
      since: earlier,
      causes: [
        { object: 'pod/shop/web-2', says: 'its eviction is granted, and it has not terminated yet', since: earlier },
      ],
      unblocks: 'more than 2 healthy pods',
      override: deletePastIt,
      waiting,
    },
  },
  'a budget whose pods are not all made yet says how many are missing': {
    given: given(budget('web', { ...none, currentHealthy: 2 }), three.slice(0, 2)),
    then: {
      object: 'pdb/shop/web',
      reason: 'BudgetExhausted',
      explanation: 'it needs 2 healthy pods and has 2 of 3',
      holder: '1 pod not made yet',
      since: earlier,
      causes: [],
      unblocks: 'more than 2 healthy pods',
      override: deletePastIt,
      waiting: waiting.slice(0, 2),
    },
  },
  'maxUnavailable 0 never spares a pod, and the way out is another number': {
    given: given(budget('web', { ...none, desiredHealthy: 3 }, { spec: { maxUnavailable: 0 } })),
    then: {
      object: 'pdb/shop/web',
      reason: 'BudgetImpossible',
      explanation: 'maxUnavailable is 0 with 3 pods: it never allows an eviction, however healthy they are',
      holder: 'its author',
      since: earlier,
      causes: [],
      unblocks: 'a maxUnavailable of at least 1',
      override: `kubectl -n shop patch pdb web --type merge -p '{"spec":{"maxUnavailable":1,"minAvailable":null}}'`,
      waiting,
    },
  },
  'minAvailable as high as the number of replicas never spares a pod; its author is named by the tool': {
    given: given(
      budget(
        'web',
        { ...none, desiredHealthy: 3 },
        {
          spec: { minAvailable: 3 },
          metadata: {
            managedFields: [
              {
                manager: 'kube-controller-manager',
                time: earlier,
                fieldsV1: { 'f:status': {} },
                subresource: 'status',
              },
              { manager: 'helm', time: earlier, fieldsV1: { 'f:spec': { 'f:minAvailable': {} } } },
            ],
          },
        },
      ),
    ),
    then: {
      object: 'pdb/shop/web',
      reason: 'BudgetImpossible',
      explanation: 'minAvailable is 3 with 3 pods: it never allows an eviction, however healthy they are',
      holder: 'its author (helm)',
      since: earlier,
      causes: [],
      unblocks: 'more than 3 replicas, or a lower minAvailable',
      override: `kubectl -n shop patch pdb web --type merge -p '{"spec":{"maxUnavailable":1,"minAvailable":null}}'`,
      waiting,
    },
  },
  'a percentage of pods without a controller never spares one': {
    given: given(
      budget(
        'web',
        { ...none, currentHealthy: 3, desiredHealthy: 0, expectedPods: 0 },
        { spec: { minAvailable: '50%' } },
      ),
      three.map(({ metadata }) => pod(metadata.name, { ownerKind: undefined })),
    ),
    then: {
      object: 'pdb/shop/web',
      reason: 'BudgetImpossible',
      explanation:
        'a percentage counts the replicas of a controller, and its pods have none, so it never allows an eviction',
      holder: 'its author',
      since: earlier,
      causes: [],
      unblocks: 'a minAvailable that is a whole number below the number of pods',
      override: `kubectl -n shop patch pdb web --type merge -p '{"spec":{"maxUnavailable":null,"minAvailable":2}}'`,
      waiting,
    },
  },
  'a budget that nobody has counted for its present spec waits for the disruption controller': {
    given: given(budget('web', { observedGeneration: 0 }, { metadata: { creationTimestamp: earlier } })),
    then: {
      object: 'pdb/shop/web',
      reason: 'BudgetNotCounted',
      explanation: 'it was written or changed, and its pods have not been counted since',
      holder: 'the disruption controller (kube-controller-manager)',
      since: earlier,
      causes: [],
      unblocks: 'the count, within seconds; if it does not come, kube-controller-manager is not at work',
      override: 'kubectl -n shop delete pdb web; then nothing guards its pods',
      waiting,
    },
  },
  'a budget that cannot be computed says why instead of counts that mean nothing': {
    given: given(
      budget('web', {
        ...none,
        conditions: [
          {
            type: 'DisruptionAllowed',
            status: 'False',
            reason: 'SyncFailed',
            message: 'found no controllers for pod "web-1"',
            lastTransitionTime: earlier,
          },
        ],
      }),
    ),
    then: {
      object: 'pdb/shop/web',
      reason: 'BudgetUncountable',
      explanation: 'its pods cannot be counted: found no controllers for pod "web-1"',
      holder: 'its author',
      since: earlier,
      causes: [],
      unblocks: 'a minAvailable that is a whole number, or a controller of the pods that has a scale',
      override: 'kubectl -n shop delete pdb web; then nothing guards its pods',
      waiting,
    },
  },
  'a blocking budget of Ceph says what was decided about the cluster, and what ends it': {
    given: given(osdBudget('zone-y'), [osdPod(2, { zone: 'zone-y', node: 'node-b' })], [storageView()]),
    then: {
      object: 'pdb/rook-ceph/rook-ceph-osd-zone-zone-y',
      reason: 'DomainOpen',
      explanation: 'zone-x is being drained; the others wait',
      holder: 'cephcluster/rook-ceph/rook-ceph',
      since: earlier,
      causes: [],
      unblocks: 'zone zone-x back with all its OSDs, and the placement groups clean',
      override:
        'kubectl -n rook-ceph delete pod NAME bypasses the budget; data may become unavailable, or be lost with the next failure',
      waiting: ['pod/rook-ceph/rook-ceph-osd-2'],
    },
  },
  'the budget of the monitors at 0 is no mistake of its author: a monitor is out of quorum': {
    given: given(
      budget(
        'rook-ceph-mon-pdb',
        { ...none, currentHealthy: 2, desiredHealthy: 3 },
        { spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'rook-ceph-mon' } } } },
      ),
      ['a', 'b'].map((id) => pod(`mon-${id}`, { labels: { app: 'rook-ceph-mon' }, isReady: id === 'a' })),
    ),
    then: {
      object: 'pdb/shop/rook-ceph-mon-pdb',
      reason: 'QuorumAtRisk',
      explanation: 'a monitor is out of quorum, or the quorum is not known; with one more gone Ceph could stop',
      holder: 'pod/shop/mon-b',
      since: earlier,
      causes: [{ object: 'pod/shop/mon-b', says: 'is not ready', since: earlier }],
      unblocks: 'every monitor back in quorum',
      override: 'kubectl -n shop delete pod NAME bypasses the budget; without a majority of monitors all of Ceph stops',
      waiting: ['pod/shop/mon-a', 'pod/shop/mon-b'],
    },
  },
  'the budget of healthy monitors at 0 is neither a mistake nor a danger: they go after the first OSD of their node': {
    given: given(
      budget('rook-ceph-mon-pdb', none, {
        metadata: { labels: managedLabels },
        spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'rook-ceph-mon' } } },
      }),
      ['a', 'b'].map((id) => pod(`mon-${id}`, { labels: { app: 'rook-ceph-mon' } })),
    ),
    then: {
      object: 'pdb/shop/rook-ceph-mon-pdb',
      reason: 'FollowsOsds',
      explanation:
        'mons and mgrs beside OSDs go after the OSDs of their node, so that two drains cannot wait for each other',
      holder: 'the OSDs on the same nodes',
      since: earlier,
      causes: [],
      unblocks: 'the eviction of an OSD of the node; a drain of the whole node gets there by itself',
      override: 'kubectl -n shop delete pod NAME bypasses the budget; then drain that node, and no other, to its end',
      waiting: ['pod/shop/mon-a', 'pod/shop/mon-b'],
    },
  },
  'Rook’s budget of healthy monitors at 0 is one that Rook opens: to say that they follow their OSDs would call a node free that cannot be drained':
    {
      given: given(
        budget('rook-ceph-mon-pdb', none, {
          spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'rook-ceph-mon' } } },
        }),
        ['a', 'b'].map((id) => pod(`mon-${id}`, { labels: { app: 'rook-ceph-mon' } })),
      ),
      then: {
        object: 'pdb/shop/rook-ceph-mon-pdb',
        reason: 'QuorumAtRisk',
        explanation: 'a monitor is out of quorum, or the quorum is not known; with one more gone Ceph could stop',
        holder: 'the monitors of Ceph',
        since: earlier,
        causes: [],
        unblocks: 'every monitor back in quorum',
        override:
          'kubectl -n shop delete pod NAME bypasses the budget; without a majority of monitors all of Ceph stops',
        waiting: ['pod/shop/mon-a', 'pod/shop/mon-b'],
      },
    },
  'a blocking budget of Ceph that nobody explained is not taken for a mistake of its author': {
    given: given(osdBudget('zone-y'), [osdPod(2, { zone: 'zone-y', node: 'node-b' })]),
    then: {
      object: 'pdb/rook-ceph/rook-ceph-osd-zone-zone-y',
      reason: 'StorageUndecided',
      explanation: 'the budget blocks its OSDs, and no reason is recorded on it',
      holder: 'cephcluster/rook-ceph/rook-ceph',
      since: earlier,
      causes: [],
      unblocks: 'clean placement groups',
      override:
        'kubectl -n rook-ceph delete pod NAME bypasses the budget; data may become unavailable, or be lost with the next failure',
      waiting: ['pod/rook-ceph/rook-ceph-osd-2'],
    },
  },
}

describe('a budget that spares nothing', () => {
  it.each(Object.entries(blocked))('%s', (_scenario, { given: snapshot, then }) => {
    const explained = explainBudget(snapshot)
    expect(explained.blockers).toEqual([then])
    expect({ mayGo: explained.mayGo, allowed: explained.budget.allowed }).toEqual({ mayGo: false, allowed: 0 })
    expect(explained.budget.reason).toBe(then.reason)
  })
})

describe('a budget that holds nobody back', () => {
  it('says how many it can spare, and how each pod is', () => {
    expect(explainBudget(given(budget('web'), [...three, pod('db-1')]))).toEqual({
      object: 'pdb/shop/web',
      mayGo: true,
      holds: [],
      summary: 'It allows 1 of 3 pods to be evicted now.',
      blockers: [],
      budget: {
        budget: 'shop/web',
        rule: 'at most 1 down',
        allowed: 1,
        healthy: 3,
        desired: 2,
        expected: 3,
        reason: 'BudgetAllows',
        explanation: 'it allows the eviction of one pod now',
      },
      pods: [
        { pod: 'shop/web-1', node: 'worker-a1', isHealthy: true, says: 'is ready', since: earlier },
        { pod: 'shop/web-2', node: 'worker-b1', isHealthy: true, says: 'is ready', since: earlier },
        { pod: 'shop/web-3', node: 'worker-c1', isHealthy: true, says: 'is ready', since: earlier },
      ],
    })
  })

  it('covers no pod: nothing waits for it, whatever it would allow', () => {
    const { mayGo, blockers, budget: answer } = explainBudget(given(budget('web', none), [pod('db-1')]))
    expect({ mayGo, blockers, reason: answer.reason }).toEqual({ mayGo: true, blockers: [], reason: 'NoPods' })
  })
})

it('a budget that Cofferdam keeps is not to be patched: the operator would undo it within a second', () => {
  const kept = budget('web', { ...none, currentHealthy: 1 })
  const labels = { 'app.kubernetes.io/managed-by': 'cofferdam' }
  const pods = [pod('web-1'), pod('web-2', { isReady: false }), pod('web-3', { isReady: false })]
  const overrideOf = (of: PodDisruptionBudget) => explainBudget(given(of, pods)).blockers[0]?.override
  expect(overrideOf(kept)).toContain('unhealthyPodEvictionPolicy')
  expect(overrideOf({ ...kept, metadata: { ...kept.metadata, labels } })).toBe(deletePastIt)
})
