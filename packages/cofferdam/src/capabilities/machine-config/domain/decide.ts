import { known } from '../../../shared/observed.ts'
import { decideToolRequests, type ToolRequestStep, type WantedNode } from '../../../shared/tool-request.ts'
import { decidePauses, type WritePause } from './decide-pause.ts'
import { poolOf } from './pool-of.ts'
import type { MachineConfigSnapshot } from './snapshot.ts'

/** As the label of its requests names it. */
export const machineConfigTool = 'machine-config'

export interface MachineConfigDecision {
  readonly steps: readonly (ToolRequestStep | WritePause)[]
  readonly recheckAfterMs: number | undefined
}

/**
 * A request for each node that the Machine Config Operator drains for an update, and pauses for pools.
 *
 * Guarantees: no request is made before the Machine Config Operator has cordoned the node, so the cordon is its own and stays until its
 * update is checked. When it has drained the node by itself while a request still waited, that request is withdrawn.
 */
export function decideMachineConfig(snapshot: MachineConfigSnapshot): MachineConfigDecision {
  const { requests } = snapshot
  const wanted = known(wantedNodes(snapshot))
  const { steps, recheckAfterMs } = decidePauses(snapshot)
  return { steps: [...decideToolRequests({ tool: machineConfigTool, wanted, requests }), ...steps], recheckAfterMs }
}

/**
 * The spec is what the Machine Config Operator does by itself: it evicts bare pods and pods with emptyDir volumes, and it leaves none but
 * those of DaemonSets. So no pod stays on the node because of skip-drain: its eviction would be tried without end.
 */
function wantedNodes({ nodes, pools }: MachineConfigSnapshot): WantedNode[] {
  return nodes.flatMap((node): WantedNode[] => {
    const { name, bootID, isCordoned, drain } = node
    if (drain === undefined) return []
    const pool = poolOf(pools, node)
    return [
      {
        nodeName: name,
        askedBy: pool === undefined ? `node/${name}` : `machineconfigpool/${pool.name}`,
        identity: `${drain.wish} ${bootID}`,
        reason: `update to ${drain.config}`.slice(0, longestReason),
        ...(drain.is === 'asked' && isCordoned ? {} : { isOnlyKept: true }),
        spec: { intent: 'Reboot', honourSkipDrain: false, force: true, deleteEmptyDirData: true },
      },
    ]
  })
}

const longestReason = 1_024
