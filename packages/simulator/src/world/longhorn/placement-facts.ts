import {
  type LonghornNode,
  type LonghornReplica,
  type LonghornVolume,
  longhornInstanceManagers,
  longhornNodes,
  longhornReplicas,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { Views } from '../actor.ts'
import { isImageReady } from './engine-images.ts'
import { isGoing } from './finalizer.ts'
import { instanceManagerName } from './instance-manager-name.ts'
import { disksOfSource } from './linked-clone.ts'
import type { PlacedReplica, PlacementNode, PlacementRequest } from './replica-scheduler.ts'
import type { SettingsReader } from './settings.ts'
import { mayComeBack } from './volume-decisions.ts'
import { replicaFacts } from './volume-facts.ts'

export interface PlacementFactsPorts {
  readonly views: Views
  readonly namespace: string
  readonly settings: SettingsReader
  readonly image: () => string
}

/** The nodes as the scheduler of replicas sees them for this volume. */
export function placementNodes(ports: PlacementFactsPorts, volume: LonghornVolume): PlacementNode[] {
  const { views, namespace, image } = ports
  const dataEngine = volume.spec?.dataEngine ?? 'v1'
  const engineImage = volume.status?.currentImage || volume.spec?.image || ''
  const managers = views.of(longhornInstanceManagers)
  const onDisk = views.of(longhornReplicas).indexBy('disk', ({ spec }) => [spec?.diskID ?? ''])
  return [...views.of(longhornNodes).values()].map((node) => {
    const { name } = node.metadata
    const manager = managers.get(`${namespace}/${instanceManagerName({ node: name, image: image(), dataEngine })}`)
    return {
      name,
      zone: node.status?.zone ?? '',
      tags: node.spec?.tags ?? [],
      isOpen: isOpenNode(node),
      canStart:
        manager?.status?.currentState === 'running' && (dataEngine === 'v2' || isImageReady(ports, engineImage, name)),
      disks: Object.entries(node.spec?.disks ?? {}).flatMap(([disk, spec]) => {
        const status = node.status?.diskStatus?.[disk]
        if (status?.diskUUID === undefined) return []
        const scheduled = [...onDisk(status.diskUUID)].reduce((total, one) => total + sizeOf(one), 0)
        return [
          {
            uuid: status.diskUUID,
            diskType: spec.diskType ?? 'filesystem',
            tags: spec.tags ?? [],
            isOpen:
              spec.allowScheduling !== false &&
              spec.evictionRequested !== true &&
              conditionOf({ status }, 'Schedulable')?.status === 'True',
            available: status.storageAvailable ?? 0,
            maximum: status.storageMaximum ?? 0,
            reserved: spec.storageReserved ?? 0,
            scheduled,
          },
        ]
      }),
    }
  })
}

function isOpenNode(node: LonghornNode): boolean {
  return (
    !isGoing(node) &&
    node.spec?.allowScheduling !== false &&
    conditionOf(node, 'Ready')?.status === 'True' &&
    conditionOf(node, 'Schedulable')?.status === 'True'
  )
}

/** Whether its engine can bring a failed replica up to date. */
export function mayReuse({ settings }: Pick<PlacementFactsPorts, 'settings'>, { spec }: LonghornVolume): boolean {
  return spec?.dataEngine !== 'v2' || settings.flag('v2-data-engine-fast-replica-rebuilding')
}

export function placedReplicas(
  ports: Pick<PlacementFactsPorts, 'settings'>,
  volume: LonghornVolume,
  replicas: readonly LonghornReplica[],
): PlacedReplica[] {
  return replicas
    .filter(({ spec }) => (spec?.nodeID ?? '') !== '')
    .map((replica) => {
      const facts = replicaFacts(replica, { mode: undefined, canRun: true, zone: '' })
      return {
        node: replica.spec?.nodeID ?? '',
        diskUuid: replica.spec?.diskID ?? '',
        isEvicting: facts.isEvicting,
        isFailed: facts.isFailed,
        isReusable: mayReuse(ports, volume) && mayComeBack(facts),
      }
    })
}

export function placementRequest(
  { settings, views }: Pick<PlacementFactsPorts, 'settings' | 'views'>,
  volume: LonghornVolume,
  options: {
    readonly attachedTo?: string | undefined
    readonly hardNode?: string | undefined
    readonly onlyOn?: readonly string[] | undefined
    readonly ignoresReusable: boolean
  },
): PlacementRequest {
  const { spec } = volume
  const isSoft = (own: string | undefined, setting: string) =>
    own === 'enabled' || (own !== 'disabled' && settings.flag(setting))
  const { attachedTo, hardNode, onlyOn, ignoresReusable } = options
  const onlyDisks = disksOfSource(views, volume)
  return {
    sizeBytes: Number(spec?.size ?? 0),
    actualBytes: volume.status?.actualSize ?? 0,
    dataEngine: spec?.dataEngine ?? 'v1',
    nodeSelector: spec?.nodeSelector ?? [],
    diskSelector: spec?.diskSelector ?? [],
    isNodeSoft: isSoft(spec?.replicaSoftAntiAffinity, 'replica-soft-anti-affinity'),
    isZoneSoft: isSoft(spec?.replicaZoneSoftAntiAffinity, 'replica-zone-soft-anti-affinity'),
    isDiskSoft: isSoft(spec?.replicaDiskSoftAntiAffinity, 'replica-disk-soft-anti-affinity'),
    ...(hardNode === undefined ? {} : { hardNode }),
    ...(onlyOn === undefined ? {} : { onlyOn }),
    ...(onlyDisks === undefined ? {} : { onlyDisks }),
    ...(attachedTo !== undefined && spec?.dataLocality === 'best-effort' ? { preferredNode: attachedTo } : {}),
    ignoresReusable,
    minimalAvailablePercent: settings.number('storage-minimal-available-percentage'),
    overProvisioningPercent: settings.number('storage-over-provisioning-percentage'),
  }
}

function sizeOf(replica: LonghornReplica): number {
  return Number(replica.spec?.volumeSize ?? 0)
}
