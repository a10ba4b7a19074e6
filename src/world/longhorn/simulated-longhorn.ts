import { hasReason } from '../../api/api-error.ts'
import type { JsonObject } from '../../api/json.ts'
import {
  longhornNamespace,
  longhornReplicas,
  longhornSettings,
  longhornVolumeAttachments,
  longhornVolumes,
} from '../../api/longhorn.ts'
import { realRandom } from '../../runtime/random.ts'
import { type ActorPorts, openStage, Views } from '../actor.ts'
import { createTimers } from '../ceph/timers.ts'
import { ticketTypes } from './attachment-tickets.ts'
import { createControllerCaches } from './controller-caches.ts'
import { drawBytes } from './data-blocks.ts'
import { DataPlane, type VerifiedReplica } from './data-plane.ts'
import { startEvictionTickets } from './eviction-tickets.ts'
import { startInstanceManagers } from './instance-managers.ts'
import { defaultImage, defaultSettings, defaultTimings, type LonghornDescription } from './longhorn-description.ts'
import { startNodeStatus } from './node-status.ts'
import { startOwnBudgets } from './own-budgets.ts'
import { startOwnEvictions } from './own-evictions.ts'
import { ProcessHosts } from './process-hosts.ts'
import { createSettingsReader } from './settings.ts'
import { startVolumes } from './volume-controller.ts'
import { isSet } from './volume-facts.ts'
import { buildVolume } from './volume-objects.ts'
import { bytesPerBlock } from './volume-report.ts'
import { startWorkloadTickets } from './workload-tickets.ts'

export interface SimulatedLonghornPorts extends ActorPorts {
  /** Whether a machine has power, as `Kubelet.isOn` tells. Without it a loss shows when the API shows it. */
  readonly isOn?: (node: string) => boolean
}

export interface Verification {
  readonly volume: string
  /** There is a healthy replica, and every healthy one holds exactly what was written. */
  readonly isIntact: boolean
  readonly healthy: readonly VerifiedReplica[]
}

/** What can be done to Longhorn beside its objects. */
export interface LonghornControls {
  /** Writes into blocks drawn from the seed; throws a RangeError while the volume takes no writes. Returns the blocks. */
  writeData(volume: string, options?: { readonly blocks?: number; readonly text?: string }): readonly number[]
  verify(volume: string): Verification
  /** Its process dies. */
  failReplica(replica: string): void
  failDisk(diskUuid: string): void
  mendDisk(diskUuid: string): void
  corruptBlock(replica: string, block: number): void
  /** For a workload, or by hand in the UI. */
  attach(volume: string, node: string, by?: 'workload' | 'ui'): Promise<void>
  /** Takes all tickets of that kind back. */
  detach(volume: string, by?: 'workload' | 'ui'): Promise<void>
  /** Of every rebuild, in bytes per second; 0 stops them. */
  setRate(bytesPerSecond: number): void
  /** Everything that starts from now on runs in instance managers of this image. */
  setImage(image: string): void
  setDelta(isOn: boolean): void
}

export interface SimulatedLonghorn {
  readonly controls: LonghornControls
  stop(): void
}

const ticketIds = { workload: 'csi-workload', ui: 'longhorn-ui' }

/**
 * A Longhorn that lives on the objects of a cluster: attaches volumes, rebuilds and moves replicas that hold real bytes.
 * It decides no drain: who asks for evictions and keeps the budgets is somebody else, unless it is told to.
 *
 * Guarantees: the same clock, chance and objects give the same history; a stopped one leaves no timer and no watch.
 */
export function createSimulatedLonghorn(
  ports: SimulatedLonghornPorts,
  description: LonghornDescription = {},
): SimulatedLonghorn {
  const { clock, random = realRandom, isOn } = ports
  const namespace = description.namespace ?? longhornNamespace
  const timings = { ...defaultTimings, ...description.timings }
  const timers = createTimers(clock)
  const views = ports.views ?? new Views(ports)
  const shared = { ...ports, random, views }
  const caches = createControllerCaches(shared, description)
  const stage = openStage('longhorn', shared)
  const replicaView = views.of(longhornReplicas)
  const volumeView = views.of(longhornVolumes)
  const brokenDisks = new Set<string>()
  let image = description.image ?? defaultImage
  let rate = timings.rebuildBytesPerSecond
  let isDelta = false

  const blockBytesOf = (volume: string) =>
    bytesPerBlock(volumeView.get(`${namespace}/${volume}`), description.blocks?.count)
  const data = new DataPlane({
    timers,
    random,
    shape: { count: description.blocks?.count ?? 64, blockBytes: description.blocks?.bytes ?? 4_096 },
    ioTimeoutMs: timings.ioTimeoutMs,
    isDelta: () => isDelta,
    rate: () => rate,
    bytesPerBlock: blockBytesOf,
    onChange: (volume) => volumes.look(volume),
  })
  const hosts = new ProcessHosts({
    stage,
    namespace,
    ...(isOn === undefined ? {} : { isOn }),
    onLost: (manager) => data.loseInstanceManager(manager),
    onChange: (_manager, node) => {
      // The first news comes while the rest is still being built.
      timers.after(1, () => {
        managers.look(node)
        volumes.lookAtAll()
      })
    },
  })
  const { resyncMs, notReadyGraceMs } = timings
  const stages = {
    node: openStage('longhorn-node-controller', caches.portsFor('node')),
    manager: openStage('longhorn-instance-manager-controller', caches.portsFor('instance-manager')),
    attachment: openStage('longhorn-volume-attachment-controller', caches.portsFor('attachment')),
    eviction: openStage('longhorn-volume-eviction-controller', caches.portsFor('eviction')),
    volume: openStage('longhorn-volume-controller', caches.portsFor('volume')),
  }
  const settingsOf = (one: { readonly views: Views }) => createSettingsReader(one.views, namespace)
  const placing = (one: { readonly views: Views }) => ({
    views: one.views,
    namespace,
    settings: settingsOf(one),
    image: () => image,
  })

  const nodeStatus = startNodeStatus({
    stage: stages.node,
    namespace,
    description,
    data,
    settings: settingsOf(stages.node),
    brokenDisks,
    bytesPerBlock: blockBytesOf,
    notReadyGraceMs,
    resyncMs,
  })
  const managers = startInstanceManagers({
    stage: stages.manager,
    namespace,
    data,
    hosts,
    image: () => image,
    dataEngines: description.dataEngines ?? ['v1'],
    resyncMs,
  })
  const workloads = startWorkloadTickets({
    stage: stages.attachment,
    namespace,
    description,
    settings: settingsOf(stages.attachment),
    resyncMs,
  })
  startEvictionTickets({
    ...placing(stages.eviction),
    stage: stages.eviction,
    resyncMs,
    attachTo: description.attachForEviction ?? 'owner',
  })
  const volumes = startVolumes({
    ...placing(stages.volume),
    stage: stages.volume,
    description,
    timings,
    data,
    hosts,
    podsUsing: workloads.podsUsing,
    onLooked(nodes) {
      for (const node of new Set(nodes)) if (node !== '') managers.look(node)
    },
  })
  if (description.ownDrainHandling === true) {
    startOwnEvictions({ ...placing(stages.node), stage: stages.node, resyncMs })
    startOwnBudgets({ ...placing(stages.manager), stage: stages.manager, resyncMs })
  }
  void seed().catch((error: unknown) => stage.fail('seed', error))

  async function seed(): Promise<void> {
    const settings = { ...defaultSettings, ...description.settings }
    for (const [name, value] of Object.entries(settings)) {
      if (value === null) continue
      const object = { apiVersion: 'longhorn.io/v1beta2', kind: 'Setting', metadata: { name, namespace }, value }
      await unlessThere(stage.api.create(longhornSettings, object))
    }
    for (const volume of description.volumes ?? []) {
      await unlessThere(stage.api.create(longhornVolumes, buildVolume(volume, namespace)))
    }
  }

  /** Those that the objects call healthy and the engine, where one runs, writes to. */
  function healthyReplicas(volume: string): string[] {
    const isUsed = (replica: string) =>
      !data.hasCrashed(replica) && (data.engineOf(volume) === undefined || data.modesOf(volume).get(replica) === 'RW')
    return [...replicaView.values()]
      .filter(({ spec }) => spec?.volumeName === volume && isSet(spec.healthyAt) && !isSet(spec.failedAt))
      .map(({ metadata }) => metadata.name)
      .filter(isUsed)
      .sort()
  }

  async function writeTickets(volume: string, attachmentTickets: JsonObject): Promise<void> {
    const body = { spec: { attachmentTickets } }
    await stage.api.patch(longhornVolumeAttachments, { namespace, name: volume }, { type: 'merge', body })
  }

  function setDisk(diskUuid: string, isBroken: boolean): void {
    if (isBroken) brokenDisks.add(diskUuid)
    else brokenDisks.delete(diskUuid)
    data.breakDisk(diskUuid, isBroken)
    for (const { node, volume } of data.storesOn(diskUuid)) {
      nodeStatus.look(node)
      volumes.look(volume)
    }
  }

  return {
    controls: {
      writeData(volume, { blocks = 4, text } = {}) {
        const written: number[] = []
        for (let left = blocks; left > 0; left -= 1) {
          const block = (random.next() * (description.blocks?.count ?? 64)) | 0
          const bytes =
            text === undefined ? drawBytes(random, description.blocks?.bytes ?? 4_096) : new TextEncoder().encode(text)
          data.write(volume, block, bytes)
          written.push(block)
        }
        volumes.look(volume)
        return written
      },
      verify(volume) {
        const healthy = data.verify(volume, healthyReplicas(volume))
        const isIntact = healthy.length > 0 && healthy.every(({ wrongBlocks }) => wrongBlocks.length === 0)
        return { volume, isIntact, healthy }
      },
      failReplica: (replica) => data.failReplica(replica),
      failDisk: (diskUuid) => setDisk(diskUuid, true),
      mendDisk: (diskUuid) => setDisk(diskUuid, false),
      corruptBlock: (replica, block) => data.corruptBlock(replica, block),
      attach(volume, node, by = 'workload') {
        const id = ticketIds[by]
        const type = by === 'ui' ? ticketTypes.api : ticketTypes.workload
        return writeTickets(volume, { [id]: { id, type, nodeID: node } })
      },
      detach: (volume, by = 'workload') => writeTickets(volume, { [ticketIds[by]]: null }),
      setRate(bytesPerSecond) {
        rate = bytesPerSecond
      },
      setImage(next) {
        image = next
        for (const { metadata } of volumeView.values()) volumes.look(metadata.name)
      },
      setDelta(on) {
        isDelta = on
      },
    },
    stop() {
      for (const one of Object.values(stages)) one.stop()
      caches.stop()
      stage.stop()
      data.stop()
      timers.stop()
      if (ports.views === undefined) views.stop()
    },
  }
}

async function unlessThere(created: Promise<unknown>): Promise<void> {
  await created.catch((error: unknown) => {
    if (!hasReason(error, 'AlreadyExists')) throw error
  })
}
