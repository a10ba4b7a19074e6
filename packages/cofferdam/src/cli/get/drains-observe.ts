import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { DisruptionAnswer } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import { nodeStateOf } from '../../explain/node-state.ts'
import { observeHolds } from '../../observe/observe-holds.ts'
import { isClosedToPods } from '../../shared/closed-node.ts'
import type { OtherDrain } from './drain-table.ts'

export interface Drains {
  /** Requests that are not over. */
  readonly drains: readonly DisruptionAnswer[]
  /** Nodes that are drained without a request. */
  readonly otherDrains: readonly OtherDrain[]
  readonly observedAt: string
  readonly notSeen: readonly string[]
}

export async function observeDrains(question: {
  readonly api: KubeApi
  readonly clock: Clock
  readonly signal: AbortSignal
}): Promise<Drains> {
  const { api, clock, signal } = question
  const notSeen: string[] = []
  const now = timestamp(clock)
  const [listed, { disruptions, leftByRequest }] = await Promise.all([
    ifAllowed('nodes', notSeen, () => api.list(nodes, { signal })),
    observeHolds(question, [], notSeen),
  ])
  const asked = new Set(disruptions.map(({ node }) => node))
  const closed = (listed?.items ?? []).filter((node) => isClosedToPods(node) && !asked.has(node.metadata.name))
  const states = await Promise.all(closed.map(stateOf))
  return {
    drains: disruptions,
    otherDrains: states.filter((state) => state !== undefined && isDraining(state)) as readonly OtherDrain[],
    observedAt: now,
    notSeen: [...new Set(notSeen)],
  }

  async function stateOf(node: Node): Promise<OtherDrain | undefined> {
    const { name } = node.metadata
    const read = () => api.list(pods, { fieldSelector: `spec.nodeName=${name}`, signal })
    const found = await ifAllowed('pods', notSeen, read)
    return found && { name, ...nodeStateOf({ node, podsOnNode: found.items, leftByRequest, now }) }
  }
}

/** A node that is only cordoned is no drain. */
function isDraining({ drain }: OtherDrain): boolean {
  return drain === 'PodsLeaving' || drain === 'EvictionAttempted' || drain === 'DrainCompleted'
}
