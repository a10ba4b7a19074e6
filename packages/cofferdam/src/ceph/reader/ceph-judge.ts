import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { CephMap } from '../../safety/ceph-map.ts'
import type { CephView } from '../../safety/ceph-view.ts'
import { judgeCeph } from '../../safety/judge-ceph.ts'
import { buildSafetyIndex, type SafetyIndex } from '../../safety/safety-index.ts'

export interface Judgement {
  readonly key: string
  readonly map: CephMap
  readonly failureDomainOverride: string | undefined
  readonly pattern: string | undefined
  readonly isHealthyState: (state: string) => boolean
  /** OSDs whose pods are gone, whatever Ceph says. */
  readonly goneOsds: readonly number[]
  readonly maxDomains: number
  /** The domains that somebody wants to be away: sets are only weighed among them. */
  readonly wantedDomains: (view: CephView) => readonly string[]
}

interface Memory {
  readonly map: CephMap
  readonly base: string
  readonly view: CephView
  readonly index: SafetyIndex
}

/** More together than this are not weighed: the number of sets doubles with each. */
const mostWanted = 8

/** Judges the map of each cluster, and judges anew only what changed since. */
export class CephJudge {
  readonly #memories = new Map<string, Memory>()

  forget(key: string): void {
    this.#memories.delete(key)
  }

  judge(judgement: Judgement): CephView {
    const { map, goneOsds, maxDomains, failureDomainOverride } = judgement
    const { view, index: base } = this.#baseOf(judgement)
    const assumed = goneOsds.filter((id) => view.upOsds.includes(id)).sort((a, b) => a - b)
    const type = failureDomainOverride ?? view.failureDomainType
    const index = assumed.reduce((changed, id) => changed.withOsd({ id, isUp: false }), base)
    const judged: CephView =
      assumed.length === 0 ? view : { ...view, domains: index.domainVerdicts(type), assumedDownOsds: assumed }
    if (maxDomains < 2 || map.pgs.count === 0) return judged
    const openable = setsOf(judgement.wantedDomains(judged).slice(0, mostWanted), maxDomains).filter(
      (domains) => index.mayStopDomains(type, domains).may === 'yes',
    )
    return { ...judged, openable }
  }

  #baseOf({ key, map, failureDomainOverride, pattern, isHealthyState }: Judgement): Memory {
    const base = JSON.stringify([failureDomainOverride, pattern])
    const held = this.#memories.get(key)
    if (held !== undefined && held.base === base && hasSameParts(held.map, map)) return held
    const view = judgeCeph({ map, failureDomainOverride, isHealthyState, disagreements: [] })
    const memory = { map, base, view, index: buildSafetyIndex(map) }
    this.#memories.set(key, memory)
    return memory
  }
}

/** Read anew, and of the same parts: those are shared where Ceph answered with the same text. */
function hasSameParts(before: CephMap, after: CephMap): boolean {
  if (before === after) return true
  const { sites: sitesBefore, ...partsBefore } = before
  const { sites, ...parts } = after
  const names = Object.keys(parts) as (keyof typeof parts)[]
  return (
    names.length === Object.keys(partsBefore).length &&
    names.every((name) => partsBefore[name] === parts[name]) &&
    isSameJson(sitesBefore ?? [], sites ?? [])
  )
}

/** All sets of two and up to `most` members. */
function setsOf(members: readonly string[], most: number): string[][] {
  const sets: string[][] = [[]]
  for (const member of members) {
    const larger = sets.filter((set) => set.length < most).map((set) => [...set, member])
    sets.push(...larger)
  }
  return sets.filter((set) => set.length >= 2)
}
