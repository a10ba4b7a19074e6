import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { CephState, SeenGroup } from '../ceph-state.ts'
import { ancestorsOf, type CrushItem } from '../crush-tree.ts'
import { crushTypes } from '../crush-types.ts'

interface Check {
  readonly severity: 'HEALTH_WARN' | 'HEALTH_ERR'
  readonly message: string
  readonly count: number
  readonly detail: readonly string[]
}

/** `health`, or as part of `status`: what is wrong, in Ceph's words. */
export function health(state: CephState, options: { readonly withDetail: boolean }): JsonObject {
  const checks = new Map<string, Check>()
  checkDaemons(state, checks)
  checkFlags(state, checks)
  checkOsds(state, checks)
  checkGroups(state, checks)
  const found = [...checks].sort(([a], [b]) => (a < b ? -1 : 1))
  const isError = found.some(([, { severity }]) => severity === 'HEALTH_ERR')
  return {
    status: isError ? 'HEALTH_ERR' : found.length > 0 ? 'HEALTH_WARN' : 'HEALTH_OK',
    checks: Object.fromEntries(
      found.map(([code, { severity, message, count, detail }]) => [
        code,
        {
          severity,
          summary: { message, count },
          ...(options.withDetail ? { detail: detail.map((line) => ({ message: line })) } : {}),
          muted: false,
        },
      ]),
    ),
    mutes: [],
  }
}

function checkDaemons({ mons, mgr }: CephState, checks: Map<string, Check>): void {
  const away = mons.known.filter((mon) => !mons.members.includes(mon))
  if (away.length > 0) {
    const message = `${away.length}/${mons.known.length} mons down, quorum ${mons.members.join(',')}`
    const detail = away.map((mon) => `mon.${mon} (rank ${mons.known.indexOf(mon)}) is down (out of quorum)`)
    checks.set('MON_DOWN', { severity: 'HEALTH_WARN', message, count: away.length, detail })
  }
  if (mgr.active === undefined) {
    checks.set('MGR_DOWN', { severity: 'HEALTH_WARN', message: 'no active mgr', count: 0, detail: [] })
  }
}

const quietFlags = new Set(['sortbitwise', 'recovery_deletes', 'purged_snapdirs', 'pglog_hardlimit'])

function checkFlags({ map }: CephState, checks: Map<string, Check>): void {
  const flags = [...map.flags].filter((flag) => !quietFlags.has(flag)).sort()
  if (flags.length > 0) {
    const message = `${flags.join(',')} flag(s) set`
    checks.set('OSDMAP_FLAGS', { severity: 'HEALTH_WARN', message, count: flags.length, detail: [] })
  }
  const detail = [
    ...[...map.osds.values()]
      .filter((osd) => osd.flags.size > 0)
      .map((osd) => `osd.${osd.id} has flags ${[...osd.flags].sort().join(',')}`),
    ...[...map.bucketFlags].map(
      ([name, held]) => `${map.tree.byName.get(name)?.type} ${name} has flags ${[...held].sort().join(',')}`,
    ),
    ...[...map.classFlags].map(([name, held]) => `device class '${name}' has flags ${[...held].sort().join(',')}`),
  ]
  if (detail.length === 0) return
  const what = 'OSDs or CRUSH {nodes, device-classes} have {NOUP,NODOWN,NOIN,NOOUT} flags set'
  const message = `${detail.length} ${what}`
  checks.set('OSD_FLAGS', { severity: 'HEALTH_WARN', message, count: detail.length, detail })
}

function checkOsds({ map }: CephState, checks: Map<string, Check>): void {
  // Who is out is not missed any more.
  const isMissed = (osd: number) => !map.isUp(osd) && map.isIn(osd)
  const down = map.tree.items.filter(({ type, id }) => type === 'osd' && isMissed(id))
  if (down.length === 0) return
  checks.set('OSD_DOWN', {
    severity: 'HEALTH_WARN',
    message: `${down.length} osds down`,
    count: down.length,
    detail: down.map((item) => `${item.name} (${placeOf(item)}) is down`),
  })
  for (const type of crushTypes.slice(1)) {
    const buckets = map.tree.items.filter(
      (item) => item.type === type && item.osds.length > 0 && map.isWhollyDown(item) && item.osds.some(isMissed),
    )
    if (buckets.length === 0) continue
    const count = buckets.reduce((sum, { osds }) => sum + osds.length, 0)
    checks.set(`OSD_${type.toUpperCase()}_DOWN`, {
      severity: 'HEALTH_WARN',
      message: `${buckets.length} ${type}${buckets.length === 1 ? '' : 's'} (${count} osds) down`,
      count: buckets.length,
      detail: buckets.map((item) => {
        const place = placeOf(item)
        return `${type} ${item.name} (${place}) (${item.osds.length} osds) is down`
      }),
    })
  }
}

function placeOf(item: CrushItem): string {
  return [...ancestorsOf(item)]
    .reverse()
    .map(({ type, name }) => `${type}=${name}`)
    .join(',')
}

function checkGroups(state: CephState, checks: Map<string, Check>): void {
  const seen = state.seen()
  const inactive = seen.filter((group) => !isInState(group, 'active'))
  const down = inactive.filter((group) => isInState(group, 'down'))
  const peering = inactive.filter((group) => group.state.includes('peering'))
  const stale = seen.filter((group) => group.state.startsWith('stale'))
  const lacking = new Set([...inactive, ...stale])
  if (lacking.size > 0) {
    const parts = [
      countOf(inactive.length, 'inactive'),
      countOf(down.length, 'down'),
      countOf(peering.length, 'peering'),
      countOf(stale.length, 'stale'),
    ].filter((part) => part !== '')
    checks.set('PG_AVAILABILITY', {
      severity: 'HEALTH_WARN',
      message: `Reduced data availability: ${parts.join(', ')}`,
      count: lacking.size,
      detail: seen.filter((group) => lacking.has(group)).map(sentence),
    })
  }
  const degraded = seen.filter((group) => group.state.includes('degraded'))
  const objects = objectCounts(seen)
  if (degraded.length > 0) {
    checks.set('PG_DEGRADED', {
      severity: 'HEALTH_WARN',
      message: `Degraded data redundancy: ${objects.degraded}/${objects.copies} objects degraded (${percent(objects.degraded, objects.copies)}), ${countOf(degraded.length, 'degraded')}`,
      count: degraded.length,
      detail: degraded.map(sentence),
    })
  }
  if (objects.misplaced > 0) {
    checks.set('OBJECT_MISPLACED', {
      severity: 'HEALTH_WARN',
      message: `${objects.misplaced}/${objects.copies} objects misplaced (${percent(objects.misplaced, objects.copies)})`,
      count: objects.misplaced,
      detail: [],
    })
  }
}

/** Whether this is one of the parts of its state. */
export function isInState({ state }: SeenGroup, word: string): boolean {
  let words = stateWords.get(state)
  if (words === undefined) {
    words = new Set(state.split('+'))
    stateWords.set(state, words)
  }
  return words.has(word)
}

/** There are few states, and many groups. */
const stateWords = new Map<string, ReadonlySet<string>>()

/** Copies of objects: all, and those that lack or are elsewhere, as last reported. */
function objectCounts(seen: readonly SeenGroup[]) {
  let copies = 0
  let degraded = 0
  let misplaced = 0
  for (const { group, report } of seen) {
    if (report === undefined) continue
    copies += group.objects * group.pool.size
    degraded += report.degraded
    misplaced += report.misplaced
  }
  return { copies, degraded, misplaced }
}

/** The same as `status` and `pg stat` print it: nothing where nothing lacks. */
export function objectTroubles(seen: readonly SeenGroup[]): JsonObject {
  const { copies, degraded, misplaced } = objectCounts(seen)
  return {
    ...(degraded > 0 ? { degraded_objects: degraded, degraded_total: copies, degraded_ratio: degraded / copies } : {}),
    ...(misplaced > 0
      ? { misplaced_objects: misplaced, misplaced_total: copies, misplaced_ratio: misplaced / copies }
      : {}),
  }
}

function countOf(count: number, what: string): string {
  return count === 0 ? '' : `${count} pg${count === 1 ? '' : 's'} ${what}`
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(3)}%`
}

function sentence({ group, report, state }: SeenGroup): string {
  return `pg ${group.id} is ${state}, acting [${(report?.acting ?? []).join(',')}]`
}
