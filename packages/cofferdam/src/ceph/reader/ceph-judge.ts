import type { CephMap } from '../../safety/ceph-map.ts'
import type { CephView } from '../../safety/ceph-view.ts'
import { judgeCeph } from '../../safety/judge-ceph.ts'
import { buildSafetyIndex, type SafetyIndex } from '../../safety/safety-index.ts'

export interface Judgement {
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

interface Judged {
  readonly index: SafetyIndex
  /** By what the administrator has set. */
  readonly views: Map<string, CephView>
}

/** More together than this are not weighed: the number of sets doubles with each. */
const mostWanted = 8

/**
 * Judges maps.
 *
 * Guarantees: one safety index for each map, whoever has it judged and however often.
 */
export class CephJudge {
  readonly #buildIndex: typeof buildSafetyIndex
  readonly #judged = new WeakMap<CephMap, Judged>()

  constructor(buildIndex: typeof buildSafetyIndex = buildSafetyIndex) {
    this.#buildIndex = buildIndex
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

  #baseOf({ map, failureDomainOverride, pattern, isHealthyState }: Judgement) {
    const { index, views } = this.#judgedOf(map)
    const settings = JSON.stringify([failureDomainOverride, pattern])
    let view = views.get(settings)
    if (view === undefined) {
      view = judgeCeph({ index, failureDomainOverride, isHealthyState, disagreements: [] })
      views.set(settings, view)
    }
    return { view, index }
  }

  #judgedOf(map: CephMap): Judged {
    const held = this.#judged.get(map)
    if (held !== undefined) return held
    const judged = { index: this.#buildIndex(map), views: new Map<string, CephView>() }
    this.#judged.set(map, judged)
    return judged
  }
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
