import { known } from '../../../shared/observed.ts'
import type { Step } from '../../../shared/steps.ts'
import { decideToolRequests, type ToolRequestStep, type WantedNode } from '../../../shared/tool-request.ts'
import type { Maintenance, MaintenanceSnapshot, UnusableMaintenance } from './snapshot.ts'

/** As the label of its requests names it. */
export const maintenanceTool = 'node-maintenance'

/** Name all objects that ask for nothing, since they cannot be read. */
export interface ReportUnusable extends Step {
  readonly do: 'report'
  readonly unusable: readonly UnusableMaintenance[]
}

export interface MaintenanceDecision {
  readonly steps: readonly (ToolRequestStep | ReportUnusable)[]
}

/**
 * A request for each node that is taken into maintenance.
 *
 * Guarantees: none is made before the node carries the taint and the cordon of its operator. By then that operator has the Lease of the
 * node and has excluded it from remediation, and the cordon is its own, so it stays when the request is over.
 */
export function decideMaintenance(snapshot: MaintenanceSnapshot): MaintenanceDecision {
  const { maintenances, unusable, requests } = snapshot
  const wanted = known(maintenances.flatMap((maintenance) => wantedNode(maintenance, snapshot)))
  return {
    steps: [...decideToolRequests({ tool: maintenanceTool, wanted, requests }), { do: 'report', unusable }],
  }
}

const longestReason = 1_024

/**
 * The spec is what its operator does by itself: it evicts bare pods and pods with emptyDir volumes, and it leaves none but those of
 * DaemonSets. So no pod stays on the node because of skip-drain: its eviction would be refused for as long as the maintenance lasts.
 */
function wantedNode(
  { name, uid, nodeName, reason }: Maintenance,
  { nodes }: Pick<MaintenanceSnapshot, 'nodes'>,
): WantedNode[] {
  const node = nodes.get(nodeName)
  if (node === undefined) return []
  return [
    {
      nodeName,
      askedBy: `nodemaintenance/${name}`,
      identity: `${uid} ${node.bootID}`,
      reason: (reason === '' ? `NodeMaintenance ${name}` : reason).slice(0, longestReason),
      ...(node.isTaken ? {} : { isOnlyKept: true }),
      spec: { intent: 'Reboot', honourSkipDrain: false, force: true, deleteEmptyDirData: true },
    },
  ]
}
