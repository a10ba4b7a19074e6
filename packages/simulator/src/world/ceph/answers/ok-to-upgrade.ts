import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { SeenGroup } from '../ceph-state.ts'
import type { CrushTree } from '../crush-tree.ts'
import { noOsd } from '../no-osd.ts'
import { mayStop, type StopQuestion } from './ok-to-stop.ts'

export interface UpgradeQuestion extends Pick<StopQuestion, 'seen' | 'mood'> {
  readonly tree: CrushTree
  readonly bucket: string
  readonly version: string
  /** None, or 0: as many as may. */
  readonly max: number
  /** What the OSD reports to run; undefined where it never booted. */
  readonly versionOf: (osd: number) => string | undefined
}

export interface UpgradeAnswer {
  readonly code: number
  /** None where the question itself is refused. */
  readonly body?: JsonObject
  readonly err: string
}

const types = ['rack', 'chassis', 'host', 'osd']
/** A release as it is published (`20.2.4`) is none of these. */
const versionForms = [/^\d+\.\d+\.\d+-\d+-g[0-9a-f]+$/, /^\d+\.\d+\.\d+-\d+\.el\d+\w+$/]
/** `mgr_osd_upgrade_check_convergence_factor` */
const shrinkBy = 0.8

/** `osd ok-to-upgrade` as the mgr judges it: as many of the bucket as may stop, those with the fewest placement groups first. */
export function okToUpgrade(question: UpgradeQuestion): UpgradeAnswer {
  const { tree, bucket, version, max, versionOf } = question
  if (max < 0) return refusal(22, 'max must not be negative')
  if (!versionForms.some((form) => form.test(version))) {
    return refusal(
      22,
      "Invalid Ceph version (short) format. It is that of 'ceph_version_short' in the metadata of OSDs.",
    )
  }
  const item = tree.byName.get(bucket)
  if (item === undefined) return refusal(2, `"${bucket}" does not exist`)
  if (!types.includes(item.type)) {
    return refusal(22, `crush bucket "${bucket}" of type "${item.type}" is incompatible for upgradability check`)
  }
  const inside = byGroups(item.osds, question.seen)
  const upgraded = inside.filter((osd) => versionOf(osd) === version)
  const versionless = inside.filter((osd) => versionOf(osd) === undefined)
  const left = inside.filter((osd) => !upgraded.includes(osd) && !versionless.includes(osd))
  const osds = largestStart(question, left.slice(0, max === 0 ? left.length : max))
  const isOver = upgraded.length === inside.length
  const body = {
    ok_to_upgrade: osds.length > 0,
    all_osds_upgraded: isOver,
    osds_in_crush_bucket: inside,
    osds_ok_to_upgrade: osds,
    osds_upgraded: upgraded,
    bad_no_version: versionless,
  }
  if (osds.length > 0 || isOver) return { code: 0, body, err: '' }
  return { code: 16, body, err: `unsafe to upgrade OSD(s) of CRUSH bucket '${bucket}' at this time` }
}

function largestStart({ seen, mood }: UpgradeQuestion, osds: readonly number[]): readonly number[] {
  for (let count = osds.length; count > 0; count = Math.min(count - 1, Math.ceil(count * shrinkBy))) {
    const tried = osds.slice(0, count)
    if (mayStop({ seen, mood }, tried)) return tried
  }
  return []
}

function byGroups(osds: readonly number[], seen: readonly SeenGroup[]): number[] {
  const counts = new Map<number, number>()
  for (const { report } of seen) {
    for (const osd of report?.acting ?? []) if (osd !== noOsd) counts.set(osd, (counts.get(osd) ?? 0) + 1)
  }
  return osds.toSorted((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0) || a - b)
}

function refusal(code: number, err: string): UpgradeAnswer {
  return { code, err }
}
