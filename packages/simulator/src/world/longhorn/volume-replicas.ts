import { longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { deleteExactly } from '../actor.ts'
import { factsOf, hostFor, recordFailure, replicasOf, type VolumeContext, writeReplica } from './volume-context.ts'
import { decideDeletion } from './volume-decisions.ts'
import { isSet } from './volume-facts.ts'

const firstRestMs = 10_000
const longestRestMs = 300_000

/** Writes down what the engine found: who is healthy and who failed. */
export async function reflectHealth(context: VolumeContext): Promise<void> {
  const { ports, volume, notes } = context
  const { data, tools } = ports
  const { name: volumeName } = volume.metadata
  const now = timestamp(tools.clock)
  const modes = data.modesOf(volumeName)
  for (const replica of replicasOf(context)) {
    const { name } = replica.metadata
    const { spec = {} } = replica
    if (spec.active === false) continue
    const mode = modes.get(name)
    const hasFailed = mode === 'ERR' || data.hasCrashed(name)
    const desireState = mode === 'RW' || mode === 'WO' ? 'running' : 'stopped'
    if (hasFailed && !isSet(spec.failedAt)) {
      const wasRebuilding = !isSet(spec.healthyAt)
      const rebuildRetryCount = (spec.rebuildRetryCount ?? 0) + (wasRebuilding ? 1 : 0)
      await writeReplica(context, replica, {
        failedAt: now,
        lastFailedAt: now,
        desireState: 'stopped',
        rebuildRetryCount,
      })
      if (wasRebuilding) rest(notes, name, tools.clock.now())
    } else if (mode === 'RW' && !isSet(spec.healthyAt)) {
      await writeReplica(context, replica, {
        healthyAt: now,
        lastHealthyAt: now,
        failedAt: '',
        rebuildRetryCount: 0,
        desireState,
      })
      notes.rests.delete(name)
    } else if (spec.desireState !== desireState) await writeReplica(context, replica, { desireState })
    if (hasFailed) {
      data.removeFromEngine(volumeName, name)
      data.forgetCrash(name)
    }
  }
}

function rest({ rests }: VolumeContext['notes'], replica: string, nowMs: number): void {
  const restMs = rests.get(replica)?.nextMs ?? firstRestMs
  rests.set(replica, { untilMs: nowMs + restMs, nextMs: Math.min(restMs * 2, longestRestMs) })
}

/** Brings a volume back of which every replica failed, from those that saw its last write. */
export async function salvage(context: VolumeContext): Promise<void> {
  const { ports, volume, notes } = context
  const { data, hosts, settings, tools } = ports
  const replicas = replicasOf(context)
  if (notes.state !== 'detached' || replicas.length === 0 || !settings.flag('auto-salvage')) return
  if (replicas.some(({ spec }) => !isSet(spec?.failedAt))) return
  const newest = new Set(data.newestOf(replicas.map(({ metadata }) => metadata.name)))
  for (const replica of replicas) {
    if (!newest.has(replica.metadata.name) || !hosts.isAlive(hostFor(context, replica.spec?.nodeID ?? ''))) continue
    await writeReplica(context, replica, { failedAt: '' })
    tools.recorder.record(
      volume,
      'Normal',
      'AutoSalvaged',
      `Replica ${replica.metadata.name} will be automatically salvaged`,
    )
    context.again(1)
  }
}

/** Deletes at most one replica that is no longer needed. */
export async function removeSurplusReplica(context: VolumeContext): Promise<void> {
  const { ports, volume } = context
  const { tools, timings, data } = ports
  const minutes = volume.spec?.staleReplicaTimeout
  const staleMs = minutes === undefined ? timings.staleReplicaMs : minutes * 60_000
  const name = decideDeletion(factsOf(context), { nowMs: tools.clock.now(), staleMs })
  const replica = replicasOf(context).find(({ metadata }) => metadata.name === name)
  if (replica === undefined) return
  await recordFailure(context, 'delete', () => deleteExactly(tools, longhornReplicas, replica))
  data.dropStore(replica.metadata.name)
  context.again(1)
}

/** Starts the one rebuild of the volume that waits, if the target's node has room for it. */
export async function startRebuild(context: VolumeContext): Promise<void> {
  const { ports, volume, notes } = context
  const { data, hosts, settings, tools } = ports
  const { name: volumeName } = volume.metadata
  if (notes.state !== 'attached' || data.engineOf(volumeName) === undefined || data.rebuildOf(volumeName) !== undefined)
    return
  const modes = data.modesOf(volumeName)
  const waiting = replicasOf(context).find(
    ({ metadata, spec }) =>
      !modes.has(metadata.name) && !isSet(spec?.failedAt) && isSet(spec?.nodeID) && spec?.active !== false,
  )
  if (waiting === undefined) return
  const { name } = waiting.metadata
  const node = waiting.spec?.nodeID ?? ''
  const host = hostFor(context, node)
  if (!hosts.isAlive(host)) {
    const now = timestamp(tools.clock)
    const rebuildRetryCount = (waiting.spec?.rebuildRetryCount ?? 0) + 1
    await writeReplica(context, waiting, { failedAt: now, lastFailedAt: now, rebuildRetryCount })
    rest(notes, name, tools.clock.now())
    return
  }
  if (data.rebuildsOnto(node) >= settings.number('concurrent-replica-rebuild-per-node-limit')) {
    context.again(1_000)
    return
  }
  data.addStore({ replica: name, volume: volumeName, node, diskUuid: waiting.spec?.diskID ?? '' }, false)
  data.startRebuild(volumeName, name, host)
  tools.recorder.record(volume, 'Normal', 'Rebuilding', `Start rebuilding replica ${name} on node ${node}`)
  context.again(1)
}
