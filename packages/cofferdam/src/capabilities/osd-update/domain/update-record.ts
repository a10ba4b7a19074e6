import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { fieldsOfOthers } from '../../../shared/fields-of-others.ts'
import { formatPace, isPace, parsePace } from './pace-state.ts'
import type { DrainTurns, ReleaseCheck, UpdateRecord, UsedOverrides } from './snapshot.ts'

/** Name of the ConfigMap that stores the update of a cluster. */
export function updateRecordName({ name }: { readonly name: string }): string {
  return `cofferdam-osd-update-${name}`
}

const dataKey = 'record'

export function freshRecord(generation: number): UpdateRecord {
  return { generation, startedMs: undefined, failed: [], frozen: undefined, lastEndedMs: undefined, done: 0 }
}

/** The record, with this failure added. The OSD is not tried again under this generation; the others go on. */
export function withFailure(record: UpdateRecord, failure: UpdateRecord['failed'][number]): UpdateRecord {
  if (record.failed.some(({ osd }) => osd === failure.osd)) return record
  return { ...record, failed: [...record.failed, failure] }
}

type RecordData = Readonly<Record<string, string>>

/** As data of a ConfigMap. The same record gives the same text; what another version noted `before` about this update stays. */
export function formatUpdateRecord(record: UpdateRecord, before: RecordData = {}): Record<string, string> {
  const {
    generation,
    startedMs,
    failed,
    frozen,
    lastEndedMs,
    settledMs,
    wereDown = [],
    turns,
    release,
    noout,
    overrides,
    pace,
    done,
    writtenFor,
  } = record
  const noted = (note: Failure) => ({ osd: note.osd, why: note.why, atMs: note.atMs })
  const fields = {
    generation,
    startedMs,
    failed: failed.length === 0 ? undefined : failed.map(noted),
    frozen: frozen && noted(frozen),
    lastEndedMs,
    settledMs,
    wereDown: wereDown.length === 0 ? undefined : wereDown,
    turns: turns && turnsOf(turns),
    release: release && { atMs: release.atMs, lag: release.lag },
    noout: noout?.length === 0 ? undefined : noout,
    overrides: overrides && { count: overrides.count, last: noted(overrides.last) },
    pace: pace && formatPace(pace),
    done,
    writtenFor: writtenFor && { uid: writtenFor.uid, generation: writtenFor.generation },
  }
  return { [dataKey]: JSON.stringify({ ...fields, ...notesOfOthers(before, generation) }) }
}

function notesOfOthers({ [dataKey]: text = '' }: RecordData, generation: number): Readonly<Record<string, unknown>> {
  try {
    const fields: unknown = JSON.parse(text)
    if (isJsonObject(fields) && fields['generation'] === generation) return fieldsOfOthers(fields, Object.keys(checks))
  } catch {
    // Nothing was written, or nothing that can be read.
  }
  return {}
}

export type ParsedUpdateRecord = { readonly record: UpdateRecord } | { readonly problem: string }

/**
 * What `formatUpdateRecord` wrote; fields that a newer version added are passed over, and kept. Without a ConfigMap there is nothing to
 * remember yet.
 *
 * Fails closed: all of it or nothing. A record that is half understood could forget what froze the update.
 */
export function parseUpdateRecord(data: RecordData | undefined, generation: number): ParsedUpdateRecord {
  if (data === undefined) return { record: freshRecord(generation) }
  const text = data[dataKey]
  if (text === undefined) return { problem: `it has no key ${dataKey}` }
  let fields: unknown
  try {
    fields = JSON.parse(text)
  } catch {
    return { problem: `its key ${dataKey} is no JSON` }
  }
  if (!isJsonObject(fields)) return { problem: `its key ${dataKey} is no JSON object` }
  const wrong = Object.keys(checks).find((field) => checks[field]?.(fields[field]) !== true)
  if (wrong !== undefined) return { problem: `its field ${wrong} is invalid` }
  return { record: recordOf(fields) }
}

type Failure = UpdateRecord['failed'][number]

const checks: Readonly<Record<string, (value: Json | undefined) => boolean>> = {
  generation: isCount,
  startedMs: isAbsentOr(isCount),
  failed: isAbsentOr(isListOf(isFailure)),
  frozen: isAbsentOr(isFailure),
  lastEndedMs: isAbsentOr(isCount),
  settledMs: isAbsentOr(isCount),
  wereDown: isAbsentOr(isListOf(isCount)),
  turns: isAbsentOr(areTurns),
  release: isAbsentOr(isRelease),
  noout: isAbsentOr(isListOf(isCount)),
  overrides: isAbsentOr(areOverrides),
  pace: isAbsentOr(isPace),
  done: isCount,
  writtenFor: isAbsentOr(isCluster),
}

/** Assumes: every field has passed its check. */
function recordOf(fields: JsonObject): UpdateRecord {
  const count = (field: string) => fields[field] as number | undefined
  const settledMs = count('settledMs')
  const wereDown = fields['wereDown'] as readonly number[] | undefined
  return {
    generation: fields['generation'] as number,
    startedMs: count('startedMs'),
    failed: ((fields['failed'] ?? []) as unknown as readonly Failure[]).map(failureOf),
    frozen: fields['frozen'] === undefined ? undefined : failureOf(fields['frozen'] as unknown as Failure),
    lastEndedMs: count('lastEndedMs'),
    ...(settledMs !== undefined && { settledMs }),
    ...(wereDown !== undefined && { wereDown }),
    ...(fields['turns'] !== undefined && { turns: turnsOf(fields['turns'] as unknown as DrainTurns) }),
    ...(fields['release'] !== undefined && { release: releaseOf(fields['release'] as unknown as ReleaseCheck) }),
    ...(fields['noout'] !== undefined && { noout: fields['noout'] as readonly number[] }),
    ...(fields['overrides'] !== undefined && {
      overrides: overridesOf(fields['overrides'] as unknown as UsedOverrides),
    }),
    ...(fields['pace'] !== undefined && { pace: parsePace(fields['pace'] as JsonObject) }),
    done: fields['done'] as number,
    ...(fields['writtenFor'] !== undefined && {
      writtenFor: clusterOf(fields['writtenFor'] as unknown as NonNullable<UpdateRecord['writtenFor']>),
    }),
  }
}

function clusterOf({ uid, generation }: NonNullable<UpdateRecord['writtenFor']>) {
  return { uid, generation }
}

function isCluster(value: Json | undefined): boolean {
  return isJsonObject(value) && isName(value['uid']) && isCount(value['generation'])
}

function failureOf({ osd, why, atMs }: Failure): Failure {
  return { osd, why, atMs }
}

function releaseOf({ atMs, lag }: ReleaseCheck): ReleaseCheck {
  return { atMs, ...(lag !== undefined && { lag }) }
}

function isRelease(value: Json | undefined): boolean {
  if (!isJsonObject(value) || !isCount(value['atMs'])) return false
  return value['lag'] === undefined || typeof value['lag'] === 'string'
}

function overridesOf({ count, last }: UsedOverrides): UsedOverrides {
  return { count, last: failureOf(last) }
}

function areOverrides(value: Json | undefined): boolean {
  return isJsonObject(value) && isCount(value['count']) && isFailure(value['last'])
}

function turnsOf({ had, open }: DrainTurns): DrainTurns {
  if (open === undefined) return { had }
  const { nodes, askedMs, freeSinceMs } = open
  return { had, open: { nodes, askedMs, ...(freeSinceMs !== undefined && { freeSinceMs }) } }
}

function areTurns(value: Json | undefined): boolean {
  if (!isJsonObject(value) || !isListOf(isName)(value['had'])) return false
  const open = value['open']
  if (open === undefined) return true
  if (!isJsonObject(open) || !isListOf(isName)(open['nodes'])) return false
  return isCount(open['askedMs']) && isAbsentOr(isCount)(open['freeSinceMs'])
}

function isName(value: Json | undefined): boolean {
  return typeof value === 'string' && value !== ''
}

function isCount(value: Json | undefined): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isFailure(value: Json | undefined): boolean {
  return isJsonObject(value) && isCount(value['osd']) && typeof value['why'] === 'string' && isCount(value['atMs'])
}

function isAbsentOr(isValue: (value: Json | undefined) => boolean): (value: Json | undefined) => boolean {
  return (value) => value === undefined || isValue(value)
}

function isListOf(isItem: (value: Json | undefined) => boolean): (value: Json | undefined) => boolean {
  return (value) => Array.isArray(value) && value.every(isItem)
}
