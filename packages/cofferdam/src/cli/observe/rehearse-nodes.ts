import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { DisruptionSnapshot } from '../../capabilities/drain-lock/domain/snapshot.ts'
import { observeDrains } from '../../observe/observe-drains.ts'
import type { Reader } from '../../observe/reader.ts'
import { rehearsalsOf } from '../drain/drain-request.ts'

/** What a drain of each of these nodes for a reboot would see, by the name of the node. Each kind is read once, however many nodes there are. */
export async function rehearseNodes(
  names: readonly string[],
  read: Reader,
): Promise<ReadonlyMap<string, DisruptionSnapshot>> {
  const asked = {
    intent: 'Reboot',
    requester: '',
    honourSkipDrain: true,
    accepts: [],
    nowMs: read.clock.now(),
  } as const
  const requests = names.map(rehearsalsOf(asked))
  const drains = await ifAllowed('what stays on nodes', read.notSeen, () => observeDrains(requests, read))
  return new Map((drains?.snapshots ?? []).map((snapshot) => [snapshot.request.nodeName, snapshot]))
}
