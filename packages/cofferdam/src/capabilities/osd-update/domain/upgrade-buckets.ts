import type { CephMap, CrushBucket } from '../../../safety/ceph-map.ts'
import { failureDomainTypeOf } from '../../../safety/failure-domain.ts'

/** Ceph takes only buckets of these types. */
const askable = ['host', 'chassis', 'rack']

/**
 * The buckets to ask `osd ok-to-upgrade` about, each with those of the OSDs that are in it: those of the failure domain, or the
 * widest below it that Ceph takes. An OSD in none of them stands for itself.
 */
export function upgradeBuckets(map: CephMap, osds: readonly number[]): ReadonlyMap<string, readonly number[]> {
  const { typeOrder, buckets } = map.crush
  const widest = typeOrder.indexOf(failureDomainTypeOf(map).type)
  const parents = new Map<number, CrushBucket>()
  for (const bucket of buckets.toReversed()) for (const child of bucket.children) parents.set(child, bucket)
  const bucketOf = (osd: number): string => {
    let found = `osd.${osd}`
    let at = parents.get(osd)
    for (let steps = 0; at !== undefined && steps < buckets.length; steps += 1) {
      const isFitting = askable.includes(at.type) && (typeOrder.indexOf(at.type) <= widest || found.startsWith('osd.'))
      if (isFitting) found = at.name
      at = parents.get(at.id)
    }
    return found
  }
  const byBucket = new Map<string, number[]>()
  for (const osd of osds) {
    const bucket = bucketOf(osd)
    byBucket.set(bucket, [...(byBucket.get(bucket) ?? []), osd])
  }
  return byBucket
}
