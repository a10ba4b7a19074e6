import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { apiVersionOf, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { Log } from '@cofferdam/kubernetes/runtime/log.ts'
import type { Reason } from '../../shared/reasons.ts'
import type { Performers } from '../interpreter.ts'
import { applyToolRequest } from '../tool-requests.ts'
import { buildHookPatch } from './domain/deletion-hook.ts'
import type { MachineView } from './domain/snapshot.ts'
import type { MachineDeletionStep, ReportMachine, WriteHook } from './domain/steps.ts'
import type { MachineDeletionViews } from './observe.ts'

export interface MachineDeletionWritePorts {
  readonly api: Pick<KubeApi, 'create' | 'delete' | 'patch'>
  readonly events: EventRecorder<Reason>
  readonly log: Log
  readonly views: MachineDeletionViews
}

/** One Machine that refuses its hook stops no other: it is named in `refused`, and what follows for it is left out. */
export function machineDeletionPerformers(
  { api, events, log, views }: MachineDeletionWritePorts,
  refused: Set<string>,
  signal: AbortSignal,
): Performers<MachineDeletionStep> {
  const viewOf = ({ api: kind }: MachineView) => (kind === 'openshift' ? views.openshift : views.clusterApi)

  async function writeHook({ machine, isWanted }: WriteHook): Promise<void> {
    const { namespace, name, uid } = machine
    const type: ResourceType<Machine> = viewOf(machine).type()
    const patch = { type: 'merge', body: buildHookPatch(machine, isWanted) } as const
    try {
      const { metadata } = await api.patch(type, { namespace, name }, patch, { fieldManager: 'cofferdam', signal })
      await viewOf(machine).whenSeen(metadata.resourceVersion ?? '', signal)
    } catch (error) {
      signal.throwIfAborted()
      refused.add(uid)
      // It has changed or gone meanwhile, which the next pass sees.
      if (hasReason(error, 'Conflict', 'NotFound')) return
      log.warn(
        { machine: `${namespace}/${name}`, error: (error as Error).message },
        'its pre-drain hook could not be changed',
      )
    }
  }

  async function reportMachine({ machine, type, reason, note }: ReportMachine): Promise<void> {
    const { namespace, name, uid } = machine
    const about = {
      apiVersion: apiVersionOf(viewOf(machine).type()),
      kind: 'Machine',
      metadata: { namespace, name, uid },
    }
    const text =
      reason === 'MachineDrained' ? 'The pre-drain hook is removed' : 'The pre-drain hook is removed without a drain'
    await events.record(about, { type, reason, note: `${text}: ${note}.` })
  }

  return {
    async write(step) {
      if (step.write === 'hook') await writeHook(step)
      else {
        const version = await applyToolRequest(api, step, signal)
        if (version !== undefined) await views.disruptions.whenSeen(version, signal)
      }
      return 'done'
    },

    async report(step) {
      if (!refused.has(step.machine.uid)) await reportMachine(step)
      return 'done'
    },
  }
}
