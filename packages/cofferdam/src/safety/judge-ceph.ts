import type { CephView } from './ceph-view.ts'
import { failureDomainTypeOf } from './failure-domain.ts'
import { pgHealth } from './pg-health.ts'
import type { SafetyIndex } from './safety-index.ts'

/** Everything that decisions about one Ceph cluster need to know of one map. */
export function judgeCeph(input: {
  readonly index: SafetyIndex
  readonly failureDomainOverride: string | undefined
  readonly isHealthyState: (state: string) => boolean
  readonly disagreements: readonly string[]
}): CephView {
  const { index, failureDomainOverride, isHealthyState, disagreements } = input
  const { map } = index
  const failureDomainType = failureDomainTypeOf(map).type
  return {
    epoch: map.epoch,
    upOsds: map.osds
      .filter(({ isUp }) => isUp)
      .map(({ id }) => id)
      .sort((a, b) => a - b),
    pgs: pgHealth(map, isHealthyState),
    failureDomainType,
    domains: index.domainVerdicts(failureDomainOverride ?? failureDomainType),
    nooutBuckets: Object.entries(map.bucketFlags)
      .filter(([, flags]) => flags.includes('noout'))
      .map(([bucket]) => bucket)
      .sort(),
    disagreements,
  }
}
