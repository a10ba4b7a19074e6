import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { Permission } from '../../shared/permission.ts'
import type { Reason } from '../../shared/reasons.ts'
import { performPass } from '../interpreter.ts'
import { oneKeyController } from '../one-key-controller.ts'
import { toolRequestRights } from '../tool-requests.ts'
import { kuredPerformers } from './apply.ts'
import { decideKured } from './domain/decide.ts'
import { defaultKured, type KuredName } from './domain/kured-name.ts'
import { type KuredViews, observeKured } from './observe.ts'

export const kuredRights: readonly Permission[] = [
  { group: '', resource: 'nodes', verbs: ['list', 'watch'] },
  toolRequestRights,
  { group: '', resource: 'events', verbs: ['create'] },
  {
    group: 'apps',
    resource: 'daemonsets',
    namespace: defaultKured.namespace,
    grantedBy: 'kured',
    verbs: ['list', 'watch'],
  },
  {
    group: 'apps',
    resource: 'daemonsets',
    namespace: defaultKured.namespace,
    names: [defaultKured.name],
    grantedBy: 'kured',
    verbs: ['patch'],
  },
]

interface KuredPorts {
  readonly api: Pick<KubeApi, 'patch' | 'create' | 'delete'>
  readonly clock: Clock
  readonly events: EventRecorder<Reason>
  readonly kured: KuredName
  readonly views: KuredViews
}

const overtakenMs = 30_000

/** Has kured reboot a node only when a request has drained it. */
export function createKuredController({ api, clock, events, kured, views }: KuredPorts): Controller {
  return oneKeyController({
    name: 'kured',
    views: [views.daemonSets, views.nodes, views.requests],
    async pass(_key, signal) {
      const { decision, isWhole } = await performPass({
        observe: async () => observeKured(views, kured, timestamp(clock)),
        decide: decideKured,
        perform: kuredPerformers({ api, events, views, signal }),
        signal,
      })
      // Another writer of the lock is heard of; a server that says so of what did not change is asked again.
      const recheckAfterMs = isWhole ? decision.recheckAfterMs : overtakenMs
      return recheckAfterMs === undefined ? undefined : { recheckAfterSeconds: Math.ceil(recheckAfterMs / 1_000) }
    },
  })
}
