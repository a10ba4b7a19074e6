import type { CephMap, SiteRule } from '../../../safety/ceph-map.ts'
import { failureDomainTypeOf } from '../../../safety/failure-domain.ts'
import { buildSlackHypergraph } from '../../../safety/slack-hypergraph.ts'
import { domainByDomain, unitsByDomain } from './domain-by-domain.ts'
import { emulateRook, rookMax } from './emulate-rook.ts'

export interface OtherWays {
  readonly rookRounds: number
  /** At most so many at once in Rook's way. */
  readonly rookMax: number
  /** How many OSDs Rook's way never gets to. */
  readonly rookStuck: number
  readonly domainType: string
  readonly domainRounds: number
}

/** How many rounds others would take for the same: Rook with its own limit or the given one if that is lower, and an administrator by hand. */
export function compareWays(input: {
  readonly map: CephMap
  readonly targets: readonly number[]
  readonly maxParallel: number
  readonly rookMaxInParallel?: number | undefined
  readonly reserve: number
  readonly sites: readonly SiteRule[]
}): OtherWays {
  const { map, targets, maxParallel, reserve, sites } = input
  const max = Math.min(input.rookMaxInParallel ?? rookMax, maxParallel)
  const rook = emulateRook({ map, targets, max, reserve, sites })
  const graph = buildSlackHypergraph({ map, targets, reserve, sites })
  const domainType = failureDomainTypeOf(map).type
  const unlimited = { perGroup: Number.POSITIVE_INFINITY, groupOf: new Int32Array(graph.osds.length), groupCount: 0 }
  const problem = { graph, perClass: maxParallel, ...unlimited }
  return {
    rookRounds: rook.batches.length,
    rookMax: max,
    rookStuck: rook.stuck.length,
    domainType,
    domainRounds: domainByDomain(problem, unitsByDomain(map, graph, domainType)).count,
  }
}
