import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { isJsonObject, type Json } from '@cofferdam/kubernetes/api/json.ts'
import { recordNotes } from '../../../shared/record-notes.ts'
import type { UpdateProgress } from './decision.ts'
import type { PaceState } from './pace-state.ts'
import type { UpdateRecord } from './snapshot.ts'
import { secondsLeftOf } from './update-progress.ts'
import { parseUpdateRecord, updateRecordName } from './update-record.ts'

/** What is on record about the update of one cluster's OSDs. */
export interface UpdateReport {
  readonly namespace: string
  readonly cluster: string
  readonly reason: string
  readonly explanation: string
  /** As of the last decision that was written down; undefined where that cannot be read. */
  readonly progress: Omit<UpdateProgress, 'secondsLeft'> | undefined
  /** From now on, at the pace so far; undefined when nothing is under way, or nothing has come back yet. */
  readonly secondsLeft: number | undefined
  /** Rounds of OSD ids, as planned last under this generation. */
  readonly plan: readonly (readonly number[])[] | undefined
  readonly blocked: readonly { readonly osd: number; readonly why: string }[]
  readonly failed: UpdateRecord['failed']
  readonly frozen: UpdateRecord['frozen']
  /** OSDs that were stopped against the checks. */
  readonly overrides?: UpdateRecord['overrides']
  /** What is left to do in Ceph after the update. */
  readonly releaseLag?: string
  /** OSDs on which Cofferdam set noout. */
  readonly noout?: UpdateRecord['noout']
  readonly startedMs: number | undefined
  /** When the last OSD had finished restarting. */
  readonly lastEndedMs?: number
  /** How many were updated under this generation of the CephCluster. */
  readonly done: number
  /** The pace beside Rook, where there is one. */
  readonly pace?: PaceState
}

/**
 * What the ConfigMap of an update says; undefined when it is no such ConfigMap.
 *
 * Guarantees: whatever is in it, nothing is thrown. What cannot be read is named in the explanation, and left out.
 */
export function parseUpdateReport(configMap: ConfigMap, nowMs: number): UpdateReport | undefined {
  const { namespace = '', name, annotations = {} } = configMap.metadata
  const prefix = updateRecordName({ name: '' })
  if (!name.startsWith(prefix) || name === prefix) return undefined
  const place = { namespace, cluster: name.slice(prefix.length) }
  const data = configMap.data ?? {}
  const parsed = parseUpdateRecord(data, 0)
  if ('problem' in parsed) {
    return {
      ...place,
      ...nothingKnown,
      reason: 'UpdateRecordUnreadable',
      explanation: `ConfigMap ${name} cannot be read: ${parsed.problem}; nothing starts until it is corrected or deleted`,
    }
  }
  const { record } = parsed
  const progress = readKey(data, 'progress', isProgress)
  const plan = readKey(data, 'plan', isPlan)
  const blocked = readKey(data, 'blocked', isBlocked)
  const unread = [progress, plan, blocked].flatMap(({ problem }) => problem ?? [])
  const said = annotations[recordNotes.explanation] ?? ''
  const isUnderWay = record.frozen === undefined && progress.value !== undefined
  const left = isUnderWay && progress.value ? progress.value.waiting + progress.value.running.length : 0
  return {
    ...place,
    reason: annotations[recordNotes.reason] ?? '',
    explanation: unread.length === 0 ? said : `${said === '' ? '' : `${said}; `}cannot be read: ${unread.join(', ')}`,
    progress: progress.value && progressFields(progress.value),
    secondsLeft: left === 0 ? undefined : secondsLeftOf(record, nowMs, left),
    plan: plan.value,
    blocked: (blocked.value ?? []).map(({ osd, why }) => ({ osd, why })),
    failed: record.failed,
    frozen: record.frozen,
    ...(record.overrides !== undefined && { overrides: record.overrides }),
    ...(record.release?.lag !== undefined && { releaseLag: record.release.lag }),
    ...(record.noout !== undefined && { noout: record.noout }),
    startedMs: record.startedMs,
    ...(record.lastEndedMs !== undefined && { lastEndedMs: record.lastEndedMs }),
    done: record.done,
    ...(record.pace !== undefined && { pace: record.pace }),
  }
}

const nothingKnown = {
  progress: undefined,
  secondsLeft: undefined,
  plan: undefined,
  blocked: [],
  failed: [],
  frozen: undefined,
  startedMs: undefined,
  done: 0,
}

type RecordedProgress = NonNullable<UpdateReport['progress']>

/** Without what a newer version may have added. */
function progressFields(fields: RecordedProgress): RecordedProgress {
  const { total, done, running, waiting, blocked, failed, roundsLeft, lowerBound } = fields
  return { total, done, running, waiting, blocked, failed, roundsLeft, lowerBound }
}

function readKey<T>(
  data: Readonly<Record<string, string>>,
  key: string,
  isIt: (value: unknown) => value is T,
): { readonly value?: T; readonly problem?: string } {
  const text = data[key]
  if (text === undefined) return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { problem: `its key ${key} is no JSON` }
  }
  return isIt(value) ? { value } : { problem: `its key ${key} is invalid` }
}

const counts = ['total', 'done', 'waiting', 'blocked', 'failed', 'roundsLeft', 'lowerBound']

function isProgress(value: unknown): value is RecordedProgress {
  return isJsonObject(value) && counts.every((field) => isCount(value[field])) && isIds(value['running'])
}

function isPlan(value: unknown): value is readonly (readonly number[])[] {
  return Array.isArray(value) && value.every(isIds)
}

function isBlocked(value: unknown): value is UpdateReport['blocked'] {
  return (
    Array.isArray(value) &&
    value.every((each) => isJsonObject(each) && isCount(each['osd']) && typeof each['why'] === 'string')
  )
}

function isIds(value: Json | undefined): value is readonly number[] {
  return Array.isArray(value) && value.every(isCount)
}

function isCount(value: Json | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
