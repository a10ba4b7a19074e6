import { type CephMap, type CephPool, type CrushBucket, noOsd, type PgTable } from '../../../../safety/ceph-map.ts'
import { crushTypes } from '../../../../safety/crush-types.ts'

export interface ExamplePool {
  readonly kind?: CephPool['kind']
  readonly size: number
  readonly minSize: number
  readonly pgCount: number
  /** `host` unless told. */
  readonly domain?: 'osd' | 'host' | 'rack'
  /** Which OSDs it may use; all unless told. */
  readonly mayUse?: (osd: number) => boolean
}

export interface ExampleCluster {
  readonly hosts: number
  readonly osdsPerHost: number
  /** Hosts are dealt out to racks one after the other; no racks unless told. */
  readonly racks?: number
  readonly pools: readonly ExamplePool[]
  readonly down?: ReadonlySet<number>
  /** Of all PGs, how many are moving to other OSDs; none unless told. */
  readonly movingShare?: number
  /** Of all PGs, how many may lack objects somewhere; none unless told. */
  readonly doubtfulShare?: number
}

const epoch = 1_000
const stateNames = [
  'active+clean',
  'active+undersized+degraded',
  'undersized+degraded+peered',
  'active+remapped+backfilling',
  'active+recovering+degraded',
]

/** A cluster with every copy on a domain of its own, chosen by the numbers that `next` gives (at least 0, less than 1). */
export function exampleCluster(given: ExampleCluster, next: () => number): CephMap {
  const { hosts, osdsPerHost, racks = 0, down = new Set() } = given
  const osdCount = hosts * osdsPerHost
  const pools = given.pools.map(
    (pool, at): CephPool => ({
      id: at + 1,
      name: `pool-${at + 1}`,
      kind: pool.kind ?? 'replicated',
      size: pool.size,
      minSize: pool.minSize,
      crushRuleId: at,
    }),
  )
  const hostBuckets = Array.from({ length: hosts }, (_, at): CrushBucket => {
    const children = Array.from({ length: osdsPerHost }, (_, disk) => at * osdsPerHost + disk)
    return { id: -1_000 - at, name: `host-${String(at).padStart(5, '0')}`, type: 'host', children }
  })
  const rackBuckets = Array.from({ length: racks }, (_, at): CrushBucket => {
    const children = hostBuckets.filter((_, host) => rackOf(host, given) === at).map(({ id }) => id)
    return { id: -2 - at, name: `rack-${String(at).padStart(3, '0')}`, type: 'rack', children }
  })
  const top = (racks > 0 ? rackBuckets : hostBuckets).map(({ id }) => id)
  return {
    fsid: 'example',
    epoch,
    osds: Array.from({ length: osdCount }, (_, id) => ({
      id,
      isUp: !down.has(id),
      isIn: true,
      upFrom: 10,
      downAt: down.has(id) ? 500 : 0,
    })),
    pools,
    crush: {
      buckets: [{ id: -1, name: 'default', type: 'root', children: top }, ...rackBuckets, ...hostBuckets],
      rules: given.pools.map(({ domain = 'host' }, id) => ({
        id,
        name: `rule-${id}`,
        failureDomain: domain,
        root: 'default',
      })),
      typeOrder: crushTypes,
    },
    pgs: examplePgs(given, pools, next),
    flags: [],
    bucketFlags: {},
  }
}

function examplePgs(given: ExampleCluster, pools: readonly CephPool[], next: () => number): PgTable {
  const { movingShare = 0, doubtfulShare = 0, down = new Set<number>() } = given
  const count = given.pools.reduce((sum, { pgCount }) => sum + pgCount, 0)
  const shards = given.pools.reduce((sum, { pgCount, size }) => sum + pgCount * size, 0)
  const acting = new Int32Array(shards)
  const up = new Int32Array(shards)
  const offsets = new Int32Array(count + 1)
  const upOffsets = new Int32Array(count + 1)
  const states = new Uint16Array(count)
  const poolIds = new Int32Array(count)
  const pgNumbers = new Int32Array(count)
  let pg = 0
  for (const [at, pool] of given.pools.entries()) {
    const { kind, minSize } = pools[at] as CephPool
    const place = placer(given, pool, next)
    for (let number = 0; number < pool.pgCount; number += 1, pg += 1) {
      const members = place()
      const served =
        kind === 'replicated' ? members.filter((id) => !down.has(id)) : members.map((id) => (down.has(id) ? noOsd : id))
      const left = members.filter((id) => !down.has(id)).length
      const isDegraded = left < members.length
      const isMoving = !isDegraded && next() < movingShare
      const isDoubtful = !isDegraded && !isMoving && next() < doubtfulShare
      const coming = isMoving ? place() : served
      acting.set(served, offsets[pg] as number)
      up.set(coming, upOffsets[pg] as number)
      offsets[pg + 1] = (offsets[pg] as number) + served.length
      upOffsets[pg + 1] = (upOffsets[pg] as number) + coming.length
      states[pg] = isDegraded ? (left < minSize ? 2 : 1) : isMoving ? 3 : isDoubtful ? 4 : 0
      poolIds[pg] = at + 1
      pgNumbers[pg] = number
    }
  }
  return {
    count,
    poolIds,
    pgNumbers,
    states,
    stateNames,
    offsets,
    acting: acting.slice(0, offsets[count]),
    upOffsets,
    up: up.slice(0, upOffsets[count]),
    reportedEpochs: new Int32Array(count).fill(epoch),
  }
}

/** Gives the OSDs of one PG after the other; fewer than the size where there are not enough domains. */
function placer(given: ExampleCluster, pool: ExamplePool, next: () => number): () => number[] {
  const { domain = 'host', size, mayUse = () => true } = pool
  const osdCount = given.hosts * given.osdsPerHost
  const byDomain = new Map<number, number[]>()
  for (let osd = 0; osd < osdCount; osd += 1) {
    if (!mayUse(osd)) continue
    const host = Math.floor(osd / given.osdsPerHost)
    const key = domain === 'osd' ? osd : domain === 'host' ? host : rackOf(host, given)
    const known = byDomain.get(key)
    if (known === undefined) byDomain.set(key, [osd])
    else known.push(osd)
  }
  const domains = [...byDomain.values()]
  return () => {
    const chosen = new Set<number[]>()
    const wanted = Math.min(size, domains.length)
    while (chosen.size < wanted) chosen.add(domains[Math.floor(next() * domains.length)] as number[])
    return [...chosen].map((osds) => osds[Math.floor(next() * osds.length)] as number)
  }
}

function rackOf(host: number, { racks = 0 }: ExampleCluster): number {
  return racks === 0 ? 0 : host % racks
}
