import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { Permission } from '../../shared/permission.ts'
import { performPass } from '../interpreter.ts'
import { oneKeyController } from '../one-key-controller.ts'
import { toolRequestRights } from '../tool-requests.ts'
import { type MachineDeletionWritePorts, machineDeletionPerformers } from './apply.ts'
import { decideMachineDeletion } from './domain/decide.ts'
import { observeMachineDeletion, unreadableMachines } from './observe.ts'

export const machineDeletionRights: readonly Permission[] = [
  { group: '', resource: 'nodes', verbs: ['list', 'watch'] },
  { group: 'machine.openshift.io', resource: 'machines', verbs: ['list', 'watch', 'patch'] },
  { group: 'cluster.x-k8s.io', resource: 'machines', verbs: ['list', 'watch', 'patch'] },
  toolRequestRights,
  { group: '', resource: 'events', verbs: ['create'] },
]

export interface MachineDeletionPorts extends MachineDeletionWritePorts {
  readonly clock: Clock
}

const retrySeconds = 30

/** Has the node of a Machine drained before its machine controller takes it away. */
export function createMachineDeletion(ports: MachineDeletionPorts): Controller {
  const { clock, views, log } = ports
  const named = new Set<string>()

  // Several Machines may be behind one node, so all of them are decided about together.
  return oneKeyController({
    name: 'machine-deletion',
    views: Object.values(views),
    async pass(_key, signal) {
      for (const machine of unreadableMachines(views)) {
        if (!named.has(machine)) log.warn({ machine }, 'its hooks cannot be read: it is left alone')
        named.add(machine)
      }
      const refused = new Set<string>()
      const { decision } = await performPass({
        observe: async () => observeMachineDeletion(views, clock.now()),
        decide: decideMachineDeletion,
        perform: machineDeletionPerformers(ports, refused, signal),
        signal,
      })
      const waits = [
        ...(decision.recheckAfterMs === undefined ? [] : [Math.ceil(decision.recheckAfterMs / 1_000) + 1]),
        ...(refused.size > 0 ? [retrySeconds] : []),
      ]
      return waits.length === 0 ? undefined : { recheckAfterSeconds: Math.min(...waits) }
    },
  })
}
