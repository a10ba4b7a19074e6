import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { harmlessJson, harmlessText } from '../../../shared/harmless-text.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import { shortExplanation } from '../../../shared/record-limits.ts'
import { recordNotes } from '../../../shared/record-notes.ts'
import type { ClusterAnswer } from './decision.ts'
import { marks } from './marks.ts'
import { freshEvidence } from './running-osds.ts'
import type { CephEvidence, CephSilence, FencedCluster } from './snapshot.ts'

/** What the operator knew of Ceph when it decided. */
export interface RecordedEvidence {
  readonly evidence: Observed<Pick<CephEvidence, 'isClean' | 'upOsds'>>
  readonly silence?: CephSilence
}

/**
 * Annotations of a machine budget: what was decided last about its cluster, and what was known of Ceph then, so that whoever explains
 * decides on the same. The same decision, the same text: nothing is written while nothing changes.
 */
export function budgetNotes(
  cluster: FencedCluster,
  { reason, explanation }: Pick<ClusterAnswer, 'reason' | 'explanation'>,
  nowMs: number,
): Readonly<Record<string, string>> {
  return {
    [recordNotes.reason]: reason,
    [recordNotes.explanation]: harmlessText(shortExplanation(explanation)),
    [marks.evidence]: evidenceText(cluster, nowMs),
  }
}

function evidenceText(cluster: FencedCluster, nowMs: number): string {
  const evidence = freshEvidence(cluster, nowMs)
  const { silence } = cluster
  const silent =
    silence === undefined
      ? {}
      : { silent: silence.lastAnswerMs === undefined ? 'always' : rfc3339(silence.lastAnswerMs) }
  if (!evidence.known) return harmlessJson(JSON.stringify({ unknown: shortExplanation(evidence.why), ...silent }))
  const { isClean, upOsds } = evidence.value
  const clean = isClean.known ? { clean: isClean.value } : { cleanUnknown: shortExplanation(isClean.why) }
  return harmlessJson(JSON.stringify({ ...clean, up: rangesOf(upOsds) }))
}

/** Never throws. Fails closed: what cannot be read says nothing. */
export function parseEvidence(text: string | undefined): RecordedEvidence {
  const nothing = (why: string): RecordedEvidence => ({ evidence: unknown(why) })
  if (text === undefined) return nothing('the operator has not recorded on the budget what Ceph answered')
  const unreadable = nothing(`annotation ${marks.evidence} of the budget cannot be read`)
  let fields: unknown
  try {
    fields = JSON.parse(text)
  } catch {
    return unreadable
  }
  if (!isJsonObject(fields)) return unreadable
  const { unknown: why, silent, clean, cleanUnknown, up } = fields
  if (typeof why === 'string') {
    const lastAnswerMs = typeof silent === 'string' ? parseRfc3339(silent) : undefined
    return { evidence: unknown(why), ...(typeof silent === 'string' ? { silence: { lastAnswerMs } } : {}) }
  }
  const upOsds = typeof up === 'string' ? parseRanges(up) : undefined
  if (upOsds === undefined) return unreadable
  if (typeof clean === 'boolean') return { evidence: known({ isClean: known(clean), upOsds }) }
  return typeof cleanUnknown === 'string' ? { evidence: known({ isClean: unknown(cleanUnknown), upOsds }) } : unreadable
}

/** `0-2,5` */
function rangesOf(ids: ReadonlySet<number>): string {
  const sorted = [...ids].sort((a, b) => a - b)
  const ranges: [number, number][] = []
  for (const id of sorted) {
    const last = ranges.at(-1)
    if (last !== undefined && last[1] === id - 1) last[1] = id
    else ranges.push([id, id])
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',')
}

/** As we write them: in order, and none twice. Text of others could name the same million OSDs over and over. */
function parseRanges(text: string): ReadonlySet<number> | undefined {
  const ids = new Set<number>()
  let next = 0
  for (const range of text === '' ? [] : text.split(',')) {
    const [, first, last = first] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(range) ?? []
    if (first === undefined || Number(first) < next || Number(last) < Number(first)) return undefined
    for (next = Number(first); next <= Number(last); next += 1) ids.add(next)
  }
  return ids
}
