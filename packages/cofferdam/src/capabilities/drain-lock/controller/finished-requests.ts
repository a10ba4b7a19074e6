import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import { policyName } from '../../../shared/kinds/disruption-policy.ts'
import { type NodeDisruption, nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import type { Permission } from '../../../shared/permission.ts'
import { performPass } from '../../interpreter.ts'
import { hasFinalizer, isOver } from '../apply/record.ts'
import { decideExpiry, type ExpirySnapshot } from '../domain/decide-expiry.ts'
import { ttlOf } from '../observe/limits.ts'
import type { DisruptionViews } from '../observe/observe.ts'

export const finishedRequestsPermissions: readonly Permission[] = [
  { group: 'cofferdam.io', resource: 'nodedisruptions', verbs: ['list', 'watch', 'delete'] },
  { group: 'cofferdam.io', resource: 'disruptionpolicies', verbs: ['list', 'watch'] },
]

export interface FinishedRequestsPorts {
  readonly api: Pick<KubeApi, 'delete'>
  readonly clock: Clock
  readonly views: Pick<DisruptionViews, 'disruptions' | 'policies'>
}

/** Deletes requests some time after their end. Keys are names of NodeDisruptions. */
export function createFinishedRequests({ api, clock, views }: FinishedRequestsPorts): Controller {
  const { disruptions, policies } = views
  return {
    name: 'finished-requests',

    async start(enqueue, signal) {
      const enqueueEnded = () => {
        for (const request of disruptions.list()) if (hasEnded(request)) enqueue(request.metadata.name)
      }
      const ends = [
        disruptions.subscribe((change) => {
          if (change.type !== 'removed' && hasEnded(change.value)) enqueue(change.key)
        }),
        policies.subscribe(enqueueEnded),
      ]
      for (const end of ends) signal.addEventListener('abort', end, { once: true })
      await Promise.all([disruptions.whenSynced(signal), policies.whenSynced(signal)])
      enqueueEnded()
    },

    async reconcile(name, signal) {
      const { decision } = await performPass({
        observe: async () => observe(name),
        decide: decideExpiry,
        perform: {
          write: async ({ name: ended, uid }) => {
            await deleteRequest(ended, uid, signal)
            return 'done'
          },
        },
        signal,
      })
      const { recheckAfterMs } = decision
      return recheckAfterMs === undefined ? undefined : { recheckAfterSeconds: Math.ceil(recheckAfterMs / 1_000) }
    },
  }

  function observe(name: string): ExpirySnapshot | undefined {
    const request = disruptions.get({ name })
    if (request === undefined) return undefined
    const { metadata, spec, status } = request
    const own = spec.ttlSecondsAfterFinished
    return {
      nowMs: clock.now(),
      name,
      uid: metadata.uid ?? '',
      endedMs: hasEnded(request) ? parseRfc3339(status?.phaseSince ?? '') : undefined,
      ttlMs: own === undefined ? ttlOf(policies.get({ name: policyName })) : own * 1_000,
    }
  }

  async function deleteRequest(name: string, uid: string, signal: AbortSignal): Promise<void> {
    try {
      await api.delete(nodeDisruptions, { name }, { preconditions: { uid }, signal })
    } catch (error) {
      // Another client was faster, or another request has the name.
      if (!hasReason(error, 'NotFound', 'Conflict')) throw error
    }
  }
}

function hasEnded(request: NodeDisruption): boolean {
  return isOver(request.status?.phase) && !hasFinalizer(request) && request.metadata.deletionTimestamp === undefined
}
