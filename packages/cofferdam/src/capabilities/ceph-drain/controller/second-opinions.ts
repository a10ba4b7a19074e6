import type { CephCommands } from '../../../ceph/ceph-commands.ts'
import type { CephPorts } from '../../../ceph/reader/ceph-ports.ts'
import { CephTrials } from '../../../ceph/reader/ceph-trials.ts'
import type { CephMap } from '../../../safety/ceph-map.ts'
import type { CephView } from '../../../safety/ceph-view.ts'
import { compareOpinions } from '../../../safety/second-opinion.ts'
import type { DomainVerdict } from '../../../safety/verdict.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import { known, type Observed } from '../../../shared/observed.ts'
import { decideCephDrain } from '../domain/decide.ts'
import type { CephDrainDecision } from '../domain/decision.ts'
import type { CephDrainSnapshot } from '../domain/snapshot.ts'
import { coverOf } from '../domain/wanted-budgets.ts'

export interface OpinionPorts {
  readonly ceph: Pick<CephPorts, 'askOkToStop'>
}

export interface OpinionRequest {
  readonly snapshot: CephDrainSnapshot
  readonly map: CephMap | undefined
  readonly ceph: CephCommands | undefined
  readonly signal: AbortSignal
}

/**
 * Decides; and where that would let OSDs go that were held, hears what Ceph itself says of it and decides again.
 *
 * Guarantees: nothing is let go that Ceph was not asked about.
 * Fails closed: an opinion that differs holds the domain, and so does one that cannot be had, for as long as that lasts.
 */
export class SecondOpinions {
  readonly #ports: OpinionPorts
  readonly #trials: CephTrials

  constructor(ports: OpinionPorts) {
    this.#ports = ports
    this.#trials = new CephTrials(ports.ceph)
  }

  async decide(request: OpinionRequest): Promise<CephDrainDecision> {
    const decision = await this.#decide(request)
    const misjudged = this.#trials.problemOf(keyOfCluster(request))
    if (misjudged === undefined) return decision
    const problem = { object: `cephcluster/${request.snapshot.cluster.name}`, problem: misjudged }
    return { ...decision, alarm: true, problems: [...decision.problems, problem] }
  }

  forget(key: string): void {
    this.#trials.forget(key)
  }

  async #decide({ snapshot, map, ceph, signal }: OpinionRequest): Promise<CephDrainDecision> {
    const first = decideCephDrain(snapshot)
    const view = snapshot.ceph.known ? snapshot.ceph.value : undefined
    if (view === undefined || map === undefined || ceph === undefined || snapshot.cluster.mode !== 'manage')
      return first
    const cephSays: Record<string, Observed<boolean>> = {}
    let decision = first
    let unsure: ReturnType<typeof compareOpinions>['unsure'] = []
    // Where one domain is held after all another may take its place, and Ceph has to be heard on that one too.
    for (;;) {
      const unheard = domainsToRelease(snapshot, decision, view, map).filter(({ domain }) => !(domain in cephSays))
      if (unheard.length === 0) break
      Object.assign(cephSays, await this.#ask(unheard, ceph, signal))
      const compared = compareOpinions({ verdicts: view.domains, cephSays })
      if (compared.disagreements.length === 0 && compared.unsure.length === 0) return decision
      unsure = compared.unsure
      const { disagreements } = compared
      const domains = withoutVerdicts(view.domains, unsure)
      decision = decideCephDrain({ ...snapshot, ceph: known({ ...view, disagreements, domains }) })
    }
    if (decision === first) return first
    const problems = unsure.map(
      ({ domain, why }): ObjectProblem => ({
        object: `bucket/${domain}`,
        problem: `Ceph gives no ok-to-stop answer for it: ${why}`,
      }),
    )
    return { ...decision, problems: [...decision.problems, ...problems] }
  }

  /** Tries Ceph's opinion, and says whether what came of it is news. Done after all else: no budget waits for it. */
  tryCeph(request: OpinionRequest): Promise<boolean> {
    const { snapshot, map, ceph, signal } = request
    const isClean = snapshot.ceph.known && snapshot.ceph.value.pgs.health === 'clean'
    const isOurs = snapshot.cluster.mode === 'manage'
    return this.#trials.try({ key: keyOfCluster(request), isClean, map: isOurs ? map : undefined, ceph, signal })
  }

  async #ask(domains: readonly AskedDomain[], ceph: CephCommands, signal: AbortSignal) {
    const answers = await Promise.all(
      domains.map(
        async ({ domain, osds }) => [domain, await this.#ports.ceph.askOkToStop(ceph, osds, signal)] as const,
      ),
    )
    return Object.fromEntries<Observed<boolean>>(answers)
  }
}

function keyOfCluster({ snapshot: { cluster } }: OpinionRequest): string {
  return `${cluster.namespace}/${cluster.name}`
}

interface AskedDomain {
  readonly domain: string
  /** Those that run and hold data: of others Ceph has nothing to say. */
  readonly osds: readonly number[]
}

function domainsToRelease(
  snapshot: CephDrainSnapshot,
  decision: CephDrainDecision,
  view: CephView,
  map: CephMap,
): AskedDomain[] {
  const released = new Set(releasedOsds(snapshot, decision))
  if (released.size === 0) return []
  const withData = new Set<number>(map.pgs.acting)
  const running = new Set(view.upOsds.filter((id) => withData.has(id) && !view.assumedDownOsds?.includes(id)))
  return view.domains
    .filter(({ osds }) => osds.some((id) => released.has(id)))
    .map(({ domain, osds }) => ({ domain, osds: osds.filter((id) => running.has(id)) }))
    .filter(({ osds }) => osds.length > 0)
}

/** OSDs that run, and that the decision would let go although something held them until now, or nobody had decided yet. */
function releasedOsds({ budgets, osds, state }: CephDrainSnapshot, decision: CephDrainDecision): number[] {
  const isHeld = coverOf(budgets.filter(({ isOurs }) => isOurs))
  const staysHeld = coverOf(decision.budgets)
  const isOpenAlready = decision.state.openDomains.every((domain) => state.openDomains.includes(domain))
  return osds.filter((osd) => osd.isReady && !staysHeld(osd) && (isHeld(osd) || !isOpenAlready)).map(({ id }) => id)
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
