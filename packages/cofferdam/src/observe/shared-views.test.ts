import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { expect, it } from 'vitest'
import { parseHostedPod } from '../capabilities/drain-lock/observe/objects.ts'
import { parseSharedPod } from './shared-views.ts'

it('a pod is shared with everything that a drain knows of it: a field that was left out held in the first pass only, and an OSD went too early', () => {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'shop',
      name: 'web-0',
      uid: 'u',
      labels: { app: 'web' },
      annotations: { 'cofferdam.io/skip-drain': 'true' },
      deletionTimestamp: '2026-01-01T00:00:30Z',
      deletionGracePeriodSeconds: 30,
      finalizers: ['example.com/keep'],
    },
    spec: { nodeName: 'node-1', containers: [], evictionResponders: [{ name: 'acme.io/mover' }] },
  }
  const hosted = parseHostedPod(pod)
  expect(Object.keys(hosted)).toEqual(expect.arrayContaining(['leaving', 'responders']))
  expect(parseSharedPod(pod)).toMatchObject(hosted)
})
