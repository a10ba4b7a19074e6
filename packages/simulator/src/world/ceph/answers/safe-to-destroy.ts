import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { SeenGroup } from '../ceph-state.ts'

export interface DestroyQuestion {
  readonly seen: readonly SeenGroup[]
  readonly exists: (osd: number) => boolean
  readonly isUp: (osd: number) => boolean
  readonly osds: readonly number[]
}

/**
 * `osd safe-to-destroy` as the mgr judges it, from the reports that it has; undefined while it has not heard of every placement
 * group. An OSD that does not exist is safe.
 */
export function safeToDestroy({ seen, exists, isUp, osds }: DestroyQuestion): JsonObject | undefined {
  if (seen.some(({ report }) => report === undefined)) return undefined
  const mapped = new Set(seen.flatMap(({ report }) => [...(report?.up ?? []), ...(report?.acting ?? [])]))
  const isAllClean = seen.every(({ state }) => ['active', 'clean'].every((word) => state.split('+').includes(word)))
  const verdictOf = (osd: number): 'safe' | 'active' | 'missing' => {
    if (!exists(osd)) return 'safe'
    if (mapped.has(osd)) return 'active'
    return isAllClean || isUp(osd) ? 'safe' : 'missing'
  }
  const those = (verdict: string) => osds.filter((osd) => verdictOf(osd) === verdict)
  return { safe_to_destroy: those('safe'), active: those('active'), missing_stats: those('missing'), stored_pgs: [] }
}
