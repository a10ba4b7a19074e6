import type { KubeObject, ObjectMeta } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { deployments, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { fixture, inDefault, pod } from './testing/fixture.ts'

const volumeAttachments: ResourceType = {
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'volumeattachments',
  kind: 'VolumeAttachment',
  namespaced: false,
}

const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '11111111-2222-4333-8444-555555555555' }
const sent: Partial<ObjectMeta> = {
  generateName: 'other-',
  labels: { app: 'other' },
  annotations: { note: 'other' },
  ownerReferences: [owner],
}

const subjects: Record<string, { type: ResourceType; object: KubeObject; taken: Partial<ObjectMeta> }> = {
  'a node takes all of it along': {
    type: nodes,
    object: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } },
    taken: sent,
  },
  'a pod leaves its owners as they are: whoever reports it would take it from its controller': {
    type: pods,
    object: pod('a'),
    taken: { ...sent, ownerReferences: undefined as never },
  },
  'a deployment leaves its labels as they are': {
    type: deployments,
    object: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: inDefault('a'),
      spec: {
        selector: { matchLabels: { app: 'x' } },
        template: { metadata: { labels: { app: 'x' } }, spec: pod('x').spec },
      },
    } as KubeObject,
    taken: { ...sent, labels: undefined as never },
  },
  'a volume attachment takes the prefix of its name and no more': {
    type: volumeAttachments,
    object: {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'VolumeAttachment',
      metadata: { name: 'a' },
      spec: { attacher: 'example.com', nodeName: 'n1', source: { persistentVolumeName: 'v1' } },
    } as KubeObject,
    taken: { generateName: 'other-' },
  },
}

describe('the metadata that comes with a status', () => {
  for (const [sentence, { type, object, taken }] of Object.entries(subjects)) {
    it(`of ${sentence}`, async () => {
      const { api } = fixture()
      const made = await api.create(type, object)
      const written = { ...made, metadata: { ...made.metadata, ...sent } }
      const { metadata } = await api.update(type, written, { subresource: 'status' })
      const { generateName, labels, annotations, ownerReferences } = metadata
      const before = made.metadata.annotations
      expect({ generateName, labels, annotations, ownerReferences }).toEqual({ annotations: before, ...taken })
    })
  }

  it('takes back what the writer has not seen: a client that writes an old object would otherwise pass here and undo others there', async () => {
    const { api } = fixture()
    const made = await api.create(pods, pod('a'))
    await api.patch(pods, inDefault('a'), { type: 'merge', body: { metadata: { generateName: 'other-' } } })
    const { resourceVersion: _, ...metadata } = made.metadata
    const written = await api.update(pods, { ...made, metadata }, { subresource: 'status' })
    expect(written.metadata.generateName).toBeUndefined()
  })

  it('says nothing of the uid, the times and the generation, which stay', async () => {
    const { api } = fixture()
    const made = await api.create(pods, pod('a', {}, { finalizers: ['example.com/hold'] }))
    const leaving = await api.delete(pods, inDefault('a'))
    const { uid: _, generation: __, creationTimestamp: ___, ...metadata } = made.metadata
    const old = { ...made, metadata: { ...metadata, resourceVersion: '' }, status: { phase: 'Running' } }
    const written = await api.update(pods, old as never, { subresource: 'status' })
    const { resourceVersion: ____, managedFields: _____, ...kept } = written.metadata
    expect(leaving.metadata).toMatchObject(kept)
    expect(kept.deletionTimestamp).toBeDefined()
  })
})
