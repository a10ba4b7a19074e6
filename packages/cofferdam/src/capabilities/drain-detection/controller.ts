import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { nodes, pods as podType } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import { type NodeDisruption, nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import type { Permission } from '../../shared/permission.ts'
import { claimsDrained, decideDrainConditions } from './domain/decide.ts'
import { type DrainedNode, type DrainSnapshot, type PodOnNode, parsePodOnNode, podsLeftBy } from './domain/snapshot.ts'

export const drainDetectionPermissions: readonly Permission[] = [
  { group: '', resource: 'nodes', verbs: ['list', 'watch'] },
  { group: '', resource: 'nodes/status', verbs: ['patch'] },
  { group: '', resource: 'pods', verbs: ['list', 'watch'] },
  { group: 'cofferdam.io', resource: 'nodedisruptions', verbs: ['list', 'watch'] },
]

export interface DrainDetectionPorts {
  readonly api: Pick<KubeApi, 'patch' | 'list'>
  readonly clock: Clock
  readonly nodes: WatchView<DrainedNode>
  /** Indexed by `node`. */
  readonly pods: WatchView<PodOnNode>
  /** Indexed by `node`. */
  readonly disruptions: WatchView<NodeDisruption>
  /** A drain of which nothing was seen for so long has ended. */
  readonly quietMs?: number
}

/** Says on each node, in conditions that other tools can read, whether it is being drained. Keys are names of nodes. */
export function createDrainDetection(ports: DrainDetectionPorts): Controller {
  const { api, clock, nodes: nodeView, pods: podView, disruptions, quietMs } = ports
  return {
    name: 'drain-detection',

    async start(enqueue, signal) {
      const ends = [
        nodeView.subscribe((change) => enqueue(change.key)),
        podView.subscribe((change) => {
          const seen = change.type === 'removed' ? change.previous : change.value
          if (seen.nodeName !== '') enqueue(seen.nodeName)
        }),
        disruptions.subscribe((change) => {
          const { spec } = change.type === 'removed' ? change.previous : change.value
          enqueue(spec.nodeName)
        }),
      ]
      for (const end of ends) signal.addEventListener('abort', end, { once: true })
      await Promise.all([nodeView.whenSynced(signal), podView.whenSynced(signal), disruptions.whenSynced(signal)])
      for (const node of nodeView.list()) enqueue(node.name)
    },

    async reconcile(name, signal) {
      const node = nodeView.get({ name })
      if (node === undefined) return undefined
      const common = { node, now: timestamp(clock), ...(quietMs === undefined ? {} : { quietMs }) }
      const decided = decideDrainConditions({
        ...common,
        pods: podView.byIndex('node', name),
        leftByRequest: podsLeftBy(disruptions.byIndex('node', name)),
      })
      const { conditions, recheckAfterMs } = claimsDrained(decided)
        ? decideDrainConditions({ ...common, ...(await observeFresh(api, name, signal)) })
        : decided
      const recheck =
        recheckAfterMs === undefined ? undefined : { recheckAfterSeconds: Math.ceil(recheckAfterMs / 1_000) + 1 }
      if (conditions.length === 0) return recheck
      const body = { status: { conditions: conditions as unknown as readonly JsonObject[] } }
      try {
        const written = await api.patch(nodes, { name }, { type: 'strategic', body }, { subresource: 'status', signal })
        await nodeView.whenSeen(written.metadata.resourceVersion ?? '', signal)
      } catch (error) {
        if (!hasReason(error, 'NotFound')) throw error
      }
      return recheck
    },
  }
}

/** What is on the node now, as the server has it: a copy that is behind does not show the pod that came last. */
async function observeFresh(
  api: DrainDetectionPorts['api'],
  nodeName: string,
  signal: AbortSignal,
): Promise<Pick<DrainSnapshot, 'pods' | 'leftByRequest'>> {
  const { items } = await api.list(podType, { fieldSelector: `spec.nodeName=${nodeName}`, signal })
  const pods = items.map(parsePodOnNode)
  if (!pods.some(({ mustLeave }) => mustLeave)) return { pods, leftByRequest: [] }
  const requests = await listRequests(api, signal)
  return { pods, leftByRequest: podsLeftBy(requests.filter(({ spec }) => spec.nodeName === nodeName)) }
}

async function listRequests(api: DrainDetectionPorts['api'], signal: AbortSignal): Promise<readonly NodeDisruption[]> {
  try {
    return (await api.list(nodeDisruptions, { signal })).items
  } catch (error) {
    // A cluster without our definitions has no requests.
    if (hasReason(error, 'NotFound')) return []
    throw error
  }
}
