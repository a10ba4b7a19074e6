import { createHash } from 'node:crypto'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import {
  type LonghornDataEngine,
  type LonghornInstanceManager,
  type LonghornNode,
  type LonghornReplica,
  type LonghornSetting,
  type LonghornVolume,
  longhornNamespace,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import { imageLabel } from '@cofferdam/product/capabilities/longhorn-drain/domain/budget-object.ts'
import { drainPolicies } from '@cofferdam/product/capabilities/longhorn-drain/domain/snapshot.ts'
import { type Chance, createChance } from './chance.ts'
import type { LonghornState } from './longhorn-state.ts'

/** When every state is seen. */
export const seenAt = '2026-01-03T00:00:00Z'
const longAgo = '2026-01-01T00:00:00Z'
const lately = '2026-01-02T00:00:00Z'
const aMomentAgo = '2026-01-02T23:59:55Z'

const apiVersion = 'longhorn.io/v1beta2'
const images = { new: 'longhornio/longhorn-instance-manager:new', old: 'longhornio/longhorn-instance-manager:old' }
const imageLabels = new Map(
  Object.values(images).map((image) => [
    image,
    imageLabel(image, (text) => createHash('sha512').update(text).digest('hex')),
  ]),
)

/** The settings as a cluster has them that nobody tampered with. */
export const wellSettings = {
  'node-drain-policy': 'block-if-contains-last-replica',
  'kubernetes-cluster-autoscaler-enabled': 'false',
  'default-instance-manager-image': images.new,
}

/**
 * A cluster in any state that objects can describe, most of it well: a decision that is right about broken clusters only by chance shows
 * there, and one that is wrong about a healthy one is not hidden among them.
 */
export function randomLonghorn(random: Pick<Random, 'next'>): LonghornState {
  const chance = createOddChance(random)
  const names = Array.from({ length: chance.between(2, 5) }, (_, index) => `node-${index + 1}`)
  const places = names.map((name) => drawPlace(chance, name))
  const instanceManagers = names.flatMap((name) => drawInstanceManagers(chance, name))
  const volumes = Array.from({ length: chance.between(1, 3) }, (_, index) =>
    drawVolume(chance, `volume-${index + 1}`, { names, instanceManagers }),
  )
  const replicas = volumes.flatMap(({ replicas: own }) => own)
  return {
    settings: drawSettings(chance),
    kubeNodes: places.flatMap(({ kubeNode }) => kubeNode ?? []),
    nodes: places.flatMap(({ node }) => (node === undefined ? [] : [withReplicas(chance, node, replicas)])),
    volumes: volumes.flatMap(({ volume }) => volume ?? []),
    replicas,
    instanceManagers: instanceManagers.map((manager) => withEngines(chance, manager, volumes)),
    budgets: drawBudgets(chance, instanceManagers),
  }
}

/** Draws what seldom happens in some states only, and then often enough that such things meet. */
interface OddChance extends Chance {
  isOdd(share: number): boolean
}

function createOddChance(random: Pick<Random, 'next'>): OddChance {
  const chance = createChance(random)
  const isOddState = chance.isSo(0.4)
  return { ...chance, isOdd: (share) => isOddState && chance.isSo(share) }
}

/** One node as Kubernetes and as Longhorn have it; either may have lost it. */
interface Place {
  readonly kubeNode: Node | undefined
  readonly node: LonghornNode | undefined
}

function drawPlace(chance: OddChance, name: string): Place {
  const isGone = chance.isOdd(0.05)
  const silence = chance.isOdd(0.12) ? chance.oneOf(silences) : undefined
  const kubeNode = drawKubeNode(chance, name, silence)
  const node = drawNode(chance, name, whyNotReady(isGone, silence))
  return { kubeNode: isGone ? undefined : kubeNode, node: chance.isOdd(0.03) ? undefined : node }
}

/** `unseen`: Longhorn has not heard of it yet. `blip`: for so short that nobody reacts. `no manager`: Longhorn's own pod is away. */
const silences = ['down', 'unseen', 'blip', 'no manager'] as const
type Silence = (typeof silences)[number] | undefined

function drawKubeNode(chance: OddChance, name: string, silence: Silence): Node {
  const isReady = silence === undefined || silence === 'no manager'
  const since = silence === 'blip' ? aMomentAgo : lately
  const isCordoned = chance.isSo(0.4)
  // As Karpenter empties a node; it does not cordon.
  const taints = chance.isOdd(0.06) ? [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' as const }] : []
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    spec: { ...(isCordoned ? { unschedulable: true } : {}), ...(taints.length > 0 ? { taints } : {}) },
    status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'Unknown', lastTransitionTime: since }] },
  }
}

/** Longhorn's own word on it, which may lag behind. */
function whyNotReady(isGone: boolean, silence: Silence): string {
  if (isGone) return 'KubernetesNodeGone'
  if (silence === 'down') return 'KubernetesNodeNotReady'
  return silence === 'no manager' ? 'ManagerPodDown' : ''
}

function drawNode(chance: OddChance, name: string, whyNot: string): LonghornNode {
  const isNodeAsked = chance.isSo(0.06)
  const disks = ['disk-1', 'disk-2']
  return {
    apiVersion,
    kind: 'Node',
    metadata: { name, namespace: longhornNamespace },
    spec: {
      name,
      allowScheduling: !isNodeAsked,
      evictionRequested: isNodeAsked,
      disks: Object.fromEntries(
        disks.map((disk) => {
          const isAsked = chance.isSo(0.06)
          return [disk, { path: `/${disk}`, allowScheduling: !isAsked, evictionRequested: isAsked }]
        }),
      ),
    },
    status: {
      autoEvicting: chance.isSo(0.4),
      conditions: [{ type: 'Ready', status: whyNot === '' ? 'True' : 'False', reason: whyNot }],
      diskStatus: Object.fromEntries(disks.map((disk) => [disk, { diskUUID: uuidOf(name, disk) }])),
    },
  }
}

function uuidOf(node: string, disk: string): string {
  return `${node}-${disk}`
}

/** The new one for the first data engine is nearly always there; the others are what upgrades and the second engine leave. */
function drawInstanceManagers(chance: OddChance, node: string): LonghornInstanceManager[] {
  const kinds = [
    { suffix: '', image: images.new, type: 'aio', dataEngine: 'v1', share: chance.isOdd(0.1) ? 0 : 1 },
    { suffix: '-old', image: images.old, type: 'aio', dataEngine: 'v1', share: 0.2 },
    { suffix: '-v2', image: images.new, type: 'aio', dataEngine: 'v2', share: 0.25 },
    { suffix: '-v2-old', image: images.old, type: 'aio', dataEngine: 'v2', share: 0.05 },
    { suffix: '-e', image: images.old, type: 'engine', dataEngine: 'v1', share: 0.08 },
    { suffix: '-r', image: images.old, type: 'replica', dataEngine: 'v1', share: 0.08 },
  ] as const
  return kinds.flatMap(({ suffix, image, type, dataEngine, share }): LonghornInstanceManager[] => {
    if (!chance.isSo(share)) return []
    const currentState = chance.isSo(0.92)
      ? 'running'
      : chance.oneOf(['error', 'unknown', 'starting', 'stopped'] as const)
    return [
      {
        apiVersion,
        kind: 'InstanceManager',
        metadata: {
          name: `instance-manager-${node}${suffix}`,
          namespace: longhornNamespace,
          labels: managerLabels({ node, image, type, dataEngine }),
        },
        spec: { nodeID: node, image, type, dataEngine },
        status: { currentState },
      },
    ]
  })
}

function managerLabels({
  node,
  image,
  type,
  dataEngine,
}: {
  readonly node: string
  readonly image: string
  readonly type: string
  readonly dataEngine: LonghornDataEngine
}): Readonly<Record<string, string>> {
  return {
    'longhorn.io/component': 'instance-manager',
    'longhorn.io/managed-by': 'longhorn-manager',
    'longhorn.io/instance-manager-type': type,
    'longhorn.io/node': node,
    'longhorn.io/data-engine': dataEngine,
    'longhorn.io/instance-manager-image': imageLabels.get(image) ?? '',
  }
}

/** A volume with its replicas, and the instance manager that its engine runs in. */
interface Drawn {
  readonly volume: LonghornVolume | undefined
  readonly replicas: readonly LonghornReplica[]
  readonly engine: { readonly name: string; readonly in: string } | undefined
}

interface Around {
  readonly names: readonly string[]
  readonly instanceManagers: readonly LonghornInstanceManager[]
}

function drawVolume(chance: OddChance, name: string, { names, instanceManagers }: Around): Drawn {
  const dataEngine = chance.isSo(0.2) ? 'v2' : 'v1'
  const attachedTo = chance.isSo(0.4) ? chance.oneOf(names) : ''
  const hosts = instanceManagers.filter(({ spec }) => spec?.nodeID === attachedTo && spec?.type !== 'replica')
  const numberOfReplicas = chance.between(1, 3)
  const volume: LonghornVolume = {
    apiVersion,
    kind: 'Volume',
    metadata: { name, namespace: longhornNamespace },
    spec: {
      size: '1073741824',
      numberOfReplicas,
      dataEngine,
      dataLocality: chance.isSo(0.05) ? 'strict-local' : 'disabled',
      nodeID: attachedTo,
    },
    status: {
      state: attachedTo === '' ? 'detached' : 'attached',
      robustness: attachedTo === '' ? 'unknown' : chance.oneOf(['healthy', 'degraded']),
      currentNodeID: attachedTo,
    },
  }
  const isAttached = attachedTo !== ''
  const count = numberOfReplicas + (chance.isSo(0.3) ? 1 : 0)
  const where = chance.shuffled(names).slice(0, count)
  // Two copies on one node, as with soft anti-affinity.
  if (where.length > 1 && chance.isSo(0.15)) where[1] = where[0] as string
  const replicas = where.map((node, index) =>
    drawReplica(chance, {
      name: `${name}-r-${index + 1}`,
      volume: name,
      node,
      dataEngine,
      isAttached,
      instanceManagers,
    }),
  )
  return {
    volume: chance.isOdd(0.03) ? undefined : volume,
    replicas: chance.isOdd(0.2) ? [...replicas, ...replicas.flatMap((one) => drawDouble(chance, one))] : replicas,
    engine: hosts.length === 0 ? undefined : { name: `${name}-e-0`, in: chance.oneOf(hosts).metadata.name },
  }
}

interface ReplicaPlace {
  readonly name: string
  readonly volume: string
  readonly node: string
  readonly dataEngine: LonghornDataEngine
  readonly isAttached: boolean
  readonly instanceManagers: readonly LonghornInstanceManager[]
}

function drawReplica(chance: OddChance, at: ReplicaPlace): LonghornReplica {
  const node = chance.isOdd(0.03) ? '' : at.node
  const diskID = node === '' ? '' : uuidOf(node, chance.isSo(0.8) ? 'disk-1' : 'disk-2')
  const health = chance.oneOf(['whole', 'whole', 'whole', 'whole', 'failed', 'never whole', 'failed at once'])
  const isStopped = !at.isAttached || chance.isSo(0.1)
  const { name, volume: volumeName, dataEngine } = at
  return {
    apiVersion,
    kind: 'Replica',
    metadata: {
      name,
      namespace: longhornNamespace,
      labels: { longhornvolume: volumeName, longhornnode: node, longhorndiskuuid: diskID },
      ...(chance.isOdd(0.08) ? { deletionTimestamp: aMomentAgo } : {}),
    },
    spec: {
      volumeName,
      nodeID: node,
      diskID,
      dataEngine,
      engineName: `${volumeName}-e-0`,
      active: !chance.isOdd(0.02),
      dataDirectoryName: name,
      evictionRequested: chance.isSo(0.25),
      desireState: isStopped ? 'stopped' : 'running',
      healthyAt: health === 'whole' || health === 'failed' ? longAgo : '',
      failedAt: health === 'failed' || health === 'failed at once' ? lately : '',
    },
    status: {
      currentState: isStopped ? chance.oneOf(['stopped', 'stopped', 'stopped', 'error', 'stopping']) : 'running',
      instanceManagerName: isStopped ? '' : drawManagerOf(chance, at),
    },
  }
}

/** One on its node as a rule; now and then one that is gone, or of another node. */
function drawManagerOf(chance: OddChance, { node, dataEngine, instanceManagers }: ReplicaPlace): string {
  if (chance.isOdd(0.03)) return 'instance-manager-gone'
  const able = instanceManagers.filter(({ spec }) => spec?.type !== 'engine' && spec?.dataEngine === dataEngine)
  const own = able.filter(({ spec }) => spec?.nodeID === node)
  const chosen = chance.isOdd(0.04) ? able : own
  return chosen.length === 0 ? '' : chance.oneOf(chosen).metadata.name
}

/** While an engine is upgraded or a volume migrates: the same directory again, not active; now and then one is late or differs. */
function drawDouble(chance: OddChance, replica: LonghornReplica): LonghornReplica[] {
  if (chance.isSo(0.1)) return []
  const { metadata, spec, status } = replica
  const another = chance.isSo(0.1) ? { dataDirectoryName: `${metadata.name}-other` } : {}
  const isBehind = chance.isSo(0.15)
  const other = isBehind ? { healthyAt: chance.oneOf(['', longAgo]), failedAt: chance.oneOf(['', lately]) } : {}
  const isStarting = chance.isSo(0.2)
  return [
    {
      ...replica,
      metadata: { ...metadata, name: `${metadata.name}-double` },
      spec: { ...spec, active: false, ...another, ...other, ...(isStarting ? { desireState: 'running' } : {}) },
      status: { ...status, ...(isStarting ? { currentState: 'starting' } : {}) },
    },
  ]
}

/** What the disks list; it may lag behind the replicas. */
function withReplicas(chance: OddChance, node: LonghornNode, replicas: readonly LonghornReplica[]): LonghornNode {
  const listed = (uuid: string) => {
    const here = replicas.filter(({ spec }) => spec?.diskID === uuid && !chance.isOdd(0.05))
    const names = [...here.map(({ metadata }) => metadata.name), ...(chance.isOdd(0.02) ? ['replica-gone'] : [])]
    return Object.fromEntries(names.map((name) => [name, 1_073_741_824]))
  }
  const disks = Object.entries(node.status?.diskStatus ?? {}).map(([disk, status]) => [
    disk,
    { ...status, scheduledReplica: listed(status.diskUUID ?? '') },
  ])
  return { ...node, status: { ...node.status, diskStatus: Object.fromEntries(disks) } }
}

/** Engines of attached volumes, and those that Longhorn has lost sight of. Old managers list them in another field. */
function withEngines(
  chance: OddChance,
  manager: LonghornInstanceManager,
  volumes: readonly Drawn[],
): LonghornInstanceManager {
  const own = volumes.flatMap(({ engine }) => (engine?.in === manager.metadata.name ? [engine.name] : []))
  const engines = [...own, ...(chance.isSo(0.03) ? ['lost-e-0'] : [])]
  const field = manager.spec?.type !== 'aio' && chance.isSo(0.5) ? 'instances' : 'instanceEngines'
  const running = Object.fromEntries(engines.map((name) => [name, { spec: { name }, status: { state: 'running' } }]))
  return { ...manager, status: { ...manager.status, [field]: running } }
}

function drawBudgets(chance: OddChance, managers: readonly LonghornInstanceManager[]): PodDisruptionBudget[] {
  const own = managers.flatMap(({ metadata }) => {
    const kind = chance.isSo(0.92) ? 'there' : chance.isOdd(0.15) ? 'of somebody else' : undefined
    const labels = kind === 'there' ? metadata.labels : { app: 'something-else' }
    return kind === undefined ? [] : [buildBudget(metadata.name, labels)]
  })
  const orphan = buildBudget('instance-manager-gone', { 'longhorn.io/component': 'instance-manager' })
  return chance.isOdd(0.1) ? [...own, orphan] : own
}

export function buildBudget(name: string, matchLabels: Readonly<Record<string, string>> = {}): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: longhornNamespace },
    spec: { minAvailable: 1, selector: { matchLabels } },
  }
}

function drawSettings(chance: OddChance): LonghornSetting[] {
  const policy = chance.isOdd(0.1) ? chance.oneOf([undefined, '', 'block-everything']) : chance.oneOf(drainPolicies)
  const autoscaler = chance.isOdd(0.1) ? chance.oneOf([undefined, 'perhaps']) : String(chance.isSo(0.2))
  const image = chance.isOdd(0.1) ? chance.oneOf([undefined, images.old]) : images.new
  const values = {
    'node-drain-policy': policy,
    'kubernetes-cluster-autoscaler-enabled': autoscaler,
    'default-instance-manager-image': image,
  }
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [{ apiVersion, kind: 'Setting', metadata: { name, namespace: longhornNamespace }, value }],
  )
}
