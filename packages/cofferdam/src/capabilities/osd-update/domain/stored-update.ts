import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { isJsonObject, isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { foreignPartOf, shortExplanation } from '../../../shared/record-limits.ts'
import { recordNotes } from '../../../shared/record-notes.ts'
import { type RecordOwner, recordOwners } from '../../../shared/record-owner.ts'
import type { OsdUpdateDecision } from './decision.ts'
import type { UpdateRecord } from './snapshot.ts'
import { formatUpdateRecord, freshRecord, parseUpdateRecord, updateRecordName } from './update-record.ts'

/** What is known of an OSD since before it was stopped. */
export interface StartNote {
  /** As its mark says. */
  readonly atMs: number
  /** Epoch of Ceph's map when the OSD still ran: it is back only when it came up later. */
  readonly epoch: number
}

export type StartNotes = ReadonlyMap<number, StartNote>

/** What is written down about the update of one cluster. */
export interface StoredUpdate {
  readonly configMap: ConfigMap | undefined
  readonly record: UpdateRecord
  readonly starts: StartNotes
  readonly reason: string | undefined
  /** Why it cannot be read. Then it is left as it is. */
  readonly problem?: string
}

const startsKey = 'starts'
const progressKey = 'progress'
const planKey = 'plan'
const blockedKey = 'blocked'
/** A ConfigMap holds 1 MiB; a plan is for people to read, and must not be what fills it. */
const mostPlanBytes = 300_000
const mostBlocked = 50

/** What the ConfigMap says; undefined: there is none. */
export function storedOf(configMap: ConfigMap | undefined, generation: number): StoredUpdate {
  const reason = configMap?.metadata.annotations?.[recordNotes.reason]
  const parsed = parseUpdateRecord(configMap === undefined ? undefined : (configMap.data ?? {}), generation)
  const starts = parseStarts(configMap?.data?.[startsKey])
  const problem = 'problem' in parsed ? parsed.problem : 'problem' in starts ? starts.problem : undefined
  return {
    configMap,
    reason,
    record: 'record' in parsed ? parsed.record : freshRecord(generation),
    starts: 'starts' in starts ? starts.starts : new Map(),
    ...(problem !== undefined && { problem }),
  }
}

export interface UpdateChange {
  readonly record: UpdateRecord
  readonly starts: StartNotes
  readonly decision: Pick<OsdUpdateDecision, 'reason' | 'explanation' | 'progress' | 'plan' | 'blocked'>
}

/** The ConfigMap as it is to be. `update`: only if it still is what was read. */
export interface RecordWrite {
  readonly verb: 'create' | 'update'
  readonly configMap: ConfigMap
}

/**
 * How what is to be remembered gets there; undefined when nothing differs.
 *
 * Guarantees: a record that cannot be read is never overwritten.
 */
export function recordWrite(
  stored: StoredUpdate,
  {
    namespace,
    objectGeneration,
    ...owner
  }: RecordOwner & {
    readonly namespace: string
    readonly objectGeneration?: number
  },
  { record, starts, decision }: UpdateChange,
): RecordWrite | undefined {
  const { configMap } = stored
  if (stored.problem !== undefined) return undefined
  const { secondsLeft: _, ...progress } = decision.progress
  const data = {
    ...formatUpdateRecord(noteCluster(record, { uid: owner.uid, objectGeneration }), configMap?.data),
    ...(starts.size === 0 ? {} : { [startsKey]: formatStarts(starts) }),
    [progressKey]: JSON.stringify(progress),
    ...planOf(stored, record, decision),
    ...blockedOf(decision),
  }
  const explanation = shortExplanation(decision.explanation)
  const notes = { [recordNotes.reason]: decision.reason, [recordNotes.explanation]: explanation }
  // What others put there must not keep an update that is under way from being remembered.
  const foreign = foreignPartOf(configMap)
  const isOurs = Object.keys(foreign.binaryData ?? {}).length === 0
  // An OSD that was stopped, and a flag in Ceph, have to be known also where the cluster's object is deleted and put back.
  const mustOutlive = !isOurs || starts.size > 0 || (record.noout ?? []).length > 0
  const owners = recordOwners(configMap?.metadata.ownerReferences, owner, { mustOutlive })
  const ownerReferences = owners === undefined ? {} : { ownerReferences: owners }
  if (configMap === undefined) {
    const metadata = { namespace, name: updateRecordName(owner), annotations: notes, ...ownerReferences }
    return { verb: 'create', configMap: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data } }
  }
  const { ownerReferences: present, ...metadata } = configMap.metadata
  const isSaid = stored.reason === decision.reason && isSameJson(present ?? [], owners ?? [])
  if (isSaid && isAsBefore(configMap.data ?? {}, data, decision)) return undefined
  const changed = {
    ...configMap,
    metadata: { ...metadata, ...ownerReferences, annotations: { ...foreign.annotations, ...notes } },
    data,
    ...(foreign.binaryData === undefined ? {} : { binaryData: foreign.binaryData }),
  }
  return { verb: 'update', configMap: changed }
}

function noteCluster(
  record: UpdateRecord,
  { uid, objectGeneration }: { readonly uid: string; readonly objectGeneration: number | undefined },
): UpdateRecord {
  return objectGeneration === undefined ? record : { ...record, writtenFor: { uid, generation: objectGeneration } }
}

/**
 * A CephCluster that is older than what is on record is believed after so long, as lists are. Until then a server that has fallen behind
 * is the likelier cause; after that etcd was restored from a backup, and a process that had not noticed wrote the record after it.
 */
const restoredAfterMs = 180_000

/** Whether what is on record was written for a later CephCluster than this one. Where it was made anew its generations begin anew. */
export function isWrittenForLater(
  { writtenFor }: UpdateRecord,
  { uid, generation = 0 }: { readonly uid?: string; readonly generation?: number },
): boolean {
  return writtenFor !== undefined && writtenFor.uid === uid && generation < writtenFor.generation
}

/** Whether to wait for a later CephCluster, which has been missing for so long. */
export function isLaterToCome(missingForMs: number): boolean {
  return missingForMs < restoredAfterMs
}

/**
 * What was planned last stays until it is planned anew, or until another generation makes it worthless. That nothing can go right
 * now is no plan.
 */
function planOf(
  { configMap, record: before }: StoredUpdate,
  { generation }: UpdateRecord,
  { plan }: UpdateChange['decision'],
): Readonly<Record<string, string>> {
  const kept = before.generation === generation ? configMap?.data?.[planKey] : undefined
  const text = plan === undefined || plan.length === 0 ? kept : JSON.stringify(plan)
  return text === undefined || text.length > mostPlanBytes ? {} : { [planKey]: text }
}

/** Who waits for OSDs that are restarting changes its text at every pass: that alone is not worth a write. */
function isAsBefore(
  before: Readonly<Record<string, string>>,
  data: Readonly<Record<string, string>>,
  { progress }: UpdateChange['decision'],
): boolean {
  if (progress.running.length === 0) return isSameJson(before, data)
  const { [blockedKey]: _, ...rest } = before
  const { [blockedKey]: __, ...now } = data
  return isSameJson(rest, now)
}

function blockedOf({ blocked }: UpdateChange['decision']): Readonly<Record<string, string>> {
  if (blocked.length === 0) return {}
  return { [blockedKey]: JSON.stringify(blocked.slice(0, mostBlocked).map(({ osd, why }) => ({ osd, why }))) }
}

function formatStarts(starts: StartNotes): string {
  const sorted = [...starts].sort(([a], [b]) => a - b)
  return JSON.stringify(Object.fromEntries(sorted.map(([osd, { atMs, epoch }]) => [osd, [atMs, epoch]])))
}

type ParsedStarts = { readonly starts: StartNotes } | { readonly problem: string }

function parseStarts(text: string | undefined): ParsedStarts {
  if (text === undefined) return { starts: new Map() }
  const problem = `its key ${startsKey} is invalid`
  let fields: unknown
  try {
    fields = JSON.parse(text)
  } catch {
    return { problem }
  }
  if (!isJsonObject(fields)) return { problem }
  const starts = new Map<number, StartNote>()
  for (const [osd, note] of Object.entries(fields)) {
    const [atMs, epoch] = Array.isArray(note) ? note : []
    if (!/^\d{1,9}$/.test(osd) || !isCount(atMs) || !isCount(epoch)) return { problem }
    starts.set(Number(osd), { atMs, epoch })
  }
  return { starts }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
