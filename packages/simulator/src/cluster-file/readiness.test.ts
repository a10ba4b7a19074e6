import type { DaemonSet, Deployment, StatefulSet } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { expect, it } from 'vitest'
import { type ClusterState, judgeReadiness, type Readiness } from './readiness.ts'

const meta = (name: string) => ({ metadata: { name, namespace: 'shop', generation: 2 } })
const template = { spec: { containers: [] } }
const set = { selector: {}, template }

const node = (status: 'True' | 'False'): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n' },
  status: { conditions: [{ type: 'Ready', status }] },
})
const deployment = (readyReplicas: number, observedGeneration = 2): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  ...meta('web'),
  spec: { ...set, replicas: 4 },
  status: { observedGeneration, readyReplicas },
})
const statefulSet: StatefulSet = { apiVersion: 'apps/v1', kind: 'StatefulSet', ...meta('orders'), spec: set }
const daemonSet = (observedGeneration: number, desired: number, ready: number): DaemonSet => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  ...meta('agent'),
  spec: set,
  status: {
    observedGeneration,
    desiredNumberScheduled: desired,
    currentNumberScheduled: desired,
    numberMisscheduled: 0,
    numberReady: ready,
  },
})
const budget: PodDisruptionBudget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  ...meta('web'),
  spec: { minAvailable: 1 },
}

const cases: Record<string, { given: Partial<ClusterState>; then: Readiness }> = {
  'all up is ready': {
    given: { nodes: [node('True')], deployments: [deployment(4)], daemonSets: [daemonSet(2, 3, 3)] },
    then: { ready: 8, wanted: 8, waitingFor: [] },
  },
  'a node that is not up is waited for': {
    given: { nodes: [node('True'), node('False')] },
    then: { ready: 1, wanted: 2, waitingFor: ['nodes (1 of 2)'] },
  },
  'pods that are not ready are waited for': {
    given: { deployments: [deployment(3)] },
    then: { ready: 3, wanted: 4, waitingFor: ['shop/web (3 of 4)'] },
  },
  'more pods than asked for, as in a rollout, do not make up for others': {
    given: { deployments: [deployment(5)], statefulSets: [statefulSet] },
    then: { ready: 4, wanted: 5, waitingFor: ['shop/orders (0 of 1)'] },
  },
  'a count of an older spec does not count': {
    given: { deployments: [deployment(4, 1)] },
    then: { ready: 0, wanted: 4, waitingFor: ['shop/web (0 of 4)'] },
  },
  'a DaemonSet that nobody has counted is not done, though it wants no pods': {
    given: { daemonSets: [daemonSet(1, 0, 0)] },
    then: { ready: 0, wanted: 1, waitingFor: ['shop/agent (0 of 1)'] },
  },
  'a budget that nobody has counted would refuse every eviction, so it is waited for': {
    given: { budgets: [budget] },
    then: { ready: 0, wanted: 0, waitingFor: ['the count of budget shop/web'] },
  },
}
it.each(Object.entries(cases))('%s', (_name, { given, then }) => {
  const nothing = { nodes: [], deployments: [], statefulSets: [], daemonSets: [], budgets: [] }
  expect(judgeReadiness({ ...nothing, ...given })).toEqual(then)
})
