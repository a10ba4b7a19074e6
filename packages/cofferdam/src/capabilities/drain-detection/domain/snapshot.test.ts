import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { parsePodOnNode } from '../../../shared/pod-on-node.ts'
import { buildAttempt } from './attempt.ts'
import { parseDrainedNode, podsLeftBy } from './snapshot.ts'

const atMs = Date.UTC(2026, 0, 1, 12)
const node = (annotation: string | undefined, spec: Node['spec'] = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: 'node-a',
    ...(annotation === undefined ? {} : { annotations: { 'cofferdam.io/eviction-attempted': annotation } }),
  },
  spec,
})

describe('what is read of a node', () => {
  it('an attempt is read as a guard wrote it', () => {
    expect(parseDrainedNode(node(buildAttempt({ by: 'alice', atMs }))).attempt).toEqual({ by: 'alice', atMs })
  })

  it('an attempt that was refused says what for, so that the condition can say it', () => {
    const attempt = { by: 'alice', atMs, refusedFor: 'pdb/shop/orders (AppLocked)' }
    expect(parseDrainedNode(node(buildAttempt(attempt))).attempt).toEqual(attempt)
  })

  const unreadable = [
    '',
    'yesterday',
    'null',
    '[]',
    '{"by":"alice"}',
    '{"by":1,"at":"2026-01-01T12:00:00Z"}',
    '{"by":"a","at":"noon"}',
  ]
  it.each(unreadable)('an annotation that says %j counts as none', (text) => {
    expect(parseDrainedNode(node(text)).attempt).toBeUndefined()
  })

  const taint = (key: string) => ({ taints: [{ key, effect: 'NoSchedule' as const }] })
  it.each([
    ['a cordoned node', { unschedulable: true }, true],
    ['a node that Karpenter empties without a cordon', taint('karpenter.sh/disrupted'), true],
    ['a node that the cluster autoscaler empties without a cordon', taint('ToBeDeletedByClusterAutoscaler'), true],
    ['a control-plane node', taint('node-role.kubernetes.io/control-plane'), false],
  ] as const)('%s: closed by a drainer is %s', (_name, spec, isCordoned) => {
    expect(parseDrainedNode(node(undefined, spec as Node['spec'])).isCordoned).toBe(isCordoned)
  })
})

const pod = (metadata: Partial<Pod['metadata']>, phase = 'Running', spec: Partial<Pod['spec']> = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'orders-0', namespace: 'shop', uid: 'a', ...metadata },
    spec: { containers: [], ...spec },
    status: { phase },
  }) as Pod
const deleted = { deletionTimestamp: '2026-01-01T12:00:00Z' }
const owned = (kind: string) => ({
  ownerReferences: [{ apiVersion: 'v1', kind, name: 'o', uid: 'o', controller: true }],
})
const toleration = { key: 'example.com/away', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 } as const

describe('whether a drain removes a pod', () => {
  const rows: Record<string, [Pod, boolean]> = {
    'one that runs is removed': [pod({}), true],
    'one that asks to stay is removed by every drain but the one that leaves it': [
      pod({ annotations: { 'cofferdam.io/skip-drain': 'true' } }),
      true,
    ],
    'one that still outlives a NoExecute taint is there': [pod({}, 'Running', { tolerations: [toleration] }), true],
    'one that is being deleted is there until it is gone': [pod(deleted), true],
    'one that has ended and is kept by a finalizer is there until it is gone': [
      pod({ ...deleted, finalizers: ['example.com/backup'] }, 'Failed'),
      true,
    ],
    'one that has finished costs nobody anything': [pod({}, 'Succeeded'), false],
    'one of a DaemonSet stays': [pod(owned('DaemonSet')), false],
    'one of a DaemonSet that is being replaced stays': [pod({ ...owned('DaemonSet'), ...deleted }), false],
    'the mirror of a static pod stays': [pod({ annotations: { 'kubernetes.io/config.mirror': 'x' } }), false],
  }
  it.each(Object.entries(rows))('%s', (_sentence, [seen, mustLeave]) => {
    expect(parsePodOnNode(seen).mustLeave).toBe(mustLeave)
  })
})

describe('pods that a request leaves on its node', () => {
  const request = (phase: string, metadata: object = {}): NodeDisruption =>
    ({
      apiVersion: 'cofferdam.io/v1alpha1',
      kind: 'NodeDisruption',
      metadata: { name: 'reboot-a', ...metadata },
      spec: { nodeName: 'node-a', intent: 'Reboot', honourSkipDrain: true },
      status: { phase, skippedPods: [{ namespace: 'shop', name: 'orders-0', uid: 'a' }] },
    }) as NodeDisruption

  it('are those of a request that is Drained', () => {
    expect(podsLeftBy([request('Drained')])).toEqual(['a'])
  })

  it.each(['Waiting', 'Locking', 'Draining', 'Recovering', 'Completed', 'Rejected'])(
    'are none while it is %s: their budgets may not be held',
    (phase) => {
      expect(podsLeftBy([request(phase)])).toEqual([])
    },
  )

  it('are none of one that has moved them all', () => {
    expect(podsLeftBy([{ ...request('Drained'), status: { phase: 'Drained' } }])).toEqual([])
  })

  it('are none once somebody has deleted it: what it holds is given back any moment', () => {
    expect(podsLeftBy([request('Drained', deleted)])).toEqual([])
  })
})
