import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { Reason } from '../../shared/reasons.ts'
import type { Performers } from '../interpreter.ts'
import { applyToolRequest } from '../tool-requests.ts'
import type { MaintenanceDecision } from './domain/decide.ts'

interface MaintenancePerformerPorts {
  readonly api: Pick<KubeApi, 'create' | 'delete'>
  readonly events: EventRecorder<Reason>
  readonly requests: Pick<WatchView<unknown>, 'whenSeen'>
  readonly signal: AbortSignal
}

export function maintenancePerformers({
  api,
  events,
  requests,
  signal,
}: MaintenancePerformerPorts): Performers<MaintenanceDecision['steps'][number]> {
  return {
    async write(step) {
      const version = await applyToolRequest(api, step, signal)
      if (version !== undefined) await requests.whenSeen(version, signal)
      return 'done'
    },

    async report({ unusable }) {
      await events.recordAll(
        'unusable',
        unusable.map(({ about, why }) => ({
          slot: about.metadata.name,
          about,
          type: 'Warning',
          reason: 'ObjectsUnusable',
          note: `Cofferdam makes no request for it: ${why}.`,
        })),
      )
      return 'done'
    },
  }
}
