import type { CephMap, CephOsd, CephPool, CrushBucket, CrushMap, PgTable } from '../ceph-map.ts'
import { crushTypes } from '../crush-types.ts'

export interface ExamplePg {
  /** `1.1b` */
  readonly pg: string
  readonly state?: string
  readonly acting: readonly number[]
  /** As acting unless told. */
  readonly up?: readonly number[]
  /** The map's epoch unless told. */
  readonly reported?: number
}

export interface ExampleMap {
  readonly epoch?: number
  /** Three hosts of two OSDs unless told: `{ 'host-a': [0, 1], ... }`. */
  readonly hosts?: Readonly<Record<string, readonly number[]>>
  /** All others are up since epoch 1. */
  readonly osds?: readonly (Partial<CephOsd> & { readonly id: number })[]
  /** One pool `rbd` (id 1, size 3, min_size 2) unless told. */
  readonly pools?: readonly (Partial<CephPool> & { readonly id: number })[]
  readonly pgs?: readonly ExamplePg[]
  readonly crush?: Partial<CrushMap>
  readonly sites?: CephMap['sites']
  readonly bucketFlags?: CephMap['bucketFlags']
}

export function exampleMap(given: ExampleMap = {}): CephMap {
  const hosts = given.hosts ?? { 'host-a': [0, 1], 'host-b': [2, 3], 'host-c': [4, 5] }
  const epoch = given.epoch ?? 10
  const told = new Map((given.osds ?? []).map((osd) => [osd.id, osd]))
  const ids = [...new Set([...Object.values(hosts).flat(), ...told.keys()])].sort((a, b) => a - b)
  const hostBuckets = Object.entries(hosts).map(
    ([name, children], at): CrushBucket => ({ id: -2 - at, name, type: 'host', children }),
  )
  return {
    fsid: 'f5c1',
    epoch,
    osds: ids.map((id) => ({ id, isUp: true, isIn: true, upFrom: 1, downAt: 0, ...told.get(id) })),
    pools: (given.pools ?? [{ id: 1 }]).map((pool) => ({
      name: 'rbd',
      kind: 'replicated',
      size: 3,
      minSize: 2,
      crushRuleId: 0,
      ...pool,
    })),
    crush: {
      buckets: [{ id: -1, name: 'default', type: 'root', children: hostBuckets.map(({ id }) => id) }, ...hostBuckets],
      rules: [{ id: 0, name: 'replicated_rule', failureDomain: 'host', root: 'default' }],
      typeOrder: crushTypes,
      ...given.crush,
    },
    pgs: pgTable(given.pgs ?? [], epoch),
    ...(given.sites !== undefined && { sites: given.sites }),
    flags: [],
    bucketFlags: given.bucketFlags ?? {},
  }
}

export function pgTable(pgs: readonly ExamplePg[], epoch: number): PgTable {
  const stateNames = [...new Set(pgs.map(({ state }) => state ?? 'active+clean'))]
  const ups = pgs.map(({ acting, up }) => up ?? acting)
  return {
    count: pgs.length,
    poolIds: Int32Array.from(pgs, ({ pg }) => Number(pg.split('.')[0])),
    pgNumbers: Int32Array.from(pgs, ({ pg }) => Number.parseInt(pg.split('.')[1] as string, 16)),
    states: Uint16Array.from(pgs, ({ state }) => stateNames.indexOf(state ?? 'active+clean')),
    stateNames,
    offsets: offsetsOf(pgs.map(({ acting }) => acting)),
    acting: Int32Array.from(pgs.flatMap(({ acting }) => acting)),
    upOffsets: offsetsOf(ups),
    up: Int32Array.from(ups.flat()),
    reportedEpochs: Int32Array.from(pgs, ({ reported }) => reported ?? epoch),
  }
}

function offsetsOf(lists: readonly (readonly number[])[]): Int32Array {
  const offsets = new Int32Array(lists.length + 1)
  for (const [at, list] of lists.entries()) offsets[at + 1] = (offsets[at] as number) + list.length
  return offsets
}
