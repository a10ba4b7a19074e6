import type { CephMap } from '../../../safety/ceph-map.ts'
import type { CephView } from '../../../safety/ceph-view.ts'
import { compareOkToStop } from '../../../safety/compare-ok-to-stop.ts'
import type { DomainVerdict } from '../../../safety/verdict.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import { known, type Observed } from '../../../shared/observed.ts'
import type { OsdView } from '../../../shared/parse-osd.ts'
import { decideCephDrain } from './decide.ts'
import type { CephDrainDecision } from './decision.ts'
import type { CephDrainSnapshot } from './snapshot.ts'
import type { AskedDomain } from './steps.ts'
import { coverOf } from './wanted-budgets.ts'

/** What Ceph itself said in this pass, and what it can be asked by. */
export interface OkToStopAnswers {
  /** Undefined where Ceph cannot be asked. */
  readonly map: CephMap | undefined
  readonly cephSays: Readonly<Record<string, Observed<boolean>>>
}

/** A decision, and what Ceph has to be heard on before it counts. */
export interface HeardDecision {
  readonly decision: CephDrainDecision
  readonly unheard: readonly AskedDomain[]
}

/**
 * Decides; and where that would let OSDs go that were held, by what Ceph itself says of it. Where one domain is held after all another may
 * take its place, and Ceph has to be heard on that one too.
 *
 * Guarantees: nothing is let go that Ceph was not asked about, once nothing is unheard.
 * Fails closed: an ok-to-stop answer that differs holds the domain, and so does a missing one, for as long as that lasts.
 */
export function decideHearingCeph(snapshot: CephDrainSnapshot, { map, cephSays }: OkToStopAnswers): HeardDecision {
  const first = decideCephDrain(snapshot)
  const view = snapshot.ceph.known ? snapshot.ceph.value : undefined
  if (view === undefined || map === undefined || snapshot.cluster.mode !== 'manage') {
    return { decision: first, unheard: [] }
  }
  const { disagreements, unsure } = compareOkToStop({ verdicts: view.domains, cephSays })
  const isAgreed = disagreements.length === 0 && unsure.length === 0
  const domains = withoutVerdicts(view.domains, unsure)
  const decision = isAgreed ? first : decideCephDrain({ ...snapshot, ceph: known({ ...view, disagreements, domains }) })
  const unheard = domainsToRelease(snapshot, decision, view, map).filter(({ domain }) => !(domain in cephSays))
  const problems = unsure.map(
    ({ domain, why }): ObjectProblem => ({
      object: `bucket/${domain}`,
      problem: `Ceph gives no ok-to-stop answer for it: ${why}`,
    }),
  )
  return { decision: { ...decision, problems: [...decision.problems, ...problems] }, unheard }
}

function domainsToRelease(
  snapshot: CephDrainSnapshot,
  decision: CephDrainDecision,
  view: CephView,
  map: CephMap,
): AskedDomain[] {
  const released = new Set(releasedOsds(snapshot, decision, new Set(view.upOsds)))
  if (released.size === 0) return []
  const withData = new Set<number>(map.pgs.acting)
  const running = new Set(view.upOsds.filter((id) => withData.has(id)))
  const ignored = map.ignoredPools?.map(({ id }) => id)
  return view.domains
    .filter(({ osds }) => osds.some((id) => released.has(id)))
    .map(({ domain, osds }) => ({
      domain,
      osds: osds.filter((id) => running.has(id)),
      ...(ignored === undefined ? {} : { ignoredPools: ignored }),
    }))
    .filter(({ osds }) => osds.length > 0)
}

/**
 * OSDs that may serve, and that the decision would let go although something held them until now, or nobody had decided yet. A pod that
 * Kubernetes has lost counts while Ceph has its OSD up.
 */
function releasedOsds(
  { budgets, osds, state }: CephDrainSnapshot,
  decision: CephDrainDecision,
  up: ReadonlySet<number>,
): number[] {
  const isHeld = coverOf(budgets.filter(({ isOurs }) => isOurs))
  const staysHeld = coverOf(decision.budgets)
  const isOpenAlready = decision.state.openDomains.every((domain) => state.openDomains.includes(domain))
  const mayServe = ({ id, isReady, hasPodOnNode = isReady }: OsdView) => isReady || (hasPodOnNode && up.has(id))
  return osds.filter((osd) => mayServe(osd) && !staysHeld(osd) && (isHeld(osd) || !isOpenAlready)).map(({ id }) => id)
}

function withoutVerdicts(
  domains: readonly DomainVerdict[],
  unsure: readonly { readonly domain: string; readonly why: string }[],
): DomainVerdict[] {
  const why = new Map(unsure.map((entry) => [entry.domain, entry.why]))
  return domains.map((entry) => {
    const doubt = why.get(entry.domain)
    return doubt === undefined || entry.verdict.may !== 'yes'
      ? entry
      : { ...entry, verdict: { may: 'unknown', why: doubt } }
  })
}
