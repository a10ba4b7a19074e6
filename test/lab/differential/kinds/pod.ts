import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { SubjectKind } from './subject-kind.ts'

const container = { name: 'main', image: 'registry.example/app:1' }
const bound = { nodeName: 'machine-1', containers: [container] }

export const readyStatus: JsonObject = {
  status: {
    phase: 'Running',
    podIP: '10.9.0.1',
    podIPs: [{ ip: '10.9.0.1' }],
    startTime: '2020-01-01T00:00:00Z',
    conditions: [
      { type: 'Ready', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' },
      { type: 'PodScheduled', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' },
    ],
  },
}
export const unreadyStatus: JsonObject = {
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'False', reason: 'Crashed', lastTransitionTime: '2020-01-01T00:00:00Z' }],
  },
}

export const podKind: SubjectKind = {
  kind: 'Pod',
  apiVersion: 'v1',
  collection: '/api/v1/namespaces/{ns}/pods',
  valid: [
    { spec: bound },
    { spec: { containers: [container] } },
    { spec: { ...bound, terminationGracePeriodSeconds: 5 } },
    {
      spec: {
        ...bound,
        containers: [
          {
            ...container,
            ports: [{ containerPort: 80 }],
            env: [{ name: 'A', value: 'a' }],
            resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '0.5' } },
          },
          { name: 'side', image: 'registry.example/side', readinessProbe: { httpGet: { port: 80 } } },
        ],
        tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }],
        volumes: [{ name: 'data', emptyDir: {} }],
      },
      status: { phase: 'Running' },
    },
  ],
  odd: [
    {},
    { spec: {} },
    { spec: { containers: [] } },
    { spec: { containers: [{ name: 'main' }] } },
    { spec: { containers: [{ name: 'Not A Name', image: 'x' }] } },
    { spec: { containers: [container, container] } },
    { spec: { ...bound, restartPolicy: 'Sometimes' } },
    { spec: { ...bound, surprise: 1 } },
    { spec: { containers: 'none' } },
    { spec: { ...bound, terminationGracePeriodSeconds: -5 } },
    { spec: { ...bound, containers: [{ ...container, resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } }] } },
    { spec: { ...bound, containers: [{ ...container, resources: { limits: { cpu: 'much' } } }] } },
    { spec: { ...bound, containers: [{ ...container, ports: [{ containerPort: 99999 }] }] } },
    { spec: { ...bound, containers: [{ ...container, volumeMounts: [{ name: 'absent', mountPath: '/x' }] }] } },
    { spec: { ...bound, nodeName: 'Not A Node' } },
    { spec: { ...bound, priorityClassName: 'absent' } },
    { spec: { ...bound, dnsPolicy: 'None' } },
    { spec: { ...bound, activeDeadlineSeconds: 0 } },
    { spec: { ...bound, tolerations: [{ operator: 'Equal' }] } },
    { spec: { ...bound, nodeSelector: { 'bad key!': 'x' } } },
    {
      spec: {
        ...bound,
        hostNetwork: true,
        containers: [{ ...container, ports: [{ containerPort: 80, hostPort: 81 }] }],
      },
    },
  ],
  edits: [
    { spec: { containers: [{ ...container, image: 'registry.example/app:2' }] } },
    { spec: { activeDeadlineSeconds: 60 } },
    { metadata: { labels: { app: 'y' } } },
    { spec: { tolerations: [{ key: 'extra', operator: 'Exists' }] } },
  ],
  oddEdits: [
    { spec: { nodeName: 'machine-2' } },
    { spec: { containers: [{ name: 'other', image: 'x' }] } },
    { spec: { restartPolicy: 'Never' } },
    { spec: { terminationGracePeriodSeconds: 1 } },
    { spec: null },
    { spec: { activeDeadlineSeconds: -1 } },
    { spec: { containers: [] } },
    { status: { phase: 'Failed' } },
    { spec: { schedulingGates: [{ name: 'late' }] } },
  ],
  statusEdits: [
    readyStatus,
    readyStatus,
    unreadyStatus,
    { status: { phase: 'Succeeded' } },
    { status: { phase: 'Failed', reason: 'Evicted', message: 'gone' } },
    { status: { phase: 'Asleep' } },
    { status: { conditions: [{ type: 'Ready', status: 'Perhaps' }] } },
    { status: { podIPs: [{ ip: 'not an address' }] } },
    { status: { nominatedNodeName: 'machine-9' } },
    { status: { observedGeneration: 7 } },
    { spec: { activeDeadlineSeconds: 5 }, status: { message: 'status only' } },
    { metadata: { labels: { from: 'status' } }, status: { phase: 'Running' } },
    {
      status: {
        containerStatuses: [
          { name: 'main', ready: true, restartCount: 0, image: 'i', imageID: '', state: { running: {} } },
        ],
      },
    },
    { status: { qosClass: 'Guaranteed' } },
    {},
  ],
  strategic: [
    { spec: { containers: [{ name: 'main', image: 'registry.example/app:3' }] } },
    { spec: { containers: [{ image: 'registry.example/app:3' }] } },
    { spec: { tolerations: [{ key: 'more', operator: 'Exists' }] } },
    { spec: { containers: [{ name: 'main', $patch: 'delete' }] } },
    { status: { conditions: [{ type: 'Ready', status: 'False' }] } },
  ],
  jsonPatches: [
    [{ op: 'replace', path: '/spec/containers/0/image', value: 'registry.example/app:4' }],
    [{ op: 'add', path: '/spec/containers/-', value: container }],
    [{ op: 'remove', path: '/spec/containers/7' }],
    [{ op: 'add', path: '/metadata/labels/app', value: 'z' }],
    [{ op: 'test', path: '/spec/containers/0/name', value: 'other' }],
    [{ op: 'remove', path: '/spec' }],
  ],
  applied: [
    { spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }] } },
    { spec: { containers: [{ name: 'main', image: 'registry.example/app:5' }] } },
    { spec: bound },
    { spec: { containers: [{ image: 'nameless' }] } },
    { status: { phase: 'Running' } },
  ],
  fieldSelectors: [
    'spec.nodeName=machine-1',
    'status.phase=Running',
    'status.phase!=Running',
    'spec.restartPolicy=Always,status.phase=Pending',
    'spec.containers=x',
    'metadata.namespace={ns}',
    'status.podIP=10.9.0.1',
  ],
}
