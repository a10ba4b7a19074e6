import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { describe, expect, it } from 'vitest'
import { strategyOf } from './strategies.ts'

type Fields = Record<string, unknown>

function objectOf(kind: string, fields: Fields): KubeObject {
  return { apiVersion: 'x', kind, metadata: { name: 'it', namespace: 'shop', uid: 'u-1' }, ...fields } as KubeObject
}

function prepared(group: string, object: KubeObject, previous?: KubeObject): KubeObject & Fields {
  const { prepare, admit } = strategyOf({ group, kind: object.kind })
  const filled = prepare?.(object, previous) ?? object
  return ((previous === undefined ? admit?.(filled, false) : undefined) ?? filled) as KubeObject & Fields
}

const selector = { matchLabels: { app: 'web' } }
const template = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'web', image: 'nginx:1' }] },
}
const plainTemplate = (changes: Fields = {}) => ({ ...template, spec: { ...template.spec, ...changes } })
const workload = (changes: Fields = {}) => ({ spec: { selector, template, ...changes } })

describe('what the built-in kinds are given', () => {
  it('a deployment rolls a quarter at a time', () => {
    const { spec } = prepared('apps', objectOf('Deployment', workload()))
    expect(spec).toMatchObject({
      replicas: 1,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      template: { spec: { restartPolicy: 'Always', terminationGracePeriodSeconds: 30 } },
    })
  })

  it('a namespace and a claim whose status names no phase have their first one: who waits for it would wait for ever', () => {
    const conditions = [{ type: 'Custom', status: 'True' }]
    const phased = (kind: string, phase: string) => {
      const before = objectOf(kind, { status: { phase } })
      return prepared('', objectOf(kind, { status: { conditions } }), before)['status']
    }
    expect(phased('Namespace', 'Active')).toEqual({ phase: 'Active', conditions })
    expect(phased('PersistentVolumeClaim', 'Bound')).toEqual({ phase: 'Pending', conditions })
  })

  it('a daemon set is updated one node at a time', () => {
    expect(prepared('apps', objectOf('DaemonSet', workload()))['spec']).toMatchObject({
      revisionHistoryLimit: 10,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    })
  })

  it('a stateful set goes in order and keeps its claims', () => {
    expect(prepared('apps', objectOf('StatefulSet', workload()))['spec']).toMatchObject({
      replicas: 1,
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    })
  })

  it('what is complete is not copied', () => {
    for (const kind of ['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet']) {
      const whole = prepared('apps', objectOf(kind, workload()))
      expect(prepared('apps', whole), kind).toBe(whole)
    }
  })

  it('a job finds its pods by its own uid', () => {
    const job = objectOf('Job', { spec: { template: plainTemplate({ restartPolicy: 'Never' }) } })
    expect(prepared('batch', job)['spec']).toMatchObject({
      completions: 1,
      parallelism: 1,
      backoffLimit: 6,
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u-1' } },
      template: {
        metadata: {
          labels: { app: 'web', 'controller-uid': 'u-1', 'batch.kubernetes.io/job-name': 'it', 'job-name': 'it' },
        },
      },
    })
  })

  it('a namespace is active, is labelled with its name, and is held by its content', () => {
    const { metadata, spec, status } = prepared('', objectOf('Namespace', {}))
    expect([metadata.labels, spec, status]).toEqual([
      { 'kubernetes.io/metadata.name': 'it' },
      { finalizers: ['kubernetes'] },
      { phase: 'Active' },
    ])
  })

  it('a secret has its plain texts encoded among its data', () => {
    const secret = prepared('', objectOf('Secret', { data: { a: 'YQ==' }, stringData: { b: 'b' } }))
    expect([secret['data'], secret['type'], 'stringData' in secret]).toEqual([
      { a: 'YQ==', b: 'Yg==' },
      'Opaque',
      false,
    ])
  })

  it('a service has an address that it keeps', () => {
    const service = prepared('', objectOf('Service', { spec: { ports: [{ port: 80 }] } }))
    const { clusterIP } = service['spec'] as { clusterIP: string }
    expect(clusterIP).toMatch(/^10\.(9[6-9]|10\d|11[01])\.\d+\.\d+$/)
    const updated = prepared('', objectOf('Service', { spec: { ports: [{ port: 81 }] } }), service)
    expect(updated['spec']).toMatchObject({
      clusterIP,
      clusterIPs: [clusterIP],
      type: 'ClusterIP',
      ports: [{ port: 81, protocol: 'TCP', targetPort: 81 }],
    })
  })

  it('a headless service has none', () => {
    const service = prepared('', objectOf('Service', { spec: { clusterIP: 'None', ports: [{ port: 80 }] } }))
    expect(service['spec']).toMatchObject({ clusterIP: 'None', clusterIPs: ['None'] })
  })

  it('a webhook fails closed after ten seconds unless it says otherwise', () => {
    const configuration = objectOf('ValidatingWebhookConfiguration', {
      webhooks: [
        { name: 'a.b.c', clientConfig: { service: { namespace: 'a', name: 'b' } }, rules: [{ resources: ['*'] }] },
      ],
    })
    expect(prepared('admissionregistration.k8s.io', configuration)['webhooks']).toEqual([
      {
        name: 'a.b.c',
        clientConfig: { service: { namespace: 'a', name: 'b', port: 443 } },
        rules: [{ resources: ['*'], scope: '*' }],
        failurePolicy: 'Fail',
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        timeoutSeconds: 10,
      },
    ])
  })

  it('a storage class deletes and binds at once unless it says otherwise', () => {
    expect(prepared('storage.k8s.io', objectOf('StorageClass', { provisioner: 'x' }))).toMatchObject({
      reclaimPolicy: 'Delete',
      volumeBindingMode: 'Immediate',
    })
  })
})
