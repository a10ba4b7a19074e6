import {
  type LonghornReplica,
  type LonghornVolume,
  longhornEngines,
  longhornReplicas,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { writeStatus } from '../actor.ts'
import { withCondition } from '../conditions.ts'
import { isSameValue } from './same-value.ts'
import { factsOf, replicasOf, type VolumeContext } from './volume-context.ts'
import { robustnessOf } from './volume-health.ts'
import { engineName } from './volume-objects.ts'

type KubernetesStatus = NonNullable<NonNullable<LonghornVolume['status']>['kubernetesStatus']>

/** Nothing listens anywhere; what runs has to say where all the same. */
const processAddress = '127.0.0.1'

export async function reportEngine({ ports, volume, notes }: VolumeContext): Promise<void> {
  const { tools, data } = ports
  const { namespace = '', name } = volume.metadata
  const view = tools.views.of(longhornEngines)
  const held = view.get(`${namespace}/${engineName(name)}`)
  if (held === undefined) return
  const process = data.engineOf(name)
  const wish = {
    ...held.spec,
    nodeID: process?.node ?? '',
    desireState: process === undefined ? ('stopped' as const) : ('running' as const),
    image: notes.image,
  }
  let engine = held
  if (!isSameValue(wish, held.spec)) {
    engine = await tools.api.update(longhornEngines, { ...held, spec: wish })
    view.record(engine)
  }
  const rebuild = data.rebuildOf(name)
  const status = {
    ...engine.status,
    currentState: process === undefined ? 'stopped' : 'running',
    currentImage: process === undefined ? '' : notes.image,
    instanceManagerName: process?.instanceManager ?? '',
    replicaModeMap: Object.fromEntries([...data.modesOf(name)].sort(([a], [b]) => (a < b ? -1 : 1))),
    rebuildStatus:
      rebuild === undefined ? {} : { [rebuild.target.replica]: { progress: rebuild.progress, isRebuilding: true } },
  }
  if (!isSameValue(status, engine.status)) await writeStatus(tools, longhornEngines, engine, status)
}

export async function reportReplicas(context: VolumeContext): Promise<void> {
  const { ports, notes } = context
  const { tools, data } = ports
  for (const replica of replicasOf(context)) {
    const { name } = replica.metadata
    const host = data.hostOf(name)
    const status: NonNullable<LonghornReplica['status']> = {
      ...replica.status,
      ownerID: replica.spec?.nodeID ?? '',
      currentState: host === undefined ? 'stopped' : 'running',
      currentImage: host === undefined ? '' : (replica.spec?.image ?? ''),
      instanceManagerName: host ?? '',
      ip: host === undefined ? '' : processAddress,
      storageIP: host === undefined ? '' : processAddress,
    }
    if (notes.state === 'creating' || isSameValue(status, replica.status)) continue
    await writeStatus(tools, longhornReplicas, replica, status)
  }
}

export async function reportVolume(context: VolumeContext, readyNodes: readonly string[]): Promise<void> {
  const { ports, notes } = context
  const { tools, data } = ports
  const now = timestamp(tools.clock)
  const robustness = robustnessOf(factsOf(context))
  const volume = await writeNode(context)
  const before = volume.status
  const isPlaced = notes.unplacedBecause.length === 0
  const scheduled = {
    type: 'Scheduled',
    status: isPlaced ? ('True' as const) : ('False' as const),
    ...(isPlaced ? {} : { reason: 'ReplicaSchedulingFailure', message: notes.unplacedBecause.join('; ') }),
    lastTransitionTime: now,
  }
  const becameDegraded = robustness === 'degraded' && before?.robustness !== 'degraded'
  const status: NonNullable<LonghornVolume['status']> = {
    ...before,
    state: notes.state,
    robustness,
    currentMigrationNodeID: '',
    ...(notes.image === '' ? {} : { currentImage: notes.image }),
    currentNodeID: notes.state === 'attached' || notes.state === 'detaching' ? (notes.node ?? '') : '',
    ownerID: ownerOf(context, readyNodes),
    actualSize: data.usedBlocks(volume.metadata.name) * bytesPerBlock(volume, ports.description.blocks?.count),
    lastDegradedAt: robustness === 'healthy' ? '' : becameDegraded ? now : (before?.lastDegradedAt ?? ''),
    conditions: withCondition(before?.conditions, scheduled),
    kubernetesStatus: kubernetesStatus(context),
  }
  if (isSameValue(status, before)) return
  await writeStatus(tools, longhornVolumes, volume, status)
  if (before?.state !== notes.state) recordState(context)
  if (before?.robustness !== robustness) recordRobustness(context, robustness)
}

/** How many bytes one block stands for. */
export function bytesPerBlock(volume: LonghornVolume | undefined, blockCount = 64): number {
  return Number(volume?.spec?.size ?? 0) / blockCount
}

async function writeNode({ ports, volume, notes }: VolumeContext): Promise<LonghornVolume> {
  const view = ports.tools.views.of(longhornVolumes)
  const nodeID = notes.state === 'attaching' || notes.state === 'attached' ? (notes.node ?? '') : ''
  if ((volume.spec?.nodeID ?? '') === nodeID) return volume
  const written = await ports.tools.api.update(longhornVolumes, { ...volume, spec: { ...volume.spec, nodeID } })
  view.record(written)
  return written
}

/** The node it is attached to, else one that is well; it stays with that one as long as it is. */
function ownerOf({ ports, volume, notes }: VolumeContext, readyNodes: readonly string[]): string {
  const held = volume.status?.ownerID
  if (notes.state === 'attached' && notes.node !== undefined) return notes.node
  if (held !== undefined && held !== '' && readyNodes.includes(held)) return held
  return readyNodes[(ports.tools.random.next() * readyNodes.length) | 0] ?? held ?? ''
}

function kubernetesStatus({ ports, volume }: VolumeContext): KubernetesStatus {
  const { name } = volume.metadata
  const claim = ports.description.volumes?.find((one) => one.name === name)?.claim
  const users = ports.podsUsing(name)
  return {
    pvcName: claim?.name ?? '',
    namespace: claim?.namespace ?? users[0]?.metadata.namespace ?? '',
    workloadsStatus: users.map(({ metadata }) => ({ podName: metadata.name })),
  }
}

function recordState({ ports, volume, notes }: VolumeContext): void {
  const { recorder } = ports.tools
  const { name } = volume.metadata
  if (notes.state === 'attached') {
    recorder.record(volume, 'Normal', 'Attached', `volume ${name} has been attached to ${notes.node}`)
  } else if (notes.state === 'detached')
    recorder.record(volume, 'Normal', 'Detached', `volume ${name} has been detached`)
}

function recordRobustness({ ports, volume }: VolumeContext, robustness: string): void {
  const { recorder } = ports.tools
  const { name } = volume.metadata
  if (robustness === 'healthy') recorder.record(volume, 'Normal', 'Healthy', `volume ${name} became healthy`)
  else if (robustness === 'degraded') recorder.record(volume, 'Normal', 'Degraded', `volume ${name} became degraded`)
  else if (robustness === 'faulted') recorder.record(volume, 'Warning', 'Faulted', `volume ${name} became faulted`)
}
