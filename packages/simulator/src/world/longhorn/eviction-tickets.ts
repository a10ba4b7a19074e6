import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import {
  type LonghornReplica,
  type LonghornVolume,
  longhornNodes,
  longhornReplicas,
  longhornVolumeAttachments,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { ActorTools } from '../actor.ts'
import { evictionTicketId, ticketTypes } from './attachment-tickets.ts'
import { type PlacementFactsPorts, placedReplicas, placementNodes, placementRequest } from './placement-facts.ts'
import { placeReplica } from './replica-scheduler.ts'

export interface EvictionTicketsPorts extends PlacementFactsPorts {
  readonly tools: ActorTools
  readonly resyncMs: number
  readonly attachTo: 'owner' | 'healthy'
}

/** A volume has to be attached to rebuild: attaches those with a replica that is to go, while there is a place for it. */
export function startEvictionTickets(ports: EvictionTicketsPorts): void {
  const { tools, namespace } = ports
  const volumes = tools.views.of(longhornVolumes)
  const replicas = tools.views.of(longhornReplicas)
  const attachments = tools.views.of(longhornVolumeAttachments)
  const kubeNodes = tools.views.of(nodes)
  const ofVolume = replicas.indexBy('volume', ({ spec }) => [spec?.volumeName ?? ''])
  const queue = tools.queue({ needs: [volumes, replicas, attachments, kubeNodes], work: reconcile, delayMs: 10 })

  async function reconcile(name: string): Promise<void> {
    const volume = volumes.get(`${namespace}/${name}`)
    const attachment = attachments.get(`${namespace}/${name}`)
    if (volume === undefined || attachment === undefined) return
    const id = evictionTicketId(name)
    const held = attachment.spec?.attachmentTickets?.[id]
    const found = [...ofVolume(name)]
    const isWanted = found.some(({ spec }) => spec?.evictionRequested === true)
    const isPossible = isWanted && volume.status?.robustness !== 'faulted' && hasPlace(volume, found)
    const isKept = isPossible || (isWanted && ports.attachTo === 'owner')
    if (!isKept && held !== undefined) await write(volume, { [id]: null })
    const nodeID = isPossible ? chooseNode(volume, held?.nodeID) : undefined
    if (nodeID === undefined || nodeID === '' || nodeID === held?.nodeID) return
    await write(volume, { [id]: { id, type: ticketTypes.eviction, nodeID, parameters: { disableFrontend: 'any' } } })
  }

  async function write(volume: LonghornVolume, attachmentTickets: JsonObject): Promise<void> {
    const body = { spec: { attachmentTickets } }
    attachments.record(await tools.api.patch(longhornVolumeAttachments, keyOf(volume), { type: 'merge', body }))
  }

  /** Longhorn forgets here that a strict-local replica cannot leave its node, and that a rebuild under way has its place already. */
  function hasPlace(volume: LonghornVolume, found: readonly LonghornReplica[]): boolean {
    const isExact = ports.attachTo === 'healthy'
    const staying = found.filter(({ spec }) => spec?.evictionRequested !== true && (spec?.failedAt ?? '') === '')
    if (isExact && staying.length >= (volume.spec?.numberOfReplicas ?? 3)) return true
    const isPinned = isExact && volume.spec?.dataLocality === 'strict-local'
    const options = { hardNode: isPinned ? found[0]?.spec?.nodeID : undefined, ignoresReusable: false }
    return placeReplica({
      request: placementRequest(ports, volume, options),
      nodes: placementNodes(ports, volume),
      replicas: placedReplicas(ports, volume, found),
    }).isPlaced
  }

  function chooseNode(volume: LonghornVolume, held: string | undefined): string | undefined {
    const { currentNodeID, ownerID } = volume.status ?? {}
    if (ports.attachTo === 'owner') return ownerID
    if (held !== undefined) return held
    if (currentNodeID !== undefined && currentNodeID !== '') return currentNodeID
    const well = placementNodes(ports, volume).filter(
      ({ name, canStart }) => canStart && kubeNodes.get(name)?.spec?.unschedulable !== true && isReady(name),
    )
    return well.find(({ name }) => name === ownerID)?.name ?? well.map(({ name }) => name).sort()[0]
  }

  function isReady(node: string): boolean {
    return conditionOf(tools.views.of(longhornNodes).get(`${namespace}/${node}`) ?? {}, 'Ready')?.status === 'True'
  }

  tools.onStop(volumes.subscribe(({ before, after }) => queue.add((after ?? before)?.metadata.name ?? '')))
  tools.every(ports.resyncMs, () => {
    for (const volume of volumes.values()) queue.add(volume.metadata.name)
  })
}
