import type { SubjectKind } from './subject-kind.ts'

export const leaseKind: SubjectKind = {
  kind: 'Lease',
  apiVersion: 'coordination.k8s.io/v1',
  collection: '/apis/coordination.k8s.io/v1/namespaces/{ns}/leases',
  valid: [
    {},
    { spec: { holderIdentity: 'one', leaseDurationSeconds: 15, renewTime: '2020-01-01T00:00:00.000000Z' } },
    { spec: { holderIdentity: '', leaseTransitions: 1 } },
  ],
  odd: [
    { spec: { leaseDurationSeconds: 0 } },
    { spec: { leaseTransitions: -1 } },
    { spec: { renewTime: 'yesterday' } },
    { spec: { leaseDurationSeconds: 'long' } },
    { spec: { renewTime: '2020-01-01T00:00:00Z' } },
    { spec: { strategy: 'OldestEmulationVersion' } },
  ],
  edits: [
    { spec: { holderIdentity: 'two', leaseTransitions: 2 } },
    { spec: { renewTime: '2020-01-01T00:00:10.000000Z' } },
    { spec: { holderIdentity: null } },
  ],
  oddEdits: [{ spec: { leaseDurationSeconds: -1 } }, { spec: null }, { spec: { surprise: 1 } }],
  jsonPatches: [[{ op: 'replace', path: '/spec/holderIdentity', value: 'three' }]],
  applied: [{ spec: { holderIdentity: 'applied' } }, { spec: { leaseDurationSeconds: 30 } }],
}

export const serviceKind: SubjectKind = {
  kind: 'Service',
  apiVersion: 'v1',
  collection: '/api/v1/namespaces/{ns}/services',
  valid: [
    { spec: { ports: [{ port: 80 }], selector: { app: 'x' } } },
    { spec: { clusterIP: 'None', selector: { app: 'x' } } },
    { spec: { type: 'NodePort', ports: [{ port: 80, targetPort: 'http' }] } },
    { spec: { type: 'ExternalName', externalName: 'db.example' } },
  ],
  odd: [
    {},
    { spec: {} },
    { spec: { ports: [{ port: 0 }] } },
    { spec: { ports: [{ port: 80 }, { port: 81 }] } },
    {
      spec: {
        ports: [
          { name: 'a', port: 80 },
          { name: 'a', port: 81 },
        ],
      },
    },
    { spec: { type: 'Magic', ports: [{ port: 80 }] } },
    { spec: { clusterIP: 'not an address', ports: [{ port: 80 }] } },
    { spec: { ports: [{ port: 80, protocol: 'HTTP' }] } },
    { spec: { selector: { 'bad key!': 'x' }, ports: [{ port: 80 }] } },
    { spec: { type: 'ExternalName' } },
  ],
  edits: [
    { spec: { ports: [{ port: 8080, protocol: 'TCP', targetPort: 8080 }] } },
    { spec: { selector: { app: 'y' } } },
    { spec: { sessionAffinity: 'ClientIP' } },
  ],
  oddEdits: [
    { spec: { clusterIP: '10.0.0.77', clusterIPs: ['10.0.0.77'] } },
    { spec: { ports: [] } },
    { spec: { sessionAffinity: 'Sticky' } },
    { spec: { type: 'ClusterIP', clusterIP: null } },
  ],
  statusEdits: [{ status: { loadBalancer: { ingress: [{ ip: '10.5.5.5' }] } } }, { status: {} }, {}],
  strategic: [{ spec: { ports: [{ port: 81, name: 'more' }] } }, { spec: { ports: [{ port: 80, $patch: 'delete' }] } }],
  applied: [
    { spec: { ports: [{ port: 80 }], selector: { app: 'x' } } },
    { spec: { ports: [{ name: 'web', port: 80, protocol: 'TCP' }] } },
    { spec: { selector: { app: 'applied' } } },
  ],
  fieldSelectors: ['spec.type=ClusterIP', 'spec.clusterIP=None', 'spec.ports=80'],
}
