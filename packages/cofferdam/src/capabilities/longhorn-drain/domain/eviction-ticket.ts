import type { AttachmentTicketView, VolumeView } from './snapshot.ts'

/** Of the ticket with which a detached volume is attached so that a replica of it can be copied. */
export const evictionTicketType = 'volume-eviction-controller'

/** Whether it is one of an earlier Cofferdam, which attached volumes itself. */
export function isFormerTicket({ id }: Pick<AttachmentTicketView, 'id'>, volume: string): boolean {
  return id === `cofferdam-eviction-${volume}`
}

/** Longhorn's own, else one that was left over. */
export function evictionTicketOf({ name, tickets = [] }: VolumeView): AttachmentTicketView | undefined {
  const found = tickets.filter(({ type }) => type === evictionTicketType)
  return found.find((ticket) => !isFormerTicket(ticket, name)) ?? found[0]
}
