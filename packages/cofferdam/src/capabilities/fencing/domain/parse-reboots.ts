import { parseDuration } from '@cofferdam/kubernetes/api/duration.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { known, type Observed } from '../../../shared/observed.ts'
import { marks } from './marks.ts'
import type { RebootRequest } from './snapshot.ts'

/** Everything that says which nodes are rebooted on plan. */
export interface RebootObjects {
  readonly requests: Observed<readonly NodeDisruption[]>
  /** Uids of requests whose drain has begun, as the ledger says. Their records may be a moment behind. */
  readonly begun: ReadonlySet<string>
  /** How long a node may be away whose request does not say. */
  readonly plannedOutageMs: number
}

/** Requests that were deleted, are over, or take the node out for good are none of these. */
export function parseReboots({ requests, begun, plannedOutageMs }: RebootObjects): Observed<readonly RebootRequest[]> {
  if (!requests.known) return requests
  return known(requests.value.flatMap((request) => parseReboot(request, begun, plannedOutageMs)))
}

function parseReboot(
  { metadata, spec, status }: Partial<NodeDisruption> & Pick<NodeDisruption, 'metadata'>,
  begun: ReadonlySet<string>,
  plannedOutageMs: number,
): RebootRequest[] {
  if (spec?.intent !== 'Reboot' || metadata.deletionTimestamp !== undefined) return []
  const phase = phaseOf(status?.phase, begun.has(metadata.uid ?? ''))
  if (phase === undefined) return []
  const { nodeName, requester = '', returnWithin, deadline } = spec
  const noted = metadata.annotations?.[marks.awaySince]
  return [
    {
      name: metadata.name,
      nodeName,
      nodeUid: status?.nodeUid,
      by: requester === '' ? `nodedisruption/${metadata.name}` : requester,
      phase,
      phaseSinceMs: status?.phaseSince === undefined ? undefined : parseRfc3339(status.phaseSince),
      bootIDBefore: status?.bootIDBefore === '' ? undefined : status?.bootIDBefore,
      returnWithinMs: (returnWithin === undefined ? undefined : parseDuration(returnWithin)) ?? plannedOutageMs,
      deadlineMs: deadline === undefined ? undefined : parseRfc3339(deadline),
      notedAwayMs: noted === undefined ? undefined : parseRfc3339(noted),
    },
  ]
}

function phaseOf(
  phase: NonNullable<NodeDisruption['status']>['phase'],
  hasBegun: boolean,
): RebootRequest['phase'] | undefined {
  switch (phase) {
    case 'Draining':
    case 'Drained':
    case 'Recovering':
      return phase
    case 'Completed':
    case 'Rejected':
      return undefined
    default:
      return hasBegun ? 'Draining' : undefined
  }
}
