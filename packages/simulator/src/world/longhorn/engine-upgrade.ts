import { type LonghornReplica, longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { randomSuffix } from '@cofferdam/kubernetes/runtime/random.ts'
import { deleteExactly } from '../actor.ts'
import { isImageReady } from './engine-images.ts'
import { hostFor, isUpgrading, replicasOf, type VolumeContext, writeReplica } from './volume-context.ts'
import { isSet } from './volume-facts.ts'
import { buildReplicaClone } from './volume-objects.ts'

/**
 * Brings a volume to the engine image of its spec, as Longhorn does with its first data engine: every replica gets an inactive double
 * over the same data directory; when all of them run, the engine changes over and the old ones go.
 *
 * A replica that is deleted meanwhile takes its directory with it, and its double finds nothing.
 */
export async function upgradeEngine(context: VolumeContext): Promise<void> {
  const { notes, volume } = context
  if (!isUpgrading(context)) {
    notes.upgradeSinceMs = undefined
    await removeInactive(context)
    return
  }
  if (!isThere(context)) return
  if (notes.state === 'detached') {
    await removeInactive(context)
    for (const replica of active(context)) await writeReplica(context, replica, { image: volume.spec?.image ?? '' })
    notes.image = volume.spec?.image ?? ''
    return
  }
  if (notes.state !== 'attached') return
  if (notes.upgradeSinceMs === undefined) await startDoubles(context)
  else await changeOver(context, notes.upgradeSinceMs)
}

async function startDoubles(context: VolumeContext): Promise<void> {
  const { ports, volume, notes } = context
  const { tools, data, timings } = ports
  const modes = data.modesOf(volume.metadata.name)
  const wanted = volume.spec?.numberOfReplicas ?? 3
  const running = active(context).filter(({ metadata }) => modes.get(metadata.name) === 'RW')
  if (running.length < wanted) return
  for (const replica of running) {
    if (doubleOf(context, replica) !== undefined) continue
    const name = `${volume.metadata.name}-r-${randomSuffix(tools.random, 8)}`
    const double = buildReplicaClone(volume, replica, { name, image: volume.spec?.image ?? '' })
    const created = await tools.api.create(longhornReplicas, double)
    data.startDouble(name, hostFor(context, replica.spec?.nodeID ?? ''))
    tools.views.of(longhornReplicas).record(created)
  }
  notes.upgradeSinceMs = tools.clock.now()
  context.again(timings.engineUpgradeMs)
}

async function changeOver(context: VolumeContext, sinceMs: number): Promise<void> {
  const { ports, volume, notes } = context
  const { tools, data, timings } = ports
  const leftMs = sinceMs + timings.engineUpgradeMs - tools.clock.now()
  if (leftMs > 0) {
    context.again(leftMs)
    return
  }
  const image = volume.spec?.image ?? ''
  const modes = data.modesOf(volume.metadata.name)
  const isLeftAlone = (replica: LonghornReplica) =>
    modes.get(replica.metadata.name) === 'RW' &&
    replica.spec?.image !== image &&
    doubleOf(context, replica) === undefined
  if (active(context).some(isLeftAlone)) {
    notes.upgradeSinceMs = undefined
    context.again(1)
    return
  }
  const now = timestamp(tools.clock)
  for (const double of replicasOf(context).filter(({ spec }) => spec?.active === false && spec.image === image)) {
    const { name } = double.metadata
    const old = active(context).find((replica) => isSameDirectory(replica, double))
    const hasData = data.storeOf(name) !== undefined || (old !== undefined && data.handOver(old.metadata.name, name))
    const lost = { healthyAt: '', failedAt: now, lastFailedAt: now, desireState: 'stopped' as const }
    await writeReplica(context, double, { active: true, ...(hasData ? {} : lost) })
  }
  for (const old of active(context).filter(({ spec }) => spec?.image !== image)) {
    await writeReplica(context, old, { active: false })
  }
  notes.image = image
  notes.upgradeSinceMs = undefined
  context.again(1)
}

/** Whether the new image can be started wherever the volume has something. */
function isThere(context: VolumeContext): boolean {
  const { ports, volume, notes } = context
  const { image = '', dataEngine } = volume.spec ?? {}
  if (dataEngine === 'v2') return true
  const places = [...active(context).map(({ spec }) => spec?.nodeID), notes.node].filter((node) => node !== undefined)
  return places.every((node) => isImageReady(ports, image, node))
}

/** What an upgrade leaves over, whether it came to its end or not. */
async function removeInactive(context: VolumeContext): Promise<void> {
  const { tools, data } = context.ports
  for (const replica of replicasOf(context)) {
    if (replica.spec?.active !== false) continue
    data.stopReplica(replica.metadata.name)
    await deleteExactly(tools, longhornReplicas, replica)
  }
}

function active(context: VolumeContext): LonghornReplica[] {
  return replicasOf(context).filter(({ spec }) => spec?.active !== false)
}

function doubleOf(context: VolumeContext, replica: LonghornReplica): LonghornReplica | undefined {
  return replicasOf(context).find((one) => one.spec?.active === false && isSameDirectory(one, replica))
}

function isSameDirectory(left: LonghornReplica, right: LonghornReplica): boolean {
  return (
    isSet(left.spec?.dataDirectoryName) &&
    left.spec?.dataDirectoryName === right.spec?.dataDirectoryName &&
    left.spec?.diskID === right.spec?.diskID
  )
}
