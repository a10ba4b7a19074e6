import type { CephMap, CrushBucket, SiteRule } from '../../../safety/ceph-map.ts'
import { buildSlackHypergraph } from '../../../safety/slack-hypergraph.ts'
import { RunningSet } from './running-set.ts'

export interface RookRounds {
  /** What is updated together; OSDs that Ceph offers though they are done are left out. */
  readonly batches: readonly (readonly number[])[]
  /** How often Ceph would have checked every placement group: once for each set that is tried. */
  readonly pgScans: number
  /** OSDs that `ok-to-stop` never allows. */
  readonly stuck: readonly number[]
}

export const rookMax = 20

/**
 * Today's way of updating: the head of the queue is put to `ceph osd ok-to-stop --max`, which adds OSDs of the same CRUSH
 * bucket by ascending number, done or not, then of the next wider one as long as none was refused; all of a batch are back
 * before the next. A head that is refused goes to the end of the queue.
 *
 * What may stop is judged by our own rules, so that only the way of choosing differs.
 */
export function emulateRook(input: {
  readonly map: CephMap
  readonly targets: readonly number[]
  readonly max?: number
  readonly reserve?: number
  readonly sites?: readonly SiteRule[]
}): RookRounds {
  const { map, reserve = 0, sites = [], max = rookMax } = input
  const graph = buildSlackHypergraph({ map, targets: map.osds.map(({ id }) => id), reserve, sites })
  const unitOf = new Map<number, number>()
  for (const [unit, id] of graph.osds.entries()) unitOf.set(id, unit)
  const isUp = new Set(map.osds.filter((osd) => osd.isUp).map(({ id }) => id))
  const widening = wideningBuckets(map)
  const running = new RunningSet(graph)
  const waiting = new Set([...new Set(input.targets)].sort((a, b) => a - b))
  const batches: number[][] = []
  let pgScans = 0
  let refusals = 0
  while (refusals < waiting.size) {
    const head = waiting.values().next().value as number
    waiting.delete(head)
    const offered = growFrom(head)
    if (offered.length === 0) {
      waiting.add(head)
      refusals += 1
      continue
    }
    refusals = 0
    const batch = offered.filter((id) => id === head || waiting.has(id))
    for (const id of batch) waiting.delete(id)
    batches.push(batch.sort((a, b) => a - b))
  }
  return { batches, pgScans, stuck: [...waiting].sort((a, b) => a - b) }

  /** What Ceph offers to stop together with the head; nothing when the head itself must stay. */
  function growFrom(head: number): number[] {
    const offered: number[] = []
    if (tryOne(head)) for (const osds of widening(head)) if (!addAll(osds)) break
    for (const id of offered) running.remove(unitOf.get(id) as number)
    return offered

    function addAll(osds: readonly number[]): boolean {
      let wasRefused = false
      for (const id of osds) {
        if (offered.length >= max) return false
        if (isUp.has(id) && !running.has(unitOf.get(id) ?? -1) && !tryOne(id)) wasRefused = true
      }
      return !wasRefused
    }

    function tryOne(id: number): boolean {
      pgScans += 1
      const unit = unitOf.get(id)
      if (unit === undefined || !running.mayAdd(unit)) return false
      running.add(unit)
      offered.push(id)
      return true
    }
  }
}

/** For an OSD, the OSDs below each bucket that it is in, ascending, from the narrowest bucket to the widest. */
function wideningBuckets({ crush }: CephMap): (osd: number) => readonly (readonly number[])[] {
  const buckets = new Map(crush.buckets.map((bucket) => [bucket.id, bucket]))
  const parentOf = new Map<number, CrushBucket>()
  for (const bucket of crush.buckets) {
    for (const child of bucket.children) if (!parentOf.has(child)) parentOf.set(child, bucket)
  }
  const osdsBelow = new Map<number, readonly number[]>()
  return (osd) => {
    const lists: (readonly number[])[] = []
    const climbed = new Set<number>()
    for (let at = parentOf.get(osd); at !== undefined && !climbed.has(at.id); at = parentOf.get(at.id)) {
      climbed.add(at.id)
      lists.push(below(at))
    }
    return lists
  }

  function below(top: CrushBucket): readonly number[] {
    const known = osdsBelow.get(top.id)
    if (known !== undefined) return known
    const found = new Set<number>([top.id])
    for (const id of found) for (const child of buckets.get(id)?.children ?? []) found.add(child)
    const osds = [...found].filter((id) => id >= 0).sort((a, b) => a - b)
    osdsBelow.set(top.id, osds)
    return osds
  }
}
