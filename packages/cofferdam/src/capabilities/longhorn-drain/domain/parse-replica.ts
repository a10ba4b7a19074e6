import type { LonghornInstanceManager, LonghornReplica } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { Parsed, UnreadableObject } from '../../../shared/parsed.ts'
import { Reading } from './reading.ts'
import type { InstanceManagerView, ReplicaView } from './snapshot.ts'

/** `managerByDefault` answers for replicas that name no instance manager: those that have not run yet. */
export function parseReplica(
  replica: LonghornReplica,
  managerByDefault: (node: string, dataEngine: string) => string | undefined,
): Parsed<ReplicaView> {
  const { name, labels, deletionTimestamp } = replica.metadata
  const see = new Reading()
  const spec = see.fields(replica.spec, 'spec')
  const status = see.fields(replica.status, 'status')
  const node = see.text(spec['nodeID'], 'spec.nodeID')
  const dataEngine = see.text(spec['dataEngine'], 'spec.dataEngine', 'v1')
  const manager = see.text(status['instanceManagerName'], 'status.instanceManagerName')
  const cloneSource = see.text(spec['linkedCloneSrcReplicaName'], 'spec.linkedCloneSrcReplicaName')
  const view: ReplicaView = {
    name,
    volume: see.name(spec['volumeName'], 'spec.volumeName'),
    // Longhorn always writes it, and takes a replica without it for an inactive one.
    isActive: see.flag(spec['active'], 'spec.active'),
    directory: see.text(spec['dataDirectoryName'], 'spec.dataDirectoryName'),
    node,
    diskUuid: see.text(spec['diskID'], 'spec.diskID'),
    healthyAt: see.text(spec['healthyAt'], 'spec.healthyAt'),
    failedAt: see.text(spec['failedAt'], 'spec.failedAt'),
    isStopped: spec['desireState'] === 'stopped' && status['currentState'] === 'stopped',
    isEvictionRequested: see.flag(spec['evictionRequested'], 'spec.evictionRequested'),
    instanceManager: manager === '' ? managerByDefault(node, dataEngine) : manager,
    isBeingDeleted: deletionTimestamp !== undefined,
    cloneSource: cloneSource === '' ? undefined : cloneSource,
  }
  if (see.why === undefined) return { view }
  const place = node === '' ? labels?.['longhornnode'] : node
  return { unreadable: unreadable(`replica/${name}`, see.why, place) }
}

/** `volumeOfEngine` knows the volume of an engine by the engine's name. */
export function parseInstanceManager(
  manager: LonghornInstanceManager,
  volumeOfEngine: (engine: string) => string,
): Parsed<InstanceManagerView> {
  const { name } = manager.metadata
  const see = new Reading()
  const spec = see.fields(manager.spec, 'spec')
  const status = see.fields(manager.status, 'status')
  const node = see.name(spec['nodeID'], 'spec.nodeID')
  const type = see.text(spec['type'], 'spec.type', 'aio')
  // A manager from before 1.5 lists everything in one field; one for replicas has no engines there.
  const fields = ['instanceEngines', 'instanceEngineFrontends', ...(type === 'replica' ? [] : ['instances'])]
  const engines = fields.flatMap((field) => Object.keys(see.fields(status[field], `status.${field}`)))
  const view: InstanceManagerView = {
    name,
    node,
    image: see.text(spec['image'], 'spec.image'),
    type: type === 'engine' || type === 'replica' ? type : 'aio',
    dataEngine: spec['dataEngine'] === 'v2' ? 'v2' : 'v1',
    isRunning: status['currentState'] === 'running',
    engines: [...new Set(engines.map(volumeOfEngine))].sort(),
  }
  return see.why === undefined ? { view } : { unreadable: unreadable(`instancemanager/${name}`, see.why, node) }
}

export function unreadable(object: string, why: string, node: string | undefined): UnreadableObject {
  return node === undefined || node === '' ? { object, why } : { object, why, node }
}
