import { isSelected, type LabelSelector, type Labels } from '@cofferdam/kubernetes/api/label-selector.ts'
import { limitKey } from '../../../ledger/rules/claim.ts'
import { groupedBy } from '../../../shared/grouped-by.ts'

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
  /** Names of all nodes that it counts, as far as nothing is seen to be done to them. */
  readonly open: ReadonlySet<string>
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
  policy: MaintenancePolicy,
): readonly LimitFacts[] {
  return indexLimits(nodes, policy)(nodeName)
}

/** The same for one node after the other. */
export function indexLimits(
  nodes: readonly CountedNode[],
  { limits, controlPlaneMost }: MaintenancePolicy,
): (nodeName: string) => readonly LimitFacts[] {
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const members = countNodes(nodes.filter(isControlPlane))
  const grouped = limits.map((limit) => {
    const counted = nodes.filter(({ labels }) => isSelected(limit.selector, labels))
    const byValue = groupedBy(counted, ({ labels }) => countedValue(limit, labels) ?? '')
    return { ...limit, groups: new Map([...byValue].map(([value, group]) => [value, countNodes(group)])) }
  })
  return (nodeName) => {
    const node = byName.get(nodeName)
    if (node === undefined) return []
    const facts: LimitFacts[] = []
    if (isControlPlane(node)) {
      const etcdSpares = sparedByEtcd(members.count)
      const most = Math.min(controlPlaneMost, etcdSpares)
      facts.push({ key: limitKey('control-plane'), most, ...members.beside(nodeName), etcdSpares })
    }
    for (const limit of grouped) {
      const { name, selector, most, groups } = limit
      if (!isSelected(selector, node.labels)) continue
      const value = countedValue(limit, node.labels)
      const group = groups.get(value ?? '') as ReturnType<typeof countNodes>
      facts.push({
        key: limitKey(value === undefined ? name : `${name}/${value}`),
        most: 'nodes' in most ? most.nodes : Math.max(1, Math.floor((most.percent * group.count) / 100)),
        ...group.beside(nodeName),
      })
    }
    return facts
  }
}

/** By which its nodes are counted; undefined: all of them together. */
function countedValue({ per }: Pick<MaintenanceLimit, 'per'>, labels: CountedNode['labels']): string | undefined {
  return per === undefined ? undefined : (labels[per] ?? '')
}

/** Every node that is asked about is handed the same lists, unless it is away itself. */
function countNodes(counted: readonly CountedNode[]) {
  const isAway = ({ isReady, isClosed }: CountedNode) => !isReady || isClosed
  const away = counted.filter(isAway).map(({ name, isReady }): AwayNode => ({ name, isReady }))
  const open = new Set(counted.filter((each) => !isAway(each)).map(({ name }) => name))
  return {
    count: counted.length,
    beside: (nodeName: string): Pick<LimitFacts, 'away' | 'open'> => ({
      away: open.has(nodeName) ? away : away.filter(({ name }) => name !== nodeName),
      open,
    }),
  }
}

const controlPlaneLabels = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'] as const

export function isControlPlane({ labels }: Pick<CountedNode, 'labels'>): boolean {
  return controlPlaneLabels.some((label) => labels[label] !== undefined)
}

/** Of one or two members none can be spared, and they have to be rebooted all the same: one at a time. */
function sparedByEtcd(members: number): number {
  return Math.max(1, Math.floor((members - 1) / 2))
}
