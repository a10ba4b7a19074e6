import type { CephOsd, CephPool } from '../safety/ceph-map.ts'
import type { Observed } from '../shared/observed.ts'
import {
  countAt,
  flagAt,
  integerAt,
  listAt,
  objectAt,
  observeShape,
  parseJsonText,
  textAt,
  unexpected,
} from './json-shape.ts'
import { readSiteType } from './parse-pool-detail.ts'
import { rememberParsed } from './remember-parsed.ts'

export interface OsdDump {
  readonly fsid: string
  readonly epoch: number
  /** Each once. */
  readonly osds: readonly CephOsd[]
  /** Ids that the answer has several times. Absent where there is none. */
  readonly repeatedOsds?: readonly number[]
  readonly pools: readonly CephPool[]
  /** By pool: how many placement groups it must have. Pools that do not say are left out. */
  readonly pgCounts: ReadonlyMap<number, number>
  /** Pools that are stretched over sites, each with the number of the CRUSH type of those. Absent where there is none. */
  readonly stretched?: readonly { readonly id: number; readonly siteType: number }[]
  readonly flags: readonly string[]
  readonly requiredRelease?: string
  readonly bucketFlags: Readonly<Record<string, readonly string[]>>
}

const poolKinds: Readonly<Record<number, CephPool['kind']>> = { 1: 'replicated', 3: 'erasure' }

/**
 * Reads `osd dump`.
 *
 * Fails closed: one OSD or pool that cannot be read makes the whole map unknown. Left out, it would count as harmless.
 */
export function parseOsdDump(json: unknown): Observed<OsdDump> {
  return observeShape('osd dump', () => {
    const dump = objectAt(json, 'osd dump')
    const pools = listAt(dump['pools'], 'pools').map((pool, index) => readPool(pool, `pools[${index}]`))
    const stretched = pools.flatMap(({ pool: { id }, siteType }) => (siteType === undefined ? [] : [{ id, siteType }]))
    const osds = listAt(dump['osds'], 'osds').map((osd, index) => readOsd(osd, `osds[${index}]`))
    return {
      fsid: textAt(dump['fsid'], 'fsid'),
      epoch: countAt(dump['epoch'], 'epoch'),
      ...withoutRepetition(osds),
      pools: pools.map(({ pool }) => pool),
      pgCounts: new Map(pools.flatMap(({ pool, pgCount }) => (pgCount === undefined ? [] : [[pool.id, pgCount]]))),
      ...(stretched.length > 0 && { stretched }),
      flags: textAt(dump['flags'], 'flags')
        .split(',')
        .filter((flag) => flag !== ''),
      ...(typeof dump['require_osd_release'] === 'string' && { requiredRelease: dump['require_osd_release'] }),
      bucketFlags: readBucketFlags(dump['crush_node_flags']),
    }
  })
}

export const parseOsdDumpText = rememberParsed((text): Observed<OsdDump> => {
  const json = parseJsonText('osd dump', text)
  return json.known ? parseOsdDump(json.value) : json
})

function readOsd(value: unknown, where: string): CephOsd {
  const osd = objectAt(value, where)
  return {
    id: countAt(osd['osd'], `${where}.osd`),
    isUp: flagAt(osd['up'], `${where}.up`),
    isIn: flagAt(osd['in'], `${where}.in`),
    upFrom: countAt(osd['up_from'], `${where}.up_from`),
    downAt: countAt(osd['down_at'], `${where}.down_at`),
    ...(Array.isArray(osd['state']) && osd['state'].includes('noout') && { hasNoout: true as const }),
  }
}

/**
 * An OSD that is listed several times is one OSD.
 *
 * Fails closed: where the entries differ it is the one that is down, and has changed last.
 */
function withoutRepetition(osds: readonly CephOsd[]): Pick<OsdDump, 'osds' | 'repeatedOsds'> {
  const byId = new Map<number, CephOsd>()
  const repeated = new Set<number>()
  for (const osd of osds) {
    const first = byId.get(osd.id)
    if (first !== undefined) repeated.add(osd.id)
    byId.set(osd.id, first === undefined ? osd : worseOf(first, osd))
  }
  if (repeated.size === 0) return { osds }
  return { osds: [...byId.values()], repeatedOsds: [...repeated].sort((a, b) => a - b) }
}

function worseOf(one: CephOsd, other: CephOsd): CephOsd {
  return {
    id: one.id,
    isUp: one.isUp && other.isUp,
    isIn: one.isIn || other.isIn,
    upFrom: Math.max(one.upFrom, other.upFrom),
    downAt: Math.max(one.downAt, other.downAt),
  }
}

interface ReadPool {
  readonly pool: CephPool
  readonly pgCount: number | undefined
  readonly siteType?: number
}

function readPool(value: unknown, where: string): ReadPool {
  const pool = objectAt(value, where)
  const type = integerAt(pool['type'], `${where}.type`)
  return {
    pool: {
      id: countAt(pool['pool'], `${where}.pool`),
      name: textAt(pool['pool_name'], `${where}.pool_name`),
      kind: poolKinds[type] ?? unexpected(`${where}.type`, `is ${type}, neither replicated (1) nor erasure (3)`),
      size: countAt(pool['size'], `${where}.size`),
      minSize: countAt(pool['min_size'], `${where}.min_size`),
      crushRuleId: countAt(pool['crush_rule'], `${where}.crush_rule`),
    },
    pgCount: pool['pg_num'] === undefined ? undefined : countAt(pool['pg_num'], `${where}.pg_num`),
    ...readSiteType(pool, where),
  }
}

/** Releases before Nautilus have no flags on buckets. */
function readBucketFlags(value: unknown): Record<string, readonly string[]> {
  if (value === undefined) return {}
  const flags = objectAt(value, 'crush_node_flags')
  return Object.fromEntries(
    Object.entries(flags).map(([bucket, names]) => {
      const where = `crush_node_flags.${bucket}`
      return [bucket, listAt(names, where).map((name, index) => textAt(name, `${where}[${index}]`))]
    }),
  )
}
