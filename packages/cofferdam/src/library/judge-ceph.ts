import { osdsInParallel, parseParallelLimit } from '../capabilities/osd-update/domain/parallel-limit.ts'
import { type PlanInput, planRounds, type RoundPlan } from '../capabilities/osd-update/domain/plan-rounds.ts'
import { withProvedBound } from '../capabilities/osd-update/domain/prove-bound.ts'
import { recheckRound } from '../capabilities/osd-update/domain/recheck-round.ts'
import type { PlanSource } from '../ceph/saved/parse-ceph-answers.ts'
import { failureDomainTypeOf } from '../safety/failure-domain.ts'
import { buildSafetyIndex, type SafetyIndex } from '../safety/safety-index.ts'
import type { StopVerdict } from '../safety/verdict.ts'

interface Options {
  readonly osds?: readonly number[]
  readonly maxInParallel?: number | string
  readonly reserve?: number
  readonly order?: 'fewest-rounds' | 'by-domain'
  readonly canary?: boolean
}

/** What `CephState` of the library answers. */
export function judgeCeph(source: PlanSource) {
  const map = { ...source.map, sites: source.sites }
  const { type: failureDomainType } = failureDomainTypeOf(map)
  const indexes = new Map<number, SafetyIndex>()
  const indexFor = (reserve: number): SafetyIndex => {
    const index = indexes.get(reserve) ?? buildSafetyIndex(map, { reserve })
    indexes.set(reserve, index)
    return index
  }
  return {
    epoch: map.epoch,
    osds: map.osds.map(({ id, isUp, isIn }) => ({ id, isUp, isIn })),
    pools: map.pools.map(({ name, size, minSize }) => ({ name, size, minSize })),
    failureDomainType,
    mayStop: (osds: readonly number[], { reserve = 0 }: { readonly reserve?: number } = {}) =>
      inPublicWords(indexFor(reserve).mayStop(osds)),
    mayStopDomains: ({
      type = failureDomainType,
      reserve = 0,
    }: {
      readonly type?: string
      readonly reserve?: number
    } = {}) =>
      indexFor(reserve)
        .domainVerdicts(type)
        .map(({ domain, osds, verdict }) => ({ domain, osds, verdict: inPublicWords(verdict) })),
    planRounds: (options: Options = {}) => planChecked(source, options),
  }
}

/**
 * @throws RangeError for a limit that is none
 * @throws Error where the second check refuses a round: then one of the two is wrong, and no plan is better than that one
 */
function planChecked(
  { map, sites }: PlanSource,
  { osds, maxInParallel = '15%', reserve = 0, order = 'fewest-rounds', canary = false }: Options,
): Pick<RoundPlan, 'rounds' | 'lowerBound' | 'blocked'> {
  const limit = parseParallelLimit(maxInParallel)
  if (limit === undefined) {
    throw new RangeError(`maxInParallel is ${maxInParallel}: a number of at least 1, or '1%' to '100%'`)
  }
  const targets = osds ?? map.osds.map(({ id }) => id)
  const maxParallel = osdsInParallel(limit, map.osds.length)
  const input: PlanInput = { map, targets, maxParallel, reserve, order, canary, sites }
  const found = planRounds(input)
  for (const [at, round] of found.rounds.entries()) {
    const check = recheckRound({ map, osds: round, reserve, sites })
    if (!check.isSafe) throw new Error(`the second check refuses round ${at + 1} of the plan: ${check.why}`)
  }
  const { rounds, lowerBound, blocked } = withProvedBound(found, { map, targets, reserve, sites })
  const { rounds: least, why } = lowerBound
  return { rounds, lowerBound: { rounds: least, why }, blocked }
}

function inPublicWords(verdict: StopVerdict) {
  if (verdict.may !== 'no') return verdict
  const { troubles, troubleCount, doubts = [], doubtCount = 0 } = verdict
  return {
    may: verdict.may,
    troubles: [...troubles.map(({ pg, pool, left, floor }) => ({ pg, pool, left, floor })), ...doubts],
    troubleCount: troubleCount + doubtCount,
  }
}
