import type { SubjectKind } from './subject-kind.ts'

const time = '2020-01-01T00:00:00Z'
const ready = {
  type: 'Ready',
  status: 'True',
  reason: 'KubeletReady',
  lastHeartbeatTime: time,
  lastTransitionTime: time,
}

export const nodeKind: SubjectKind = {
  kind: 'Node',
  apiVersion: 'v1',
  collection: '/api/v1/nodes',
  isClusterWide: true,
  valid: [
    {},
    { spec: { unschedulable: true } },
    { spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'], providerID: 'lab://1' } },
    { spec: { taints: [{ key: 'lab', value: 'yes', effect: 'NoSchedule' }] }, status: { capacity: { cpu: '4' } } },
  ],
  odd: [
    { spec: { taints: [{ key: 'bad key!', effect: 'NoSchedule' }] } },
    { spec: { taints: [{ key: 'lab', effect: 'Sometimes' }] } },
    {
      spec: {
        taints: [
          { key: 'lab', effect: 'NoSchedule' },
          { key: 'lab', effect: 'NoSchedule', value: 'x' },
        ],
      },
    },
    { spec: { podCIDRs: ['not a range'] } },
    { status: { capacity: { cpu: 'much' } } },
    { spec: { surprise: 1 } },
  ],
  edits: [
    { spec: { unschedulable: true } },
    { spec: { unschedulable: null } },
    { spec: { unschedulable: false } },
    { spec: { taints: [{ key: 'late', effect: 'NoExecute' }] } },
    { spec: { taints: null } },
    { metadata: { labels: { zone: 'one' } } },
  ],
  oddEdits: [
    { spec: { podCIDR: '10.2.0.0/24', podCIDRs: ['10.2.0.0/24'] } },
    { spec: { providerID: 'lab://2' } },
    { spec: { taints: [{ effect: 'NoSchedule' }] } },
    { status: { phase: 'Running' } },
  ],
  statusEdits: [
    { status: { conditions: [ready] } },
    { status: { conditions: [{ ...ready, status: 'Unknown' }] } },
    { status: { capacity: { cpu: '8', memory: '16Gi', pods: '110' }, allocatable: { cpu: '7500m' } } },
    { status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] } },
    { status: { nodeInfo: { kubeletVersion: 'v1.36.4' } } },
    { spec: { unschedulable: true }, status: { conditions: [ready] } },
    { metadata: { annotations: { from: 'status' } } },
    {},
  ],
  strategic: [
    { status: { conditions: [{ type: 'Ready', status: 'False' }] } },
    { spec: { taints: [{ key: 'merged', effect: 'NoSchedule' }] } },
  ],
  jsonPatches: [
    [{ op: 'add', path: '/spec/unschedulable', value: true }],
    [{ op: 'add', path: '/metadata/labels/zone', value: 'two' }],
  ],
  applied: [{ spec: { unschedulable: true } }, { spec: { taints: [{ key: 'applied', effect: 'NoSchedule' }] } }, {}],
  fieldSelectors: ['spec.unschedulable=true', 'spec.unschedulable=false', 'metadata.name={ns}-a', 'spec.taints=x'],
}

export const namespaceKind: SubjectKind = {
  kind: 'Namespace',
  apiVersion: 'v1',
  collection: '/api/v1/namespaces',
  isClusterWide: true,
  valid: [{}, { spec: { finalizers: ['kubernetes'] } }, { spec: { finalizers: ['lab.example/own'] } }],
  odd: [{ spec: { finalizers: ['unqualified'] } }, { status: { phase: 'Terminating' } }, { spec: { surprise: 1 } }],
  edits: [{ metadata: { labels: { team: 'one' } } }, { metadata: { annotations: { note: 'x' } } }],
  oddEdits: [
    { spec: { finalizers: ['lab.example/late'] } },
    { spec: null },
    { metadata: { labels: { 'kubernetes.io/metadata.name': 'other' } } },
    { status: { phase: 'Terminating' } },
  ],
  statusEdits: [
    { status: { phase: 'Active' } },
    { status: { phase: 'Terminating' } },
    { status: { conditions: [{ type: 'Custom', status: 'True', lastTransitionTime: time }] } },
    {},
  ],
  applied: [{}, { metadata: { labels: { team: 'two' } } }],
  fieldSelectors: ['status.phase=Active', 'metadata.name={ns}-a'],
}
