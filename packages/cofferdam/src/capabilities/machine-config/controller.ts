import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { Log } from '@cofferdam/kubernetes/runtime/log.ts'
import type { Permission } from '../../shared/permission.ts'
import type { Reason } from '../../shared/reasons.ts'
import { performPass } from '../interpreter.ts'
import { oneKeyController } from '../one-key-controller.ts'
import { toolRequestRights } from '../tool-requests.ts'
import { machineConfigPerformers } from './apply.ts'
import { decideMachineConfig } from './domain/decide.ts'
import { type MachineConfigViews, observeMachineConfig } from './observe.ts'

export const machineConfigRights: readonly Permission[] = [
  {
    group: 'machineconfiguration.openshift.io',
    resource: 'machineconfigpools',
    verbs: ['list', 'watch', 'patch'],
  },
  { group: '', resource: 'nodes', verbs: ['list', 'watch'] },
  { group: '', resource: 'events', verbs: ['create'] },
  toolRequestRights,
]

interface MachineConfigPorts {
  readonly api: Pick<KubeApi, 'create' | 'delete' | 'patch'>
  readonly clock: Clock
  readonly events: EventRecorder<Reason>
  readonly log: Log
  readonly views: MachineConfigViews
}

const retryMs = 60_000

/** Makes a request for each node that the Machine Config Operator of OpenShift drains, and pauses pools while requests stand for their nodes. */
export function createMachineConfig({ api, clock, events, log, views }: MachineConfigPorts): Controller {
  return oneKeyController({
    name: 'machine-config',
    views: Object.values(views),
    async pass(_key, signal) {
      let isUnwritten = false
      const unwritten = (pool: string, why: 'refused' | 'overtaken', error: Error) => {
        isUnwritten = true
        if (why === 'refused')
          log.warn({ pool, error: error.message }, 'the pause of a MachineConfigPool could not be written')
      }
      const { decision } = await performPass({
        observe: async () => observeMachineConfig(views, clock.now()),
        decide: decideMachineConfig,
        perform: machineConfigPerformers({ api, events, views, unwritten, signal }),
        signal,
      })
      const recheckAfterMs = isUnwritten ? retryMs : decision.recheckAfterMs
      return recheckAfterMs === undefined ? undefined : { recheckAfterSeconds: Math.ceil(recheckAfterMs / 1_000) }
    },
  })
}
