import { known, type Observed, unknown } from '../shared/observed.ts'
import type { CephAnswer } from './ceph-commands.ts'
import { countAt, flagAt, listAt, objectAt, observeShape, parseJsonText } from './json-shape.ts'
import type { OkToUpgradeAnswer } from './ok-to-upgrade-answer.ts'

const command = 'osd ok-to-upgrade'
const notNow = 16
const invalid = 22

/**
 * Reads the answer to `osd ok-to-upgrade`.
 *
 * Fails closed: a yes that names no OSD, or one outside of the bucket that it was asked about, is no answer.
 */
export function parseOkToUpgrade(answer: CephAnswer): Observed<OkToUpgradeAnswer> {
  const words = answer.err.trim()
  if (answer.code === invalid) return known({ kind: 'no-such-question', why: words === '' ? 'it is refused' : words })
  if (answer.code !== 0 && answer.code !== notNow) {
    return unknown(`${command} ended with ${answer.code}${words === '' ? '' : `: ${words}`}`)
  }
  const json = parseJsonText(command, answer.out)
  if (!json.known) return json
  const report = readReport(json.value)
  if (!report.known) return report
  const { isOk, isOver, inside, osds, upgraded, versionless } = report.value
  if (answer.code === notNow || (!isOk && !isOver)) return known({ kind: 'answer', osds: [], upgraded, versionless })
  const stray = osds.find((osd) => !inside.has(osd))
  if (stray !== undefined) return unknown(`${command} speaks of osd.${stray}, which is not in the bucket`)
  if (osds.length === 0 && !isOver) return unknown(`${command} says yes and names no OSD`)
  return known({ kind: 'answer', osds, upgraded, versionless })
}

function readReport(json: unknown) {
  return observeShape(command, () => {
    const outer = objectAt(json, command)
    // Some builds wrap the report in an object of the command's name.
    const report = typeof outer['ok_to_upgrade'] === 'object' ? objectAt(outer['ok_to_upgrade'], command) : outer
    const ids = (field: string) => listAt(report[field], field).map((osd, at) => countAt(osd, `${field}[${at}]`))
    return {
      isOk: flagAt(report['ok_to_upgrade'], 'ok_to_upgrade'),
      isOver: flagAt(report['all_osds_upgraded'], 'all_osds_upgraded'),
      inside: new Set(ids('osds_in_crush_bucket')),
      osds: ids('osds_ok_to_upgrade'),
      upgraded: ids('osds_upgraded'),
      versionless: ids('bad_no_version'),
    }
  })
}
