import { longhornNamespace, longhornVolumeAttachments } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type EvictionTicketChange, evictionTicketType } from '../domain/eviction-attachments.ts'
import type { Seen } from '../domain/steps.ts'
import type { LonghornViews } from '../observe/observe.ts'
import { collectFailure } from './collect-failure.ts'

export interface TicketPorts {
  readonly api: Pick<KubeApi, 'patch'>
  readonly views: Pick<LonghornViews, 'attachments'>
}

/**
 * Attaches volumes for a move, and takes that back. Returns what was refused, by volume; that stops no other.
 *
 * Guarantees: an attachment that changed since it was seen, as when a workload came, is refused with 409, and judged again.
 */
export async function applyEvictionTickets(
  { api, views }: TicketPorts,
  changes: readonly (EvictionTicketChange & Seen)[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, unknown>> {
  const refused = new Map<string, unknown>()
  let version: string | undefined
  for (const { volume, id, node, resourceVersion } of changes) {
    const ticket =
      node === undefined ? null : { id, type: evictionTicketType, nodeID: node, parameters: { disableFrontend: 'any' } }
    const failures: unknown[] = []
    await collectFailure(failures, async () => {
      const key = { namespace: longhornNamespace, name: volume }
      const body = {
        ...(resourceVersion === undefined ? {} : { metadata: { resourceVersion } }),
        spec: { attachmentTickets: { [id]: ticket } },
      }
      const written = await api.patch(longhornVolumeAttachments, key, { type: 'merge', body }, { signal })
      version = written.metadata.resourceVersion
    })
    if (failures.length > 0) refused.set(volume, failures[0])
  }
  if (version !== undefined) await views.attachments.whenSeen(version, signal)
  return refused
}
