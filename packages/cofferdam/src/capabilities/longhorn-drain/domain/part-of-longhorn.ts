import type { LonghornReplica } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { unknown } from '../../../shared/observed.ts'
import { parseDrainSettings } from './drain-settings.ts'
import { type LonghornObjects, parseManagers } from './parse-longhorn.ts'

/**
 * As much of Longhorn as the answers about these nodes need: of volumes and replicas those that the nodes have a part in, of all else
 * everything.
 *
 * Guarantees: what is decided about these nodes, and about their instance managers, is the same as from all objects. Where the cluster is
 * autoscaled, nodes answer for each other without end, and the part is the whole.
 */
export function partOfLonghorn(objects: LonghornObjects, nodes: ReadonlySet<string>): LonghornObjects {
  if (isAutoscaled(objects)) return objects
  const volumes = new Set<unknown>()
  for (const replica of objects.replicas) if (isOnOne(replica, nodes)) volumes.add(replica.spec?.volumeName)
  const managers = objects.instanceManagers.filter(({ spec }) => nodes.has(spec?.nodeID ?? ''))
  for (const { engines } of parseManagers({ ...objects, instanceManagers: managers })) {
    for (const volume of engines) volumes.add(volume)
  }
  return {
    ...objects,
    volumes: objects.volumes.filter(({ metadata }) => volumes.has(metadata.name)),
    replicas: objects.replicas.filter((replica) => volumes.has(replica.spec?.volumeName) || isOnOne(replica, nodes)),
    engines: objects.engines.filter(({ spec }) => volumes.has(spec?.volumeName)),
    attachments: objects.attachments.filter(({ metadata }) => volumes.has(metadata.name)),
  }
}

/** By its label too, which says where one is that cannot be read. */
function isOnOne({ metadata, spec }: LonghornReplica, nodes: ReadonlySet<string>): boolean {
  return nodes.has(spec?.nodeID ?? '') || nodes.has(metadata.labels?.['longhornnode'] ?? '')
}

function isAutoscaled({ settings, budgets, nowMs }: LonghornObjects): boolean {
  const manager = unknown('it does not matter to that')
  return parseDrainSettings(settings, { budgets, manager, nowMs }).isAutoscaled
}
