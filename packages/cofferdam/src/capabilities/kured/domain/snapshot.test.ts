import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { expect, it } from 'vitest'
import { type KuredNode, parseKuredNode, rebootWantedAnnotation } from './snapshot.ts'

const bare: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1', uid: 'uid of node-1' } }
const nodeInfo = { bootID: 'boot-1' } as NonNullable<NonNullable<Node['status']>['nodeInfo']>
const condition = (type: string, status: 'True' | 'False') => ({ type, status, lastTransitionTime: '' })

const cases: Record<string, [Node, Partial<KuredNode>]> = {
  'that says nothing yet is not Ready and has no boot that could be ended': [bare, {}],
  'without a uid and annotations, as a program of others may pass it, is read all the same': [
    { ...bare, metadata: { name: 'node-1' } },
    { uid: '' },
  ],
  'that kured wants to reboot says since when': [
    { ...bare, metadata: { ...bare.metadata, annotations: { [rebootWantedAnnotation]: '2026-01-07T12:00:00Z' } } },
    { wantedSince: '2026-01-07T12:00:00Z' },
  ],
  'that is up says in which boot': [
    { ...bare, status: { nodeInfo, conditions: [condition('Ready', 'True')] } },
    { bootID: 'boot-1', isReady: true },
  ],
  'that drain detection found drained says so': [
    { ...bare, status: { conditions: [condition('Drained', 'True')] } },
    { isDrained: true },
  ],
  'that is not drained says so: without the word a reboot with pods on it would not be reported': [
    { ...bare, status: { conditions: [condition('Drained', 'False')] } },
    { isDrained: false },
  ],
}

it.each(Object.entries(cases))('a node %s', (_, [node, expected]) => {
  expect(parseKuredNode(node)).toEqual({
    name: 'node-1',
    uid: 'uid of node-1',
    bootID: '',
    isReady: false,
    ...expected,
  })
})
