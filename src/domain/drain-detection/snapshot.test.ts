import { describe, expect, it } from 'vitest'
import type { Node } from '../../api/core.ts'
import { buildAttempt } from './attempt.ts'
import { parseDrainedNode } from './snapshot.ts'

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
