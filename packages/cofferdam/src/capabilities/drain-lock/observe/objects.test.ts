import type { Pod, Toleration } from '@cofferdam/kubernetes/api/core.ts'
import { barePod } from '@cofferdam/simulator/world/testing/scenario.ts'
import { describe, expect, it } from 'vitest'
import { parseHostedPod, parseHostNode } from './objects.ts'

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' } as const
const unreachable = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' } as const

describe('how long a pod outlives its node being away', () => {
  const cases: Record<string, [readonly Toleration[], number]> = {
    'not at all without a toleration': [[], 0],
    'not at all when it tolerates only one of the two': [[{ ...notReady, operator: 'Exists' }], 0],
    'as long as the shorter of the two': [
      [
        { ...notReady, operator: 'Exists', tolerationSeconds: 300 },
        { ...unreachable, operator: 'Exists', tolerationSeconds: 1_200 },
      ],
      300_000,
    ],
    'for ever when it tolerates everything': [[{ operator: 'Exists' }], Number.POSITIVE_INFINITY],
    'as long as the first toleration that fits says': [
      [{ operator: 'Exists', tolerationSeconds: 60 }, { operator: 'Exists' }],
      60_000,
    ],
    'not at all for a time below zero': [[{ operator: 'Exists', tolerationSeconds: -5 }], 0],
    'not at all when another effect is tolerated': [[{ operator: 'Exists', effect: 'NoSchedule' }], 0],
    'for ever with an empty value, which is what the taints have': [[notReady, unreachable], Number.POSITIVE_INFINITY],
    'not at all with another value': [[{ ...notReady, value: 'x' }, unreachable], 0],
  }

  it.each(Object.entries(cases))('%s', (_, [tolerations, ms]) => {
    expect(parseHostedPod(barePod('web-0', { tolerations })).toleratesMs).toBe(ms)
  })
})

describe('what becomes of a pod in a drain', () => {
  const owned = (kind: string): Partial<Pod['metadata']> => ({
    ownerReferences: [{ apiVersion: 'apps/v1', kind, name: 'x', uid: 'x', controller: true }],
  })
  const cases: Record<string, [Partial<Pod['metadata']>, Pod['status'], string]> = {
    'one of a DaemonSet stays anyway': [owned('DaemonSet'), {}, 'stays-anyway'],
    'one that mirrors a file on the node stays anyway': [
      { annotations: { 'kubernetes.io/config.mirror': 'hash' } },
      {},
      'stays-anyway',
    ],
    'one of a StatefulSet is ordinary': [owned('StatefulSet'), { phase: 'Running' }, 'ordinary'],
    'one that has not started is ordinary': [{}, { phase: 'Pending' }, 'ordinary'],
    'one that has ended is finished': [{}, { phase: 'Failed' }, 'finished'],
  }

  it.each(Object.entries(cases))('%s', (_, [metadata, status, kind]) => {
    const pod = barePod('web-0')
    expect(parseHostedPod({ ...pod, metadata: { ...pod.metadata, ...metadata }, status: status ?? {} }).kind).toBe(kind)
  })
})

it('a pod that is terminating says since when: the time on it is that of its end', () => {
  const pod = barePod('web-0')
  const { isLeaving, leaving } = parseHostedPod({
    ...pod,
    metadata: {
      ...pod.metadata,
      deletionTimestamp: '2026-01-01T00:01:00Z',
      deletionGracePeriodSeconds: 30,
      finalizers: ['shop.example/backup'],
    },
  })
  const endsMs = Date.parse('2026-01-01T00:01:00Z')
  expect({ isLeaving, leaving }).toEqual({
    isLeaving: true,
    leaving: { sinceMs: endsMs - 30_000, endsMs, finalizers: ['shop.example/backup'] },
  })
})

describe('a node', () => {
  it('that says nothing of itself is away, and takes pods', () => {
    expect(parseHostNode({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } })).toEqual({
      name: 'a',
      uid: '',
      bootID: '',
      isReady: false,
      isCordoned: false,
      shutdownGraceSeconds: undefined,
      cordonedBy: '',
    })
  })
})
