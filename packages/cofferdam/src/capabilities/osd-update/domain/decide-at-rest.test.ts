import { describe, expect, it } from 'vitest'
import { known } from '../../../shared/observed.ts'
import { decideAtRest } from './decide-at-rest.ts'
import type { LostOsds } from './decide-removal.ts'
import type { HeardInPass } from './pass-snapshot.ts'
import type { UpdateRecord } from './snapshot.ts'
import { storedOf } from './stored-update.ts'
import { paced } from './testing/paced-fixture.ts'
import { cephCluster, osdDeployment, type PassFixture, passSnapshot, wordsOf } from './testing/pass-fixture.ts'
import { arbiter, entry } from './testing/storage-entries.ts'
import { nowMs } from './testing/update-fixture.ts'
import { formatUpdateRecord } from './update-record.ts'

const hourMs = 3_600_000
const gone = { id: 5, createdMs: nowMs - 24 * hourMs, unreadySinceMs: nowMs - hourMs, isSpokenFor: false }
const world = { needing: [], settings: { removeIfOutAndSafeToDestroy: true } }
const lostOf = (fsid: string, safe: readonly number[] = [5]): Pick<HeardInPass, 'lost'> => ({
  lost: known<LostOsds>({ fsid, downAndOut: new Set([5]), safe: new Set(safe) }),
})
const withFsid = (fsid?: string) => ({
  ...cephCluster(),
  status: { ceph: fsid === undefined ? {} : { fsid } },
})
const removal = (given: PassFixture = {}) =>
  decideAtRest(passSnapshot({ world, removable: [gone], cluster: withFsid('f5c1'), ...given }))

const removals: Record<string, { readonly given: PassFixture; readonly steps: readonly string[] }> = {
  'an OSD that is gone for good is asked about first': { given: {}, steps: ['ask lost-osds'] },
  'Ceph calls it safe to destroy: its Deployment goes': {
    given: { heard: lostOf('f5c1') },
    steps: ['write removals'],
  },
  'Ceph does not call it safe to destroy: its Deployment stays, for its disk may hold the last copy': {
    given: { heard: lostOf('f5c1', []) },
    steps: ['report decision'],
  },
  'another Ceph answers under the same name: it knows nothing of these OSDs, and nothing goes': {
    given: { heard: lostOf('other') },
    steps: ['report decision'],
  },
  'the CephCluster does not name its Ceph yet: the answer counts': {
    given: { heard: lostOf('f5c1'), cluster: withFsid() },
    steps: ['write removals'],
  },
  'the CephCluster names its Ceph with nothing: the answer counts': {
    given: { heard: lostOf('f5c1'), cluster: withFsid('') },
    steps: ['write removals'],
  },
  'Ceph does not answer: nothing goes': {
    given: { heard: { lost: { known: false, why: 'no answer' } } },
    steps: ['report decision'],
  },
  'it is removed: that is reported, and not done twice in a pass': {
    given: {
      heard: {
        ...lostOf('f5c1'),
        removed: [{ osd: 5, namespace: 'rook-ceph', name: 'rook-ceph-osd-5', uid: 'u' }],
      },
    },
    steps: ['report decision', 'report removed'],
  },
  'a drain holds the storage: nothing goes beside it': {
    given: { world: { ...world, arbiter: arbiter({ own: [entry({})] }) } },
    steps: ['report decision'],
  },
  'what was remembered cannot be read: nothing is removed on it': {
    given: {
      stored: { ...storedOf(undefined, 1), problem: 'no JSON' },
      world: { ...world, recordProblem: 'no JSON' },
    },
    steps: ['report decision'],
  },
}

describe('an OSD that is gone for good', () => {
  it.each(Object.entries(removals))('%s', (_, { given, steps }) => {
    expect(wordsOf(removal(given).steps)).toEqual(steps)
  })

  it('is removed by the uid that was seen; where the Deployment went meanwhile there is nothing to remove', () => {
    const seen = osdDeployment(5)
    const { namespace: _, ...bare } = seen.metadata
    const lost = (deployments: PassFixture['deployments']) => {
      const [step] = removal({ heard: lostOf('f5c1'), ...(deployments && { deployments }) }).steps
      return step?.do === 'write' && step.write === 'removals' ? step.lost : undefined
    }
    expect([
      lost(new Map([[5, { ...seen, metadata: { ...seen.metadata, uid: 'uid-5' } }]])),
      lost(new Map([[5, { ...seen, metadata: bare }]])),
      lost(new Map()),
    ]).toEqual([
      [{ osd: 5, namespace: 'rook-ceph', name: 'rook-ceph-osd-5', uid: 'uid-5' }],
      [{ osd: 5, namespace: '', name: 'rook-ceph-osd-5', uid: undefined }],
      [],
    ])
  })
})

describe('what is written at rest', () => {
  const stored = (record: Partial<UpdateRecord>, reason: string) =>
    storedOf(
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'r', annotations: { 'cofferdam.io/reason': reason } },
        data: formatUpdateRecord({ ...storedOf(undefined, 1).record, ...record }),
      },
      1,
    )
  const rest = (given: PassFixture) => decideAtRest(passSnapshot({ world: { needing: [] }, ...given }))

  it('nothing where nothing was ever remembered, and nothing where it says the same', () => {
    expect(wordsOf(rest({}).steps)).toEqual(['report decision'])
    expect(wordsOf(rest({ stored: stored({}, 'OsdsUpToDate') }).steps)).toEqual(['report decision'])
  })

  it('another reason, so that status does not show an update that is over', () => {
    expect(wordsOf(rest({ stored: stored({}, 'OsdsUpdating') }).steps)).toEqual(['write record', 'report decision'])
  })

  it('that the pace is over when the last label is gone: otherwise it would begin in the middle when it is asked for again', () => {
    const pace = { key: '1||', pending: [2], open: [], rounds: 1 }
    const { pace: _, ...seen } = paced({ world: { needing: [], cluster: { mode: 'plan' }, record: { pace } } })
    const free = seen.osds.map((osd) => {
      const { pace: __, ...bare } = osd
      return { ...bare, needsUpdate: false }
    })
    const given = { seen: { ...seen, isWalking: false, osds: free } }
    const said = rest(given).steps.at(-1)
    const reason = said?.do === 'report' && said.report === 'decision' ? said.decision.reason : ''
    expect(wordsOf(rest({ ...given, stored: stored({ pace }, reason) }).steps)).toEqual([
      'write record',
      'report decision',
    ])
    expect(
      wordsOf(
        rest({ ...given, seen: { ...given.seen, record: storedOf(undefined, 1).record }, stored: stored({}, reason) })
          .steps,
      ),
    ).toEqual(['report decision'])
  })

  it('an administrator who is to raise require_osd_release is waited for by asking again', () => {
    const record = { release: { atMs: nowMs, lag: 'require_osd_release is squid' } }
    expect([rest({ world: { needing: [], record } }).recheckAfterSeconds, rest({}).recheckAfterSeconds]).toEqual([
      300,
      undefined,
    ])
  })
})
