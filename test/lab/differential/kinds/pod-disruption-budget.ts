import type { SubjectKind } from './subject-kind.ts'

const selector = { matchLabels: { app: 'x' } }

export const podDisruptionBudgetKind: SubjectKind = {
  kind: 'PodDisruptionBudget',
  apiVersion: 'policy/v1',
  collection: '/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets',
  valid: [
    { spec: { minAvailable: 1, selector } },
    { spec: { maxUnavailable: '50%', selector } },
    { spec: { minAvailable: '100%', selector: {}, unhealthyPodEvictionPolicy: 'AlwaysAllow' } },
    { spec: { maxUnavailable: 0 } },
    { spec: {} },
    {},
  ],
  odd: [
    { spec: { minAvailable: 1, maxUnavailable: 1, selector } },
    { spec: { minAvailable: -1, selector } },
    { spec: { minAvailable: '120%', selector } },
    { spec: { minAvailable: 'half', selector } },
    { spec: { minAvailable: 1.5, selector } },
    { spec: { minAvailable: 1, selector: { matchLabels: { 'bad key!': 'x' } } } },
    { spec: { minAvailable: 1, selector: { matchExpressions: [{ key: 'app', operator: 'In' }] } } },
    { spec: { minAvailable: 1, selector, unhealthyPodEvictionPolicy: 'Perhaps' } },
    { spec: { minAvailable: 1, selector }, status: { disruptionsAllowed: 9 } },
    { spec: { minAvailable: 1, selector, extra: 1 } },
  ],
  edits: [
    { spec: { minAvailable: 2, maxUnavailable: null } },
    { spec: { maxUnavailable: 1, minAvailable: null } },
    { spec: { selector: { matchLabels: { app: 'y' } } } },
    { spec: { unhealthyPodEvictionPolicy: 'IfHealthyBudget' } },
    { spec: { minAvailable: null, maxUnavailable: null } },
  ],
  oddEdits: [
    { spec: { minAvailable: 1, maxUnavailable: 1 } },
    { spec: { minAvailable: -1 } },
    { spec: null },
    { status: { disruptionsAllowed: 5 } },
    { spec: { unhealthyPodEvictionPolicy: 'Never' } },
  ],
  statusEdits: [
    { status: { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2, observedGeneration: 1 } },
    { status: { disruptionsAllowed: -1, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 } },
    { status: { disruptedPods: { 'pod-1': '2020-01-01T00:00:00Z' } } },
    { spec: { minAvailable: 9 }, status: { observedGeneration: 3 } },
    {},
  ],
  strategic: [{ spec: { selector: { $patch: 'replace', matchLabels: { app: 'z' } } } }],
  jsonPatches: [
    [{ op: 'replace', path: '/spec/minAvailable', value: 3 }],
    [{ op: 'add', path: '/spec/minAvailable', value: '30%' }],
    [{ op: 'remove', path: '/spec/selector' }],
  ],
  applied: [
    { spec: { minAvailable: 1, selector } },
    { spec: { maxUnavailable: '10%' } },
    { spec: { minAvailable: 2 } },
    { spec: {} },
  ],
}
