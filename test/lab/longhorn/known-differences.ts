import type { LonghornNode, LonghornReplica, LonghornSetting } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { isClosedToPods } from '@cofferdam/product/shared/closed-node.ts'
import type { LonghornState } from './longhorn-state.ts'
import type { OurAnswers } from './our-answers.ts'
import { buildBudget, wellSettings } from './random-longhorn.ts'

/**
 * Something that Longhorn and we judge differently on purpose. It explains a difference where both agree as soon as it is taken away, and
 * nowhere else: Longhorn's own code is asked again.
 */
export interface KnownDifference {
  readonly name: string
  readonly why: string
  /** What a user sees of it beside a running Longhorn, whose own budgets and flags Cofferdam never writes. */
  readonly means: string
  /** The same state without it; the very same object where there is nothing to take away. */
  readonly without: (state: LonghornState, ours: OurAnswers, subject: string) => LonghornState
  /** Whether it comes out differently for each subject. */
  readonly isPerSubject?: boolean
}

/**
 * In the order in which they are tried and taken away. Taking the taint away cordons the node, so it comes before the budgets that are
 * missing on cordoned nodes; the last one presumes what was decided without all others.
 */
export const knownDifferences: readonly KnownDifference[] = [
  {
    name: 'a node that a taint empties',
    why: 'Longhorn knows cordons alone; Karpenter, the cluster autoscaler and medik8s empty nodes without one',
    means: 'with `guide` and `hold` Cofferdam cordons the node; from then on both judge it alike',
    without: (state) =>
      changed(state, 'kubeNodes', (node) =>
        node.spec?.unschedulable !== true && isClosedToPods(node)
          ? { ...node, spec: { ...node.spec, unschedulable: true } }
          : node,
      ),
  },
  {
    name: 'a budget that is missing on a cordoned node',
    why: 'Longhorn never makes one there; Cofferdam does while something holds the node, since the pod may not have been evicted yet',
    means: 'with `hold` the node is held again, by a budget of Cofferdam',
    without: (state) => {
      const closed = new Set(
        state.kubeNodes.filter(({ spec }) => spec?.unschedulable).map(({ metadata }) => metadata.name),
      )
      const there = new Set(state.budgets.map(({ metadata }) => metadata.name))
      const missing = state.instanceManagers.filter(
        ({ metadata, spec }) => closed.has(spec?.nodeID ?? '') && !there.has(metadata.name),
      )
      if (missing.length === 0) return state
      const made = missing.map(({ metadata }) => buildBudget(metadata.name, metadata.labels))
      return { ...state, budgets: [...state.budgets, ...made] }
    },
  },
  {
    name: 'a move under way',
    why: 'Longhorn cancels it as soon as the new copy counts, and leaves one copy too many; Cofferdam carries it through',
    means: 'a copy too many may be left behind, which `surplus: remove` deletes',
    without: (state) =>
      changed(state, 'nodes', (node) =>
        node.status?.autoEvicting === true ? { ...node, status: { ...node.status, autoEvicting: false } } : node,
      ),
  },
  {
    name: 'a replica that is being deleted',
    why: 'for Longhorn it counts until it is gone, and its flag changes; for Cofferdam it protects nothing, and its flag stays',
    means: 'with `hold` the node of the last other copy is held until there is one more',
    without: (state) =>
      changed(state, 'replicas', (replica) => {
        const { deletionTimestamp, ...metadata } = replica.metadata
        return deletionTimestamp === undefined ? replica : { ...replica, metadata }
      }),
  },
  {
    name: 'a node that does not answer',
    why: 'its copies count in Longhorn until its instance manager is reported as unknown; for Cofferdam they protect nothing',
    means: 'with `hold` the node of the last copy that answers is held until another one does',
    without: (state) => {
      const answering = changed(state, 'kubeNodes', (node) =>
        node.status?.conditions?.[0]?.status === 'True'
          ? node
          : { ...node, status: { conditions: [{ type: 'Ready', status: 'True' }] } },
      )
      return changed(answering, 'nodes', (node) =>
        node.status?.conditions?.[0]?.reason === 'KubernetesNodeNotReady'
          ? { ...node, status: { ...node.status, conditions: [{ type: 'Ready', status: 'True' }] } }
          : node,
      )
    },
  },
  {
    name: 'a copy on a node that Kubernetes does not have',
    why: "it makes Longhorn's check of every other node fail, so that drains hang; for Cofferdam it protects nothing, and the others count",
    means:
      "Longhorn's budgets stay until that Replica is deleted; `LonghornStuck` names it. With `hold` the last other copy has a budget even where Longhorn has none",
    without: (state) => {
      const known = new Set(state.kubeNodes.map(({ metadata }) => metadata.name))
      return onlyReplicas(state, ({ spec }) => known.has(spec?.nodeID ?? ''))
    },
  },
  {
    name: 'a node that Longhorn does not have',
    why: 'Longhorn judges its budgets by the Kubernetes node alone; Cofferdam knows too little of it, and leaves them',
    means: 'Longhorn alone decides about the node',
    without: (state) => {
      const known = new Set(state.nodes.map(({ metadata }) => metadata.name))
      const missing = state.kubeNodes.filter(({ metadata }) => !known.has(metadata.name))
      if (missing.length === 0) return state
      const made = missing.map(
        ({ metadata: { name } }): LonghornNode => ({
          apiVersion: 'longhorn.io/v1beta2',
          kind: 'Node',
          metadata: { name, namespace: 'longhorn-system' },
          spec: { name },
          status: { conditions: [{ type: 'Ready', status: 'True' }] },
        }),
      )
      return { ...state, nodes: [...state.nodes, ...made] }
    },
  },
  {
    name: 'an inactive replica',
    why: 'a double of an active one during an engine upgrade or a migration is no copy of its own: Cofferdam neither counts nor flags it',
    means:
      'what `hold` holds and `explain` counts are active replicas, and an inactive one where no active one has its directory',
    without: (state) => onlyReplicas(state, ({ spec }) => spec?.active === true),
  },
  {
    name: 'a replica that no disk lists',
    why: 'Longhorn flags what the disk status lists, which lags behind; Cofferdam flags every replica on the node',
    means: "the move starts when Longhorn's list has the replica; until then `explain` calls it not begun",
    without: (state) => {
      const onDisk = (uuid: string | undefined) => state.replicas.filter(({ spec }) => spec?.diskID === uuid)
      return changed(state, 'nodes', (node) => {
        const disks = Object.entries(node.status?.diskStatus ?? {})
        const listed = disks.map(([name, disk]) => {
          const all = Object.fromEntries(onDisk(disk.diskUUID).map(({ metadata }) => [metadata.name, 1]))
          return [name, { ...disk, scheduledReplica: all }] as const
        })
        const isComplete = listed.every(([, { scheduledReplica }], at) => {
          const was = Object.keys(disks[at]?.[1].scheduledReplica ?? {})
          return Object.keys(scheduledReplica).every((name) => was.includes(name))
        })
        return isComplete ? node : { ...node, status: { ...node.status, diskStatus: Object.fromEntries(listed) } }
      })
    },
  },
  {
    name: 'a budget of another user with the name of an instance manager',
    why: 'Longhorn goes by the name and deletes it; Cofferdam goes by the selector, leaves it, and does not rely on it',
    means: 'with `hold` a last copy has a budget of Cofferdam, and stays held when Longhorn deletes the other one',
    without: (state) => {
      const managers = new Map(state.instanceManagers.map(({ metadata }) => [metadata.name, metadata.labels]))
      return changed(state, 'budgets', (budget) => {
        const labels = managers.get(budget.metadata.name)
        const isOther = budget.spec.selector?.matchLabels?.['longhorn.io/component'] !== 'instance-manager'
        return labels !== undefined && isOther ? buildBudget(budget.metadata.name, labels) : budget
      })
    },
  },
  {
    name: 'the instance manager of a replica that names none, or one of another node',
    why: 'Longhorn fails where it finds none or several; Cofferdam takes the one of the default image, else the only one, and never one of another node',
    means: "Longhorn's budgets stay while it fails. With `hold` a last copy has a budget even where Longhorn has none",
    without: (state, { snapshot }) => {
      const nodes = new Map(snapshot.instanceManagers.map(({ name, node }) => [name, node]))
      const taken = new Map(
        snapshot.replicas.map(({ name, node, instanceManager = '' }) => [
          name,
          nodes.get(instanceManager) === node ? instanceManager : 'instance-manager-gone',
        ]),
      )
      return changed(state, 'replicas', (replica) => {
        const instanceManagerName = taken.get(replica.metadata.name) ?? 'instance-manager-gone'
        return replica.status?.instanceManagerName === instanceManagerName
          ? replica
          : { ...replica, status: { ...replica.status, instanceManagerName } }
      })
    },
  },
  {
    name: 'a drain policy that is none of the five',
    why: 'Longhorn takes a word it does not know for its default, and fails at an empty one; for Cofferdam it is unknown',
    means: 'Cofferdam starts no move, and with `hold` lets no node with replicas go, until the value is corrected',
    without: (state) =>
      withSetting(state, 'node-drain-policy', (value) => value === '' || value === 'block-everything'),
  },
  {
    name: 'an autoscaler mode that is neither true nor false',
    why: 'Longhorn fails on every node that is not cordoned; for Cofferdam it is off, so that every budget is there',
    means: 'with `hold` a node with a last copy or an engine has a budget even where Longhorn has none',
    without: (state) => withSetting(state, 'kubernetes-cluster-autoscaler-enabled', (value) => value === 'perhaps'),
  },
  {
    name: 'a stopped copy under `allow-if-replica-is-stopped`, where the cluster is autoscaled',
    why: 'Longhorn relies on its budget, and deletes that one by the same policy; Cofferdam lets no copy that runs go for the sake of one that holds nothing',
    means: 'with `hold` the node of a copy that runs is held until another one runs, or until it has stopped itself',
    isPerSubject: true,
    without: (state, { snapshot }, subject) => {
      const { isAutoscaled, policy } = snapshot.settings
      if (!isAutoscaled || !policy.known || policy.value !== 'allow-if-replica-is-stopped') return state
      const own = state.instanceManagers.find(({ metadata }) => metadata.name === subject)?.spec?.nodeID
      return changed(state, 'replicas', (replica) => {
        const { spec, status } = replica
        const isStopped = spec?.desireState === 'stopped' && status?.currentState === 'stopped'
        return isStopped && spec.nodeID !== own
          ? { ...replica, status: { ...status, currentState: 'stopping' } }
          : replica
      })
    },
  },
  {
    name: 'what the same decision does on other nodes',
    why: "each of Longhorn's managers decides alone, so two may release, or make, budgets for each other's sake; Cofferdam decides for all nodes at once",
    means: 'with `hold` one of two nodes stays held whose copies rely on each other',
    isPerSubject: true,
    without: (state, { decision, snapshot }, subject) => {
      const others = decision.budgets.filter(({ instanceManager }) => instanceManager !== subject)
      const gone = new Set(others.filter(({ wanted }) => wanted === 'absent').map((answer) => answer.instanceManager))
      const there = new Set(state.budgets.map(({ metadata }) => metadata.name))
      const made = others.filter(
        ({ wanted, instanceManager }) => wanted === 'present' && !snapshot.budgets.has(instanceManager),
      )
      const kept = state.budgets.filter(({ metadata }) => !gone.has(metadata.name))
      const add = made.flatMap(({ instanceManager }) => (there.has(instanceManager) ? [] : [instanceManager]))
      if (kept.length === state.budgets.length && add.length === 0) return state
      return { ...state, budgets: [...kept, ...add.map((name) => buildBudget(name, labelsOf(state, name)))] }
    },
  },
]

type Lists = {
  readonly [List in keyof LonghornState]: LonghornState[List][number]
}

/** The very same state where no item changes. */
function changed<List extends keyof LonghornState>(
  state: LonghornState,
  list: List,
  change: (item: Lists[List]) => Lists[List],
): LonghornState {
  const before = state[list] as readonly Lists[List][]
  const after = before.map(change)
  return after.every((item, at) => item === before[at]) ? state : { ...state, [list]: after }
}

function onlyReplicas(state: LonghornState, stays: (replica: LonghornReplica) => boolean): LonghornState {
  const replicas = state.replicas.filter(stays)
  return replicas.length === state.replicas.length ? state : { ...state, replicas }
}

/** Sets it as a healthy cluster has it, where its value is one of those. */
function withSetting(
  state: LonghornState,
  name: keyof typeof wellSettings,
  isWrong: (value: string | undefined) => boolean,
): LonghornState {
  if (!isWrong(state.settings.find(({ metadata }) => metadata.name === name)?.value)) return state
  const others = state.settings.filter(({ metadata }) => metadata.name !== name)
  const setting: LonghornSetting = {
    apiVersion: 'longhorn.io/v1beta2',
    kind: 'Setting',
    metadata: { name, namespace: 'longhorn-system' },
    value: wellSettings[name],
  }
  return { ...state, settings: [...others, setting] }
}

function labelsOf({ instanceManagers }: LonghornState, name: string): Readonly<Record<string, string>> | undefined {
  return instanceManagers.find(({ metadata }) => metadata.name === name)?.metadata.labels
}
