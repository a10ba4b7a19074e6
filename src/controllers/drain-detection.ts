import { hasReason } from '../api/api-error.ts'
import type { JsonObject } from '../api/json.ts'
import { nodes } from '../api/resources.ts'
import { decideDrainConditions } from '../domain/drain-detection/decide.ts'
import type { DrainedNode, PodOnNode } from '../domain/drain-detection/snapshot.ts'
import type { KubeApi } from '../kube/kube-api.ts'
import type { WatchView } from '../kube/watch-view.ts'
import { type Clock, timestamp } from '../runtime/clock.ts'
import type { Controller } from '../runtime/controller.ts'
import type { Permission } from './permission.ts'

export const drainDetectionPermissions: readonly Permission[] = [
  { group: '', resource: 'nodes', verbs: ['list', 'watch'] },
  { group: '', resource: 'nodes/status', verbs: ['patch'] },
  { group: '', resource: 'pods', verbs: ['list', 'watch'] },
]

export interface DrainDetectionPorts {
  readonly api: Pick<KubeApi, 'patch'>
  readonly clock: Clock
  readonly nodes: WatchView<DrainedNode>
  /** Indexed by `node`. */
  readonly pods: WatchView<PodOnNode>
  /** A drain of which nothing was seen for so long has ended. */
  readonly quietMs?: number
}

/** Says on each node, in conditions that other tools can read, whether it is being drained. Keys are names of nodes. */
export function createDrainDetection(ports: DrainDetectionPorts): Controller {
  const { api, clock, nodes: nodeView, pods: podView, quietMs } = ports
  return {
    name: 'drain-detection',

    async start(enqueue, signal) {
      const ends = [
        nodeView.subscribe((change) => enqueue(change.key)),
        podView.subscribe((change) => {
          const seen = change.type === 'removed' ? change.previous : change.value
          if (seen.nodeName !== '') enqueue(seen.nodeName)
        }),
      ]
      for (const end of ends) signal.addEventListener('abort', end, { once: true })
      await Promise.all([nodeView.whenSynced(signal), podView.whenSynced(signal)])
      for (const node of nodeView.list()) enqueue(node.name)
    },

    async reconcile(name, signal) {
      // Pods that have not been read yet would count as gone, and their node as drained.
      if (!nodeView.synced || !podView.synced) return undefined
      const node = nodeView.get({ name })
      if (node === undefined) return undefined
      const pods = podView.byIndex('node', name)
      const { conditions, recheckAfterMs } = decideDrainConditions({
        node,
        pods,
        now: timestamp(clock),
        ...(quietMs === undefined ? {} : { quietMs }),
      })
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
