import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { harmlessText } from '../shared/harmless-text.ts'
import type { ObjectProblem } from '../shared/object-problem.ts'
import type { CephMap, PgTable } from './ceph-map.ts'

/** A pool that holds no drain and no update, by the administrator's word. */
export interface IgnoredPool {
  readonly name: string
  /** Why, in the administrator's words; harmless to print. */
  readonly reason: string
}

export const ignoredPoolsAnnotation = 'cofferdam.io/ignore-pools'

const mostPools = 64
const mostReason = 300
const mostText = 32 * 1024

/**
 * Reads the annotation: `{"scratch": "build cache, can be lost"}`.
 *
 * Fails closed: a pool without a usable reason counts as ever, and so do all of a text that cannot be read.
 */
export function parseIgnoredPools(text: string | undefined): {
  readonly ignored: readonly IgnoredPool[]
  readonly warnings: readonly string[]
} {
  if (text === undefined) return { ignored: [], warnings: [] }
  const refused = (why: string) => ({
    ignored: [],
    warnings: [`annotation ${ignoredPoolsAnnotation} ${why}; every pool counts`],
  })
  if (text.length > mostText) return refused(`has more than ${mostText / 1024} KiB`)
  const pools = parsedObject(text)
  if (pools === undefined) return refused('is no JSON object such as {"POOL":"why it may be lost"}')
  const entries = Object.entries(pools)
  if (entries.length > mostPools) return refused(`names more than ${mostPools} pools`)
  const ignored: IgnoredPool[] = []
  const warnings: string[] = []
  for (const [name, given] of entries) {
    const reason = typeof given === 'string' ? harmlessText(given.trim()) : ''
    const problem =
      reason === '' ? 'gives no reason' : reason.length > mostReason ? `has more than ${mostReason} characters` : ''
    if (problem === '') ignored.push({ name, reason })
    else {
      const pool = JSON.stringify(harmlessText(name).slice(0, 100))
      warnings.push(`annotation ${ignoredPoolsAnnotation} ${problem} for pool ${pool}; that pool counts`)
    }
  }
  return { ignored: ignored.sort((a, b) => (a.name < b.name ? -1 : 1)), warnings }
}

function parsedObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const json: unknown = JSON.parse(text)
    return isJsonObject(json) ? json : undefined
  } catch {
    return undefined
  }
}

/** What is told about pools that are left out: loudly, for as long as they are. */
export function ignoredPoolProblems(ignored: readonly IgnoredPool[], map: CephMap | undefined): ObjectProblem[] {
  return ignored.map(({ name, reason }) => {
    const shown = harmlessText(name).slice(0, 100)
    const pool = map?.ignoredPools?.find((each) => each.name === name)
    if (map !== undefined && pool === undefined) {
      return {
        object: `pool/${shown}`,
        problem: `annotation ${ignoredPoolsAnnotation} names it, and Ceph has no such pool`,
      }
    }
    const groups = pool === undefined ? 'placement groups' : `${pool.pgs} placement groups`
    const state = pool === undefined ? 'is to be ignored' : 'is ignored'
    return {
      object: `pool/${shown}`,
      problem:
        `${state} by annotation ${ignoredPoolsAnnotation} (${JSON.stringify(reason)}): drains and updates do not wait for its ${groups}, ` +
        'which can be unavailable meanwhile',
      reason: 'PoolsIgnored',
    }
  })
}

const counted = new WeakMap<CephMap, { readonly names: string; readonly map: CephMap }>()

/**
 * The map without the pools that are ignored: whoever judges by it, judges as if they were not there.
 *
 * Guarantees: the same object for the same map and the same pools, so that one safety index serves everybody.
 */
export function countedMap(map: CephMap, ignored: readonly IgnoredPool[]): CephMap {
  const wanted = new Set(ignored.map(({ name }) => name))
  const left = map.pools.filter(({ name }) => wanted.has(name))
  if (left.length === 0) return map
  const names = JSON.stringify(left.map(({ name }) => name))
  const held = counted.get(map)
  if (held?.names === names) return held.map
  const ids = new Set(left.map(({ id }) => id))
  const made = withoutPools(map, ids)
  counted.set(map, { names, map: made })
  return made
}

function withoutPools(map: CephMap, ids: ReadonlySet<number>): CephMap {
  const { pools, pgs, sites } = map
  const sitesLeft = (sites ?? [])
    .map(({ poolIds, type }) => ({ poolIds: poolIds.filter((id) => !ids.has(id)), type }))
    .filter(({ poolIds }) => poolIds.length > 0)
  const { sites: _, ...rest } = map
  return {
    ...rest,
    pools: pools.filter(({ id }) => !ids.has(id)),
    pgs: withoutGroups(pgs, ids),
    ...(sitesLeft.length > 0 && { sites: sitesLeft }),
    ignoredPools: pools
      .filter(({ id }) => ids.has(id))
      .map(({ id, name }) => ({ id, name, pgs: pgs.poolIds.filter((pool) => pool === id).length })),
  }
}

function withoutGroups(pgs: PgTable, ids: ReadonlySet<number>): PgTable {
  const rows = [...pgs.poolIds.keys()].filter((pg) => !ids.has(pgs.poolIds[pg] as number))
  const pick = (column: Int32Array) => Int32Array.from(rows, (pg) => column[pg] as number)
  const members = membersOf(rows, pgs.offsets, pgs.acting)
  const next = membersOf(rows, pgs.upOffsets, pgs.up)
  return {
    ...pgs,
    count: rows.length,
    poolIds: pick(pgs.poolIds),
    pgNumbers: pick(pgs.pgNumbers),
    states: Uint16Array.from(rows, (pg) => pgs.states[pg] as number),
    offsets: members.offsets,
    acting: members.values,
    upOffsets: next.offsets,
    up: next.values,
    reportedEpochs: pick(pgs.reportedEpochs),
  }
}

function membersOf(rows: readonly number[], offsets: Int32Array, values: Int32Array) {
  const parts = rows.map((pg) => values.subarray(offsets[pg], offsets[pg + 1]))
  const starts = new Int32Array(rows.length + 1)
  for (const [at, part] of parts.entries()) starts[at + 1] = (starts[at] as number) + part.length
  const all = new Int32Array(starts[rows.length] as number)
  for (const [at, part] of parts.entries()) all.set(part, starts[at])
  return { offsets: starts, values: all }
}
