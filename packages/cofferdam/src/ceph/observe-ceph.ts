import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { CephMap, CrushMap, PgTable } from '../safety/ceph-map.ts'
import { known, type Observed, unknown } from '../shared/observed.ts'
import { askCeph, askCephAnswer } from './ask-ceph.ts'
import type { CephCommands } from './ceph-commands.ts'
import { type OsdDumpParser, parseOsdDumpHere } from './osd-dump-parser.ts'
import { parseCrush, parseTypeNames } from './parse-crush.ts'
import type { OsdDump } from './parse-osd-dump.ts'
import { siteRulesOf } from './parse-pool-detail.ts'
import { type PgParser, parsePgHere } from './pg-parser.ts'

/** While many OSDs restart the map never stands still, and on a large cluster each attempt takes seconds. */
const maxAttempts = 3
/** From this number of PGs on they are asked for as a table, a tenth of the JSON: here some 0.5 MB instead of 5, and the parser of JSON takes several times that. */
const manyPgs = 2_000

export interface ObserveOptions {
  /** Where large answers are parsed: `createPgParser` takes them out of this thread. */
  readonly parse?: PgParser
  readonly parseOsdDump?: OsdDumpParser
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

/**
 * Reads the OSD map, the CRUSH map and all placement groups, at one epoch where the map stands still for so long.
 *
 * Guarantees: the OSD map is at least as new as the rest, and its pools were the same before and after. What a placement group
 * reported before an OSD of it went down or came up is older than that change, and the maths waits for its next report.
 * Fails closed: silence, a refusal, or an answer that lacks something makes all of it unknown.
 */
export async function observeCeph(commands: CephCommands, options: ObserveOptions = {}): Promise<Observed<CephMap>> {
  const { parse = parsePgHere, parseOsdDump = parseOsdDumpHere, ...limits } = options
  let before = await readDump()
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    if (!before.known) return before
    const [crush, pgs] = await Promise.all([
      askCeph(commands, { prefix: 'osd crush dump' }, parseCrushAndTypes, limits),
      readPgs(before.value),
    ])
    if (!crush.known) return crush
    if (!pgs.known) return pgs
    const after = await readDump()
    if (!after.known) return after
    const isSameMap = after.value.epoch === before.value.epoch
    if (isSameMap || (attempt === maxAttempts && hasSamePools(before.value, after.value))) {
      return assemble({ dump: after.value, ...crush.value, pgs: pgs.value })
    }
    before = after
  }
  return unknown(`the pools of the OSD map changed during the last of ${maxAttempts} attempts to read it at one epoch`)

  async function readDump(): Promise<Observed<OsdDump>> {
    const answer = await askCephAnswer(commands, { prefix: 'osd dump' }, limits)
    return answer.known ? parseOsdDump(answer.value.bytes ?? answer.value.out) : answer
  }

  async function readPgs({ pgCounts }: OsdDump): Promise<Observed<PgTable>> {
    const count = [...pgCounts.values()].reduce((sum, pgs) => sum + pgs, 0)
    const format = count < manyPgs ? {} : { format: 'plain' }
    const answer = await askCephAnswer(commands, { prefix: 'pg dump', dumpcontents: ['pgs'], ...format }, limits)
    if (!answer.known) return answer
    const { bytes, err } = answer.value
    // JSON says so in `pg_ready`; beside the table for people there is this warning only.
    if (err.includes('due to ceph-mgr restart'))
      return unknown('the manager has just started, and not all OSDs have reported to it')
    return parse(bytes ?? answer.value.out)
  }
}

function hasSamePools(before: OsdDump, after: OsdDump): boolean {
  return (
    isSameJson(before.pools, after.pools) &&
    isSameJson(before.stretched, after.stretched) &&
    before.pgCounts.size === after.pgCounts.size &&
    [...before.pgCounts].every(([pool, count]) => after.pgCounts.get(pool) === count)
  )
}

interface CrushAndTypes {
  readonly crush: CrushMap
  readonly typeNames: ReadonlyMap<number, string>
}

function parseCrushAndTypes(json: unknown): Observed<CrushAndTypes> {
  const crush = parseCrush(json)
  const typeNames = parseTypeNames(json)
  if (!crush.known) return crush
  return typeNames.known ? known({ crush: crush.value, typeNames: typeNames.value }) : typeNames
}

interface Parts extends CrushAndTypes {
  readonly dump: OsdDump
  readonly pgs: PgTable
}

/** What was made of the parts that were last read with these groups: a Ceph at rest says the same again and again. */
const assembled = new WeakMap<PgTable, { readonly parts: Parts; readonly map: Observed<CephMap> }>()

function assemble(parts: Parts): Observed<CephMap> {
  const last = assembled.get(parts.pgs)
  if (last !== undefined && isSameParts(last.parts, parts)) return last.map
  const map = assembleAnew(parts)
  assembled.set(parts.pgs, { parts, map })
  return map
}

function isSameParts(left: Parts, right: Parts): boolean {
  return left.dump === right.dump && left.crush === right.crush && left.typeNames === right.typeNames
}

function assembleAnew(parts: Parts): Observed<CephMap> {
  const { dump, crush, typeNames, pgs } = parts
  const gap = findGap(parts)
  if (gap !== undefined) return unknown(gap)
  const { fsid, epoch, osds, repeatedOsds, pools, flags, bucketFlags, requiredRelease } = dump
  const sites = siteRulesOf(dump.stretched ?? [], typeNames)
  return known({
    fsid,
    epoch,
    osds,
    ...(repeatedOsds !== undefined && { repeatedOsds }),
    pools,
    crush,
    pgs,
    ...(sites.length > 0 && { sites }),
    flags,
    ...(requiredRelease !== undefined && { requiredRelease }),
    bucketFlags,
  })
}

/** A rule or a placement group that is left out would count as harmless. */
function findGap({ dump, crush, pgs }: { dump: OsdDump; crush: CrushMap; pgs: PgTable }): string | undefined {
  const rules = new Set(crush.rules.map(({ id }) => id))
  const unruled = dump.pools.find(({ crushRuleId }) => !rules.has(crushRuleId))
  if (unruled !== undefined) {
    return `pool ${unruled.name} uses CRUSH rule ${unruled.crushRuleId}, which osd crush dump does not describe`
  }
  const seen = new Map<number, number>()
  for (const pool of pgs.poolIds) seen.set(pool, (seen.get(pool) ?? 0) + 1)
  for (const { id, name } of dump.pools) {
    const needed = dump.pgCounts.get(id) ?? 0
    const present = seen.get(id) ?? 0
    if (present < needed) return `pool ${name} has ${needed} placement groups, but pg dump lists ${present} of them`
  }
  return undefined
}
