import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { CephForUpdate, ReleaseCheck, UpdateRecord } from './snapshot.ts'
import { upOsds } from './sort-osds.ts'

/** Names of Ceph's releases by their first number. */
const releases: Readonly<Record<number, string>> = {
  14: 'nautilus',
  15: 'octopus',
  16: 'pacific',
  17: 'quincy',
  18: 'reef',
  19: 'squid',
  20: 'tentacle',
}
/** Ceph sends no event when somebody sets it. */
export const releaseRecheckSeconds = 300

const cephVersionLabel = 'ceph-version'

/** Whether what the OSDs run is to be looked at: once after an update, and then while `require_osd_release` lags behind. */
export function isReleaseCheckDue({ done, release }: UpdateRecord, nowMs: number): boolean {
  if (done === 0) return false
  if (release === undefined) return true
  return release.lag !== undefined && nowMs - release.atMs >= releaseRecheckSeconds * 1_000
}

/**
 * What is said when all OSDs run a newer release than Ceph requires of them: features of the new one stay off, and an OSD of the old one could
 * still join. Nothing is said where an OSD's version or a release is not known.
 */
export function checkRelease(seen: CephForUpdate, versions: ReadonlyMap<number, string>, nowMs: number): ReleaseCheck {
  const majors = [...upOsds(seen)].map((id) => Number(/^\d+/.exec(versions.get(id) ?? '')?.[0] ?? Number.NaN))
  const oldest = Math.min(...majors)
  const { requiredRelease } = seen.map
  const required = Number(Object.entries(releases).find(([, name]) => name === requiredRelease)?.[0] ?? Number.NaN)
  const running = releases[oldest]
  if (running === undefined || Number.isNaN(required) || required >= oldest) return { atMs: nowMs }
  const lag = `all OSDs run ${running}, and require_osd_release is ${requiredRelease}: run ceph osd require-osd-release ${running}`
  return { atMs: nowMs, lag }
}

/** `19.2.3-0`, as Rook writes the label: the build follows the version. */
export function versionLabelOf(version: string): string | undefined {
  const [, numbers, build = '0'] = /^(\d+\.\d+\.\d+)(?:-(\d+))?/.exec(version) ?? []
  return numbers === undefined ? undefined : `${numbers}-${build}`
}

/** Whether an OSD runs whose Deployment does not say which version: one that was made after the last update had ended. */
export function isLabelDue(deployments: ReadonlyMap<number, Deployment>, up: ReadonlySet<number>): boolean {
  return [...deployments].some(
    ([osd, { metadata }]) => up.has(osd) && metadata.labels?.[cephVersionLabel] === undefined,
  )
}

/** OSD Deployments whose label says another version than the OSD runs, as they should be. The pods are not touched. */
export function relabelled(
  deployments: ReadonlyMap<number, Deployment>,
  versions: ReadonlyMap<number, string>,
): readonly Deployment[] {
  return [...deployments].flatMap(([osd, deployment]) => {
    const { labels = {} } = deployment.metadata
    const wanted = versionLabelOf(versions.get(osd) ?? '')
    if (wanted === undefined || labels[cephVersionLabel] === wanted) return []
    return [{ ...deployment, metadata: { ...deployment.metadata, labels: { ...labels, [cephVersionLabel]: wanted } } }]
  })
}
