import { known, unknown } from '../../../../shared/observed.ts'
import type { UnreadableObject } from '../../../../shared/parsed.ts'
import type { LonghornDecision } from '../decision.ts'
import { parseDrainPolicy, parseVolumePolicy } from '../policy.ts'
import type {
  InstanceManagerView,
  LonghornDrainSettings,
  LonghornNodeView,
  LonghornSnapshot,
  ReplicaView,
  VolumeView,
} from '../snapshot.ts'

type CopyState = 'healthy' | 'failed' | 'rebuilding' | 'unused'

export interface NodeSetting extends Partial<Omit<LonghornNodeView, 'name'>> {
  readonly manager?: Partial<Omit<InstanceManagerView, 'name' | 'node'>>
  /** Longhorn's. */
  readonly hasBudget?: boolean
  /** Ours. */
  readonly isHeld?: boolean
}

export interface VolumeSetting extends Partial<Omit<VolumeView, 'name' | 'policy'>> {
  /** By the name of the node. */
  readonly copies: Readonly<Record<string, CopyState | (Partial<ReplicaView> & { readonly is?: CopyState })>>
  readonly policy?: string
}

export interface Fixture extends Partial<Omit<LonghornDrainSettings, 'policy' | 'rebootPolicy'>> {
  readonly policy?: string | undefined
  readonly rebootPolicy?: string
  readonly nodes: Readonly<Record<string, NodeSetting>>
  readonly volumes?: Readonly<Record<string, VolumeSetting>>
  readonly managers?: readonly InstanceManagerView[]
  /** Of Longhorn, beside those of the nodes. */
  readonly moreBudgets?: readonly string[]
  readonly unreadable?: readonly UnreadableObject[]
}

const healthySince = '2026-01-01T00:00:00Z'
const times: Readonly<Record<CopyState, Pick<ReplicaView, 'healthyAt' | 'failedAt'>>> = {
  healthy: { healthyAt: healthySince, failedAt: '' },
  failed: { healthyAt: healthySince, failedAt: '2026-01-02T00:00:00Z' },
  rebuilding: { healthyAt: '', failedAt: '' },
  unused: { healthyAt: '', failedAt: '' },
}

/** A Longhorn in which all is well but for what is said: nodes `n1` with instance managers `im-n1` and their budgets. */
export function longhornFixture(fixture: Fixture): LonghornSnapshot {
  const nodes = Object.entries(fixture.nodes)
  const volumes = Object.entries(fixture.volumes ?? {})
  const policy =
    'policy' in fixture && fixture.policy === undefined
      ? unknown('it is not set')
      : parseDrainPolicy(fixture.policy ?? 'block-if-contains-last-replica')
  const longhornBudgets = new Set([
    ...nodes.filter(([, node]) => node.hasBudget !== false).map(([name]) => `im-${name}`),
    ...(fixture.moreBudgets ?? []),
  ])
  const holds = new Set(nodes.filter(([, node]) => node.isHeld === true).map(([name]) => `im-${name}`))
  return {
    namespace: 'longhorn-system',
    nowMs: 0,
    settings: {
      mode: 'hold',
      manager: known('DaemonSet longhorn-manager'),
      reverted: undefined,
      policy,
      inForce: policy,
      atRest: policy,
      ...(fixture.rebootPolicy === undefined ? {} : { rebootPolicy: parseDrainPolicy(fixture.rebootPolicy) }),
      problems: [],
      trigger: fixture.trigger ?? 'cordon',
      isAutoscaled: fixture.isAutoscaled ?? false,
      surplus: fixture.surplus ?? 'keep',
    },
    nodes: nodes.map(([name, setting]) => nodeView(name, setting)),
    volumes: volumes.map(([name, setting]) => volumeView(name, setting)),
    replicas: volumes.flatMap(([name, { copies }]) =>
      Object.entries(copies).map(([node, copy]) => replicaView(name, node, copy)),
    ),
    instanceManagers: [...nodes.map(([name, { manager }]) => managerView(name, manager)), ...(fixture.managers ?? [])],
    budgets: new Set([...longhornBudgets, ...holds]),
    longhornBudgets,
    holds,
    unreadable: fixture.unreadable ?? [],
  }
}

export function managerView(node: string, more: Partial<Omit<InstanceManagerView, 'node'>> = {}): InstanceManagerView {
  return {
    name: `im-${node}`,
    node,
    image: 'longhorn/longhorn-instance-manager:v1',
    type: 'aio',
    dataEngine: 'v1',
    isRunning: true,
    engines: [],
    ...more,
  }
}

function nodeView(name: string, setting: NodeSetting): LonghornNodeView {
  return {
    name,
    kubernetes: 'ready',
    isCordoned: false,
    isDraining: false,
    intent: undefined,
    isEvictionAsked: false,
    isAutoEvicting: false,
    disks: [{ name: 'd1', uuid: `disk-${name}`, isEvictionAsked: false, allowScheduling: true }],
    ...setting,
  }
}

function volumeView(name: string, { copies, policy, ...more }: VolumeSetting): VolumeView {
  return {
    name,
    state: 'attached',
    robustness: 'healthy',
    numberOfReplicas: Object.keys(copies).length,
    isStrictLocal: false,
    policy: parseVolumePolicy({ label: policy, parameter: undefined }),
    actualBytes: 1000,
    attachedBy: undefined,
    attachedTo: undefined,
    unsettled: undefined,
    ...more,
  }
}

function replicaView(volume: string, node: string, copy: VolumeSetting['copies'][string]): ReplicaView {
  const { is = 'healthy', ...more } = typeof copy === 'string' ? { is: copy } : copy
  return {
    name: `${volume}-${node}`,
    volume,
    isActive: true,
    directory: `${volume}-${node}`,
    node,
    diskUuid: `disk-${node}`,
    ...times[is],
    isStopped: false,
    isEvictionRequested: false,
    instanceManager: `im-${node}`,
    isBeingDeleted: false,
    ...more,
  }
}

/** The world after everything that was decided has been written, and nothing else has happened. */
export function applyDecision(seen: LonghornSnapshot, decision: LonghornDecision): LonghornSnapshot {
  const flags = new Map(decision.evictions.map(({ replica, isRequested }) => [replica, isRequested]))
  const gone = new Set(decision.surplusReplicas)
  const budgets = new Set(seen.budgets)
  for (const { instanceManager, wanted } of decision.budgets) {
    if (wanted === 'present') budgets.add(instanceManager)
    if (wanted === 'absent') budgets.delete(instanceManager)
  }
  return {
    ...seen,
    budgets,
    replicas: seen.replicas
      .filter(({ name }) => !gone.has(name))
      .map((replica) => ({ ...replica, isEvictionRequested: flags.get(replica.name) ?? replica.isEvictionRequested })),
  }
}

/** What a decision comes to, in few words: for tables. */
export function gist(decision: LonghornDecision): {
  readonly kept: string
  readonly flags: string
  readonly mayDrain: string
} {
  return {
    kept: decision.budgets
      .filter(({ wanted }) => wanted === 'present')
      .map(({ instanceManager }) => instanceManager)
      .join(' '),
    flags: decision.evictions
      .map(
        ({ replica, event, isRequested, changes }) => `${changes ? (isRequested ? '+' : '-') : '='}${replica} ${event}`,
      )
      .join(', '),
    mayDrain: decision.nodes.map(({ node, mayDrain, reason }) => `${node}: ${mayDrain ? 'yes' : reason}`).join(', '),
  }
}
