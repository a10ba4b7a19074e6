import type { CephMap } from '../../safety/ceph-map.ts'
import type { CephView } from '../../safety/ceph-view.ts'
import { judgeCeph } from '../../safety/judge-ceph.ts'
import { buildSafetyIndex, type SafetyIndex } from '../../safety/safety-index.ts'

export interface Judgement {
  readonly map: CephMap
  readonly failureDomainOverride: string | undefined
  readonly pattern: string | undefined
  readonly isHealthyState: (state: string) => boolean
  /** OSDs that Kubernetes has lost, whatever Ceph says: no other may rely on them, and they are not taken to have ended. */
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
    const up = new Set(goneOsds.length === 0 ? [] : view.upOsds)
    const assumed = goneOsds.filter((id) => up.has(id)).sort((a, b) => a - b)
    const isAssumed = new Set(assumed)
    const type = failureDomainOverride ?? view.failureDomainType
    const withoutThem = assumed.reduce((changed, id) => changed.withOsd({ id, isUp: false }), base)
    const domains =
      assumed.length === 0
        ? view.domains
        : withoutThem.domainVerdicts(type).map((each) => {
            const mayServe = each.osds.filter((id) => isAssumed.has(id))
            if (mayServe.length === 0) return each
            return { ...each, verdict: withThem(mayServe).mayStop(each.osds) }
          })
    const judged: CephView = assumed.length === 0 ? view : { ...view, domains, assumedDownOsds: assumed }
    if (maxDomains < 2 || map.pgs.count === 0) return judged
    const openable = setsOf(judgement.wantedDomains(judged).slice(0, mostWanted), maxDomains).filter((names) => {
      const osds = domains.flatMap((each) => (names.includes(each.domain) ? each.osds : []))
      const mayServe = osds.filter((id) => isAssumed.has(id))
      return withThem(mayServe).mayStopDomains(type, names).may === 'yes'
    })
    return { ...judged, openable }

    /** Nothing is known to be gone of what itself is asked about: it may serve still, and its end may be what is allowed. */
    function withThem(osds: readonly number[]): SafetyIndex {
      return osds.reduce((changed, id) => changed.withOsd({ id, isUp: true }), withoutThem)
    }
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
