import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { Permission } from '../../shared/permission.ts'
import type { Reason } from '../../shared/reasons.ts'
import type { NodeApi } from '../change-node.ts'
import { performPass } from '../interpreter.ts'
import { keepPerformers } from './apply.ts'
import { decideKeeping } from './domain/decide.ts'
import { type KeepViews, observeKeeping } from './observe.ts'

export const autoscalersRights: readonly Permission[] = [
  { group: '', resource: 'nodes', verbs: ['get', 'list', 'watch', 'patch'] },
  { group: 'cofferdam.io', resource: 'nodedisruptions', verbs: ['list', 'watch'] },
  { group: 'karpenter.sh', resource: 'nodeclaims', verbs: ['list', 'watch'] },
  { group: '', resource: 'events', verbs: ['create'] },
]

export interface AutoscalersPorts {
  readonly api: NodeApi
  readonly views: KeepViews
  readonly events: EventRecorder<Reason>
}

/** Keeps autoscalers from nodes that are drained for a reboot. Keys are names of nodes. */
export function createAutoscalers({ api, views, events }: AutoscalersPorts): Controller {
  return {
    name: 'autoscalers',

    async start(enqueue, signal) {
      const ends = [
        views.nodes.subscribe(({ key }) => enqueue(key)),
        views.disruptions.subscribe((change) => {
          const { spec } = change.type === 'removed' ? change.previous : change.value
          enqueue(spec.nodeName)
        }),
        views.claims.subscribe((change) => {
          const { nodeName } = change.type === 'removed' ? change.previous : change.value
          if (nodeName !== '') enqueue(nodeName)
        }),
      ]
      for (const end of ends) signal.addEventListener('abort', end, { once: true })
      // Marks are taken back for want of a request: nothing is decided before all requests are known. Claims that may not be read are
      // not waited for: they only add to what is said.
      await Promise.all([views.nodes.whenSynced(signal), views.disruptions.whenSynced(signal)])
      for (const { name } of views.nodes.list()) enqueue(name)
    },

    async reconcile(nodeName, signal) {
      const { snapshot } = await performPass({
        observe: async () => observeKeeping(views, nodeName),
        decide: decideKeeping,
        perform: keepPerformers({ api, nodes: views.nodes, events, signal }),
        signal,
      })
      if (snapshot === undefined) events.forget(nodeName)
      return undefined
    },
  }
}
