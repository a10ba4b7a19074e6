import { hasReason } from '../../api/api-error.ts'
import { longhornReplicas } from '../../api/longhorn.ts'
import { timestamp } from '../../runtime/clock.ts'
import { randomSuffix } from '../../runtime/random.ts'
import { deleteExactly } from '../actor.ts'
import { placedReplicas, placementNodes, placementRequest } from './placement-facts.ts'
import { betterPlaces } from './replica-balance.ts'
import { type Placement, placeReplica } from './replica-scheduler.ts'
import {
  factsOf,
  filledShareOf,
  hostFor,
  replicasOf,
  type VolumeContext,
  wantedCountOf,
  writeReplica,
} from './volume-context.ts'
import { decideDeletion, decideReplenishment, mostRetries, whyNoneNow } from './volume-decisions.ts'
import { isSet } from './volume-facts.ts'
import { buildReplica } from './volume-objects.ts'

const firstRestMs = 10_000
const longestRestMs = 300_000

/** The replicas that a volume begins with, as long as it was never attached here. */
export async function createFirstReplicas(context: VolumeContext): Promise<void> {
  const { ports, volume, notes } = context
  const found = replicasOf(context)
  const isFilled = filledShareOf(context) > 0
  if (notes.wasAttached || found.some(({ spec }) => isSet(spec?.failedAt))) return
  if (!isFilled && found.some(({ spec }) => isSet(spec?.lastHealthyAt))) return
  const { placedOn = [] } = ports.description.volumes?.find(({ name }) => name === volume.metadata.name) ?? {}
  let number = Math.max(found.length, isFilled ? notes.firstCount : 0)
  notes.unplacedBecause = []
  for (; number < wantedCountOf(context); number += 1) {
    const place = findPlace(context, { hardNode: placedOn[number], ignoresReusable: false })
    if (!place.isPlaced) {
      notes.unplacedBecause = place.reasons
      break
    }
    await createReplica(context, place, { isFirst: true })
    notes.firstCount = number + 1
  }
  const least = ports.settings.flag('allow-volume-creation-with-degraded-availability') ? 1 : wantedCountOf(context)
  if (number >= least) notes.state = 'detached'
}

/** Writes down what the engine found: who is healthy and who failed. */
export async function reflectHealth(context: VolumeContext): Promise<void> {
  const { ports, volume, notes } = context
  const { data, stage } = ports
  const { name: volumeName } = volume.metadata
  const now = timestamp(stage.clock)
  const modes = data.modesOf(volumeName)
  for (const replica of replicasOf(context)) {
    const { name } = replica.metadata
    const { spec = {} } = replica
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
      if (wasRebuilding) rest(notes, name, stage.clock.now())
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
  const { data, hosts, settings, stage } = ports
  const replicas = replicasOf(context)
  if (notes.state !== 'detached' || replicas.length === 0 || !settings.flag('auto-salvage')) return
  if (replicas.some(({ spec }) => !isSet(spec?.failedAt))) return
  const newest = new Set(data.newestOf(replicas.map(({ metadata }) => metadata.name)))
  for (const replica of replicas) {
    if (!newest.has(replica.metadata.name) || !hosts.isAlive(hostFor(context, replica.spec?.nodeID ?? ''))) continue
    await writeReplica(context, replica, { failedAt: '' })
    stage.recorder.record(
      volume,
      'Normal',
      'AutoSalvaged',
      `Replica ${replica.metadata.name} will be automatically salvaged`,
    )
    context.again(1)
  }
}

/** Deletes at most one replica that is no longer needed. */
export async function removeSpareReplica(context: VolumeContext): Promise<void> {
  const { ports, volume } = context
  const { stage, timings, data } = ports
  const minutes = volume.spec?.staleReplicaTimeout
  const staleMs = minutes === undefined ? timings.staleReplicaMs : minutes * 60_000
  const name = decideDeletion(factsOf(context), { nowMs: stage.clock.now(), staleMs })
  const replica = replicasOf(context).find(({ metadata }) => metadata.name === name)
  if (replica === undefined) return
  await tellFailure(context, 'delete', () => deleteExactly(stage, longhornReplicas, replica))
  data.dropStore(replica.metadata.name)
  context.again(1)
}

/** Takes back a replica or makes a new one, where one is missing. */
export async function replenish(context: VolumeContext): Promise<void> {
  const { ports, volume, notes } = context
  const { stage, settings } = ports
  const nowMs = stage.clock.now()
  const { dataLocality, dataEngine } = volume.spec ?? {}
  const answer = decideReplenishment(
    { ...factsOf(context), isStrictLocalV2: dataLocality === 'strict-local' && dataEngine === 'v2' },
    {
      nowMs,
      rebuildLimit: settings.number('concurrent-replica-rebuild-per-node-limit'),
      degradedAtMs: Date.parse(volume.status?.lastDegradedAt ?? '') || nowMs,
      waitMs: settings.number('replica-replenishment-wait-interval') * 1_000,
      mayTry: (replica) => (notes.rests.get(replica)?.untilMs ?? 0) <= nowMs,
    },
  )
  if (answer.kind === 'none') {
    if (answer.because === 'there are enough') notes.unplacedBecause = []
    return
  }
  if (answer.kind === 'wait') {
    context.again(answer.forMs + 1_000)
    return
  }
  if (answer.kind === 'reuse') {
    const replica = replicasOf(context).find(({ metadata }) => metadata.name === answer.replica)
    if (replica !== undefined) await writeReplica(context, replica, { failedAt: '', healthyAt: '' })
    return
  }
  const hardNode = dataLocality === 'strict-local' ? replicasOf(context)[0]?.spec?.nodeID : undefined
  const place = findPlace(context, { hardNode, ignoresReusable: answer.mayIgnoreReusable })
  notes.unplacedBecause = place.isPlaced ? [] : place.reasons
  if (place.isPlaced) await createReplica(context, place, { isFirst: false })
}

/** Makes one copy more where that is better than where the others are; one of them goes once it is whole. */
export async function addBetterReplica(context: VolumeContext): Promise<void> {
  const { ports, volume } = context
  const facts = factsOf(context)
  if (whyNoneNow(facts, ports.settings.number('concurrent-replica-rebuild-per-node-limit')) !== undefined) return
  const nodes = placementNodes(ports, volume.spec?.dataEngine ?? 'v1').filter(
    ({ isOpen, canStart }) => isOpen && canStart,
  )
  for (const onlyOn of betterPlaces(facts, nodes)) {
    const place = findPlace(context, { onlyOn, ignoresReusable: false })
    if (!place.isPlaced) continue
    await createReplica(context, place, { isFirst: false })
    return
  }
}

/** Starts the one rebuild of the volume that waits, if the target's node has room for it. */
export async function startRebuild(context: VolumeContext): Promise<void> {
  const { ports, volume, notes } = context
  const { data, hosts, settings, stage } = ports
  const { name: volumeName } = volume.metadata
  if (notes.state !== 'attached' || data.engineOf(volumeName) === undefined || data.rebuildOf(volumeName) !== undefined)
    return
  const modes = data.modesOf(volumeName)
  const waiting = replicasOf(context).find(
    ({ metadata, spec }) =>
      !modes.has(metadata.name) &&
      !isSet(spec?.failedAt) &&
      isSet(spec?.nodeID) &&
      spec?.active !== false &&
      metadata.deletionTimestamp === undefined,
  )
  if (waiting === undefined) return
  const { name } = waiting.metadata
  const node = waiting.spec?.nodeID ?? ''
  const host = hostFor(context, node)
  if (!hosts.isAlive(host)) {
    const now = timestamp(stage.clock)
    const rebuildRetryCount = (waiting.spec?.rebuildRetryCount ?? 0) + 1
    await writeReplica(context, waiting, { failedAt: now, lastFailedAt: now, rebuildRetryCount })
    rest(notes, name, stage.clock.now())
    return
  }
  if (data.rebuildsOnto(node) >= settings.number('concurrent-replica-rebuild-per-node-limit')) {
    context.again(1_000)
    return
  }
  data.addStore({ replica: name, volume: volumeName, node, diskUuid: waiting.spec?.diskID ?? '' }, false)
  data.startRebuild(volumeName, name, host)
  stage.recorder.record(volume, 'Normal', 'Rebuilding', `Start rebuilding replica ${name} on node ${node}`)
  context.again(1)
}

export function findPlace(
  context: VolumeContext,
  options: {
    readonly hardNode?: string | undefined
    readonly onlyOn?: readonly string[]
    readonly ignoresReusable: boolean
  },
): Placement {
  const { ports, volume, notes } = context
  return placeReplica({
    request: placementRequest(ports, volume, { ...options, attachedTo: notes.node }),
    nodes: placementNodes(ports, volume.spec?.dataEngine ?? 'v1'),
    replicas: placedReplicas(ports, volume, replicasOf(context)),
  })
}

async function createReplica(
  context: VolumeContext,
  { node, diskUuid }: Extract<Placement, { readonly isPlaced: true }>,
  { isFirst }: { readonly isFirst: boolean },
): Promise<void> {
  const { ports, volume } = context
  const { stage, data } = ports
  const { name: volumeName } = volume.metadata
  const name = `${volumeName}-r-${randomSuffix(stage.random, 8)}`
  const hardNode = volume.spec?.dataLocality === 'strict-local' ? node : undefined
  const healthyAt = isFirst && filledShareOf(context) > 0 ? timestamp(stage.clock) : ''
  const retryCount = isFirst ? 0 : mostRetries
  const object = buildReplica(volume, { name, node, diskUuid, hardNode, retryCount, healthyAt })
  const created = await tellFailure(context, 'create', () => stage.api.create(longhornReplicas, object))
  data.addStore({ replica: name, volume: volumeName, node, diskUuid }, isFirst)
  stage.views.of(longhornReplicas).record(created)
}

async function tellFailure<T>({ ports, volume }: VolumeContext, verb: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!hasReason(error, 'Conflict', 'NotFound')) {
      const because = error instanceof Error ? error.message : String(error)
      ports.stage.recorder.record(volume, 'Warning', 'EvictionFailed', `Failed to ${verb} a replica: ${because}`)
    }
    throw error
  }
}
