import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { expect, it } from 'vitest'
import { parseConfiguredNode } from './parse-node.ts'
import type { ConfigDrain } from './snapshot.ts'

const bare: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker-1' } }

function wishing(desiredDrain: string, lastAppliedDrain?: string): Node {
  const prefix = 'machineconfiguration.openshift.io'
  const done = lastAppliedDrain === undefined ? {} : { [`${prefix}/lastAppliedDrain`]: lastAppliedDrain }
  return { ...bare, metadata: { name: 'worker-1', annotations: { [`${prefix}/desiredDrain`]: desiredDrain, ...done } } }
}

const drains: Record<string, [Node, ConfigDrain | undefined]> = {
  'without annotations wants nothing: it may be of another cluster than OpenShift': [bare, undefined],
  'that never was drained before asks for it': [
    wishing('drain-rendered-2'),
    { wish: 'drain-rendered-2', config: 'rendered-2', is: 'asked' },
  ],
  'that was drained is about to reboot, and is not to be drained once more': [
    wishing('drain-rendered-2', 'drain-rendered-2'),
    { wish: 'drain-rendered-2', config: 'rendered-2', is: 'done' },
  ],
  'that waits for its uncordon is still in its update': [
    wishing('uncordon-rendered-2', 'drain-rendered-2'),
    { wish: 'uncordon-rendered-2', config: 'rendered-2', is: 'done' },
  ],
  'that was uncordoned has ended it': [wishing('uncordon-rendered-2', 'uncordon-rendered-2'), undefined],
  'whose wish is none of the two wants nothing that could be acted on': [wishing('reboot-now'), undefined],
}

it.each(Object.entries(drains))('a node %s', (_sentence, [node, drain]) => {
  expect(parseConfiguredNode(node)).toEqual({ name: 'worker-1', labels: {}, bootID: '', isCordoned: false, drain })
})

it('a node says in which boot it is: the identity of its update, or one that is over would be asked for again', () => {
  const nodeInfo = { bootID: 'boot-1' } as NonNullable<NonNullable<Node['status']>['nodeInfo']>
  const node = { ...bare, spec: { unschedulable: true }, status: { nodeInfo } }
  expect(parseConfiguredNode(node)).toMatchObject({ bootID: 'boot-1', isCordoned: true })
})
