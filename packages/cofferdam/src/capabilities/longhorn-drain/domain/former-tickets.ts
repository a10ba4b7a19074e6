import { isFormerTicket } from './eviction-ticket.ts'
import type { VolumeView } from './snapshot.ts'

/**
 * Our tickets in the VolumeAttachments of volumes. An earlier version attached detached volumes for their moves; Longhorn does that
 * itself, and would not take these away.
 */
export function formerTicketsOf(volumes: readonly VolumeView[]): readonly FormerTicket[] {
  return volumes.flatMap(({ name, tickets = [] }) =>
    tickets.filter((ticket) => isFormerTicket(ticket, name)).map(({ id }) => ({ volume: name, id })),
  )
}

export interface FormerTicket {
  readonly volume: string
  readonly id: string
}
