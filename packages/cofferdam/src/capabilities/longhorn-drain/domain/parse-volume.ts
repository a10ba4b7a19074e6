import type {
  LonghornEngine,
  LonghornVolume,
  LonghornVolumeAttachment,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { Parsed } from '../../../shared/parsed.ts'
import { evictionTicketType, isFormerTicket } from './eviction-ticket.ts'
import { boundCloneOf } from './linked-clone.ts'
import { unreadable } from './parse-replica.ts'
import { drainPolicyLabel, parseVolumePolicy } from './policy.ts'
import { Reading } from './reading.ts'
import { parseSwitch } from './setting-values.ts'
import type { AttachmentTicketView, VolumeView } from './snapshot.ts'
import { changingOf, unsettledOf } from './unsettled-volume.ts'

export interface VolumeSurroundings {
  readonly attachment: LonghornVolumeAttachment | undefined
  /** More than one while it migrates. */
  readonly engines: readonly LonghornEngine[]
  /** The parameter `nodeDrainPolicy` of its StorageClass. */
  readonly classPolicy: unknown
  /** The setting `replica-soft-anti-affinity`. */
  readonly softAntiAffinity: unknown
  /** The setting `current-longhorn-version`. */
  readonly longhornVersion: unknown
}

export function parseVolume(volume: LonghornVolume, around: VolumeSurroundings): Parsed<VolumeView> {
  const { name, labels } = volume.metadata
  const see = new Reading()
  const spec = see.fields(volume.spec, 'spec')
  const status = see.fields(volume.status, 'status')
  const state = see.text(status['state'], 'status.state', 'creating')
  const robustness = see.text(status['robustness'], 'status.robustness', 'unknown')
  const attachedTo = see.text(status['currentNodeID'], 'status.currentNodeID')
  const tickets = ticketsOf(around.attachment)
  const ownedBy = see.text(status['ownerID'], 'status.ownerID')
  const { size, dataEngine, nodeSelector, diskSelector } = spec
  const sizeBytes = new Reading().count(size, '')
  const view: VolumeView = {
    name,
    state: state === 'attached' || state === 'detached' ? state : 'moving',
    robustness: isRobustness(robustness) ? robustness : 'unknown',
    numberOfReplicas: see.count(spec['numberOfReplicas'], 'spec.numberOfReplicas'),
    isStrictLocal: spec['dataLocality'] === 'strict-local',
    policy: parseVolumePolicy({ label: labels?.[drainPolicyLabel], parameter: around.classPolicy }),
    actualBytes: see.count(status['actualSize'], 'status.actualSize'),
    // For people alone, so what is not what it should be is only not known.
    sizeBytes: sizeBytes === 0 ? undefined : sizeBytes,
    dataEngine: dataEngine === 'v1' || dataEngine === 'v2' ? dataEngine : undefined,
    nodeTags: areTags(nodeSelector) ? nodeSelector : undefined,
    diskTags: areTags(diskSelector) ? diskSelector : undefined,
    attachedBy: state === 'detached' ? undefined : attacherOf(volume, tickets),
    attachedTo: attachedTo === '' ? undefined : attachedTo,
    ownedBy: ownedBy === '' ? undefined : ownedBy,
    unsettled: unsettledOf(volume, around.engines),
    changing: changingOf(volume),
    boundClone: boundCloneOf(volume, around.longhornVersion),
    rebuiltShare: rebuiltShareOf(currentEngine(around.engines)),
    schedulingProblem: schedulingProblemOf(volume),
    sharesNodes: sharesNodes(spec['replicaSoftAntiAffinity'], around.softAntiAffinity) ? true : undefined,
    tickets: tickets.length === 0 ? undefined : tickets,
  }
  return see.why === undefined ? { view } : { unreadable: unreadable(`volume/${name}`, see.why, undefined) }
}

function areTags(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((tag) => typeof tag === 'string')
}

/** The one in force, else any. */
function currentEngine(engines: readonly LonghornEngine[]): LonghornEngine | undefined {
  return engines.findLast(({ spec }) => spec?.active !== false) ?? engines[0]
}

function isRobustness(text: string): text is VolumeView['robustness'] {
  return text === 'healthy' || text === 'degraded' || text === 'faulted' || text === 'unknown'
}

/** The volume's own word, unless it leaves it to the setting. */
function sharesNodes(own: unknown, setting: unknown): boolean {
  return own === 'enabled' || (own !== 'disabled' && parseSwitch(setting) === true)
}

const noTickets: readonly AttachmentTicketView[] = []

function ticketsOf(attachment: LonghornVolumeAttachment | undefined): readonly AttachmentTicketView[] {
  if (attachment === undefined) return noTickets
  const see = new Reading()
  const tickets = see.fields(see.fields(attachment.spec, '')['attachmentTickets'], '')
  return Object.entries(tickets).map(([id, ticket]) => {
    const { type, nodeID } = see.fields(ticket, '')
    return { id, type: see.text(type, ''), node: see.text(nodeID, '') }
  })
}

function schedulingProblemOf({ status }: LonghornVolume): string | undefined {
  const see = new Reading()
  const { conditions } = see.fields(status, '')
  if (!Array.isArray(conditions)) return undefined
  const scheduled = (conditions as readonly unknown[])
    .map((condition) => see.fields(condition, ''))
    .find(({ type }) => type === 'Scheduled')
  if (scheduled?.['status'] !== 'False') return undefined
  const said = [scheduled['reason'], scheduled['message']].filter((text) => typeof text === 'string' && text !== '')
  return said.join(': ') || 'no reason is given'
}

/** For people: nothing is decided by it. */
function attacherOf(volume: LonghornVolume, tickets: readonly AttachmentTicketView[]): string | undefined {
  const workloads = workloadsOf(volume)
  if (tickets.length === 0) return workloads.length === 0 ? undefined : workloads.join(', ')
  const names = tickets.toSorted(byType).flatMap((ticket) => {
    if (isFormerTicket(ticket, volume.metadata.name)) return ['a ticket left over from an earlier Cofferdam']
    if (ticket.type === evictionTicketType) return ['Longhorn for the move of a replica']
    if (ticket.type === 'csi-attacher') return workloads.length > 0 ? workloads : ['a workload']
    if (ticket.type === 'longhorn-api') return ['the Longhorn UI']
    return ticket.type === '' ? [] : [`Longhorn's ${ticket.type}`]
  })
  const users = names.length > 0 ? [...new Set(names)] : workloads
  return users.length === 0 ? undefined : users.join(', ')
}

function byType(left: AttachmentTicketView, right: AttachmentTicketView): number {
  return left.type < right.type ? -1 : left.type > right.type ? 1 : 0
}

function workloadsOf(volume: LonghornVolume): string[] {
  const see = new Reading()
  const status = see.fields(see.fields(volume.status, '')['kubernetesStatus'], '')
  if (!Array.isArray(status['workloadsStatus'])) return []
  const namespace = see.text(status['namespace'], '')
  return (status['workloadsStatus'] as readonly unknown[])
    .map((workload) => see.text(see.fields(workload, '')['podName'], ''))
    .filter((pod) => pod !== '')
    .map((pod) => `pod ${namespace}/${pod}`)
    .sort()
}

/** The copy that is least far, since the drain ends with the last one. */
function rebuiltShareOf(engine: LonghornEngine | undefined): number | undefined {
  if (engine === undefined) return undefined
  const see = new Reading()
  const rebuilds = Object.values(see.fields(see.fields(engine.status, '')['rebuildStatus'], ''))
  const shares = rebuilds.flatMap((rebuild) => {
    const { isRebuilding, progress } = see.fields(rebuild, '')
    return isRebuilding === true ? [Math.min(100, see.count(progress, '')) / 100] : []
  })
  return shares.length === 0 ? undefined : Math.min(...shares)
}
