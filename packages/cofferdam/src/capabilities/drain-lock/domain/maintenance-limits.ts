import { isSelected, type LabelSelector, type Labels } from '@cofferdam/kubernetes/api/label-selector.ts'
import { limitKey } from '../../../ledger/rules/claim.ts'

/** How many nodes may be in maintenance at once. */
export interface MaintenancePolicy {
  readonly limits: readonly MaintenanceLimit[]
  readonly controlPlaneMost: number
}

export interface MaintenanceLimit {
  readonly name: string
  readonly selector: LabelSelector
  /** A label of nodes: they are counted for each of its values. */
  readonly per: string | undefined
  readonly most: { readonly nodes: number } | { readonly percent: number }
}

export const defaultMaintenancePolicy: MaintenancePolicy = { limits: [], controlPlaneMost: 1 }

/** What of a node counts for limits. */
export interface CountedNode {
  readonly name: string
  readonly labels: Labels
  readonly isReady: boolean
  /** Cordoned, or closed by the taint of a tool that drains. */
  readonly isClosed: boolean
}

/** A limit that counts the node of a request, with the other nodes that it counts and that are away. */
export interface LimitFacts {
  readonly key: string
  readonly most: number
  readonly away: readonly AwayNode[]
  /** Names of the other nodes that it counts, as far as nothing is seen to be done to them. */
  readonly open: readonly string[]
  /** Of the control plane: how many of its nodes etcd can spare when all run. */
  readonly etcdSpares?: number
}

export interface AwayNode {
  readonly name: string
  readonly isReady: boolean
}

/** The limits that a drain of the node has to satisfy. A node that is not there is counted by none. */
export function limitsOver(
  nodeName: string,
  nodes: readonly CountedNode[],
  { limits, controlPlaneMost }: MaintenancePolicy,
): readonly LimitFacts[] {
  const node = nodes.find(({ name }) => name === nodeName)
  if (node === undefined) return []
  const othersOf = (counted: readonly CountedNode[]): Pick<LimitFacts, 'away' | 'open'> => {
    const [away, open]: [AwayNode[], string[]] = [[], []]
    for (const { name, isReady, isClosed } of counted) {
      if (name === nodeName) continue
      if (!isReady || isClosed) away.push({ name, isReady })
      else open.push(name)
    }
    return { away, open }
  }
  const facts: LimitFacts[] = []
  if (isControlPlane(node)) {
    const members = nodes.filter(isControlPlane)
    const etcdSpares = sparedByEtcd(members.length)
    const most = Math.min(controlPlaneMost, etcdSpares)
    facts.push({ key: limitKey('control-plane'), most, ...othersOf(members), etcdSpares })
  }
  for (const { name, selector, per, most } of limits) {
    const value: string | undefined = per === undefined ? undefined : (node.labels[per] ?? '')
    const isCounted = ({ labels }: CountedNode): boolean =>
      isSelected(selector, labels) && (per === undefined || (labels[per] ?? '') === value)
    if (!isCounted(node)) continue
    const counted = nodes.filter(isCounted)
    facts.push({
      key: limitKey(value === undefined ? name : `${name}/${value}`),
      most: 'nodes' in most ? most.nodes : Math.max(1, Math.floor((most.percent * counted.length) / 100)),
      ...othersOf(counted),
    })
  }
  return facts
}

const controlPlaneLabels = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'] as const

export function isControlPlane({ labels }: Pick<CountedNode, 'labels'>): boolean {
  return controlPlaneLabels.some((label) => labels[label] !== undefined)
}

/** Of one or two members none can be spared, and they have to be rebooted all the same: one at a time. */
function sparedByEtcd(members: number): number {
  return Math.max(1, Math.floor((members - 1) / 2))
}
