import type { PoolDescription } from './ceph-description.ts'
import type { CrushRule } from './crush-tree.ts'
import { noOsd } from './no-osd.ts'

export interface Pool extends Omit<PoolDescription, 'size' | 'minSize' | 'pgCount'> {
  readonly id: number
  size: number
  minSize: number
  /** How many placement groups it has. */
  pgCount: number
  /** How many it is to have; those too many are merged one by one. Undefined: as many as it has. */
  pgTarget?: number
  rule: CrushRule
  /** Shards that are enough to read: 1, or the data chunks. */
  readonly readable: number
}

/** A placement group as its OSDs know it, which is ahead of what the mgr has heard. */
export interface PlacementGroup {
  /** `1.1b` */
  readonly id: string
  readonly pool: Pool
  readonly number: number
  readonly seed: number
  readonly objects: number
  /** Where CRUSH wants it, whether those OSDs are up or not. */
  wanted: readonly number[]
  up: readonly number[]
  acting: readonly number[]
  /** Objects that each copy lacks; an OSD that is not here has no copy at all. Keys are from `holderKey`. */
  readonly holders: Map<number, number>
  isPeering: boolean
  state: string
  /** Work that is under way or queued. */
  work: { readonly kind: 'recovery' | 'backfill'; isRunning: boolean } | undefined
  mappingEpoch: number
  writesCountedMs: number
}

/** From this many missing objects on a returning copy is brought up to date before it acts again. */
const asyncRecoveryFrom = 100
const shardSpace = 64

/** Copies of a replicated group are alike; chunks of an erasure-coded one are not. */
export function holderKey({ pool }: PlacementGroup, osd: number, shard: number): number {
  return osd * shardSpace + (pool.kind === 'replicated' ? 0 : shard)
}

export function osdOfHolder(key: number): number {
  return Math.floor(key / shardSpace)
}

export function shardOfHolder(key: number): number {
  return key % shardSpace
}

export function realMembers(members: readonly number[]): number[] {
  return members.filter((osd) => osd !== noOsd)
}

export function primaryOf(members: readonly number[]): number {
  return members.find((osd) => osd !== noOsd) ?? -1
}

/** What CRUSH wants, less those that are down. */
export function upOf({ pool, wanted }: PlacementGroup, isUp: (osd: number) => boolean): number[] {
  if (pool.kind === 'replicated') return wanted.filter(isUp)
  return wanted.map((osd) => (osd !== noOsd && isUp(osd) ? osd : noOsd))
}

/** OSDs that serve the group, less those that are down. */
export function stillActing({ pool, acting }: PlacementGroup, isUp: (osd: number) => boolean): number[] {
  if (pool.kind === 'replicated') return acting.filter(isUp)
  return acting.map((osd) => (osd !== noOsd && isUp(osd) ? osd : noOsd))
}

/**
 * Enough copies without a gap among the OSDs that are up: without them it cannot even be known what was written. Where everyone is up who
 * ever had a part of it, each object is on enough of them: what one lacks was written to the others.
 */
export function isReadable(group: PlacementGroup, isUp: (osd: number) => boolean): boolean {
  const shards = new Set<number>()
  let areAllUp = true
  for (const [key, missing] of group.holders) {
    if (!isUp(osdOfHolder(key))) areAllUp = false
    else if (missing === 0) shards.add(shardOfHolder(key))
  }
  return areAllUp || shards.size >= group.pool.readable
}

/** Who serves it: those of `up` that have the data, and where one has none yet, a complete copy elsewhere. */
export function chooseActing(group: PlacementGroup, isUp: (osd: number) => boolean): number[] {
  return group.pool.kind === 'replicated' ? chooseCopies(group, isUp) : chooseChunks(group, isUp)
}

function chooseCopies(group: PlacementGroup, isUp: (osd: number) => boolean): number[] {
  const { up, pool, holders } = group
  const missingOn = (osd: number) => holders.get(holderKey(group, osd, 0))
  const soon = up.filter((osd) => (missingOn(osd) ?? asyncRecoveryFrom) < asyncRecoveryFrom)
  const strays = [...holders.keys()]
    .map(osdOfHolder)
    .filter((osd) => isUp(osd) && !up.includes(osd) && missingOn(osd) === 0)
    .sort((a, b) => a - b)
  const acting = [...soon, ...strays].slice(0, pool.size)
  const late = up.filter((osd) => (missingOn(osd) ?? 0) >= asyncRecoveryFrom)
  while (acting.length < pool.minSize && late.length > 0) acting.push(late.shift() as number)
  return acting
}

function chooseChunks(group: PlacementGroup, isUp: (osd: number) => boolean): number[] {
  const { up, holders } = group
  const acting = up.map((osd, shard) => (osd !== noOsd && holders.has(holderKey(group, osd, shard)) ? osd : noOsd))
  for (const [key, missing] of [...holders].sort(([a], [b]) => a - b)) {
    const osd = osdOfHolder(key)
    const shard = shardOfHolder(key)
    if (missing === 0 && acting[shard] === noOsd && isUp(osd) && !acting.includes(osd)) acting[shard] = osd
  }
  return acting
}

export interface GroupCondition {
  readonly isActive: boolean
  /** Copies of objects that are lacking. */
  readonly degraded: number
  /** Copies that are complete but not where they belong. */
  readonly misplaced: number
  readonly needs: 'recovery' | 'backfill' | undefined
}

export function conditionOfGroup(group: PlacementGroup): GroupCondition {
  const { up, acting, pool, holders, objects } = group
  const members = realMembers(acting)
  const missingIn = (list: readonly number[]) =>
    list.reduce((sum, osd, shard) => sum + (osd === noOsd ? 0 : (holders.get(holderKey(group, osd, shard)) ?? 0)), 0)
  const late = up.map((osd) => (acting.includes(osd) ? noOsd : osd))
  const empty = up.filter((osd, shard) => osd !== noOsd && !holders.has(holderKey(group, osd, shard)))
  const absent = Math.max(0, pool.size - members.length)
  // A copy that is being brought up to date lacks only what it missed.
  const catchingUp = late.filter((osd, shard) => osd !== noOsd && holders.has(holderKey(group, osd, shard)))
  const degraded =
    Math.max(0, absent - catchingUp.length) * objects + Math.ceil(missingIn(acting)) + Math.ceil(missingIn(late))
  const isBehind = missingIn(acting) + missingIn(late) > 0
  return {
    isActive: members.length >= pool.minSize,
    degraded,
    misplaced: degraded > 0 ? 0 : empty.length * objects,
    needs: isBehind ? 'recovery' : empty.length > 0 ? 'backfill' : undefined,
  }
}

export function isRemapped({ up, acting }: PlacementGroup): boolean {
  return up.length !== acting.length || up.some((osd, place) => osd !== acting[place])
}

/** In the order in which Ceph puts the parts. */
const stateWords = [
  'active',
  'clean',
  'recovery_wait',
  'recovering',
  'down',
  'undersized',
  'degraded',
  'remapped',
  'peering',
  'backfill_wait',
  'backfilling',
  'peered',
]

export function stateOfGroup(group: PlacementGroup, isUp: (osd: number) => boolean): string {
  const { pool, acting, work } = group
  const words = new Set<string>()
  if (isRemapped(group)) words.add('remapped')
  if (group.isPeering) words.add('peering')
  else if (!isReadable(group, isUp)) words.add('down')
  else {
    const { isActive, degraded, needs } = conditionOfGroup(group)
    const isUndersized = realMembers(acting).length < pool.size
    words.add(isActive ? 'active' : 'peered')
    if (isUndersized) words.add('undersized')
    if (degraded > 0) words.add('degraded')
    if (work?.kind === 'recovery') words.add(work.isRunning ? 'recovering' : 'recovery_wait')
    if (work?.kind === 'backfill') words.add(work.isRunning ? 'backfilling' : 'backfill_wait')
    if (isActive && !isUndersized && degraded === 0 && needs === undefined) words.add('clean')
  }
  return stateWords.filter((word) => words.has(word)).join('+')
}
