import { domainTypeInUse } from './domain-type.ts'
import { layOut } from './layout.ts'
import type { CephDrainSnapshot, CephView } from './snapshot.ts'

/** The CRUSH buckets with a node that is cordoned or gone: only for these it matters what may be away together. */
export function domainsInQuestion(snapshot: Omit<CephDrainSnapshot, 'ceph'>, view: CephView): string[] {
  const type = domainTypeInUse(snapshot.cluster.settings.failureDomainOverride, view.failureDomainType)
  return layOut({ ...snapshot, ceph: { known: true, value: view } }, type)
    .domains.filter(({ drainedNodes }) => drainedNodes.length > 0)
    .flatMap(({ bucket }) => (bucket === undefined ? [] : [bucket]))
}
