import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type {
  LonghornEngine,
  LonghornInstanceManager,
  LonghornNode,
  LonghornReplica,
  LonghornSetting,
  LonghornVolume,
  LonghornVolumeAttachment,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { PersistentVolume, StorageClass } from '@cofferdam/kubernetes/api/storage.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import type { Parsed } from '../../../shared/parsed.ts'
import { ListIndex, ListReader } from '../../../shared/read-lists.ts'
import { Remembered } from '../../../shared/remembered.ts'
import { heldManagerOf, isInstanceManagerBudget } from './budget-object.ts'
import { parseDrainSettings } from './drain-settings.ts'
import { longhornVersionSetting } from './linked-clone.ts'
import { type LonghornManagerObjects, nodesWithManager, parseLonghornManager } from './longhorn-manager.ts'
import { isBlipping, parseLonghornNode } from './parse-node.ts'
import { parseInstanceManager, parseReplica } from './parse-replica.ts'
import { parseVolume } from './parse-volume.ts'
import { drainPolicyParameter } from './policy.ts'
import { isHealthy } from './protection.ts'
import type { InstanceManagerView, LonghornSnapshot, ReplicaView, VolumeView } from './snapshot.ts'

/** Everything as Kubernetes has it, of one Longhorn's namespace. */
export interface LonghornObjects extends LonghornManagerObjects {
  readonly namespace: string
  readonly nowMs: number
  readonly settings: readonly LonghornSetting[]
  readonly nodes: readonly LonghornNode[]
  readonly volumes: readonly LonghornVolume[]
  readonly replicas: readonly LonghornReplica[]
  readonly engines: readonly LonghornEngine[]
  readonly instanceManagers: readonly LonghornInstanceManager[]
  readonly attachments: readonly LonghornVolumeAttachment[]
  readonly kubeNodes: readonly Node[]
  readonly budgets: readonly PodDisruptionBudget[]
  readonly disruptions: readonly NodeDisruption[]
  readonly storageClasses: readonly StorageClass[]
  readonly persistentVolumes: readonly PersistentVolume[]
}

/** What is read where there is nothing of Longhorn. */
export const noLonghornObjects: Omit<LonghornObjects, 'namespace' | 'nowMs'> = {
  settings: [],
  nodes: [],
  volumes: [],
  replicas: [],
  engines: [],
  instanceManagers: [],
  attachments: [],
  kubeNodes: [],
  budgets: [],
  disruptions: [],
  storageClasses: [],
  persistentVolumes: [],
  managerSets: [],
  managerPods: [],
}

/** What stopped replicas run in next; Longhorn itself always writes it. */
const managerImageSetting = 'default-instance-manager-image'

export type ParseLonghorn = (objects: LonghornObjects) => LonghornSnapshot

export function parseLonghorn(objects: LonghornObjects): LonghornSnapshot {
  return createLonghornParser(forgetful)(objects)
}

/** Who reads once remembers nothing: that would cost as much as the reading. */
const forgetful: Pick<Remembered, 'make'> = { make: (_object, _from, build) => build() }

/**
 * Reads again and again, and gives the same view for an object as long as nothing it was made from changes.
 *
 * One bad object goes to `unreadable`, and all others are read as ever.
 */
export function createLonghornParser(remembered: Pick<Remembered, 'make'> = new Remembered()): ParseLonghorn {
  const managers = new ListReader<LonghornInstanceManager, InstanceManagerView>()
  const replicas = new ListReader<LonghornReplica, ReplicaView>()
  const volumes = new ListReader<LonghornVolume, VolumeView>()
  const enginesByVolume = new ListIndex(byVolume)
  const engineNames = new ListIndex(engineVolumes)
  const defaults = new ListIndex(groupByPlace)
  const attachmentsByName = new ListIndex(byName<LonghornVolumeAttachment>)
  const kubeNodesByName = new ListIndex(byName<Node>)
  const classPolicies = new ListIndex(policiesOfClasses)
  const classesOfVolumes = new ListIndex(classesByHandle)
  const managedNodes = new ListIndex(nodesWithManager)
  const budgetNames = new ListIndex(namesOfBudgets)
  const managerless = new ListIndex(countWithoutManager)

  return (objects) => {
    const settings = new Map(objects.settings.map((setting) => [setting.metadata.name, setting.value as unknown]))
    const volumeOfEngine = engineNames.of(objects.engines)
    const managersRead = managers.read(objects.instanceManagers, [], (manager) =>
      remembered.make(manager, [], () =>
        guarded('instancemanager', manager, () => parseInstanceManager(manager, volumeOfEngine)),
      ),
    )
    const image = settings.get(managerImageSetting)
    const groups = defaults.of(managersRead.views)
    const byDefault = (node: string, dataEngine: string) => defaultManager(groups.get(`${node} ${dataEngine}`), image)
    const replicasRead = replicas.read(objects.replicas, [groups, image], (replica) =>
      remembered.make(replica, [managerFor(replica, byDefault)], () =>
        guarded('replica', replica, () => parseReplica(replica, byDefault)),
      ),
    )
    const attachments = attachmentsByName.of(objects.attachments)
    const engines = enginesByVolume.of(objects.engines)
    const policies = classPolicies.of(objects.storageClasses)
    const classes = classesOfVolumes.of(objects.persistentVolumes)
    const softAntiAffinity = settings.get('replica-soft-anti-affinity')
    const longhornVersion = settings.get(longhornVersionSetting)
    const stamp = [attachments, engines, policies, classes, softAntiAffinity, longhornVersion]
    const volumesRead = volumes.read(objects.volumes, stamp, (volume) => {
      const { name } = volume.metadata
      const classPolicy = policies.get(classes.get(name) ?? '')
      const own = engines.get(name) ?? []
      const around = { attachment: attachments.get(name), engines: own, classPolicy, softAntiAffinity, longhornVersion }
      const from = [around.attachment, classPolicy, softAntiAffinity, longhornVersion, own.length, ...own]
      return remembered.make(volume, from, () => guarded('volume', volume, () => parseVolume(volume, around)))
    })
    const kubeNodes = kubeNodesByName.of(objects.kubeNodes)
    const managed = objects.managerPods === undefined ? undefined : managedNodes.of(objects.managerPods)
    const nodes = objects.nodes.map((node) => {
      const kubeNode = kubeNodes.get(node.metadata.name)
      const disruptions = objects.disruptions.filter(({ spec }) => spec?.nodeName === node.metadata.name)
      const hasManager = managed?.has(node.metadata.name)
      const around = { kubeNode, disruptions, nowMs: objects.nowMs, hasManager }
      const from = [kubeNode, isBlipping(kubeNode) ? objects.nowMs : 0, hasManager, disruptions.length, ...disruptions]
      return remembered.make(node, from, () => parseLonghornNode(node, around))
    })
    const drainSettings = parseDrainSettings(objects.settings, {
      budgets: objects.budgets,
      manager: parseLonghornManager(objects),
      nowMs: objects.nowMs,
    })
    const problems = [...drainSettings.problems, ...withoutManager(image, () => managerless.of(replicasRead.views))]
    return {
      namespace: objects.namespace,
      nowMs: objects.nowMs,
      settings: { ...drainSettings, problems },
      nodes: nodes.map(({ view }) => view),
      volumes: volumesRead.views,
      replicas: replicasRead.views,
      instanceManagers: managersRead.views,
      ...budgetNames.of(objects.budgets),
      unreadable: [
        ...managersRead.unreadable,
        ...replicasRead.unreadable,
        ...volumesRead.unreadable,
        ...nodes.flatMap(({ unreadable }) => unreadable),
      ].sort((left, right) => (left.object < right.object ? -1 : 1)),
    }
  }
}

/** Those that can be read, with the volumes whose engines run in them. */
export function parseManagers({
  instanceManagers,
  engines,
}: Pick<LonghornObjects, 'instanceManagers' | 'engines'>): readonly InstanceManagerView[] {
  const volumeOfEngine = engineVolumes(engines)
  return instanceManagers.flatMap((manager) => {
    const parsed = guarded('instancemanager', manager, () => parseInstanceManager(manager, volumeOfEngine))
    return 'view' in parsed ? [parsed.view] : []
  })
}

/** Whatever an object holds, it is its own misfortune alone. */
function guarded<T>(kind: string, { metadata }: KubeObject, parse: () => Parsed<T>): Parsed<T> {
  try {
    return parse()
  } catch (error) {
    return { unreadable: { object: `${kind}/${metadata.name}`, why: String(error) } }
  }
}

function byName<T extends KubeObject>(objects: readonly T[]): ReadonlyMap<string, T> {
  return new Map(objects.map((object) => [object.metadata.name, object]))
}

function namesOfBudgets(
  budgets: readonly PodDisruptionBudget[],
): Pick<LonghornSnapshot, 'budgets' | 'holds' | 'longhornBudgets' | 'otherBudgets'> {
  const longhornBudgets = new Set(budgets.filter(isInstanceManagerBudget).map(({ metadata }) => metadata.name))
  const names = budgets.map(({ metadata }) => metadata.name)
  const otherBudgets = new Set(names.filter((name) => !longhornBudgets.has(name)))
  const holds = new Set(budgets.flatMap((budget) => heldManagerOf(budget) ?? []))
  return { budgets: new Set([...longhornBudgets, ...holds]), holds, longhornBudgets, otherBudgets }
}

function byVolume(engines: readonly LonghornEngine[]): ReadonlyMap<string, readonly LonghornEngine[]> {
  const found = new Map<string, LonghornEngine[]>()
  for (const engine of engines) {
    const volume = engine.spec?.volumeName
    if (volume === undefined) continue
    const others = found.get(volume)
    if (others === undefined) found.set(volume, [engine])
    else others.push(engine)
  }
  return found
}

/** Engines are named after their volumes, so one whose object is gone still names its volume. */
function engineVolumes(engines: readonly LonghornEngine[]): (engine: string) => string {
  const known = new Map(engines.map(({ metadata, spec }) => [metadata.name, spec?.volumeName]))
  return (engine) => known.get(engine) ?? engine.replace(/-e-[0-9a-z]+$/, '')
}

type ManagerByDefault = (node: string, dataEngine: string) => string | undefined

/** The name, or undefined where the replica names its manager itself, so that others do not matter to it. */
function managerFor({ spec, status }: LonghornReplica, byDefault: ManagerByDefault): string | undefined {
  const isNamed = status?.instanceManagerName !== undefined && status.instanceManagerName !== ''
  return isNamed ? undefined : byDefault(spec?.nodeID ?? '', spec?.dataEngine ?? 'v1')
}

function groupByPlace(managers: readonly InstanceManagerView[]): ReadonlyMap<string, readonly InstanceManagerView[]> {
  const groups = new Map<string, InstanceManagerView[]>()
  for (const manager of managers) {
    if (manager.type === 'engine') continue
    const key = `${manager.node} ${manager.dataEngine}`
    groups.set(key, [...(groups.get(key) ?? []), manager])
  }
  return groups
}

/**
 * The one of the default image, as in Longhorn: which other one a replica will run in is not known, also where there is but one. Without
 * that setting Longhorn's check fails, and its budgets stay.
 */
function defaultManager(group: readonly InstanceManagerView[] | undefined, image: unknown): string | undefined {
  return image === '' ? undefined : group?.find((manager) => manager.image === image)?.name
}

function countWithoutManager(replicas: readonly ReplicaView[]): number {
  return replicas.filter((replica) => replica.instanceManager === undefined && isHealthy(replica)).length
}

/** For the problem that it is: what has no instance manager protects nothing. */
function withoutManager(image: unknown, countReplicas: () => number): string[] {
  if (typeof image === 'string' && image !== '') return []
  const count = countReplicas()
  if (count === 0) return []
  const which = count === 1 ? 'one stopped replica protects' : `${count} stopped replicas protect`
  return [
    `the setting ${managerImageSetting} does not exist or is empty, so ${which} nothing: where it would run is not known`,
  ]
}

function policiesOfClasses(classes: readonly StorageClass[]): ReadonlyMap<string, unknown> {
  const policies = new Map<string, unknown>()
  for (const { metadata, parameters } of classes) {
    const policy: unknown = parameters?.[drainPolicyParameter]
    if (policy !== undefined) policies.set(metadata.name, policy)
  }
  return policies
}

/** Longhorn's volumes know nothing of classes; their PersistentVolumes do. */
function classesByHandle(volumes: readonly PersistentVolume[]): ReadonlyMap<string, string> {
  const classes = new Map<string, string>()
  for (const { metadata, spec } of volumes) {
    if (spec?.storageClassName !== undefined)
      classes.set(spec.csi?.volumeHandle ?? metadata.name, spec.storageClassName)
  }
  return classes
}
