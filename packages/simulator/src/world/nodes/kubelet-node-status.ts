import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type { Condition } from '@cofferdam/kubernetes/api/kube-object.ts'
import { withCondition } from '../conditions.ts'

export interface NodeReport {
  readonly bootID: string
  readonly internalIP: string
  readonly ready: boolean
  readonly notReadyBecause: string
  readonly now: string
}

type NodeStatus = NonNullable<Node['status']>

const defaultCapacity = { cpu: '8', memory: '32Gi', pods: '110', 'ephemeral-storage': '100Gi' }

/** The status that a kubelet posts for its node: what somebody has set already is kept, what is missing is filled in. */
export function buildNodeStatus(
  node: Node,
  { bootID, internalIP, ready, notReadyBecause, now }: NodeReport,
): NodeStatus {
  const held = node.status ?? {}
  const capacity = { ...defaultCapacity, ...held.capacity }
  const ordinary: Condition[] = [
    ['MemoryPressure', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
    ['DiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
    ['PIDPressure', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ].map(([type, reason, message]) => ({ type, status: 'False', reason, message }) as Condition)
  const readiness: Condition = ready
    ? { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }
    : { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: notReadyBecause }
  return {
    ...held,
    capacity,
    allocatable: { ...capacity, ...held.allocatable },
    addresses: held.addresses ?? [
      { type: 'InternalIP', address: internalIP },
      { type: 'Hostname', address: node.metadata.name },
    ],
    conditions: [...ordinary, readiness].reduce<readonly Condition[]>(
      (all, condition) =>
        withHeartbeat(withCondition(all, { ...condition, lastTransitionTime: now }), condition.type, now),
      held.conditions ?? [],
    ),
    nodeInfo: {
      machineID: machineIdOf(node),
      systemUUID: machineIdOf(node),
      kernelVersion: '6.12.0',
      osImage: 'Cofferdam Linux',
      containerRuntimeVersion: 'containerd://2.2.0',
      kubeletVersion: 'v1.36.4',
      kubeProxyVersion: 'v1.36.4',
      operatingSystem: 'linux',
      architecture: 'amd64',
      ...held.nodeInfo,
      bootID,
    },
  }
}

/** Only the conditions that changed and those that the report is about carry a new time. */
function withHeartbeat(conditions: readonly Condition[], type: string, now: string): readonly Condition[] {
  return conditions.map((condition) => (condition.type === type ? { ...condition, lastHeartbeatTime: now } : condition))
}

/** A machine keeps its identity through reboots. */
function machineIdOf(node: Node): string {
  return (node.metadata.uid ?? node.metadata.name).replaceAll('-', '')
}

/** Whether what the cluster holds says the same as a fresh report, heartbeat times aside. */
export function saysTheSame(held: NodeStatus | undefined, report: NodeStatus): boolean {
  if (held === undefined || held.nodeInfo?.bootID !== report.nodeInfo?.bootID) return false
  if (held.capacity === undefined || held.allocatable === undefined || held.addresses === undefined) return false
  return (report.conditions ?? []).every((condition) => {
    const other = held.conditions?.find(({ type }) => type === condition.type)
    return (
      other?.status === condition.status && other.reason === condition.reason && other.message === condition.message
    )
  })
}
