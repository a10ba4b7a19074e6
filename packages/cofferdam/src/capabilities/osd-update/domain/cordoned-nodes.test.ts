import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { expect, it } from 'vitest'
import { cordonedNodes } from './cordoned-nodes.ts'

function pod(
  node: string | undefined,
  given: { readonly phase?: 'Pending' | 'Running'; readonly isLeaving?: true } = {},
): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'osd', ...(given.isLeaving && { deletionTimestamp: '2026-11-15T08:00:00Z' }) },
    spec: { containers: [], ...(node !== undefined && { nodeName: node }) },
    status: { phase: given.phase ?? 'Running' },
  }
}

it('a cordoned node counts while an OSD runs on it; one that is remembered counts until it is open, whatever runs there', () => {
  const pods = [
    pod('node-b'),
    pod('node-a', { isLeaving: true }),
    pod('node-a'),
    pod('node-open'),
    pod('node-leaving', { isLeaving: true }),
    pod('node-starting', { phase: 'Pending' }),
    pod(undefined, { phase: 'Pending' }),
    pod('node-had'),
    pod('node-z'),
  ]
  const turns = { had: ['node-had', 'node-reopened'], open: { nodes: ['node-drained', 'node-open'], askedMs: 1 } }
  const isClosed = (node: string) => node !== 'node-open' && node !== 'node-reopened'
  expect(cordonedNodes({ pods, record: { turns }, isClosed })).toEqual([
    { name: 'node-a', runsOsds: true },
    { name: 'node-b', runsOsds: true },
    { name: 'node-drained', runsOsds: false },
    { name: 'node-had', runsOsds: true },
    { name: 'node-z', runsOsds: true },
  ])
})
