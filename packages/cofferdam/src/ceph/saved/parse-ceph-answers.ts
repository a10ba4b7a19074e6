import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { CephMap, SiteRule } from '../../safety/ceph-map.ts'
import type { Observed } from '../../shared/observed.ts'
import { parseCrushRules } from '../parse-crush.ts'
import { parseOsdDump } from '../parse-osd-dump.ts'
import { parseOsdTree } from '../parse-osd-tree.ts'
import { parsePgDump } from '../parse-pg-dump.ts'
import { parsePoolDetail, siteRulesOf } from '../parse-pool-detail.ts'
import { type CephFile, cephFiles } from './ceph-files.ts'
import { findDifference } from './find-difference.ts'

/** What a plan is made from, wherever it was read. */
export interface PlanSource {
  readonly map: CephMap
  readonly sites: readonly SiteRule[]
}

/** Why answers make no map. */
export interface RefusedAnswer {
  readonly file: CephFile
  readonly says: string
  /** It contradicts the OSD map: it was printed at another time, or by another cluster. */
  readonly isOfAnotherMoment: boolean
}

export type ParsedAnswers =
  | { readonly source: PlanSource; readonly refusal?: never }
  | { readonly source?: never; readonly refusal: RefusedAnswer }

/**
 * The map of a cluster from what five commands printed, each as JSON.
 *
 * Guarantees: answers that contradict each other are refused.
 * Assumes: they are of one time, as far as they do not contradict each other. `pg dump pgs_brief` does not say when
 * a placement group last reported.
 */
export function parseCephAnswers(answerTo: (file: CephFile) => unknown): ParsedAnswers {
  const dump = parsed('osd-dump.json', parseOsdDump)
  if ('refusal' in dump) return dump
  const printed = parsed('pg-dump-pgs_brief.json', parsePgDump)
  if ('refusal' in printed) return printed
  const tree = parsed('osd-tree.json', parseOsdTree)
  if ('refusal' in tree) return tree
  const { buckets, typeOrder, typeNames } = tree.value
  const rules = parsed('osd-crush-rule-dump.json', (value) => parseCrushRules(value, typeOrder))
  if ('refusal' in rules) return rules
  const pools = parsed('osd-pool-ls-detail.json', parsePoolDetail)
  if ('refusal' in pools) return pools
  // The brief listing names no epochs; the full one does, and then it counts.
  const isBrief = printed.value.reportedEpochs.every((epoch) => epoch === 0)
  const reportedEpochs = printed.value.reportedEpochs.map((epoch) => (isBrief ? dump.value.epoch : epoch))
  const pgs = { ...printed.value, reportedEpochs }
  const difference = findDifference({
    dump: dump.value,
    pgs,
    tree: tree.value,
    rules: rules.value,
    pools: pools.value,
  })
  if (difference !== undefined) {
    const { file } = difference
    const says = `${file} (${cephFiles[file]}) does not fit osd-dump.json (${cephFiles['osd-dump.json']}): ${difference.says}`
    return { refusal: { file, says, isOfAnotherMoment: true } }
  }
  const { pgCounts: _, stretched: __, ...seen } = dump.value
  const map = { ...seen, crush: { buckets, rules: rules.value, typeOrder }, pgs }
  return { source: { map, sites: siteRulesOf(pools.value, typeNames) } }

  function parsed<T>(
    file: CephFile,
    parse: (json: unknown) => Observed<T>,
  ): { readonly value: T } | { readonly refusal: RefusedAnswer } {
    const answer = parse(answerTo(file))
    if (answer.known) return { value: answer.value }
    const other = commandOf(answerTo(file))
    const isOther = other !== undefined && other !== cephFiles[file]
    const why = isOther ? `it has what ${other} prints` : answer.why.replace(/^the answer to .* cannot be used: /, '')
    const says = `${file} is not what ${cephFiles[file]} -f json prints: ${why}`
    return { refusal: { file, says, isOfAnotherMoment: false } }
  }
}

/** By its form, which command printed it. */
function commandOf(json: unknown): string | undefined {
  const has = (value: unknown, ...fields: readonly string[]) =>
    isJsonObject(value) && fields.every((field) => value[field] !== undefined)
  if (Array.isArray(json)) {
    const [first] = json as readonly unknown[]
    if (has(first, 'pgid')) return cephFiles['pg-dump-pgs_brief.json']
    if (has(first, 'rule_id')) return cephFiles['osd-crush-rule-dump.json']
    return has(first, 'pool_name') ? cephFiles['osd-pool-ls-detail.json'] : undefined
  }
  if (has(json, 'nodes', 'summary')) return 'ceph osd df'
  if (has(json, 'nodes')) return cephFiles['osd-tree.json']
  if (has(json, 'pg_stats')) return cephFiles['pg-dump-pgs_brief.json']
  if (has(json, 'pg_map')) return 'ceph pg dump'
  if (has(json, 'osds', 'pools')) return cephFiles['osd-dump.json']
  if (has(json, 'devices', 'buckets')) return 'ceph osd crush dump'
  return has(json, 'health', 'osdmap') ? 'ceph status' : undefined
}
