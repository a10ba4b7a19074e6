import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { expect, it } from 'vitest'
import { slimPod } from './slim-objects.ts'

it('keeps since when a pod of an OSD is ready: without it a restart would not be noticed after Ceph was polled', () => {
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:10Z' } as const
  const other = { type: 'Initialized', status: 'True', lastTransitionTime: '2026-01-01T00:00:05Z' } as const
  const target = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' } as const
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'rook-ceph', name: 'rook-ceph-osd-0' },
    spec: { nodeName: 'node-a', containers: [] },
    status: { phase: 'Running', conditions: [other, ready, { ...target, lastTransitionTime: '2026-01-01T00:00:20Z' }] },
  }
  expect(slimPod(pod).status?.conditions).toEqual([ready, target])
})
