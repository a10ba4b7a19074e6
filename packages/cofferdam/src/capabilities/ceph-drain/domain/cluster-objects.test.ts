import { expect, it } from 'vitest'
import { parseNode } from './cluster-objects.ts'

it('a node is cordoned when it takes no pods, and not because it is unwell', () => {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' } }
  const named = { name: 'node-a', hostname: 'node-a' }
  expect(parseNode({ ...node, spec: { unschedulable: true } })).toEqual({ ...named, isCordoned: true, isClosed: true })
  expect(parseNode({ ...node, spec: { taints: [{ key: 'x', effect: 'NoSchedule' }] } })).toEqual({
    ...named,
    isCordoned: false,
    isClosed: false,
  })
})

it('a node that a tool empties with its taint alone takes no pods either', () => {
  const taints = [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }] as const
  expect(parseNode({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' }, spec: { taints } })).toEqual({
    name: 'node-a',
    hostname: 'node-a',
    isCordoned: false,
    isClosed: true,
  })
})
