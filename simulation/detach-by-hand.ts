import { longhornVolumeAttachments, longhornVolumes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { ticketTypes } from '@cofferdam/simulator/world/longhorn/attachment-tickets.ts'
import type { Stage } from './stage/open-stage.ts'

/**
 * Who attached a volume by hand lets it go before leaving: until then no drain of its node can end. One that misses copies is let go only
 * `evenDegraded`: detached it gets none, so that the last stays on a node that is to go, which holds it for ever.
 * `areLeft`: some were still attached by hand.
 */
export async function detachByHand(
  { views, api }: Stage,
  { evenDegraded }: { readonly evenDegraded: boolean },
): Promise<{ readonly areLeft: boolean }> {
  let areLeft = false
  for (const { metadata, spec } of views.of(longhornVolumeAttachments).values()) {
    const tickets = Object.entries(spec?.attachmentTickets ?? {}).filter(([, { type }]) => type === ticketTypes.api)
    if (tickets.length === 0) continue
    areLeft = true
    const volume = views.of(longhornVolumes).get(keyText(metadata))
    if (volume?.status?.robustness !== 'healthy' && !evenDegraded) continue
    const attachmentTickets = Object.fromEntries(tickets.map(([id]) => [id, null]))
    const key = { namespace: metadata.namespace ?? '', name: metadata.name }
    await api.patch(longhornVolumeAttachments, key, { type: 'merge', body: { spec: { attachmentTickets } } })
  }
  return { areLeft }
}
