import type { LonghornVolumeAttachment } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { compareText } from '../pod-facts.ts'

export type Tickets = NonNullable<NonNullable<LonghornVolumeAttachment['spec']>['attachmentTickets']>

export const ticketTypes = {
  api: 'longhorn-api',
  workload: 'csi-attacher',
  eviction: 'volume-eviction-controller',
} as const

const priorities: Readonly<Record<string, number>> = {
  'volume-restore-controller': 2_000,
  [ticketTypes.api]: 1_000,
  [ticketTypes.workload]: 900,
  'share-manager-controller': 900,
  'salvage-controller': 900,
  [ticketTypes.eviction]: 800,
}
/** Priority of everything that Longhorn does by itself. */
const lowestPriority = 800

export function evictionTicketId(volume: string): string {
  return `${ticketTypes.eviction}-${volume}`
}

/**
 * Where the volume should be attached; undefined: nowhere. It stays where it is as long as somebody wants it there, but
 * makes room for a workload where only Longhorn's own work holds it.
 */
export function selectNode(tickets: Tickets, currentNode: string | undefined): string | undefined {
  const ordered = Object.entries(tickets)
    .filter(([, { nodeID }]) => nodeID !== undefined && nodeID !== '')
    .sort(([a, one], [b, other]) => priorityOf(other) - priorityOf(one) || compareText(a, b))
    .map(([, ticket]) => ticket)
  const here = ordered.filter(({ nodeID }) => nodeID === currentNode)
  const first = ordered[0]
  if (here.length === 0) return first?.nodeID
  const mayBeMoved = here.every((ticket) => priorityOf(ticket) <= lowestPriority)
  return mayBeMoved && first !== undefined && priorityOf(first) > lowestPriority ? first.nodeID : currentNode
}

function priorityOf({ type }: Tickets[string]): number {
  return priorities[type ?? ''] ?? lowestPriority
}
