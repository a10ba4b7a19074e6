import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { SubjectKind } from './subject-kind.ts'

const labels = { app: 'web' }
const container = { name: 'main', image: 'registry.example/app:1' }
const template = { metadata: { labels }, spec: { containers: [container] } }
const spec = { replicas: 2, selector: { matchLabels: labels }, template }
const condition = { type: 'Available', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' }

const both: Omit<SubjectKind, 'kind' | 'apiVersion' | 'collection'> = {
  valid: [{ spec }, { spec: { ...spec, replicas: 0 } }, { spec: { selector: spec.selector, template } }],
  odd: [
    {},
    { spec: {} },
    { spec: { ...spec, replicas: -1 } },
    { spec: { ...spec, selector: { matchLabels: { app: 'other' } } } },
    { spec: { ...spec, selector: {} } },
    { spec: { ...spec, template: { spec: template.spec } } },
    { spec: { ...spec, template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } } },
    { spec: { ...spec, minReadySeconds: -1 } },
    { spec: { ...spec, surprise: true } },
    { spec: { ...spec, selector: { matchExpressions: [{ key: 'app', operator: 'Near' }] } } },
  ],
  edits: [
    { spec: { replicas: 3 } },
    { spec: { replicas: 2 } },
    { spec: { template: { metadata: { labels: { app: 'web', round: '2' } } } } },
    { spec: { template: { spec: { containers: [{ ...container, image: 'registry.example/app:2' }] } } } },
    { spec: { minReadySeconds: 5 } },
    { spec: { replicas: null } },
  ],
  oddEdits: [
    { spec: { selector: { matchLabels: { app: 'other' } } } },
    { spec: { replicas: -3 } },
    { spec: { template: { metadata: { labels: null } } } },
    { spec: { template: null } },
    { status: { replicas: 5 } },
    { spec: { replicas: 'many' } },
  ],
  statusEdits: [
    { status: { replicas: 2, readyReplicas: 1 } },
    { status: { replicas: 2, readyReplicas: 2, availableReplicas: 2, observedGeneration: 1 } },
    { status: { replicas: -1 } },
    { status: { replicas: 1, availableReplicas: 2 } },
    { status: { conditions: [condition] } },
    { spec: { replicas: 9 }, status: { replicas: 3 } },
    { metadata: { annotations: { from: 'status' } }, status: {} },
    {},
  ],
  strategic: [
    { spec: { template: { spec: { containers: [{ name: 'main', image: 'registry.example/app:3' }] } } } },
    { spec: { template: { spec: { containers: [{ name: 'side', image: 'registry.example/side' }] } } } },
    { spec: { template: { spec: { containers: [{ name: 'side', $patch: 'delete' }] } } } },
  ],
  jsonPatches: [[{ op: 'replace', path: '/spec/replicas', value: 7 }], [{ op: 'remove', path: '/spec/template' }]],
  applied: [
    { spec },
    { spec: { ...spec, replicas: 4 } },
    { spec: { replicas: 4 } },
    { spec: { selector: spec.selector, template } },
    { spec: { template: { spec: { containers: [{ name: 'main', image: 'registry.example/app:9' }] } } } },
  ],
  fieldSelectors: ['metadata.name=a', 'status.replicas=2', 'spec.replicas=2'],
}

export const deploymentKind: SubjectKind = {
  ...both,
  kind: 'Deployment',
  apiVersion: 'apps/v1',
  collection: '/apis/apps/v1/namespaces/{ns}/deployments',
  edits: [...both.edits, { spec: { paused: true } }, { spec: { strategy: { type: 'Recreate', rollingUpdate: null } } }],
  oddEdits: [
    ...both.oddEdits,
    { spec: { strategy: { type: 'Recreate' } } },
    { spec: { strategy: { type: 'Sudden' } } },
    { spec: { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } } },
    { spec: { revisionHistoryLimit: -1 } },
    { spec: { progressDeadlineSeconds: 0 } },
  ] as JsonObject[],
}

export const replicaSetKind: SubjectKind = {
  ...both,
  kind: 'ReplicaSet',
  apiVersion: 'apps/v1',
  collection: '/apis/apps/v1/namespaces/{ns}/replicasets',
}
