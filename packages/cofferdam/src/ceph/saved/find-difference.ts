import { type CrushRule, noOsd, type PgTable } from '../../safety/ceph-map.ts'
import type { OsdDump } from '../parse-osd-dump.ts'
import type { OsdTree } from '../parse-osd-tree.ts'
import type { PoolDetail } from '../parse-pool-detail.ts'
import type { CephFile } from './ceph-files.ts'

interface Answers {
  readonly dump: OsdDump
  readonly pgs: PgTable
  readonly tree: OsdTree
  readonly rules: readonly CrushRule[]
  readonly pools: readonly PoolDetail[]
}

export interface Difference {
  readonly file: CephFile
  readonly says: string
}

/** What one file says otherwise than the OSD map does: then they were not saved at the same time, or not of the same cluster. */
export function findDifference(answers: Answers): Difference | undefined {
  const said = {
    'osd-tree.json': treeDifference(answers),
    'osd-pool-ls-detail.json': poolDifference(answers),
    'osd-crush-rule-dump.json': ruleDifference(answers),
    'pg-dump-pgs_brief.json': pgDifference(answers),
  }
  for (const [file, says] of Object.entries(said)) if (says !== undefined) return { file: file as CephFile, says }
  return undefined
}

function treeDifference({ dump, tree }: Answers): string | undefined {
  const known = new Set<number>()
  for (const { id, isUp } of dump.osds) {
    known.add(id)
    const inTree = tree.isUp.get(id)
    if (inTree === undefined) return `the tree has no osd.${id}, the OSD map of epoch ${dump.epoch} has`
    const words = (is: boolean) => (is ? 'up' : 'down')
    if (inTree !== isUp) {
      return `osd.${id} is ${words(inTree)} in the tree and ${words(isUp)} in the OSD map of epoch ${dump.epoch}`
    }
  }
  const extra = [...tree.isUp.keys()].find((id) => !known.has(id))
  return extra === undefined ? undefined : `the tree has osd.${extra}, the OSD map of epoch ${dump.epoch} has not`
}

function poolDifference({ dump, pools }: Answers): string | undefined {
  const details = new Map(pools.map((pool) => [pool.id, pool]))
  for (const pool of dump.pools) {
    const detail = details.get(pool.id)
    if (detail === undefined) return `it has no pool ${pool.name}`
    const pgCount = dump.pgCounts.get(pool.id) ?? detail.pgCount
    const pairs = {
      pool_name: [detail.name, pool.name],
      size: [detail.size, pool.size],
      min_size: [detail.minSize, pool.minSize],
      crush_rule: [detail.crushRuleId, pool.crushRuleId],
      pg_num: [detail.pgCount, pgCount],
    }
    for (const [field, [here, there]] of Object.entries(pairs)) {
      if (here !== there) return `pool ${pool.name} has ${field} ${here} here and ${there} there`
    }
    if (detail.changedAt > dump.epoch) {
      return `pool ${pool.name} was changed in epoch ${detail.changedAt}, the OSD map is of epoch ${dump.epoch}`
    }
  }
  const known = new Set(dump.pools.map(({ id }) => id))
  const extra = pools.find(({ id }) => !known.has(id))
  return extra === undefined ? undefined : `it has the pool ${extra.name}`
}

function ruleDifference({ dump, rules }: Answers): string | undefined {
  const known = new Set(rules.map(({ id }) => id))
  const unruled = dump.pools.find(({ crushRuleId }) => !known.has(crushRuleId))
  return unruled === undefined
    ? undefined
    : `pool ${unruled.name} uses rule ${unruled.crushRuleId}, which is not described here`
}

function pgDifference({ dump, pgs, pools }: Answers): string | undefined {
  const osdIsUp = new Map(dump.osds.map(({ id, isUp }) => [id, isUp]))
  const isStale = pgs.stateNames.map((name) => name.split('+').some((flag) => flag === 'stale' || flag === 'unknown'))
  const seen = new Map(dump.pools.map(({ id }) => [id, new Set<number>()]))
  for (let pg = 0; pg < pgs.count; pg += 1) {
    const [pool, number] = [pgs.poolIds[pg] as number, pgs.pgNumbers[pg] as number]
    const name = `placement group ${pool}.${number.toString(16)}`
    const numbers = seen.get(pool)
    if (numbers === undefined) return `${name} is of a pool that the OSD map does not have`
    if (numbers.has(number)) return `${name} is listed twice`
    numbers.add(number)
    const reported = pgs.reportedEpochs[pg] as number
    if (reported > dump.epoch) {
      return `${name} was reported in epoch ${reported}, the OSD map is of epoch ${dump.epoch}`
    }
    if (isStale[pgs.states[pg] as number] === true) continue
    for (let at = pgs.offsets[pg] as number; at < (pgs.offsets[pg + 1] as number); at += 1) {
      const osd = pgs.acting[at] as number
      if (osd === noOsd) continue
      const isUp = osdIsUp.get(osd)
      if (isUp === undefined) return `${name} is on osd.${osd}, which the OSD map does not have`
      if (!isUp) return `${name} is served by osd.${osd}, which is down in the OSD map of epoch ${dump.epoch}`
    }
  }
  for (const { id, name, pgCount: needed } of pools) {
    const present = seen.get(id)?.size ?? 0
    if (present < needed) return `pool ${name} has ${needed} placement groups, and ${present} of them are listed`
  }
  return undefined
}
