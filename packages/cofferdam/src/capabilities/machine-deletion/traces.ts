import {
  clusterApiMachines,
  type Machine,
  olderClusterApiVersion,
  openshiftMachines,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { type Trace, trace } from '../../shared/trace.ts'
import { buildHookPatch, hookOwner } from './domain/deletion-hook.ts'
import { parseMachine } from './domain/parse-machine.ts'
import type { MachineView } from './domain/snapshot.ts'

export const machineDeletionTraces: readonly Trace[] = [
  hookTrace(openshiftMachines, 'openshift'),
  hookTrace(clusterApiMachines, 'cluster-api'),
  hookTrace({ ...clusterApiMachines, version: olderClusterApiVersion }, 'cluster-api'),
]

function hookTrace(type: ResourceType<Machine>, api: MachineView['api']): Trace {
  return trace({
    type,
    keys: [hookOwner],
    removal(machine) {
      const view = parseMachine(machine, api)
      if (view?.hooks.isOurs !== true) return undefined
      return { verb: 'patch', says: 'pre-drain hook', patch: { type: 'merge', body: buildHookPatch(view, false) } }
    },
  })
}
