import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { Permission } from '../../shared/permission.ts'
import type { Reason } from '../../shared/reasons.ts'
import { performPass } from '../interpreter.ts'
import { drainPerformers } from './apply.ts'
import { decideDrain } from './domain/decide.ts'
import type { OnNode } from './domain/snapshot.ts'
import { type DrainViews, observeDrain } from './observe.ts'

export const drainDetectionRights: readonly Permission[] = [
  { group: '', resource: 'nodes', verbs: ['list', 'watch'] },
  { group: '', resource: 'nodes/status', verbs: ['patch'] },
  { group: '', resource: 'pods', verbs: ['list', 'watch'] },
  { group: 'cofferdam.io', resource: 'nodedisruptions', verbs: ['list', 'watch'] },
  { group: '', resource: 'events', verbs: ['create'] },
]

export interface DrainDetectionPorts {
  readonly api: Pick<KubeApi, 'patch' | 'list'>
  readonly clock: Clock
  readonly views: DrainViews
  readonly events: EventRecorder<Reason>
  /** A drain of which nothing was seen for so long has ended. */
  readonly quietMs?: number
}

/** Says on each node, in conditions that other tools can read, whether it is being drained. Keys are names of nodes. */
export function createDrainDetection({ api, clock, views, events, quietMs }: DrainDetectionPorts): Controller {
  /** Nodes that were deleted since they were last worked on. */
  const removed = new Set<string>()
  return {
    name: 'drain-detection',

    async start(enqueue, signal) {
      const ends = [
        views.nodes.subscribe((change) => {
          if (change.type === 'removed') removed.add(change.key)
          enqueue(change.key)
        }),
        views.pods.subscribe((change) => {
          const { nodeName } = change.type === 'removed' ? change.previous : change.value
          if (nodeName !== '') enqueue(nodeName)
        }),
        views.disruptions.subscribe((change) => {
          const { spec } = change.type === 'removed' ? change.previous : change.value
          enqueue(spec.nodeName)
        }),
      ]
      for (const end of ends) signal.addEventListener('abort', end, { once: true })
      await Promise.all([
        views.nodes.whenSynced(signal),
        views.pods.whenSynced(signal),
        views.disruptions.whenSynced(signal),
      ])
      for (const node of views.nodes.list()) enqueue(node.name)
    },

    async reconcile(nodeName, signal) {
      let learned: OnNode | undefined
      const learn = (onNode: OnNode) => {
        learned = onNode
      }
      const isRemoved = removed.delete(nodeName)
      const common = { nodeName, ...(quietMs === undefined ? {} : { quietMs }) }
      const { decision } = await performPass({
        observe: async () => observeDrain(views, { ...common, now: timestamp(clock), learned, isRemoved }),
        decide: decideDrain,
        perform: drainPerformers({ api, nodes: views.nodes, events, learn, signal }),
        signal,
      })
      const { recheckAfterMs } = decision
      return recheckAfterMs === undefined ? undefined : { recheckAfterSeconds: Math.ceil(recheckAfterMs / 1_000) + 1 }
    },
  }
}
