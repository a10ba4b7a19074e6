import { longhornVolumeAttachments } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { ticketTypes } from '@cofferdam/simulator/world/longhorn/attachment-tickets.ts'
import type { Stage } from './stage/open-stage.ts'

/** Who attached a volume by hand lets it go before he leaves: until then no drain of its node can end. */
export async function detachByHand({ views, api }: Stage): Promise<void> {
  for (const { metadata, spec } of views.of(longhornVolumeAttachments).values()) {
    const tickets = Object.entries(spec?.attachmentTickets ?? {}).filter(([, { type }]) => type === ticketTypes.api)
    if (tickets.length === 0) continue
    const attachmentTickets = Object.fromEntries(tickets.map(([id]) => [id, null]))
    const key = { namespace: metadata.namespace ?? '', name: metadata.name }
    await api.patch(longhornVolumeAttachments, key, { type: 'merge', body: { spec: { attachmentTickets } } })
  }
}
