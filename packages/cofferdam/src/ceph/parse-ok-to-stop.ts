import { known, type Observed, unknown } from '../shared/observed.ts'
import type { CephAnswer } from './ceph-commands.ts'
import { countAt, flagAt, listAt, objectAt, observeShape, parseJsonText } from './json-shape.ts'

const command = 'osd ok-to-stop'
const notNow = 16

/**
 * Reads the answer to `osd ok-to-stop` for these OSDs.
 *
 * Fails closed: Ceph says yes to OSDs that it does not know, and to OSDs whose PGs it has not heard of. A yes that counted
 * no PG, or that is about other OSDs, is therefore no answer. A no counts as yes only where Ceph names every PG that it refuses for, and
 * all of them are in pools that are ignored.
 */
export function parseOkToStop(
  answer: CephAnswer,
  ids: readonly number[],
  ignoredPools: ReadonlySet<number> = new Set(),
): Observed<boolean> {
  if (ignoredPools.size > 0 && isRefusedFor(answer, ids, ignoredPools)) return known(true)
  const stoppable = parseStoppable(answer, ids)
  return stoppable.known ? known(stoppable.value.length > 0) : stoppable
}

/** The same with `--max`: these OSDs and all that Ceph would let stop beside them; none when it refuses. */
export function parseStoppable(answer: CephAnswer, ids: readonly number[]): Observed<readonly number[]> {
  const words = answer.err.trim()
  if (answer.code !== 0 && answer.code !== notNow) {
    return unknown(`${command} ended with ${answer.code}${words === '' ? '' : `: ${words}`}`)
  }
  if (answer.code === notNow) return known([])
  const json = parseJsonText(command, answer.out)
  if (!json.known) return json
  const report = readReport(json.value)
  if (!report.known) return report
  const { isOk, osds, pgCount } = report.value
  if (!isOk) return known([])
  const forgotten = ids.filter((id) => !osds.has(id))
  if (forgotten.length > 0) return unknown(`${command} did not answer about ${forgotten.map(osdName).join(', ')}`)
  if (pgCount === 0) {
    return unknown(`${command} counted no PG on ${ids.map(osdName).join(', ')}: they are down, empty, or do not exist`)
  }
  return known([...osds])
}

function isRefusedFor(answer: CephAnswer, ids: readonly number[], pools: ReadonlySet<number>): boolean {
  if (answer.code !== 0 && answer.code !== notNow) return false
  const json = parseJsonText(command, answer.out)
  const report = json.known ? readReport(json.value) : json
  if (!report.known) return false
  const { isOk, osds, refusedPgs, refusedCount } = report.value
  if (isOk || refusedCount === 0 || refusedPgs.length !== refusedCount || ids.some((id) => !osds.has(id))) return false
  return refusedPgs.every((pg) => pools.has(poolOf(pg)))
}

/** `1.1f` is of pool 1; anything else of none. */
function poolOf(pg: string): number {
  const [, pool] = /^(\d+)\.[0-9a-f]+$/.exec(pg) ?? []
  return pool === undefined ? Number.NaN : Number(pool)
}

function readReport(json: unknown) {
  return observeShape(command, () => {
    const report = objectAt(json, command)
    return {
      isOk: flagAt(report['ok_to_stop'], 'ok_to_stop') && countAt(report['num_not_ok_pgs'], 'num_not_ok_pgs') === 0,
      osds: new Set(listAt(report['osds'], 'osds').map((osd, index) => countAt(osd, `osds[${index}]`))),
      pgCount: countAt(report['num_ok_pgs'], 'num_ok_pgs'),
      refusedCount: countAt(report['num_not_ok_pgs'], 'num_not_ok_pgs'),
      refusedPgs: Object.entries(report)
        .filter(([field]) => field.startsWith('bad_') || field === 'unknown')
        .flatMap(([field, pgs]) => listAt(pgs, field).map(String)),
    }
  })
}

function osdName(id: number): string {
  return `osd.${id}`
}
