import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import {
  type LonghornReplica,
  longhornEngineImages,
  longhornReplicas,
  longhornSettings,
  longhornVolumeAttachments,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import type { ActorTools } from '../actor.ts'
import { ticketTypes } from './attachment-tickets.ts'
import { drawBytes } from './data-blocks.ts'
import type { DataPlane, VerifiedReplica } from './data-plane.ts'
import { buildEngineImage } from './engine-images.ts'
import { isGoing } from './finalizer.ts'
import { managerImageSetting } from './longhorn-description.ts'
import { isSet } from './volume-facts.ts'

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
  /** Sets the rate of every rebuild, in bytes per second; 0 stops them. */
  setRate(bytesPerSecond: number): void
  /** Changes the setting: everything that starts from then on runs in instance managers of this image. */
  setImage(image: string): Promise<void>
  setDelta(isOn: boolean): void
  /**
   * Lets a volume run with another engine image, of which an object is made where there is none. Live where the volume is attached:
   * each replica gets a double for a while.
   */
  upgradeEngine(volume: string, image: string): Promise<void>
  /** Stops or starts Longhorn's manager on one node; instance managers and their processes live on. */
  setManager(node: string, isOn: boolean): void
}

interface ControlPorts extends Pick<LonghornControls, 'setRate' | 'setDelta'> {
  readonly tools: ActorTools
  readonly namespace: string
  readonly data: DataPlane
  readonly brokenDisks: Set<string>
  readonly withoutManager: Set<string>
  readonly random: Random
  readonly shape: { readonly count: number; readonly blockBytes: number }
  readonly enqueueVolume: (volume: string) => void
  readonly enqueueNode: (node: string) => void
}

const ticketIds = { workload: 'csi-workload', ui: 'longhorn-ui' }

function isWhole(replica: LonghornReplica): boolean {
  const { active, healthyAt, failedAt } = replica.spec ?? {}
  return !isGoing(replica) && active !== false && isSet(healthyAt) && !isSet(failedAt)
}

export function createLonghornControls(ports: ControlPorts): LonghornControls {
  const { tools, namespace, data, brokenDisks, random, shape } = ports
  const replicaView = tools.views.of(longhornReplicas)

  /** Replicas that the objects call healthy and the engine, where one runs, writes to. */
  function healthyReplicas(volume: string): string[] {
    const isUsed = (replica: string) =>
      !data.hasCrashed(replica) && (data.engineOf(volume) === undefined || data.modesOf(volume).get(replica) === 'RW')
    return [...replicaView.values()]
      .filter((replica) => replica.spec?.volumeName === volume && isWhole(replica))
      .map(({ metadata }) => metadata.name)
      .filter(isUsed)
      .sort()
  }

  async function writeTickets(volume: string, attachmentTickets: JsonObject): Promise<void> {
    const body = { spec: { attachmentTickets } }
    await tools.api.patch(longhornVolumeAttachments, { namespace, name: volume }, { type: 'merge', body })
  }

  function setDisk(diskUuid: string, isBroken: boolean): void {
    if (isBroken) brokenDisks.add(diskUuid)
    else brokenDisks.delete(diskUuid)
    data.breakDisk(diskUuid, isBroken)
    for (const { node, volume } of data.storesOn(diskUuid)) {
      ports.enqueueNode(node)
      ports.enqueueVolume(volume)
    }
  }

  return {
    writeData(volume, { blocks = 4, text } = {}) {
      const written: number[] = []
      for (let left = blocks; left > 0; left -= 1) {
        const block = (random.next() * shape.count) | 0
        const bytes = text === undefined ? drawBytes(random, shape.blockBytes) : new TextEncoder().encode(text)
        data.write(volume, block, bytes)
        written.push(block)
      }
      ports.enqueueVolume(volume)
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
    setRate: ports.setRate,
    async setImage(value) {
      const key = { namespace, name: managerImageSetting }
      await tools.api.patch(longhornSettings, key, { type: 'merge', body: { value } })
    },
    setDelta: ports.setDelta,
    async upgradeEngine(volume, image) {
      await tools.api.create(longhornEngineImages, buildEngineImage(image, namespace)).catch((error: unknown) => {
        if (!hasReason(error, 'AlreadyExists')) throw error
      })
      await tools.api.patch(longhornVolumes, { namespace, name: volume }, { type: 'merge', body: { spec: { image } } })
    },
    setManager(node, isOn) {
      if (isOn) ports.withoutManager.delete(node)
      else ports.withoutManager.add(node)
      ports.enqueueNode(node)
    },
  }
}
