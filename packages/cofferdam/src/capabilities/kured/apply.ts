import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { daemonSets, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { EventSubject } from '@cofferdam/kubernetes/runtime/build-event.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { Reason } from '../../shared/reasons.ts'
import type { Performers, StepOutcome } from '../interpreter.ts'
import { applyToolRequest } from '../tool-requests.ts'
import type { KuredNews, KuredStep, WriteKuredLock } from './domain/steps.ts'
import type { KuredViews } from './observe.ts'

interface KuredPerformerPorts {
  readonly api: Pick<KubeApi, 'patch' | 'create' | 'delete'>
  readonly events: EventRecorder<Reason>
  readonly views: KuredViews
  readonly signal: AbortSignal
}

export function kuredPerformers({ api, events, views, signal }: KuredPerformerPorts): Performers<KuredStep> {
  return {
    async write(step) {
      if (step.write === 'lock') return writeLock(step)
      const version = await applyToolRequest(api, step, signal)
      if (version !== undefined) await views.requests.whenSeen(version, signal)
      return 'done'
    },

    async report({ standing }) {
      await events.recordAll(
        'kured',
        standing.map(({ about, type, reason, note }) => ({
          slot: `${about.kind}/${about.name}`,
          about: subjectOf(about),
          type,
          reason,
          note,
        })),
      )
      return 'done'
    },
  }

  async function writeLock({ daemonSet, annotations, news }: WriteKuredLock): Promise<StepOutcome> {
    const { namespace, name, resourceVersion } = daemonSet
    const body = { metadata: { resourceVersion, annotations } }
    try {
      const options = { fieldManager: 'cofferdam', signal }
      const written = await api.patch(daemonSets, { namespace, name }, { type: 'merge', body }, options)
      await views.daemonSets.whenSeen(written.metadata.resourceVersion ?? '', signal, namespace)
    } catch (error) {
      // Somebody was faster, often kured itself: the next pass goes from what stands there then.
      if (hasReason(error, 'Conflict', 'NotFound')) return 'stopped'
      throw error
    }
    for (const { about, type, reason, note } of news) await events.record(subjectOf(about), { type, reason, note })
    return 'done'
  }
}

function subjectOf(about: KuredNews['about']): EventSubject {
  const { kind, ...metadata } = about
  return { apiVersion: apiVersionOf(kind === 'Node' ? nodes : daemonSets), kind, metadata }
}
