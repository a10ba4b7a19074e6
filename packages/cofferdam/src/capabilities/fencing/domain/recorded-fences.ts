import { isJsonObject, type Json } from '@cofferdam/kubernetes/api/json.ts'
import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import type { RecordedFence } from './snapshot.ts'

/** The annotation on a machine budget, so that a fence is remembered when its machine is gone. The same fences, the same text. */
export function fencesText(fences: ReadonlyMap<string, RecordedFence>): string | undefined {
  if (fences.size === 0) return undefined
  const entries = [...fences]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([machine, { node, bootID, scope, sinceMs, goneMs }]) => [
      machine,
      { node, bootID, scope, since: rfc3339(sinceMs), ...(goneMs === undefined ? {} : { gone: rfc3339(goneMs) }) },
    ])
  return JSON.stringify(Object.fromEntries(entries))
}

/** All of it or nothing. Never throws. */
export function parseFences(text: string | undefined): Observed<ReadonlyMap<string, RecordedFence>> {
  if (text === undefined || text === '') return known(new Map())
  let fields: unknown
  try {
    fields = JSON.parse(text)
  } catch {
    return unknown('it is not JSON')
  }
  if (!isJsonObject(fields)) return unknown('it is no JSON object')
  const fences = new Map<string, RecordedFence>()
  for (const [machine, entry] of Object.entries(fields)) {
    const fence = parseFence(entry)
    if (fence === undefined) return unknown(`the entry of machine ${machine} is invalid`)
    fences.set(machine, fence)
  }
  return known(fences)
}

function parseFence(entry: Json | undefined): RecordedFence | undefined {
  if (!isJsonObject(entry)) return undefined
  const { node, bootID, scope, since, gone } = entry
  if (typeof node !== 'string' || typeof bootID !== 'string' || typeof scope !== 'string') return undefined
  const sinceMs = typeof since === 'string' ? parseRfc3339(since) : undefined
  const goneMs = typeof gone === 'string' ? parseRfc3339(gone) : undefined
  if (sinceMs === undefined || (gone !== undefined && goneMs === undefined)) return undefined
  return { node, bootID, scope, sinceMs, ...(goneMs === undefined ? {} : { goneMs }) }
}
