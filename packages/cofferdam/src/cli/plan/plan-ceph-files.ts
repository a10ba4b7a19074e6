import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { parseCrushRules } from '../../ceph/parse-crush.ts'
import { parseOsdDump } from '../../ceph/parse-osd-dump.ts'
import { parseOsdTree } from '../../ceph/parse-osd-tree.ts'
import { parsePgDump } from '../../ceph/parse-pg-dump.ts'
import { parsePoolDetail, siteRulesOf } from '../../ceph/parse-pool-detail.ts'
import type { CephMap, SiteRule } from '../../safety/ceph-map.ts'
import type { Observed } from '../../shared/observed.ts'
import { type CephFile, cephFiles } from './ceph-files.ts'
import { findDifference } from './plan-ceph-consistency.ts'

/** What a plan is made from, wherever it was read. */
export interface PlanSource {
  readonly map: CephMap
  readonly sites: readonly SiteRule[]
}

const saveAgain = 'Save all five again, one right after the other, while no OSD goes down or comes up.'

/**
 * Reads the map of a cluster from what five commands printed.
 *
 * Guarantees: files that contradict each other are refused.
 * Assumes: they were saved at one time, as far as they do not contradict each other. `pg dump pgs_brief` does not say when
 * a placement group last reported.
 */
export async function readCephFiles(directory: string): Promise<PlanSource> {
  const json = new Map<CephFile, unknown>()
  for (const [file, text] of await readTexts(directory)) json.set(file, parseText(directory, file, text))
  const use = <T>(file: CephFile, parse: (json: unknown) => Observed<T>): T => {
    const parsed = parse(json.get(file))
    if (parsed.known) return parsed.value
    const other = commandOf(json.get(file))
    const isOther = other !== undefined && other !== cephFiles[file]
    const why = isOther ? `it has what ${other} prints` : parsed.why.replace(/^the answer to .* cannot be used: /, '')
    throw unusable(file, `${file} is not what ${cephFiles[file]} -f json prints: ${why}`, saveHint(directory, file))
  }
  const dump = use('osd-dump.json', parseOsdDump)
  const printed = use('pg-dump-pgs_brief.json', parsePgDump)
  const tree = use('osd-tree.json', parseOsdTree)
  const rules = use('osd-crush-rule-dump.json', (value) => parseCrushRules(value, tree.typeOrder))
  const pools = use('osd-pool-ls-detail.json', parsePoolDetail)
  // The brief listing names no epochs; the full one does, and then it counts.
  const isBrief = printed.reportedEpochs.every((epoch) => epoch === 0)
  const pgs = isBrief ? { ...printed, reportedEpochs: printed.reportedEpochs.map(() => dump.epoch) } : printed

  const difference = findDifference({ dump, pgs, tree, rules, pools })
  if (difference !== undefined) {
    const { file, says } = difference
    throw unusable(
      file,
      `${file} (${cephFiles[file]}) does not fit osd-dump.json (${cephFiles['osd-dump.json']}): ${says}`,
      saveAgain,
    )
  }
  const { pgCounts: _, stretched: __, ...seen } = dump
  const { buckets, typeOrder } = tree
  return { map: { ...seen, crush: { buckets, rules, typeOrder }, pgs }, sites: siteRulesOf(pools, tree.typeNames) }
}

/** One after the other, so that the same folder gives the same message. */
async function readTexts(directory: string): Promise<ReadonlyMap<CephFile, string>> {
  const texts = new Map<CephFile, string>()
  const missing: CephFile[] = []
  for (const file of Object.keys(cephFiles) as CephFile[]) {
    const path = join(directory, file)
    try {
      // Some editors and shells put a byte order mark first.
      texts.set(file, (await readFile(path, 'utf8')).replace(/^\uFEFF/, ''))
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') missing.push(file)
      else {
        const options = { facts: { file: path }, hint: saveHint(directory, file), cause: error }
        throw new CofferdamError('FILE_UNREADABLE', `${path} cannot be read: ${message}`, options)
      }
    }
  }
  if (missing.length === 0) return texts
  const makers = missing.map((file) => `${file} (${cephFiles[file]} -f json makes it)`)
  const folder = (await isFolder(directory)) ? directory : `${directory}, which is no folder,`
  throw new CofferdamError('FILE_UNREADABLE', `${folder} has no ${makers.join(', no ')}`, {
    facts: { file: join(directory, missing[0] ?? '') },
    hint: missing.map((file) => saveHint(directory, file)).join(' && '),
  })
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return false
  }
}

function parseText(directory: string, file: CephFile, text: string): unknown {
  const command = `${cephFiles[file]} -f json`
  if (text.trim() === '') throw unusable(file, `${file} is empty; ${command} makes it`, saveHint(directory, file))
  try {
    return JSON.parse(text) as unknown
  } catch {
    const message = `${file} is not JSON, or only a part of it (${text.length} characters); ${command} makes it`
    throw unusable(file, message, saveHint(directory, file))
  }
}

function saveHint(directory: string, file: CephFile): string {
  return `${cephFiles[file]} -f json > ${join(directory, file)}`
}

function unusable(file: CephFile, message: string, hint: string): CofferdamError {
  return new CofferdamError('CEPH_ANSWER_UNUSABLE', message, { facts: { file }, hint })
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
