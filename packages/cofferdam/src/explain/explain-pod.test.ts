import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { explainPod } from './explain-pod.ts'
import type { PodAnswer } from './explanation.ts'
import type { GuardSnapshot } from './snapshot.ts'
import { budget, earlier, osdBudget, osdPod, pod } from './testing/sample-objects.ts'

type Told = Pick<PodAnswer, 'verdict' | 'reason' | 'explanation' | 'needs'>

const none = { disruptionsAllowed: 0, currentHealthy: 2 }
const bothCover = 'budgets shop/web and shop/all cover it, and the eviction API refuses pods with more than one'
const all = budget('all', {}, { spec: { maxUnavailable: 1, selector: {} } })

const cases: Record<string, { given: Pod; budgets?: GuardSnapshot['budgets']; then: Told }> = {
  'a pod whose budget can spare one may go': {
    given: pod('web-1'),
    budgets: [budget('web'), budget('db')],
    then: {
      verdict: 'goes',
      reason: 'BudgetAllows',
      explanation: 'budget web: it allows the eviction of one pod now',
      needs: [],
    },
  },
  'a pod whose budget can spare none waits': {
    given: pod('web-1'),
    budgets: [budget('web', none)],
    then: {
      verdict: 'waits',
      reason: 'BudgetExhausted',
      explanation: 'budget web: it needs 2 healthy pods and has 2 of 3',
      needs: [],
    },
  },
  'a pod that no budget covers may go': {
    given: pod('web-1'),
    budgets: [budget('db', none)],
    then: { verdict: 'goes', reason: 'NoBudget', explanation: 'no budget covers it', needs: [] },
  },
  'a pod under two budgets waits, for the eviction API answers 500': {
    given: pod('web-1'),
    budgets: [budget('web'), all],
    then: { verdict: 'waits', reason: 'BudgetOverlap', explanation: bothCover, needs: [] },
  },
  'an unready pod goes while enough others are healthy': {
    given: pod('web-1', { isReady: false }),
    budgets: [budget('web', none)],
    then: {
      verdict: 'goes',
      reason: 'PodNotCounted',
      explanation: 'it is not ready, and budget web does not count on it',
      needs: [],
    },
  },
  'an unready pod waits while too few others are healthy': {
    given: pod('web-1', { isReady: false }),
    budgets: [budget('web', { ...none, currentHealthy: 1 })],
    then: {
      verdict: 'waits',
      reason: 'BudgetExhausted',
      explanation: 'budget web: it needs 2 healthy pods and has 1 of 3',
      needs: [],
    },
  },
  'a pod that has not started is nobody to a budget': {
    given: pod('web-1', { status: { phase: 'Pending' } }),
    budgets: [budget('web', none)],
    then: {
      verdict: 'goes',
      reason: 'PodNotCounted',
      explanation: 'it has not started, so no budget applies',
      needs: [],
    },
  },
  'a pod that is leaving waits for nobody, and says what holds it': {
    given: pod('web-1', { metadata: { deletionTimestamp: earlier, finalizers: ['example.com/backup'] } }),
    budgets: [budget('web', none)],
    then: {
      verdict: 'leaving',
      reason: 'PodIsLeaving',
      explanation: 'it is terminating, held by example.com/backup',
      needs: [],
    },
  },
  'a pod without a controller goes, and kubectl must be forced': {
    given: pod('debug-1', { ownerKind: undefined }),
    then: { verdict: 'goes', reason: 'NoBudget', explanation: 'no budget covers it', needs: ['--force'] },
  },
  'a pod with an emptyDir goes, and kubectl must be told that its data is lost': {
    given: pod('web-1', { spec: { volumes: [{ name: 'cache', emptyDir: {} }] } }),
    then: {
      verdict: 'goes',
      reason: 'NoBudget',
      explanation: 'no budget covers it',
      needs: ['--delete-emptydir-data'],
    },
  },
  'a pod of a DaemonSet stays, whatever its budget says': {
    given: pod('agent-1', { ownerKind: 'DaemonSet', spec: { volumes: [{ name: 'cache', emptyDir: {} }] } }),
    budgets: [budget('agent', none)],
    then: {
      verdict: 'stays',
      reason: 'PodStays',
      explanation: 'it belongs to a DaemonSet',
      needs: ['--ignore-daemonsets'],
    },
  },
  'a mirror pod stays': {
    given: pod('etcd-1', { ownerKind: 'Node', metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }),
    then: { verdict: 'stays', reason: 'PodStays', explanation: 'it is a mirror of a static pod', needs: [] },
  },
  'a finished pod is in nobody’s way': {
    given: pod('job-1', { ownerKind: undefined, status: { phase: 'Succeeded' } }),
    then: { verdict: 'stays', reason: 'PodStays', explanation: 'it has finished: nothing is lost', needs: [] },
  },
  'a pod that asks to stay says that plain kubectl does not listen': {
    given: pod('db-1', { metadata: { annotations: { 'cofferdam.io/skip-drain': 'true' } } }),
    then: {
      verdict: 'stays',
      reason: 'PodStays',
      explanation: 'it asks to stay (cofferdam.io/skip-drain); plain kubectl drain ignores that',
      needs: [],
    },
  },
}

describe('may this pod be evicted now', () => {
  it.each(Object.entries(cases))('%s', (_scenario, { given, budgets = [], then }) => {
    const explained = explainPod({ pod: given, pods: [given], budgets, storage: [] })
    const { verdict, reason, explanation, needs } = explained.pod
    expect({ verdict, reason, explanation, needs }).toEqual(then)
    expect(explained.mayGo).toBe(verdict !== 'waits')
    expect(explained.blockers.map(({ waiting }) => waiting)).toEqual(
      verdict === 'waits' ? [[`pod/shop/${given.metadata.name}`]] : [],
    )
  })

  it('two budgets that an operator swaps are told apart from two that overlap for good', () => {
    const osd = osdPod(2, { zone: 'zone-y', node: 'node-b' })
    const swap = explainPod({ pod: osd, pods: [osd], budgets: [osdBudget(), osdBudget('zone-y')], storage: [] })
    const lasting = explainPod({ pod: pod('web-1'), pods: [], budgets: [budget('web'), all], storage: [] })
    expect([swap, lasting].map(({ blockers }) => blockers[0]?.unblocks)).toEqual([
      'the end of the swap between the two, within seconds',
      'selectors that do not overlap, or one budget less: kubectl -n shop delete pdb all',
    ])
  })
})
