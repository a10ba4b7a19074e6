import type { Node } from '../../api/core.ts'
import type { KubeObject } from '../../api/kube-object.ts'
import type {
  LonghornEngine,
  LonghornInstanceManager,
  LonghornNode,
  LonghornReplica,
  LonghornSetting,
  LonghornVolume,
  LonghornVolumeAttachment,
} from '../../api/longhorn.ts'
import type { NodeDisruption } from '../../api/node-disruption.ts'
import type { PodDisruptionBudget } from '../../api/policy.ts'
import { isInstanceManagerBudget } from './budget-object.ts'
import { isBlipping, parseLonghornNode } from './parse-node.ts'
import { type Parsed, parseInstanceManager, parseReplica } from './parse-replica.ts'
import { parseVolume } from './parse-volume.ts'
import { drainPolicyParameter, drainPolicySetting, parseDrainPolicy } from './policy.ts'
import { Remembered } from './remembered.ts'
import type { InstanceManagerView, LonghornDrainSettings, LonghornSnapshot, UnreadableObject } from './snapshot.ts'

export interface StorageClassLike extends KubeObject {
  readonly parameters?: Readonly<Record<string, string>>
}

export interface PersistentVolumeLike extends KubeObject {
  readonly spec?: { readonly storageClassName?: string; readonly csi?: { readonly volumeHandle?: string } }
}

/** Everything as Kubernetes has it, of one Longhorn's namespace. */
export interface LonghornObjects {
  readonly nowMs: number
  readonly trigger: LonghornDrainSettings['trigger']
  readonly surplus: LonghornDrainSettings['surplus']
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
  readonly storageClasses: readonly StorageClassLike[]
  readonly persistentVolumes: readonly PersistentVolumeLike[]
}

export type ParseLonghorn = (objects: LonghornObjects) => LonghornSnapshot

export function parseLonghorn(objects: LonghornObjects): LonghornSnapshot {
  return createLonghornParser()(objects)
}

/**
 * Reads again and again, and gives the same view for an object as long as nothing it was made from changes.
 *
 * One bad object goes to `unreadable`, and all others are read as ever.
 */
export function createLonghornParser(): ParseLonghorn {
  const remembered = new Remembered()
  return (objects) => {
    const unreadable: UnreadableObject[] = []
    const keep = <T>(parsed: Parsed<T>): T[] => {
      if ('view' in parsed) return [parsed.view]
      unreadable.push(parsed.unreadable)
      return []
    }
    const settings = new Map(objects.settings.map((setting) => [setting.metadata.name, setting.value as unknown]))
    const engines = byVolume(objects.engines)
    const volumeOfEngine = engineVolumes(objects.engines)
    const instanceManagers = objects.instanceManagers.flatMap((manager) =>
      keep(remembered.make(manager, [], () => parseInstanceManager(manager, volumeOfEngine))),
    )
    const managerByDefault = defaultManagers(instanceManagers, settings.get('default-instance-manager-image'))
    const replicas = objects.replicas.flatMap((replica) => {
      const fallback = replica.status?.instanceManagerName ? '' : managerFor(replica, managerByDefault)
      return keep(remembered.make(replica, [fallback], () => parseReplica(replica, managerByDefault)))
    })
    const attachments = new Map(objects.attachments.map((attachment) => [attachment.metadata.name, attachment]))
    const classPolicyOf = classPolicies(objects)
    const volumes = objects.volumes.flatMap((volume) => {
      const { name } = volume.metadata
      const around = { attachment: attachments.get(name), engine: engines.get(name), classPolicy: classPolicyOf(name) }
      const from = [around.attachment, around.engine, around.classPolicy]
      return keep(remembered.make(volume, from, () => parseVolume(volume, around)))
    })
    const kubeNodes = new Map(objects.kubeNodes.map((node) => [node.metadata.name, node]))
    const nodes = objects.nodes.map((node) => {
      const kubeNode = kubeNodes.get(node.metadata.name)
      const disruptions = objects.disruptions.filter(({ spec }) => spec?.nodeName === node.metadata.name)
      const around = { kubeNode, disruptions, nowMs: objects.nowMs }
      const from = [kubeNode, isBlipping(kubeNode) ? objects.nowMs : 0, disruptions.length, ...disruptions]
      const parsed = remembered.make(node, from, () => parseLonghornNode(node, around))
      unreadable.push(...parsed.unreadable)
      return parsed.view
    })
    return {
      nowMs: objects.nowMs,
      settings: parseSettings(settings, objects),
      nodes,
      volumes,
      replicas,
      instanceManagers,
      budgets: new Set(objects.budgets.filter(isInstanceManagerBudget).map(({ metadata }) => metadata.name)),
      unreadable: unreadable.sort((left, right) => (left.object < right.object ? -1 : 1)),
    }
  }
}

/** Copies in excess are left to Longhorn where it balances replicas itself: it makes such copies on purpose. */
function parseSettings(
  settings: ReadonlyMap<string, unknown>,
  { trigger, surplus }: Pick<LonghornObjects, 'trigger' | 'surplus'>,
): LonghornDrainSettings {
  const balance = settings.get('replica-auto-balance')
  const isBalancing = balance !== undefined && balance !== '' && balance !== 'disabled'
  return {
    policy: parseDrainPolicy(settings.get(drainPolicySetting)),
    trigger,
    isAutoscaled: settings.get('kubernetes-cluster-autoscaler-enabled') === 'true',
    surplus: isBalancing ? 'keep' : surplus,
  }
}

function byVolume(engines: readonly LonghornEngine[]): Map<string, LonghornEngine> {
  const found = new Map<string, LonghornEngine>()
  for (const engine of engines) {
    const volume = engine.spec?.volumeName
    if (volume !== undefined && (engine.spec?.active !== false || !found.has(volume))) found.set(volume, engine)
  }
  return found
}

/** Engines are named after their volumes, so one whose object is gone still names its volume. */
function engineVolumes(engines: readonly LonghornEngine[]): (engine: string) => string {
  const known = new Map(engines.map(({ metadata, spec }) => [metadata.name, spec?.volumeName]))
  return (engine) => known.get(engine) ?? engine.replace(/-e-[0-9a-z]+$/, '')
}

type ManagerByDefault = (node: string, dataEngine: string) => string | undefined

function managerFor(replica: LonghornReplica, byDefault: ManagerByDefault): string | undefined {
  return byDefault(replica.spec?.nodeID ?? '', replica.spec?.dataEngine ?? 'v1')
}

/** The one of the default image; without that setting, the only one there is. */
function defaultManagers(managers: readonly InstanceManagerView[], image: unknown): ManagerByDefault {
  const groups = new Map<string, InstanceManagerView[]>()
  for (const manager of managers) {
    if (manager.type === 'engine') continue
    const key = `${manager.node} ${manager.dataEngine}`
    groups.set(key, [...(groups.get(key) ?? []), manager])
  }
  return (node, dataEngine) => {
    const group = groups.get(`${node} ${dataEngine}`) ?? []
    const chosen = group.find((manager) => manager.image === image)
    return (chosen ?? (group.length === 1 ? group[0] : undefined))?.name
  }
}

function classPolicies(objects: LonghornObjects): (volume: string) => unknown {
  const byClass = new Map<string, unknown>()
  for (const { metadata, parameters } of objects.storageClasses) {
    const policy = parameters?.[drainPolicyParameter]
    if (policy !== undefined) byClass.set(metadata.name, policy)
  }
  const classes = new Map<string, string>()
  if (byClass.size > 0) {
    for (const { metadata, spec } of objects.persistentVolumes) {
      if (spec?.storageClassName !== undefined)
        classes.set(spec.csi?.volumeHandle ?? metadata.name, spec.storageClassName)
    }
  }
  return (volume) => byClass.get(classes.get(volume) ?? '')
}
