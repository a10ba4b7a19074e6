import { expect, it } from 'vitest'
import { buildOsdDeployment } from './build-osd-deployment.ts'
import { checkRelease, isReleaseCheckDue, relabelled, versionLabelOf } from './release-check.ts'
import type { CephForUpdate } from './snapshot.ts'
import { nowMs, updateSnapshot } from './testing/update-fixture.ts'
import { freshRecord } from './update-record.ts'

function lagOf(requiredRelease: string | undefined, versions: Readonly<Record<number, string>>): string | undefined {
  const { ceph } = updateSnapshot()
  const seen = (ceph as { readonly value: CephForUpdate }).value
  const map = { ...seen.map, ...(requiredRelease !== undefined && { requiredRelease }) }
  const all = new Map(seen.map.osds.map(({ id }) => [id, versions[id] ?? '19.2.3']))
  return checkRelease({ ...seen, map }, all, nowMs).lag
}

it('nothing is said while the version of one OSD is not known: it may be the one that holds it up', () => {
  const { ceph } = updateSnapshot()
  const seen = (ceph as { readonly value: CephForUpdate }).value
  const versions = new Map([0, 1, 2, 3, 4].map((id) => [id, '19.2.3']))
  expect(checkRelease({ ...seen, map: { ...seen.map, requiredRelease: 'reef' } }, versions, nowMs).lag).toBeUndefined()
})

it.each([
  {
    story: 'all OSDs run squid and Ceph requires reef: features stay off until somebody raises it',
    required: 'reef',
    versions: {},
    lag: 'all OSDs run squid, and require_osd_release is reef: run ceph osd require-osd-release squid',
  },
  { story: 'nothing lags where Ceph requires what they run', required: 'squid', versions: {}, lag: undefined },
  {
    story: 'one OSD that still runs reef is reason enough to leave it as it is',
    required: 'reef',
    versions: { 4: '18.2.4' },
    lag: undefined,
  },
  { story: 'nothing is said of a release that is not known', required: 'zebra', versions: {}, lag: undefined },
  { story: 'nothing is said where Ceph does not say', required: undefined, versions: {}, lag: undefined },
  { story: 'nothing is said where an OSD does not', required: 'reef', versions: { 0: '' }, lag: undefined },
])('$story', ({ required, versions, lag }) => {
  expect(lagOf(required, versions)).toBe(lag)
})

it('is looked at once after an update, and every five minutes while it lags: calm clusters cost no question', () => {
  const record = { ...freshRecord(1), done: 3 }
  const lag = 'x'
  expect([
    isReleaseCheckDue(freshRecord(1), nowMs),
    isReleaseCheckDue(record, nowMs),
    isReleaseCheckDue({ ...record, release: { atMs: 0 } }, nowMs),
    isReleaseCheckDue({ ...record, release: { atMs: nowMs - 299_000, lag } }, nowMs),
    isReleaseCheckDue({ ...record, release: { atMs: nowMs - 300_000, lag } }, nowMs),
  ]).toEqual([false, true, false, false, true])
})

it('labels follow what an OSD runs, with the build that Rook writes, and nothing of the pod is touched', () => {
  const cluster = { apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster', metadata: { name: 'c', namespace: 'n' } }
  const made = buildOsdDeployment(cluster, { id: 1, node: 'a', location: { host: 'a' } })
  const deployments = new Map([[1, made]])
  const [changed] = relabelled(deployments, new Map([[1, '19.2.4']]))
  expect([changed?.metadata.labels?.['ceph-version'], changed?.spec === made.spec]).toEqual(['19.2.4-0', true])
  expect(relabelled(new Map([[1, changed ?? made]]), new Map([[1, '19.2.4']]))).toEqual([])
  expect(relabelled(deployments, new Map())).toEqual([])
  expect([versionLabelOf('20.2.4-17-gd2e5a10'), versionLabelOf('odd')]).toEqual(['20.2.4-17', undefined])
})
