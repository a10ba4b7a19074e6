import type { LonghornReplica, LonghornSetting, LonghornVolume } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { LonghornObjects } from '../parse-longhorn.ts'

export interface LonghornScene {
  readonly policy?: string
  /** Annotations of the setting `node-drain-policy`, without our prefix. */
  readonly notes?: Readonly<Record<string, string>>
  /** Other settings. */
  readonly settings?: Readonly<Record<string, string>>
  readonly nodes?: Readonly<Record<string, SceneNode>>
  readonly volumes?: Readonly<Record<string, SceneVolume>>
  readonly budgets?: readonly PodDisruptionBudget[]
  /** Default: a DaemonSet that wants pods, and one pod that runs. */
  readonly manager?: Pick<LonghornObjects, 'managerSets' | 'managerPods'>
}

interface SceneNode {
  readonly cordoned?: boolean
  /** Its one disk, `d`, is being emptied. */
  readonly evict?: boolean
  /** The annotation `cofferdam.io/asked`. */
  readonly asked?: string
  /** Default: its instance manager has Longhorn's budget. */
  readonly hasBudget?: boolean
}

interface SceneVolume {
  /** Nodes of its copies, all of them whole; with `!` while it is moving away. */
  readonly on: readonly string[]
  readonly robustness?: 'healthy' | 'degraded' | 'faulted'
  readonly isStrictLocal?: boolean
  /** Its own drain policy. */
  readonly label?: string
}

const group = { apiVersion: 'longhorn.io/v1beta2' }
export const managed: Pick<LonghornObjects, 'managerSets' | 'managerPods'> = {
  managerSets: [{ metadata: { name: 'longhorn-manager' } }],
  managerPods: [{ metadata: { name: 'longhorn-manager-1' }, status: { phase: 'Running' } }],
}

/** Objects as Kubernetes has them: nodes `n1` with instance managers `im-n1`, all in a calm Longhorn but for what is said. */
export function longhornObjects(scene: LonghornScene = {}): LonghornObjects {
  const nodes = Object.entries(scene.nodes ?? { n1: {}, n2: {}, n3: {} })
  const volumes = Object.entries(scene.volumes ?? {})
  return {
    namespace: 'longhorn-system',
    nowMs: Date.parse('2026-01-01T01:00:00Z'),
    settings: [
      policySetting(scene),
      ...Object.entries(scene.settings ?? {}).map(([name, value]) => ({
        ...group,
        kind: 'Setting',
        metadata: { name },
        value,
      })),
    ],
    nodes: nodes.map(([name, { evict = false, asked }]) => ({
      ...group,
      kind: 'Node',
      metadata: { name, annotations: asked === undefined ? {} : { 'cofferdam.io/asked': asked } },
      spec: {
        evictionRequested: false,
        allowScheduling: true,
        disks: { d: { evictionRequested: evict, allowScheduling: !evict } },
      },
      status: { diskStatus: { d: { diskUUID: `disk-${name}` } } },
    })),
    kubeNodes: nodes.map(([name, { cordoned = false }]) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      spec: cordoned ? { unschedulable: true } : {},
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    })),
    instanceManagers: nodes.map(([name]) => ({
      ...group,
      kind: 'InstanceManager',
      metadata: { name: `im-${name}` },
      spec: { nodeID: name, image: 'im', type: 'aio', dataEngine: 'v1' },
      status: { currentState: 'running' },
    })),
    budgets: [
      ...nodes.flatMap(([name, { hasBudget = true }]) => (hasBudget ? [longhornBudget(name)] : [])),
      ...(scene.budgets ?? []),
    ],
    volumes: volumes.map(volumeObject),
    replicas: volumes.flatMap(replicaObjects),
    engines: [],
    attachments: [],
    disruptions: [],
    storageClasses: [],
    persistentVolumes: [],
    ...(scene.manager ?? managed),
  }
}

function policySetting({ policy = 'block-if-contains-last-replica', notes = {} }: LonghornScene): LonghornSetting {
  const annotations = Object.fromEntries(Object.entries(notes).map(([key, text]) => [`cofferdam.io/${key}`, text]))
  const metadata = { name: 'node-drain-policy', resourceVersion: '7', annotations }
  return { ...group, kind: 'Setting', metadata, value: policy }
}

function volumeObject([name, { on, robustness = 'healthy', isStrictLocal, label }]: [
  string,
  SceneVolume,
]): LonghornVolume {
  return {
    ...group,
    kind: 'Volume',
    metadata: { name, labels: label === undefined ? {} : { 'cofferdam.io/node-drain-policy': label } },
    spec: { numberOfReplicas: on.length, dataLocality: isStrictLocal === true ? 'strict-local' : 'disabled' },
    status: { state: 'attached', robustness },
  }
}

function replicaObjects([volume, { on }]: [string, SceneVolume]): LonghornReplica[] {
  return on.map((place) => {
    const node = place.replace('!', '')
    return {
      ...group,
      kind: 'Replica',
      metadata: { name: `${volume}-${node}` },
      spec: {
        volumeName: volume,
        nodeID: node,
        diskID: `disk-${node}`,
        active: true,
        dataDirectoryName: `${volume}-${node}`,
        healthyAt: '2026-01-01T00:00:00Z',
        desireState: 'running',
        evictionRequested: place.endsWith('!'),
      },
      status: { currentState: 'running', instanceManagerName: `im-${node}` },
    }
  })
}

/** As Longhorn makes it. */
export function longhornBudget(node: string): PodDisruptionBudget {
  const matchLabels = { 'longhorn.io/component': 'instance-manager', 'longhorn.io/node': node }
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: `im-${node}`, namespace: 'longhorn-system' },
    spec: { minAvailable: 1, selector: { matchLabels } },
  }
}

/** As Cofferdam makes it. */
export function holdBudget(node: string): PodDisruptionBudget {
  const labels = { 'app.kubernetes.io/managed-by': 'cofferdam' }
  return {
    ...longhornBudget(node),
    metadata: { name: `cofferdam-hold-im-${node}`, namespace: 'longhorn-system', labels },
    spec: { minAvailable: 1, selector: { matchLabels: { 'longhorn.io/node': node } } },
  }
}
