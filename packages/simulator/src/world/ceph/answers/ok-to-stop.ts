import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { CephState, SeenGroup } from '../ceph-state.ts'
import { ancestorsOf, type CrushTree } from '../crush-tree.ts'
import { noOsd } from '../no-osd.ts'

interface Verdict {
  readonly unknown: string[]
  readonly alreadyInactive: string[]
  readonly becomeInactive: string[]
  readonly becomeDegraded: string[]
  readonly becomeMoreDegraded: string[]
}

export interface StopQuestion {
  readonly seen: readonly SeenGroup[]
  readonly tree: CrushTree
  readonly isUp: (osd: number) => boolean
  readonly mood: CephState['okToStop']
  readonly osds: readonly number[]
  readonly max: number
}

export interface StopAnswer {
  readonly code: number
  readonly body: JsonObject
  readonly err: string
}

/**
 * `osd ok-to-stop` as the mgr judges it, from the reports that it has: right after a change it is as wrong as they are old.
 * With `max` it adds OSDs from the same bucket, then from the next wider one, as long as none was refused.
 */
export function okToStop(question: StopQuestion): StopAnswer {
  const osds = new Set(question.osds)
  let verdict = judge(question, osds)
  if (isFine(verdict) || question.mood.lie === 'yes') verdict = grow(question, osds, verdict)
  const { lie } = question.mood
  if (lie === 'yes') verdict = embellished(verdict)
  const isOk = lie !== 'no' && isFine(verdict)
  return answer(
    [...osds].sort((a, b) => a - b),
    verdict,
    isOk,
  )
}

/** As if nothing that would be out of reach were. */
function embellished(verdict: Verdict): Verdict {
  const { becomeDegraded, alreadyInactive, becomeInactive } = verdict
  const all = [...becomeDegraded, ...alreadyInactive, ...becomeInactive]
  return { ...verdict, unknown: [], alreadyInactive: [], becomeInactive: [], becomeDegraded: all }
}

/** Whether exactly these may stop, lies included. */
export function mayStop(given: Pick<StopQuestion, 'seen' | 'mood'>, osds: readonly number[]): boolean {
  if (given.mood.lie !== undefined) return given.mood.lie === 'yes'
  return isFine(judge(given, new Set(osds)))
}

function judge({ seen, mood }: Pick<StopQuestion, 'seen' | 'mood'>, osds: ReadonlySet<number>): Verdict {
  const verdict: Verdict = {
    unknown: [],
    alreadyInactive: [],
    becomeInactive: [],
    becomeDegraded: [],
    becomeMoreDegraded: [],
  }
  for (const group of seen) judgeGroup(group, osds, { verdict, isTentacle: mood.isTentacle })
  return verdict
}

function judgeGroup(
  { group, report, state }: SeenGroup,
  osds: ReadonlySet<number>,
  { verdict, isTentacle }: { readonly verdict: Verdict; readonly isTentacle: boolean },
): void {
  if (report === undefined) {
    verdict.unknown.push(group.id)
    return
  }
  const isDegraded = state.includes('degraded')
  const members = isDegraded ? report.complete.map((shard) => Number.parseInt(shard, 10)) : report.acting
  const left = new Set(members.filter((osd) => osd !== noOsd && !osds.has(osd)))
  // 20.2.4 forgets about each member when it checks the next.
  const isTouched = isTentacle ? osds.has(members.at(-1) ?? noOsd) : members.some((osd) => osds.has(osd))
  if (!isTouched) return
  if (!state.split('+').includes('active')) verdict.alreadyInactive.push(group.id)
  else if (left.size < group.pool.minSize) verdict.becomeInactive.push(group.id)
  else if (isDegraded) verdict.becomeMoreDegraded.push(group.id)
  else verdict.becomeDegraded.push(group.id)
}

function grow(question: StopQuestion, osds: Set<number>, verdict: Verdict): Verdict {
  const { tree, isUp, max, mood } = question
  let best = verdict
  const start = tree.byId.get(Math.min(...osds))
  if (start === undefined) return best
  for (const bucket of ancestorsOf(start)) {
    let wasRefused = false
    for (const osd of bucket.osds) {
      if (osds.size >= max) return best
      if (osds.has(osd) || !isUp(osd)) continue
      osds.add(osd)
      const next = judge(question, osds)
      if (isFine(next) || mood.lie === 'yes') best = next
      else {
        osds.delete(osd)
        wasRefused = true
      }
    }
    if (wasRefused) return best
  }
  return best
}

function isFine({ unknown, alreadyInactive, becomeInactive }: Verdict): boolean {
  return unknown.length + alreadyInactive.length + becomeInactive.length === 0
}

function answer(osds: readonly number[], verdict: Verdict, isOk: boolean): StopAnswer {
  const { unknown, alreadyInactive, becomeInactive, becomeDegraded, becomeMoreDegraded } = verdict
  const badCount = alreadyInactive.length + becomeInactive.length
  const lists = {
    unknown_pgs: unknown,
    bad_already_inactive: alreadyInactive,
    bad_become_inactive: becomeInactive,
    ok_become_degraded: becomeDegraded,
    ok_become_more_degraded: becomeMoreDegraded,
  }
  const body: JsonObject = {
    ok_to_stop: isOk,
    osds,
    num_ok_pgs: becomeDegraded.length + becomeMoreDegraded.length,
    num_not_ok_pgs: badCount,
    ...Object.fromEntries(Object.entries(lists).filter(([, pgs]) => pgs.length > 0)),
  }
  if (isOk) return { code: 0, body, err: '' }
  if (unknown.length > 0) {
    return { code: 11, body, err: `${unknown.length} pgs have unknown state; cannot draw any conclusions` }
  }
  return { code: 16, body, err: `unsafe to stop osd(s) at this time (${badCount} PGs are or would become offline)` }
}
