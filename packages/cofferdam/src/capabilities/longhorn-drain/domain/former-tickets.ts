import { isFormerTicket } from './eviction-ticket.ts'
import type { VolumeView } from './snapshot.ts'

/**
 * Our tickets in the VolumeAttachments of volumes. An earlier version attached detached volumes for their moves; Longhorn does that
 * itself, and would not take these away.
 */
export function formerTicketsOf(volumes: readonly VolumeView[]): readonly FormerTicket[] {
  const former: FormerTicket[] = []
  for (const { name, tickets = [] } of volumes)
    for (const ticket of tickets) if (isFormerTicket(ticket, name)) former.push({ volume: name, id: ticket.id })
  return former
}

export interface FormerTicket {
  readonly volume: string
  readonly id: string
}
