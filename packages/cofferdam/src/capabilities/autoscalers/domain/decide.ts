import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import type { ClaimView } from './parse-claim.ts'
import { changeMarks } from './scale-down-marks.ts'
import type { KeepSnapshot, MarkedNode } from './snapshot.ts'
import type { KeepStep } from './steps.ts'

/** The node comes back with its disks: from before anything is evicted until everything is undone. */
const keptPhases: ReadonlySet<string> = new Set(['Locking', 'Draining', 'Drained', 'Recovering'])

/**
 * Whether autoscalers must leave a node alone, and what is said of those that will not.
 *
 * A node that is drained for a reboot is empty and cordoned: to an autoscaler it is one that is not needed, and its disks would go with
 * it. A node that is removed or replaced is none of these. `undefined`: there is no such node.
 */
export function decideKeeping(snapshot: KeepSnapshot | undefined): { readonly steps: readonly KeepStep[] } {
  if (snapshot === undefined) return { steps: [] }
  const { node, claim } = snapshot
  const about = { nodeName: node.name, nodeUid: node.uid }
  const isKept = keepingRequests(snapshot).length > 0
  const isWritten = Object.keys(changeMarks(node.marks, isKept)).length === 0
  return {
    steps: [
      ...(isWritten ? [] : [{ do: 'write', ...about, isKept } as const]),
      { do: 'report', ...about, note: forcedEndText(node.name, claim) },
    ],
  }
}

/** Requests for which autoscalers must leave the node alone. */
export function keepingRequests({
  node,
  requests,
}: Pick<KeepSnapshot, 'node' | 'requests'>): readonly NodeDisruption[] {
  return requests.filter((request) => isKeeping(node, request))
}

function isKeeping({ uid }: MarkedNode, { spec, status }: Partial<NodeDisruption>): boolean {
  if (spec?.intent !== 'Reboot' || !keptPhases.has(status?.phase ?? '')) return false
  // A node that was deleted and created again under its name is not the one that was drained.
  return status?.nodeUid === undefined || status.nodeUid === uid
}

/** Undefined while Karpenter keeps to the budgets of the pods. */
export function forcedEndText(
  nodeName: string,
  claim: Pick<ClaimView, 'name' | 'endsMs'> | undefined,
): string | undefined {
  if (claim?.endsMs === undefined) return undefined
  return `Karpenter removes node ${nodeName} (NodeClaim ${claim.name}) and deletes the pods that are left by ${rfc3339(claim.endsMs)}, whatever their budgets say.`
}
