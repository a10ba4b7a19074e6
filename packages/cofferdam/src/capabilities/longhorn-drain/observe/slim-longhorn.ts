import type {
  LonghornDiskStatus,
  LonghornEngine,
  LonghornInstanceManager,
  LonghornNode,
  LonghornReplica,
  LonghornVolume,
  LonghornVolumeAttachment,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { withoutManagedFields } from '@cofferdam/kubernetes/api/without-managed-fields.ts'

/**
 * Projections for watch caches: what is read of Longhorn's objects, of which there are ten thousands. Their types name every field that
 * is read, and here all of these are kept, or the program does not compile; the few that are not kept are named in the type.
 */
type Kept<Part, Left extends keyof NonNullable<Part> = never> = Readonly<
  Record<Exclude<keyof NonNullable<Part>, Left>, true>
>

const replicaSpec: Kept<LonghornReplica['spec']> = {
  volumeName: true,
  nodeID: true,
  diskID: true,
  engineName: true,
  active: true,
  image: true,
  dataDirectoryName: true,
  evictionRequested: true,
  hardNodeAffinity: true,
  desireState: true,
  healthyAt: true,
  failedAt: true,
  lastHealthyAt: true,
  lastFailedAt: true,
  rebuildRetryCount: true,
  linkedCloneSrcReplicaName: true,
  dataEngine: true,
  volumeSize: true,
}
const replicaStatus: Kept<LonghornReplica['status']> = {
  ownerID: true,
  currentState: true,
  ip: true,
  storageIP: true,
  currentImage: true,
  instanceManagerName: true,
  evictionRequested: true,
}
const volumeSpec: Kept<LonghornVolume['spec']> = {
  size: true,
  numberOfReplicas: true,
  dataLocality: true,
  nodeID: true,
  migrationNodeID: true,
  image: true,
  dataSource: true,
  cloneMode: true,
  dataEngine: true,
  replicaSoftAntiAffinity: true,
  replicaZoneSoftAntiAffinity: true,
  replicaDiskSoftAntiAffinity: true,
  nodeSelector: true,
  diskSelector: true,
  staleReplicaTimeout: true,
}
const volumeStatus: Kept<LonghornVolume['status']> = {
  ownerID: true,
  state: true,
  robustness: true,
  currentNodeID: true,
  currentMigrationNodeID: true,
  currentImage: true,
  actualSize: true,
  lastDegradedAt: true,
  conditions: true,
  kubernetesStatus: true,
}
const engineSpec: Kept<LonghornEngine['spec']> = {
  volumeName: true,
  volumeSize: true,
  dataEngine: true,
  nodeID: true,
  desireState: true,
  active: true,
  image: true,
}
const engineStatus: Kept<LonghornEngine['status'], 'replicaModeMap'> = {
  currentState: true,
  currentImage: true,
  instanceManagerName: true,
  rebuildStatus: true,
}
const managerSpec: Kept<LonghornInstanceManager['spec']> = { nodeID: true, image: true, type: true, dataEngine: true }
const managerStatus: Kept<LonghornInstanceManager['status'], 'instanceReplicas'> = {
  ownerID: true,
  currentState: true,
  conditions: true,
  instanceEngines: true,
  instanceEngineFrontends: true,
  instances: true,
}
const nodeSpec: Kept<LonghornNode['spec']> = {
  name: true,
  allowScheduling: true,
  evictionRequested: true,
  tags: true,
  disks: true,
}
const nodeStatus: Kept<LonghornNode['status']> = {
  autoEvicting: true,
  zone: true,
  region: true,
  conditions: true,
  diskStatus: true,
}
const diskStatus: Kept<LonghornDiskStatus, 'scheduledReplica'> = {
  diskUUID: true,
  storageAvailable: true,
  storageMaximum: true,
  storageScheduled: true,
  conditions: true,
}
const attachmentSpec: Kept<LonghornVolumeAttachment['spec']> = { volume: true, attachmentTickets: true }

type Parts = KubeObject & { readonly spec?: unknown; readonly status?: unknown }

function keeping<T extends Parts>(specFields: object, statusFields: object): (object: T) => T {
  return (object) => {
    const spec = only(object.spec, specFields)
    const status = only(object.status, statusFields)
    if (spec === object.spec && status === object.status) return withoutManagedFields(object)
    return {
      ...withoutManagedFields(object),
      ...(spec !== undefined && { spec }),
      ...(status !== undefined && { status }),
    }
  }
}

/** What is no object stays what it is, and is found unreadable by whoever reads it. */
function only<P>(part: P, fields: object): P {
  if (!isFields(part)) return part
  const entries = Object.entries(part)
  const kept = entries.filter(([field]) => Object.hasOwn(fields, field))
  return kept.length === entries.length ? part : (Object.fromEntries(kept) as P)
}

function isFields(part: unknown): part is Readonly<Record<string, unknown>> {
  return typeof part === 'object' && part !== null && !Array.isArray(part)
}

function eachOf<P>(part: P, change: (value: unknown) => unknown): P {
  if (!isFields(part)) return part
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, change(value)])) as P
}

export const slimReplica = keeping<LonghornReplica>(replicaSpec, replicaStatus)
export const slimVolume = keeping<LonghornVolume>(volumeSpec, volumeStatus)
export const slimEngine = keeping<LonghornEngine>(engineSpec, engineStatus)
/** The status of an attachment is Longhorn's own account of what the spec asks for. */
export const slimAttachment = keeping<LonghornVolumeAttachment>(attachmentSpec, {})

const slimManagerParts = keeping<LonghornInstanceManager>(managerSpec, managerStatus)
const nothing = Object.freeze({})

/** Of the processes that run in it the names are read: what is said of each is larger than all else. */
export function slimInstanceManager(manager: LonghornInstanceManager): LonghornInstanceManager {
  const slim = slimManagerParts(manager)
  if (!isFields(slim.status)) return slim
  const names = (processes: unknown) => eachOf(processes, () => nothing)
  const { instanceEngines, instanceEngineFrontends, instances } = slim.status
  return {
    ...slim,
    status: {
      ...slim.status,
      ...(instanceEngines !== undefined && { instanceEngines: names(instanceEngines) as typeof instanceEngines }),
      ...(instanceEngineFrontends !== undefined && {
        instanceEngineFrontends: names(instanceEngineFrontends) as typeof instanceEngineFrontends,
      }),
      ...(instances !== undefined && { instances: names(instances) as typeof instances }),
    },
  }
}

const slimNodeParts = keeping<LonghornNode>(nodeSpec, nodeStatus)

export function slimLonghornNode(node: LonghornNode): LonghornNode {
  const slim = slimNodeParts(node)
  if (!isFields(slim.status) || slim.status.diskStatus === undefined) return slim
  const disks = eachOf(slim.status.diskStatus, (disk) => only(disk, diskStatus))
  return { ...slim, status: { ...slim.status, diskStatus: disks } }
}
