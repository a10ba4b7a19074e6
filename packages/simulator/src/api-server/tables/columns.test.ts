import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { describe, expect, it } from 'vitest'
import published from '../builtin/schemas.json' with { type: 'json' }
import { columnsOf } from './columns.ts'

const createdMs = Date.parse('2026-01-01T00:00:00Z')
const nowMs = createdMs + 330_000

function rowOf(group: string, kind: string, rest: object, metadata: object = {}): Record<string, unknown> {
  const object = {
    apiVersion: group === '' ? 'v1' : `${group}/v1`,
    kind,
    metadata: { name: 'x', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
    ...rest,
  } as KubeObject
  return Object.fromEntries(
    columnsOf({ group, kind }).map((column) => [
      column.priority === 1 ? `${column.name} (wide)` : column.name,
      column.cell(object, nowMs),
    ]),
  )
}

const template = {
  spec: {
    containers: [
      { name: 'a', image: 'one:1' },
      { name: 'b', image: 'two:2' },
    ],
  },
}
const selector = { matchLabels: { tier: 'back', app: 'web' } }
const wideTemplate = { 'Containers (wide)': 'a,b', 'Images (wide)': 'one:1,two:2' }

const scenarios: Record<string, { given: Parameters<typeof rowOf>; then: Record<string, unknown> }> = {
  'a cordoned node that is ready shows both, with its roles sorted': {
    given: [
      '',
      'Node',
      {
        spec: { unschedulable: true },
        status: {
          conditions: [{ type: 'Ready', status: 'True' }],
          addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
          nodeInfo: { kubeletVersion: 'v1.36.4', osImage: 'Debian', kernelVersion: '6.1', architecture: 'amd64' },
        },
      },
      { labels: { 'node-role.kubernetes.io/worker': '', 'node-role.kubernetes.io/storage': '' } },
    ],
    then: {
      Name: 'x',
      Status: 'Ready,SchedulingDisabled',
      Roles: 'storage,worker',
      Age: '5m30s',
      Version: 'v1.36.4',
      'Internal-IP (wide)': '10.0.0.1',
      'External-IP (wide)': '<none>',
      'OS-Image (wide)': 'Debian',
      'Kernel-Version (wide)': '6.1 (amd64)',
      'Container-Runtime (wide)': '<unknown>',
    },
  },
  'a budget with only a minimum has no maximum': {
    given: ['policy', 'PodDisruptionBudget', { spec: { minAvailable: '50%' }, status: { disruptionsAllowed: 1 } }],
    then: { Name: 'x', 'Min Available': '50%', 'Max Unavailable': 'N/A', 'Allowed Disruptions': 1, Age: '5m30s' },
  },
  'a budget with only a maximum, whose status nobody wrote yet, allows nothing': {
    given: ['policy', 'PodDisruptionBudget', { spec: { maxUnavailable: 0 } }],
    then: { Name: 'x', 'Min Available': 'N/A', 'Max Unavailable': '0', 'Allowed Disruptions': 0, Age: '5m30s' },
  },
  'a deployment shows how many of the wanted replicas are ready': {
    given: [
      'apps',
      'Deployment',
      {
        spec: { replicas: 3, selector, template },
        status: { readyReplicas: 2, updatedReplicas: 3, availableReplicas: 1 },
      },
    ],
    then: {
      Name: 'x',
      Ready: '2/3',
      'Up-to-date': 3,
      Available: 1,
      Age: '5m30s',
      ...wideTemplate,
      'Selector (wide)': 'app=web,tier=back',
    },
  },
  'a replica set counts what is wanted, there and ready': {
    given: [
      'apps',
      'ReplicaSet',
      { spec: { replicas: 3, selector, template }, status: { replicas: 3, readyReplicas: 1 } },
    ],
    then: {
      Name: 'x',
      Desired: 3,
      Current: 3,
      Ready: 1,
      Age: '5m30s',
      ...wideTemplate,
      'Selector (wide)': 'app=web,tier=back',
    },
  },
  'a stateful set shows readiness and no selector': {
    given: [
      'apps',
      'StatefulSet',
      { spec: { replicas: 2, selector, template }, status: { replicas: 2, readyReplicas: 2 } },
    ],
    then: { Name: 'x', Ready: '2/2', Age: '5m30s', ...wideTemplate },
  },
  'a daemon set shows its node selector': {
    given: [
      'apps',
      'DaemonSet',
      {
        spec: { selector, template: { spec: { ...template.spec, nodeSelector: { disk: 'ssd' } } } },
        status: { desiredNumberScheduled: 3, currentNumberScheduled: 2, numberReady: 1, updatedNumberScheduled: 2 },
      },
    ],
    then: {
      Name: 'x',
      Desired: 3,
      Current: 2,
      Ready: 1,
      'Up-to-date': 2,
      Available: 0,
      'Node Selector': 'disk=ssd',
      Age: '5m30s',
      ...wideTemplate,
      'Selector (wide)': 'app=web,tier=back',
    },
  },
  'a job that is done shows how long it took': {
    given: [
      'batch',
      'Job',
      {
        spec: { completions: 2, template, selector: { matchLabels: { job: 'x' } } },
        status: {
          succeeded: 2,
          startTime: '2026-01-01T00:00:00Z',
          completionTime: '2026-01-01T00:00:42Z',
          conditions: [{ type: 'Complete', status: 'True' }],
        },
      },
    ],
    then: {
      Name: 'x',
      Status: 'Complete',
      Completions: '2/2',
      Duration: '42s',
      Age: '5m30s',
      ...wideTemplate,
      'Selector (wide)': 'job=x',
    },
  },
  'an event shows when it was last seen and what it is about': {
    given: [
      '',
      'Event',
      {
        involvedObject: { kind: 'Pod', name: 'web-0', fieldPath: 'spec.containers{web}' },
        type: 'Warning',
        reason: 'FailedScheduling',
        message: ' no node fits \n',
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:05:00Z',
        count: 7,
        source: { component: 'default-scheduler' },
      },
    ],
    then: {
      'Last Seen': '30s',
      Type: 'Warning',
      Reason: 'FailedScheduling',
      Object: 'pod/web-0',
      'Subobject (wide)': 'spec.containers{web}',
      'Source (wide)': 'default-scheduler',
      Message: 'no node fits',
      'First Seen (wide)': '5m30s',
      'Count (wide)': 7,
      'Name (wide)': 'x',
    },
  },
  'an event of the newer API shows the same columns from its own fields': {
    given: [
      'events.k8s.io',
      'Event',
      {
        regarding: { kind: 'Node', name: 'n1' },
        type: 'Normal',
        reason: 'Drained',
        note: 'done',
        eventTime: '2026-01-01T00:05:20.000000Z',
        reportingController: 'cofferdam.io/operator',
        reportingInstance: 'op-1',
      },
    ],
    then: {
      'Last Seen': '10s',
      Type: 'Normal',
      Reason: 'Drained',
      Object: 'node/n1',
      'Subobject (wide)': '',
      'Source (wide)': 'cofferdam.io/operator, op-1',
      Message: 'done',
      'First Seen (wide)': '10s',
      'Count (wide)': 1,
      'Name (wide)': 'x',
    },
  },
  'a service of type LoadBalancer without an address is pending': {
    given: [
      '',
      'Service',
      {
        spec: {
          type: 'LoadBalancer',
          clusterIPs: ['10.96.0.1'],
          ports: [{ port: 80, nodePort: 30080, protocol: 'TCP' }],
          selector: { app: 'web' },
        },
      },
    ],
    then: {
      Name: 'x',
      Type: 'LoadBalancer',
      'Cluster-IP': '10.96.0.1',
      'External-IP': '<pending>',
      'Port(s)': '80:30080/TCP',
      Age: '5m30s',
      'Selector (wide)': 'app=web',
    },
  },
  'a volume claim that is not bound shows neither size nor modes': {
    given: ['', 'PersistentVolumeClaim', { spec: { storageClassName: 'fast' }, status: { phase: 'Pending' } }],
    then: {
      Name: 'x',
      Status: 'Pending',
      Volume: '',
      Capacity: '',
      'Access Modes': '',
      StorageClass: 'fast',
      VolumeAttributesClass: '<unset>',
      Age: '5m30s',
      'VolumeMode (wide)': '<unset>',
    },
  },
  'a bound volume shows its claim': {
    given: [
      '',
      'PersistentVolume',
      {
        spec: {
          capacity: { storage: '8Gi' },
          accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
          persistentVolumeReclaimPolicy: 'Retain',
          claimRef: { namespace: 'db', name: 'data' },
          volumeMode: 'Block',
        },
        status: { phase: 'Bound' },
      },
    ],
    then: {
      Name: 'x',
      Capacity: '8Gi',
      'Access Modes': 'RWO,RWX',
      'Reclaim Policy': 'Retain',
      Status: 'Bound',
      Claim: 'db/data',
      StorageClass: '',
      VolumeAttributesClass: '<unset>',
      Reason: '',
      Age: '5m30s',
      'VolumeMode (wide)': 'Block',
    },
  },
  'a lease shows who holds it': {
    given: ['coordination.k8s.io', 'Lease', { spec: { holderIdentity: 'op-1' } }],
    then: { Name: 'x', Holder: 'op-1', Age: '5m30s' },
  },
  'a secret shows how much is in it and nothing of what': {
    given: ['', 'Secret', { type: 'Opaque', data: { a: 'c2VjcmV0', b: '' } }],
    then: { Name: 'x', Type: 'Opaque', Data: 2, Age: '5m30s' },
  },
  'the default storage class is marked': {
    given: [
      'storage.k8s.io',
      'StorageClass',
      { provisioner: 'p' },
      { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    ],
    then: {
      Name: 'x (default)',
      Provisioner: 'p',
      ReclaimPolicy: 'Delete',
      VolumeBindingMode: 'Immediate',
      AllowVolumeExpansion: false,
      Age: '5m30s',
    },
  },
  'a role binding tells users, groups and service accounts apart': {
    given: [
      'rbac.authorization.k8s.io',
      'RoleBinding',
      {
        roleRef: { kind: 'ClusterRole', name: 'view' },
        subjects: [
          { kind: 'User', name: 'ann' },
          { kind: 'Group', name: 'ops' },
          { kind: 'ServiceAccount', name: 'bot', namespace: 'ci' },
        ],
      },
    ],
    then: {
      Name: 'x',
      Role: 'ClusterRole/view',
      Age: '5m30s',
      'Users (wide)': 'ann',
      'Groups (wide)': 'ops',
      'ServiceAccounts (wide)': 'ci/bot',
    },
  },
  'endpoints beyond the third are counted': {
    given: [
      '',
      'Endpoints',
      { subsets: [{ addresses: ['1', '2', '3', '4'].map((n) => ({ ip: `10.0.0.${n}` })), ports: [{ port: 80 }] }] },
    ],
    then: { Name: 'x', Endpoints: '10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 1 more...', Age: '5m30s' },
  },
  'a custom resource definition shows when it was created': {
    given: ['apiextensions.k8s.io', 'CustomResourceDefinition', {}],
    then: { Name: 'x', 'Created At': '2026-01-01T00:00:00Z' },
  },
  'a kind without columns of its own shows name and age': {
    given: ['example.com', 'Widget', {}],
    then: { Name: 'x', Age: '5m30s' },
  },
}

/** The required fields of every built-in kind at once. */
const leastOfAll = {
  spec: {
    template,
    containers: [],
    selector: {},
    schedule: '',
    jobTemplate: { spec: { template } },
    attacher: '',
    nodeName: '',
    source: {},
  },
  roleRef: {},
  provisioner: '',
  value: 0,
  addressType: '',
}

describe('the columns of kubectl get', () => {
  for (const [sentence, { given, then }] of Object.entries(scenarios)) {
    it(sentence, () => expect(rowOf(...given)).toEqual(then))
  }

  it('no kind that is served stumbles over an object with the least it may hold', () => {
    for (const key of Object.keys(published.kinds)) {
      const at = key.lastIndexOf('/')
      const [version, kind] = [key.slice(0, at), key.slice(at + 1)]
      const group = version.includes('/') ? (version.split('/')[0] as string) : ''
      expect(Object.values(rowOf(group, kind, leastOfAll)), key).not.toContain(undefined)
    }
  })
})
