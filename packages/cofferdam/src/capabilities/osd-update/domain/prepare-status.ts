import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { sha256 } from '../../../shared/sha256.ts'
import type { NewOsd } from './new-osd.ts'

/** On prepare Jobs and their status ConfigMaps: for which generation of the CephCluster, and what else was asked, they were made. */
export const generationAnnotation = 'cofferdam.io/generation'
/** On them too: the place, whose name may be too long for theirs and for a label. */
export const placeAnnotation = 'cofferdam.io/place'
/** On both: a random token of this very Job, so that no result of another passes for its own. */
export const nonceAnnotation = 'cofferdam.io/prepare-nonce'
/** On a status ConfigMap: its result has been used. */
export const usedAnnotation = 'cofferdam.io/result-used'

/** On a status ConfigMap: which of its OSDs could not be made, and why. */
export const troubleAnnotation = 'cofferdam.io/result-failed'

export const prepareStates = ['starting', 'orchestrating', 'completed', 'failed'] as const
export type PrepareState = (typeof prepareStates)[number]

/** As Rook's, which takes a hash where the name of the place is too long. */
export function statusMapName(place: string): string {
  return `rook-ceph-osd-${shortened(place, longestName - 'rook-ceph-osd--status'.length)}-status`
}

/** Ten less than a name may have, for pods get an ending to the name of their Job. */
export function prepareJobName(place: string): string {
  return `rook-ceph-osd-prepare-${shortened(place, longestName - 10 - 'rook-ceph-osd-prepare-'.length)}`
}

const longestName = 63

function shortened(place: string, longest: number): string {
  return place.length > longest ? sha256(place).slice(0, 32) : place
}

/** What a prepare Job says of its node or volume. */
export interface PrepareStatus {
  /** Name of the ConfigMap. */
  readonly name: string
  /** The node or the volume claim. */
  readonly place: string
  /** Undefined where it does not say what was asked when it was made: then it is of the past. */
  readonly asked: string | undefined
  readonly state: PrepareState
  readonly osds: readonly NewOsd[]
  readonly message: string
  readonly isUsed: boolean
  readonly nonce: string | undefined
  /** What went wrong when it was used. */
  readonly trouble?: string
}

export type ParsedPrepareStatus =
  | { readonly status: PrepareStatus }
  /** A result of that place and inspection that cannot be parsed. */
  | { readonly name: string; readonly place: string; readonly asked: string | undefined; readonly problem: string }

/**
 * Reads what Rook calls `rook-ceph-osd-NODE-status`; undefined for any other ConfigMap.
 *
 * Fails closed: one OSD that cannot be understood makes the whole status unusable, for half a result would be taken for all of it.
 */
export function parsePrepareStatus({ metadata, data }: ConfigMap): ParsedPrepareStatus | undefined {
  const { name, labels = {}, annotations = {} } = metadata
  const named = /^rook-ceph-osd-(.+)-status$/.exec(name)?.[1]
  if (named === undefined || labels['app'] !== 'rook-ceph-osd') return undefined
  const claimed = annotations[placeAnnotation] ?? labels['node'] ?? named
  // A status counts only for the place that it is named after.
  const place = statusMapName(claimed) === name ? claimed : named
  const asked = annotations[generationAnnotation]
  const broken = (problem: string) => ({ name, place, asked, problem })
  let fields: unknown
  try {
    fields = JSON.parse(data?.['status'] ?? '')
  } catch {
    return broken('its key status is no JSON')
  }
  if (!isJsonObject(fields)) return broken('its key status is no JSON object')
  const state = prepareStates.find((one) => one === (fields as JsonObject)['status'])
  if (state === undefined)
    return broken(`its status ${JSON.stringify(fields['status'])} is none of ${prepareStates.join(', ')}`)
  const reported = fields['osds'] ?? []
  if (!Array.isArray(reported)) return broken('its osds are no list')
  const isOnVolume = fields['pvc-backed-osd'] === true
  const osds: NewOsd[] = []
  for (const [at, item] of (reported as readonly Json[]).entries()) {
    const osd = newOsdOf(item, { place, isOnVolume })
    if (osd === undefined) return broken(`its osds[${at}] has no id that is a whole number`)
    osds.push(osd)
  }
  const message = typeof fields['message'] === 'string' ? fields['message'] : ''
  const isUsed = annotations[usedAnnotation] === 'true'
  const trouble = annotations[troubleAnnotation]
  const nonce = annotations[nonceAnnotation]
  return {
    status: { name, place, asked, state, osds, message, isUsed, nonce, ...(trouble !== undefined && { trouble }) },
  }
}

function newOsdOf(
  item: Json,
  { place, isOnVolume }: { readonly place: string; readonly isOnVolume: boolean },
): NewOsd | undefined {
  if (!isJsonObject(item)) return undefined
  const id = item['id']
  if (!Number.isSafeInteger(id) || (id as number) < 0) return undefined
  const text = (field: string) => (typeof item[field] === 'string' && item[field] !== '' ? item[field] : undefined)
  const location = locationOf(text('location') ?? '')
  const [deviceClass, store, topology] = [text('device-class'), text('store'), text('topologyAffinity')]
  const [uuid, blockPath, mode] = [text('uuid'), text('lv-path'), text('lv-mode')]
  return {
    id: id as number,
    ...(uuid !== undefined && { uuid }),
    ...(blockPath !== undefined && { blockPath }),
    ...(mode !== undefined && { mode }),
    ...(topology !== undefined && { topology }),
    node: isOnVolume ? undefined : place,
    location: isOnVolume || location['host'] !== undefined ? location : { ...location, host: place },
    ...(deviceClass !== undefined && { deviceClass }),
    ...(store !== undefined && { store }),
    ...(typeof item['encrypted'] === 'boolean' && { isEncrypted: item['encrypted'] }),
    ...(isOnVolume && { pvc: place }),
  }
}

/** `root=default host=node-a` */
function locationOf(text: string): Record<string, string> {
  const location: Record<string, string> = {}
  for (const part of text.split(/\s+/)) {
    const [, type, name] = /^([^=]+)=(.+)$/.exec(part) ?? []
    if (type !== undefined && name !== undefined) location[type] = name
  }
  return location
}
