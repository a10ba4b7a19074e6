import type { Event, Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf, controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { type DisruptionAnswer, explainDisruption } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import type { BudgetVerdict } from '../../explain/budget-verdict.ts'
import type { CephVerdict } from '../../explain/ceph-verdict.ts'
import type { NodeVerdict } from '../../explain/node-verdict.ts'
import type { AppLockPolicy } from '../../ledger/rules/app-lock.ts'
import type { Ledger } from '../../ledger/rules/ledger.ts'
import type { Panel } from '../../observe/verdicts.ts'
import {
  type AnnotatedBudget,
  appLockAnnotation,
  lockedSinceAnnotation,
  lockWritten,
} from '../../shared/app-lock-annotation.ts'
import { isClosedToPods } from '../../shared/closed-node.ts'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import type { Observed } from '../../shared/observed.ts'
import type { LonghornPanelModel } from './longhorn-panel-model.ts'
import type { MachineNote } from './machine-note.ts'
import type { UpdatePart } from './osd-update-overview.ts'

export interface NodeView {
  readonly id: string
  /** Empty where the node carries no zone label. */
  readonly zone: string
  readonly rack?: string
  readonly roles: readonly string[]
  readonly readiness: 'ready' | 'not-ready' | 'unknown'
  readonly reason?: string
  /** By a cordon, or by the taint of a tool that drains. */
  readonly isCordoned: boolean
  /** What the operator has found out about a drain; absent where none runs. */
  readonly drain?: 'under-way' | 'done' | 'none'
  readonly version?: string
  readonly cpu?: string
  readonly memory?: string
}

export type PodState = 'ready' | 'starting' | 'pending' | 'leaving' | 'failed' | 'succeeded' | 'unknown'

export interface PodView {
  readonly id: string
  readonly namespace: string
  readonly name: string
  /** What the pod belongs to, as people call it: the Deployment rather than its ReplicaSet. */
  readonly app: string
  readonly ownerKind?: string
  readonly node?: string
  readonly state: PodState
  readonly reason?: string
  readonly restarts: number
  readonly address?: string
  /** Of an OSD: where Rook says that it is. */
  readonly zone?: string
  readonly createdAt?: string
}

/** How many pods a node has. */
export interface LoadView {
  /** Id of the node; empty: those that no node has taken. */
  readonly id: string
  readonly pods: number
  readonly ready: number
}

export interface BudgetView extends Pick<AnnotatedBudget, 'lockWrittenMs'> {
  readonly id: string
  readonly namespace: string
  readonly rule: string
  readonly allowed: number
  readonly healthy: number
  readonly desired: number
  readonly expected: number
  /** Evictions granted to pods that are still there. */
  readonly granted: number
  /** False until the disruption controller has counted for the present spec; until then nothing may be evicted. */
  readonly isCounted: boolean
  /** Our own annotations, where there are any: an owner's lock, and what an earlier version wrote of it. */
  readonly annotations?: Readonly<Record<string, string>>
}

export interface EventView {
  readonly id: string
  readonly about: string
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  readonly count: number
  readonly at: string
  /** Tells apart what happened within one second. */
  readonly order: number
}

/** A request to take a node out. */
export interface DrainView extends DisruptionAnswer {
  readonly id: string
}

/** The ledger, of which there is one; heartbeats are left out. */
export interface LedgerView {
  readonly id: string
  /** What owners may lock, where the operator has published it. */
  readonly appLocks?: AppLockPolicy
  readonly ledger: Observed<Ledger>
}

/** What a budget says to the next eviction. */
export interface VerdictView extends BudgetVerdict {
  /** Id of the budget. */
  readonly id: string
}

/** Whether a node may be drained. */
export interface NodeVerdictView extends NodeVerdict {
  /** Id of the node. */
  readonly id: string
}

/** A Ceph cluster; the id is `namespace/name`. */
export interface CephView extends CephVerdict {
  readonly id: string
}

/** What a capability has to say of the whole cluster. */
export interface PanelView extends Panel {
  /** Its field in `status -o json`. */
  readonly id: string
}

/** What the page shows, and all it knows. */
export interface ClusterView {
  readonly nodes: readonly NodeView[]
  /** All of them; of very many those on nodes that are closed or down, and those that wait for a node. */
  readonly pods: readonly PodView[]
  /** Absent where all pods are here. */
  readonly loads?: readonly LoadView[]
  readonly budgets: readonly BudgetView[]
  /** Absent until they have been asked for. */
  readonly verdicts?: readonly VerdictView[]
  readonly nodeVerdicts?: readonly NodeVerdictView[]
  readonly panels?: readonly PanelView[]
  readonly drains: readonly DrainView[]
  readonly ledgers: readonly LedgerView[]
  /** One, or none where there is no Longhorn. */
  readonly longhorn: readonly LonghornPanelModel[]
  /** Absent until they have been asked for, and where there is no Ceph. */
  readonly ceph?: readonly CephView[]
  /** Absent until they have been asked for, and where there are no Machines. */
  readonly machines?: readonly MachineNote[]
  /** Absent where no OSD was ever updated. */
  readonly osdUpdates?: readonly UpdatePart[]
  readonly events: readonly EventView[]
}

const rolePrefix = 'node-role.kubernetes.io/'

export function viewNode(node: Node): NodeView {
  const labels = node.metadata.labels ?? {}
  const ready = conditionOf(node, 'Ready')
  const rack = labels['topology.rook.io/rack'] ?? labels['topology.kubernetes.io/rack']
  const roles = Object.keys(labels).flatMap((key) => (key.startsWith(rolePrefix) ? [key.slice(rolePrefix.length)] : []))
  return {
    id: node.metadata.name,
    zone: labels['topology.kubernetes.io/zone'] ?? '',
    ...(rack === undefined ? {} : { rack }),
    roles: roles.sort(),
    readiness: ready?.status === 'True' ? 'ready' : ready?.status === 'False' ? 'not-ready' : 'unknown',
    ...(ready?.reason === undefined || ready.status === 'True' ? {} : { reason: ready.reason }),
    isCordoned: isClosedToPods(node),
    ...optional('drain', drainOf(node)),
    ...optional('version', node.status?.nodeInfo?.kubeletVersion),
    ...optional('cpu', node.status?.capacity?.['cpu']),
    ...optional('memory', node.status?.capacity?.['memory']),
  }
}

function drainOf(node: Node): NodeView['drain'] {
  const underWay = conditionOf(node, 'DrainInProgress')
  if (underWay === undefined) return undefined
  if (underWay.status === 'True') return 'under-way'
  return conditionOf(node, 'Drained')?.status === 'True' ? 'done' : 'none'
}

export function viewPod(pod: Pod): PodView {
  const { name, namespace = '', labels = {}, creationTimestamp } = pod.metadata
  const statuses = pod.status?.containerStatuses ?? []
  return {
    id: keyText(keyOf(pod)),
    namespace,
    name,
    app: appOf(pod),
    ...optional('ownerKind', controllerOf(pod)?.kind),
    ...optional('node', pod.spec.nodeName),
    state: podState(pod),
    ...optional('reason', podReason(pod)),
    restarts: statuses.reduce((sum, { restartCount }) => sum + restartCount, 0),
    ...optional('address', pod.status?.podIP),
    ...optional('zone', labels['topology-location-zone']),
    ...optional('createdAt', creationTimestamp),
  }
}

function podState(pod: Pod): PodState {
  if (pod.metadata.deletionTimestamp !== undefined) return 'leaving'
  switch (pod.status?.phase) {
    case 'Running':
      return conditionOf(pod, 'Ready')?.status === 'True' ? 'ready' : 'starting'
    case 'Succeeded':
      return 'succeeded'
    case 'Failed':
      return 'failed'
    case 'Unknown':
      return 'unknown'
    default:
      return pod.spec.nodeName === undefined ? 'pending' : 'starting'
  }
}

function podReason(pod: Pod): string | undefined {
  if (pod.status?.reason !== undefined) return pod.status.reason
  const scheduled = conditionOf(pod, 'PodScheduled')
  if (scheduled?.status === 'False') return scheduled.message ?? scheduled.reason
  const waiting = pod.status?.containerStatuses?.find(({ state }) => state?.waiting !== undefined)
  return waiting?.state?.waiting?.reason
}

function appOf(pod: Pod): string {
  const owner = controllerOf(pod)
  if (owner === undefined) return pod.metadata.name
  const hash = pod.metadata.labels?.['pod-template-hash']
  const suffix = `-${hash}`
  return hash !== undefined && owner.name.endsWith(suffix) ? owner.name.slice(0, -suffix.length) : owner.name
}

export function viewBudget(budget: PodDisruptionBudget): BudgetView {
  const { spec, status, metadata } = budget
  const isCounted = status?.observedGeneration !== undefined && status.observedGeneration >= (metadata.generation ?? 0)
  return {
    id: keyText(keyOf(budget)),
    namespace: metadata.namespace ?? '',
    rule:
      spec.maxUnavailable === undefined
        ? `at least ${spec.minAvailable ?? 0} up`
        : `at most ${spec.maxUnavailable} down`,
    allowed: status?.disruptionsAllowed ?? 0,
    healthy: status?.currentHealthy ?? 0,
    desired: status?.desiredHealthy ?? 0,
    expected: status?.expectedPods ?? 0,
    granted: Object.keys(status?.disruptedPods ?? {}).length,
    isCounted,
    ...optional('annotations', locksOn(metadata.annotations ?? {})),
    ...lockWritten(budget),
  }
}

function locksOn(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> | undefined {
  const own = [appLockAnnotation, lockedSinceAnnotation].flatMap((key) => {
    const text = annotations[key]
    return text === undefined ? [] : [[key, text] as const]
  })
  return own.length === 0 ? undefined : Object.fromEntries(own)
}

export function viewDrain(disruption: NodeDisruption): DrainView {
  return { id: disruption.metadata.name, ...explainDisruption(disruption) }
}

export function viewEvent(event: Event): EventView {
  const { kind = 'Object', namespace, name = '' } = event.involvedObject
  const key = namespace === undefined || namespace === '' || kind === 'Node' ? name : `${namespace}/${name}`
  return {
    id: keyText(keyOf(event)),
    about: `${kind} ${key}`,
    type: event.type === 'Warning' ? 'Warning' : 'Normal',
    reason: event.reason ?? '',
    message: event.message ?? '',
    count: event.count ?? 1,
    at: event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? '',
    order: Number(event.metadata.resourceVersion) || 0,
  }
}

/** Newest first. */
export function newestEvents(events: readonly EventView[], limit: number): EventView[] {
  return events.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at) || b.order - a.order).slice(0, limit)
}

function optional<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { [K in Key]: Value })
}
