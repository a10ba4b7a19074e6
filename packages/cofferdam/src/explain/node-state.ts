import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { decideDrainConditions } from '../capabilities/drain-detection/domain/decide.ts'
import { parseDrainedNode } from '../capabilities/drain-detection/domain/snapshot.ts'
import { closingOf, closingSigns, closingTaintOf, cordonWriterOf } from '../shared/closed-node.ts'
import { parsePodOnNode } from '../shared/pod-on-node.ts'
import type { NodeState } from './explanation.ts'

/** Whether the node is there, whether it is cordoned, by what tool and since when, and how far a drain of it is. */
export function nodeStateOf({
  node,
  podsOnNode,
  leftByRequest,
  now,
}: {
  readonly node: Node
  readonly podsOnNode: readonly Pod[]
  /** Uids of the pods that a request leaves on its node. */
  readonly leftByRequest: readonly string[]
  readonly now: string
}): NodeState {
  const ready = conditionOf(node, 'Ready')
  const isReady = ready?.status === 'True'
  const closing = closingOf(node)
  return {
    isReady,
    ...(isReady ? {} : { notReadyReason: ready?.message || ready?.reason || 'it has never reported' }),
    ...(isReady || ready?.lastTransitionTime === undefined ? {} : { notReadySince: ready.lastTransitionTime }),
    isCordoned: closing !== undefined,
    ...(closing === undefined ? {} : { closedBy: closingSigns(closing), ...cordonOf(node) }),
    ...drainOf({ node, podsOnNode, leftByRequest, now }),
  }
}

function cordonOf(node: Node): Pick<NodeState, 'cordonedBy' | 'cordonedSince'> {
  const { manager, time } = cordonWriterOf(node)
  const taint = closingTaintOf(node)
  const since = time ?? taint?.timeAdded
  return {
    ...(manager === undefined ? {} : { cordonedBy: manager }),
    ...(since === undefined ? {} : { cordonedSince: since }),
  }
}

function drainOf({
  node,
  podsOnNode,
  leftByRequest,
  now,
}: Parameters<typeof nodeStateOf>[0]): Pick<NodeState, 'drain' | 'drainSince'> {
  const seen = parseDrainedNode(node)
  const { reason } = decideDrainConditions({ node: seen, pods: podsOnNode.map(parsePodOnNode), leftByRequest, now })
  const written = reason === 'DrainCompleted' ? seen.drained : seen.drainInProgress
  const since = written?.reason === reason && reason !== 'NotCordoned' ? written.lastTransitionTime : undefined
  return { drain: reason, ...(since === undefined ? {} : { drainSince: since }) }
}
