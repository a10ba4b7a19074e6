import {
  type LonghornVolume,
  longhornEngineImages,
  longhornEngines,
  longhornInstanceManagers,
  longhornNodes,
  longhornReplicas,
  longhornSettings,
  longhornVolumeAttachments,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { writeStatus } from '../actor.ts'
import { upgradeEngine } from './engine-upgrade.ts'
import { deleteAndLetGo, isGoing, isHeld, letGo, longhornFinalizers } from './finalizer.ts'
import { imageSettingOf } from './longhorn-description.ts'
import { addBetterReplica, createFirstReplicas, replenish } from './new-replicas.ts'
import { isSameValue } from './same-value.ts'
import {
  filledShareOf,
  goingReplicasOf,
  newNotes,
  replicasOf,
  type VolumeContext,
  type VolumeNotes,
  type VolumePorts,
} from './volume-context.ts'
import { isSet } from './volume-facts.ts'
import { buildAttachment, buildEngine, engineName } from './volume-objects.ts'
import { advancePhase } from './volume-phase.ts'
import { reflectHealth, removeSurplusReplica, salvage, startRebuild } from './volume-replicas.ts'
import { reportEngine, reportReplicas, reportVolume } from './volume-report.ts'

/** Keeps every volume attached where it is wanted and its replicas whole. */
export function startVolumes(
  ports: VolumePorts & {
    /** Processes of this volume may have started or ended. */
    readonly onReconciled: (nodes: readonly string[]) => void
  },
): { readonly enqueue: (volume: string) => void; readonly enqueueAll: () => void } {
  const { tools, namespace, data } = ports
  const volumes = tools.views.of(longhornVolumes)
  const engines = tools.views.of(longhornEngines)
  const replicas = tools.views.of(longhornReplicas)
  const attachments = tools.views.of(longhornVolumeAttachments)
  const managers = tools.views.of(longhornInstanceManagers)
  const nodes = tools.views.of(longhornNodes)
  const images = tools.views.of(longhornEngineImages)
  const settings = tools.views.of(longhornSettings)
  const held = new Map<string, VolumeNotes>()
  const needs = [volumes, engines, replicas, attachments, managers, nodes, images, settings]
  // Rebuild slots are counted over all volumes, so volumes are reconciled one after the other.
  const queue = tools.queue({ needs, work: reconcile, concurrency: 1, delayMs: 10 })

  async function reconcile(name: string): Promise<void> {
    const written = volumes.get(`${namespace}/${name}`)
    if (written === undefined || isGoing(written)) {
      await remove(name)
      return
    }
    const volume = await complete(written)
    let notes = held.get(name)
    if (notes === undefined) {
      notes = newNotes(volume)
      held.set(name, notes)
    }
    const context: VolumeContext = { ports, volume, notes, again: (inMs) => queue.addAfter(name, inMs) }
    const nodeBefore = notes.node
    await ensureParts(context)
    if (notes.state === 'creating' || notes.state === 'detached') await createFirstReplicas(context)
    await advancePhase(context)
    await reflectHealth(context)
    await upgradeEngine(context)
    await salvage(context)
    await removeSurplusReplica(context)
    await replenish(context)
    await addBetterReplica(context)
    await startRebuild(context)
    await reportEngine(context)
    await reportReplicas(context)
    await reportVolume(context, readyNodes())
    const touched = replicasOf(context).map(({ spec }) => spec?.nodeID)
    ports.onReconciled([...touched, nodeBefore, notes.node].filter((node) => node !== undefined))
  }

  /** What Longhorn's webhook adds to a volume that somebody else made. */
  async function complete(volume: LonghornVolume): Promise<LonghornVolume> {
    const { image, dataEngine } = volume.spec ?? {}
    if (isHeld(volume) && isSet(image)) return volume
    const written = await tools.api.update(longhornVolumes, {
      ...volume,
      metadata: {
        ...volume.metadata,
        finalizers: [...new Set([...(volume.metadata.finalizers ?? []), ...longhornFinalizers])],
      },
      spec: { ...volume.spec, image: image || ports.settings.text(imageSettingOf(dataEngine)) },
    })
    volumes.record(written)
    return written
  }

  async function ensureParts(context: VolumeContext): Promise<void> {
    const { volume } = context
    const { name } = volume.metadata
    data.addVolume(name, filledShareOf(context))
    const attachment = attachments.get(`${namespace}/${name}`)
    if (attachment !== undefined) await letGo(tools, longhornVolumeAttachments, attachment)
    if (attachments.get(`${namespace}/${name}`) === undefined) {
      attachments.record(await tools.api.create(longhornVolumeAttachments, buildAttachment(volume)))
    }
    const engine = engines.get(`${namespace}/${engineName(name)}`)
    if (engine !== undefined) await letGo(tools, longhornEngines, engine)
    if (engines.get(`${namespace}/${engineName(name)}`) === undefined) {
      engines.record(await tools.api.create(longhornEngines, buildEngine(volume)))
    }
    const found = replicasOf(context).filter(({ spec }) => spec?.active !== false)
    for (const { metadata, spec } of found) {
      const place = { replica: metadata.name, volume: name, node: spec?.nodeID ?? '', diskUuid: spec?.diskID ?? '' }
      data.addStore(place, isSet(spec?.healthyAt))
    }
    const names = new Set(found.map(({ metadata }) => metadata.name))
    for (const replica of data.storesOf(name)) if (!names.has(replica)) data.dropStore(replica)
    for (const replica of goingReplicasOf(context)) {
      data.stopReplica(replica.metadata.name)
      await letGo(tools, longhornReplicas, replica)
    }
  }

  /** The volume is the last to go: whoever waits for its end finds neither data nor processes after it. */
  async function remove(name: string): Promise<void> {
    const volume = volumes.get(`${namespace}/${name}`)
    if (volume !== undefined && volume.status?.state !== 'deleting') {
      await writeStatus(tools, longhornVolumes, volume, { ...volume.status, state: 'deleting' })
    }
    const touched = [held.get(name)?.node, ...data.storesOf(name).map((replica) => data.storeOf(replica)?.node)]
    held.delete(name)
    data.dropVolume(name)
    ports.onReconciled(touched.filter((node) => node !== undefined))
    const index = replicas.indexBy('volume', ({ spec }) => [spec?.volumeName ?? ''])
    const engine = engines.get(`${namespace}/${engineName(name)}`)
    if (engine !== undefined) await deleteAndLetGo(tools, longhornEngines, engine)
    for (const replica of Array.from(index(name))) await deleteAndLetGo(tools, longhornReplicas, replica)
    const attachment = attachments.get(`${namespace}/${name}`)
    if (attachment !== undefined) await deleteAndLetGo(tools, longhornVolumeAttachments, attachment)
    const left = volumes.get(`${namespace}/${name}`)
    if (left !== undefined) await letGo(tools, longhornVolumes, left)
  }

  function readyNodes(): string[] {
    return [...nodes.values()]
      .filter((node) => conditionOf(node, 'Ready')?.status === 'True')
      .map(({ metadata }) => metadata.name)
      .sort()
  }

  const enqueueAll = () => {
    for (const volume of volumes.values()) queue.add(volume.metadata.name)
  }
  const follow = (volume: LonghornVolume | undefined) => queue.add(volume?.metadata.name ?? '')
  tools.onStop(volumes.subscribe(({ before, after }) => follow(after ?? before)))
  tools.onStop(replicas.subscribe(({ before, after }) => queue.add((after ?? before)?.spec?.volumeName ?? '')))
  tools.onStop(attachments.subscribe(({ before, after }) => queue.add((after ?? before)?.metadata.name ?? '')))
  tools.onStop(
    managers.subscribe(({ before, after }) => {
      if (before?.status?.currentState !== after?.status?.currentState) enqueueAll()
    }),
  )
  tools.onStop(
    nodes.subscribe(({ before, after }) => {
      const isRelevant = before?.spec !== after?.spec || before?.status?.conditions !== after?.status?.conditions
      if (isRelevant) enqueueAll()
    }),
  )
  tools.onStop(
    images.subscribe(({ before, after }) => {
      if (!isSameValue(before?.status?.nodeDeploymentMap, after?.status?.nodeDeploymentMap)) enqueueAll()
    }),
  )
  tools.onStop(
    settings.subscribe(({ before, after }) => {
      if (before?.value !== after?.value) enqueueAll()
    }),
  )
  tools.every(ports.timings.resyncMs, enqueueAll)
  return { enqueue: (volume) => queue.add(volume), enqueueAll }
}
