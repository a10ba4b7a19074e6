import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { longhornVolumeAttachments } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { ActorTools } from '../actor.ts'
import { byAge, isFinished } from '../pod-facts.ts'
import { type Tickets, ticketTypes } from './attachment-tickets.ts'
import type { LonghornDescription } from './longhorn-description.ts'
import type { SettingsReader } from './settings.ts'

/** Volumes that a pod wants, by name and with commas, for pods without claims. */
const volumesWish = 'cofferdam.io/longhorn-volumes'

export interface WorkloadTicketsPorts {
  readonly tools: ActorTools
  readonly namespace: string
  readonly description: LonghornDescription
  readonly settings: SettingsReader
  readonly resyncMs: number
}

/**
 * What the CSI driver does for pods: a volume is wanted where a pod that uses it was placed, until the pod has gone.
 * Also takes back what people attached by hand on cordoned nodes, where the settings ask for it.
 */
export function startWorkloadTickets(ports: WorkloadTicketsPorts): { readonly podsUsing: (volume: string) => Pod[] } {
  const { tools, namespace, description, settings } = ports
  const podView = tools.views.of(pods)
  const nodeView = tools.views.of(nodes)
  const attachments = tools.views.of(longhornVolumeAttachments)
  const claims = new Map(
    (description.volumes ?? []).flatMap(({ name, claim }) =>
      claim === undefined ? [] : [[keyText(claim), name] as const],
    ),
  )
  const byVolume = podView.indexBy(`longhorn-volume ${namespace}`, (pod) => volumesOf(pod, claims))
  const queue = tools.queue({ needs: [podView, nodeView, attachments], work: reconcile })

  async function reconcile(volume: string): Promise<void> {
    const attachment = attachments.get(`${namespace}/${volume}`)
    if (attachment === undefined) return
    const held = attachment.spec?.attachmentTickets ?? {}
    const wanted = new Map(
      podsUsing(volume).map((pod) => [
        ticketIdOf(pod),
        { id: ticketIdOf(pod), type: ticketTypes.workload, nodeID: pod.spec.nodeName as string },
      ]),
    )
    const changes: Record<string, Tickets[string] | null> = {}
    for (const [id, ticket] of wanted) if (held[id]?.nodeID !== ticket.nodeID) changes[id] = ticket
    for (const [id, ticket] of Object.entries(held)) {
      const isOver = id.startsWith(podTicket) && !wanted.has(id)
      if (isOver || isTakenBack(ticket)) changes[id] = null
    }
    if (Object.keys(changes).length === 0) return
    const body = { spec: { attachmentTickets: changes } }
    const written = await tools.api.patch(longhornVolumeAttachments, keyOf(attachment), {
      type: 'merge',
      body: { ...body },
    })
    attachments.record(written)
  }

  function isTakenBack({ type, nodeID = '' }: Tickets[string]): boolean {
    const isCordoned = nodeView.get(nodeID)?.spec?.unschedulable === true
    return type === ticketTypes.api && isCordoned && settings.flag('detach-manually-attached-volumes-when-cordoned')
  }

  function podsUsing(volume: string): Pod[] {
    return [...byVolume(volume)].filter((pod) => pod.spec.nodeName !== undefined && !isFinished(pod)).sort(byAge)
  }

  const enqueueAll = () => {
    for (const { metadata } of attachments.values()) queue.add(metadata.name)
  }
  tools.onStop(
    podView.subscribe(({ before, after }) => {
      for (const pod of [before, after])
        for (const volume of pod === undefined ? [] : volumesOf(pod, claims)) queue.add(volume)
    }),
  )
  tools.onStop(attachments.subscribe(({ before, after }) => queue.add((after ?? before)?.metadata.name ?? '')))
  tools.onStop(
    nodeView.subscribe(({ before, after }) => {
      if (before?.spec?.unschedulable !== after?.spec?.unschedulable) enqueueAll()
    }),
  )
  tools.every(ports.resyncMs, enqueueAll)
  return { podsUsing }
}

const podTicket = 'csi-pod-'

function ticketIdOf(pod: Pod): string {
  return `${podTicket}${pod.metadata.uid}`
}

function volumesOf(pod: Pod, claims: ReadonlyMap<string, string>): string[] {
  const { namespace = '', annotations } = pod.metadata
  const wished = annotations?.[volumesWish]?.split(',').map((name) => name.trim()) ?? []
  const claimed = (pod.spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) => {
    const volume = claims.get(`${namespace}/${persistentVolumeClaim?.claimName}`)
    return volume === undefined ? [] : [volume]
  })
  return [...wished, ...claimed].filter((name) => name !== '')
}
