import { ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { machineConfigPools } from '@cofferdam/kubernetes/api/kinds/machine-config.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { Reason } from '../../shared/reasons.ts'
import type { Performers, StepOutcome } from '../interpreter.ts'
import { applyToolRequest } from '../tool-requests.ts'
import type { MachineConfigDecision } from './domain/decide.ts'
import type { WritePause } from './domain/decide-pause.ts'
import { pausedByAnnotation } from './domain/parse-pool.ts'
import type { MachineConfigViews } from './observe.ts'

interface MachineConfigPerformerPorts {
  readonly api: Pick<KubeApi, 'create' | 'delete' | 'patch'>
  readonly events: EventRecorder<Reason>
  readonly views: MachineConfigViews
  /** Notes a pause that was not written, so that it is tried again later. `refused` by the API server, or `overtaken` by another change. */
  unwritten(pool: string, why: 'refused' | 'overtaken', error: ApiError): void
  readonly signal: AbortSignal
}

export function machineConfigPerformers(
  ports: MachineConfigPerformerPorts,
): Performers<MachineConfigDecision['steps'][number]> {
  const { api, views, signal } = ports
  return {
    async write(step) {
      if (step.write === 'pause') return writePause(ports, step)
      const version = await applyToolRequest(api, step, signal)
      if (version !== undefined) await views.requests.whenSeen(version, signal)
      return 'done'
    },
  }
}

async function writePause(
  { api, events, views, unwritten, signal }: MachineConfigPerformerPorts,
  { pool: name, about, paused, note, event }: WritePause,
): Promise<StepOutcome> {
  const { resourceVersion } = about.metadata
  const body = {
    metadata: {
      resourceVersion,
      annotations: { [pausedByAnnotation]: note === undefined ? null : JSON.stringify(note) },
    },
    ...(paused === undefined ? {} : { spec: { paused } }),
  }
  try {
    const written = await api.patch(machineConfigPools, { name }, { type: 'merge', body }, { signal })
    if (event !== undefined) await events.record(about, event)
    await views.pools.whenSeen(written.metadata.resourceVersion ?? '', signal)
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ApiError)) throw error
    // What changed meanwhile is judged as it is then; a server can say so of what did not change, and nothing would be heard of that. Whatever is
    // wrong with one pool, the others go on.
    if (!hasReason(error, 'NotFound')) unwritten(name, hasReason(error, 'Conflict') ? 'overtaken' : 'refused', error)
  }
  return 'done'
}
