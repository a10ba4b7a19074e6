import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { machineConfigAnnotations } from '@cofferdam/kubernetes/api/kinds/machine-config.ts'
import { isCordoned } from '../../../shared/closed-node.ts'
import type { ConfigDrain, ConfiguredNode } from './snapshot.ts'

const drain = 'drain-'
const uncordon = 'uncordon-'

export function parseConfiguredNode(node: Node): ConfiguredNode {
  const { name, labels = {}, annotations = {} } = node.metadata
  return {
    name,
    labels,
    bootID: node.status?.nodeInfo?.bootID ?? '',
    isCordoned: isCordoned(node),
    drain: parseDrain(
      annotations[machineConfigAnnotations.desiredDrain] ?? '',
      annotations[machineConfigAnnotations.lastAppliedDrain] ?? '',
    ),
  }
}

/** From the wish to be drained until the uncordon that ends the update was done. */
function parseDrain(wish: string, done: string): ConfigDrain | undefined {
  if (wish.startsWith(drain)) {
    return { wish, config: wish.slice(drain.length), is: wish === done ? 'done' : 'asked' }
  }
  if (!wish.startsWith(uncordon) || wish === done) return undefined
  return { wish, config: wish.slice(uncordon.length), is: 'done' }
}
