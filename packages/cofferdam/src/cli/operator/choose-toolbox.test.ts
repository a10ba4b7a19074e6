import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { chooseToolbox } from './choose-toolbox.ts'

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rook-ceph-tools-7b77', uid: 'rs-1', controller: true }

function toolbox(name: string, metadata: Partial<Pod['metadata']> = {}, ready: 'True' | 'False' = 'True'): Pod {
  const labels = { app: 'rook-ceph-tools', 'pod-template-hash': '7b77' }
  const creationTimestamp = '2026-01-01T00:00:00Z'
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'rook-ceph', name, labels, creationTimestamp, ownerReferences: [owner], ...metadata },
    spec: { containers: [] },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  }
}

const cases: Record<string, { given: readonly Pod[]; then: string | undefined }> = {
  'the pod of the Deployment is asked': { given: [toolbox('own')], then: 'own' },
  'a pod that only carries the label is not: it would answer what it likes for Ceph': {
    given: [toolbox('fake', { ownerReferences: [] }), toolbox('own')],
    then: 'own',
  },
  'alone it is not asked either: no answer is better than a forged one': {
    given: [toolbox('fake', { ownerReferences: [] })],
    then: undefined,
  },
  'a pod of another workload is not asked': {
    given: [toolbox('fake', { ownerReferences: [{ ...owner, name: 'mine-7b77' }] })],
    then: undefined,
  },
  'a pod that names the owner without being controlled by it is not asked': {
    given: [toolbox('fake', { ownerReferences: [{ ...owner, controller: false }] })],
    then: undefined,
  },
  'of two the older one is asked: a younger one may have put itself there': {
    given: [toolbox('late', { creationTimestamp: '2026-01-02T00:00:00Z' }), toolbox('own')],
    then: 'own',
  },
  'one that is not ready or is leaving is not asked': {
    given: [toolbox('sick', {}, 'False'), toolbox('leaving', { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    then: undefined,
  },
}

describe('the toolbox that speaks for Ceph', () => {
  it.each(Object.entries(cases))('%s', (_, { given, then }) => {
    expect(chooseToolbox(given)?.metadata.name).toBe(then)
  })
})
