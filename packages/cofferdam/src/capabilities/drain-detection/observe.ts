import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { pods as podType } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import { type NodeDisruption, nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { type PodOnNode, parsePodOnNode } from '../../shared/pod-on-node.ts'
import { type DrainedNode, type DrainSnapshot, type GoneNode, type OnNode, podsLeftBy } from './domain/snapshot.ts'

export interface DrainViews {
  readonly nodes: WatchView<DrainedNode>
  /** Indexed by `node`. */
  readonly pods: WatchView<PodOnNode>
  /** Indexed by `node`. */
  readonly disruptions: WatchView<NodeDisruption>
}

/** One pass over one node. */
interface DrainPass {
  readonly nodeName: string
  readonly now: string
  readonly quietMs?: number
  /** What was asked for in this pass. */
  readonly learned: OnNode | undefined
  /** The Node was deleted since it was last worked on. */
  readonly isRemoved: boolean
}

/** Undefined when there is no such node, and was none. */
export function observeDrain(
  views: DrainViews,
  { nodeName, learned, isRemoved, ...rest }: DrainPass,
): DrainSnapshot | GoneNode | undefined {
  const node = views.nodes.get({ name: nodeName })
  if (node === undefined) return isRemoved ? { gone: nodeName, pods: views.pods.byIndex('node', nodeName) } : undefined
  const onNode = learned ?? {
    pods: views.pods.byIndex('node', nodeName),
    leftByRequest: podsLeftBy(views.disruptions.byIndex('node', nodeName)),
  }
  return { node, ...onNode, isFresh: learned !== undefined, ...rest }
}

/** What is on the node as the API server has it now. */
export async function listOnNode(api: Pick<KubeApi, 'list'>, nodeName: string, signal: AbortSignal): Promise<OnNode> {
  const { items } = await api.list(podType, { fieldSelector: `spec.nodeName=${nodeName}`, signal })
  const pods = items.map(parsePodOnNode)
  if (!pods.some(({ mustLeave }) => mustLeave)) return { pods, leftByRequest: [] }
  const requests = await listRequests(api, signal)
  return { pods, leftByRequest: podsLeftBy(requests.filter(({ spec }) => spec.nodeName === nodeName)) }
}

async function listRequests(api: Pick<KubeApi, 'list'>, signal: AbortSignal): Promise<readonly NodeDisruption[]> {
  try {
    return (await api.list(nodeDisruptions, { signal })).items
  } catch (error) {
    // A cluster without our definitions has no requests.
    if (hasReason(error, 'NotFound')) return []
    throw error
  }
}
