import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import { describe, expect, it } from 'vitest'
import type { Reason } from '../../../shared/reasons.ts'
import type { UpdateProgress } from '../domain/decision.ts'
import type { UpdateRecord } from '../domain/snapshot.ts'
import { freshRecord } from '../domain/update-record.ts'
import { OsdUpdateReporter, type UpdateReport } from './report.ts'

const key = 'rook-ceph/ceph'
const cluster: CephCluster = {
  apiVersion: 'ceph.rook.io/v1',
  kind: 'CephCluster',
  metadata: { namespace: 'rook-ceph', name: 'ceph' },
}
const progress: UpdateProgress = {
  total: 6,
  done: 0,
  running: [0, 1],
  waiting: 4,
  blocked: 0,
  failed: 0,
  roundsLeft: 3,
  lowerBound: 2,
  secondsLeft: undefined,
}
const fresh = freshRecord(7)
const begun: UpdateRecord = { ...fresh, startedMs: 1_000_000 }
const late = { osd: 1, why: 'it was not back 600 s after its update began', atMs: 1_600_000 }
const done: UpdateRecord = { ...begun, done: 6, lastEndedMs: 1_545_000 }

interface Look {
  readonly reason: Reason
  readonly explanation?: string
  readonly record?: UpdateRecord
  readonly start?: readonly number[]
  readonly problems?: readonly string[]
  readonly checksOff?: UpdateReport['decision']['checksOff']
}

/** Reporters, one after the other, over what each decision leaves on record. */
function newspaper() {
  const events: string[] = []
  const counts: string[] = []
  const shown: unknown[] = []
  let nowMs = 0
  const build = () =>
    new OsdUpdateReporter({
      events: new EventRecorder({
        clock: { now: () => nowMs },
        write: async (_about, { type, reason, note }) => events.push(`${type} ${reason}: ${note}`),
      }),
      countDisagreement: (name) => counts.push(`disagreement of ${name}`),
      countRefusedWrite: (name) => counts.push(`refusal of ${name}`),
      update: {
        show: (figures) => shown.push(figures),
        countUpdated: (_name, count) => counts.push(`${count} updated`),
        countFreeze: () => counts.push('freeze'),
        countOverride: () => counts.push('override'),
        countDisagreement: (_name, source) => counts.push(`disagreement by ${source}`),
        forget: (name) => shown.push(`${name} is gone`),
      },
    })
  let reporter = build()
  let recorded: UpdateReport['recorded'] = { reason: undefined, record: fresh }
  return {
    shown,
    async look({ reason, explanation = 'because', record = begun, start = [], problems = [], checksOff }: Look) {
      const decision = { reason, explanation, record, progress, start, ...(checksOff && { checksOff }) }
      await reporter.report({ key, cluster, decision, problems, recorded })
      recorded = { reason, record }
    },
    pass(seconds: number) {
      nowMs += seconds * 1000
    },
    /** What was told since this was asked last. */
    news: () => events.splice(0),
    counted: () => counts.splice(0),
    changeLeader() {
      reporter = build()
    },
    forget: () => reporter.forget(key),
    refuse: (message: string) => reporter.reportRefusal(key, cluster, message),
  }
}

describe('news of an update', () => {
  it('comes when it begins, with how many and how many rounds, and when it is done, with how long it took', async () => {
    const paper = newspaper()
    await paper.look({ reason: 'OsdsUpToDate', record: fresh })
    expect(paper.news()).toEqual([])
    await paper.look({ reason: 'OsdsUpdating', start: [0, 1] })
    await paper.look({ reason: 'OsdsUpdating', record: { ...begun, done: 2 } })
    expect(paper.news()).toEqual([
      'Normal OsdsUpdating: the update starts: 6 OSDs in about 3 rounds, 2 at least; osd 0, 1 first',
    ])
    await paper.look({ reason: 'OsdsUpToDate', record: done, explanation: 'no OSD needs an update' })
    await paper.look({ reason: 'OsdsUpToDate', record: done })
    expect(paper.news()).toEqual([
      'Normal OsdsUpToDate: the update is done: 6 OSDs updated in 9m5s; no OSD needs an update',
    ])
    expect(paper.counted()).toEqual(['2 updated', '4 updated'])
  })

  it('cannot be missed where checks are overridden: once while that is in force, and for each OSD that is stopped so', async () => {
    const paper = newspaper()
    const checksOff = 'skipUpgradeChecks' as const
    const overridden = (osd: number, count: number): UpdateRecord => ({
      ...begun,
      overrides: { count, last: { osd, why: 'skipUpgradeChecks: 1.0 of pool rbd keeps 1 of 2 copies', atMs: count } },
    })
    await paper.look({ reason: 'OsdsUpToDate', record: fresh, checksOff })
    await paper.look({ reason: 'OsdsUpToDate', record: fresh, checksOff })
    expect(paper.news()).toEqual([
      'Warning UpdateChecksOff: skipUpgradeChecks is set: OSDs are updated one at a time, without checks, also where that takes placement groups away; take it out of the CephCluster when the update is done',
    ])
    await paper.look({ reason: 'OsdsUpdating', record: overridden(3, 1), checksOff })
    await paper.look({ reason: 'OsdsUpdating', record: overridden(3, 1), checksOff })
    await paper.look({ reason: 'OsdsUpdating', record: overridden(4, 2), checksOff })
    const why = 'is updated although the checks refuse it, by skipUpgradeChecks: 1.0 of pool rbd keeps 1 of 2 copies'
    expect(paper.news().slice(1)).toEqual([
      `Warning UpdateChecksOverridden: osd.3 ${why}`,
      `Warning UpdateChecksOverridden: osd.4 ${why}`,
    ])
    expect(paper.counted()).toEqual(['override', 'override'])
  })

  it('comes once when it freezes, and once when the OSD is back and it goes on', async () => {
    const paper = newspaper()
    const frozen = { ...begun, failed: [late], frozen: late }
    await paper.look({ reason: 'OsdsUpdating' })
    paper.news()
    await paper.look({ reason: 'OsdUpdateFrozen', record: frozen, explanation: 'osd.1 froze the update' })
    await paper.look({ reason: 'OsdUpdateFrozen', record: frozen, explanation: 'osd.1 froze the update' })
    expect([paper.news(), paper.counted()]).toEqual([['Warning OsdUpdateFrozen: osd.1 froze the update'], ['freeze']])
    await paper.look({ reason: 'OsdsUpdating' })
    expect([paper.news(), paper.counted()]).toEqual([
      ['Normal OsdsUpdating: the update continues, osd.1 is back: 6 OSDs left in about 3 rounds, 2 at least'],
      [],
    ])
  })

  it('comes again when another OSD freezes it', async () => {
    const paper = newspaper()
    const other = { ...late, osd: 2, atMs: 1_700_000 }
    await paper.look({ reason: 'OsdUpdateFrozen', record: { ...begun, failed: [late], frozen: late } })
    paper.news()
    await paper.look({
      reason: 'OsdUpdateFrozen',
      record: { ...begun, failed: [other], frozen: other },
      explanation: 'osd.2 froze the update',
    })
    expect([paper.news(), paper.counted()]).toEqual([
      ['Warning OsdUpdateFrozen: osd.2 froze the update'],
      ['freeze', 'freeze'],
    ])
  })

  it('names OSDs that are given up while the others go on, each once', async () => {
    const paper = newspaper()
    await paper.look({ reason: 'OsdsUpdating' })
    paper.news()
    const failed = [late, { ...late, osd: 2, why: 'its Deployment was refused' }]
    await paper.look({ reason: 'OsdsUpdating', record: { ...begun, failed } })
    await paper.look({ reason: 'OsdsUpdating', record: { ...begun, failed } })
    expect(paper.news()).toEqual([
      'Warning OsdGivenUp: osd.1: it was not back 600 s after its update began; osd.2: its Deployment was refused',
    ])
    await paper.look({
      reason: 'OsdUpdateFailed',
      record: { ...begun, failed },
      explanation: 'osd.1: it was not back (and 1 more)',
    })
    expect(paper.news()).toEqual(['Warning OsdUpdateFailed: osd.1: it was not back (and 1 more)'])
  })

  it('says why nothing can stop, and who comes first, and that it goes on then', async () => {
    const paper = newspaper()
    await paper.look({ reason: 'OsdUpdateBlocked', explanation: '6 OSDs to update, none can stop now' })
    await paper.look({ reason: 'StorageKeyHeld', explanation: 'nodedisruption/r1 comes first' })
    await paper.look({ reason: 'OsdsUpdating' })
    expect(paper.news()).toEqual([
      'Warning OsdUpdateBlocked: 6 OSDs to update, none can stop now',
      'Normal StorageKeyHeld: nodedisruption/r1 comes first',
      'Normal OsdsUpdating: the update continues: 6 OSDs left in about 3 rounds, 2 at least',
    ])
  })
})

describe('what comes and goes with every round', () => {
  it('is no news, however often, unless it stays', async () => {
    const paper = newspaper()
    await paper.look({ reason: 'OsdsUpdating' })
    paper.news()
    for (const reason of ['OsdUpdateBlocked', 'OsdsUpdating', 'SafetyUnknown', 'OsdUpdateSoaks'] as const) {
      await paper.look({ reason })
      paper.pass(40)
    }
    await paper.look({ reason: 'OsdUpdateBlocked' })
    paper.pass(40)
    await paper.look({ reason: 'OsdUpdateBlocked' })
    expect(paper.news()).toEqual([])
    paper.pass(40)
    await paper.look({ reason: 'OsdUpdateBlocked', explanation: 'none can stop now' })
    await paper.look({ reason: 'OsdUpdateBlocked', explanation: 'none can stop now' })
    paper.pass(40)
    await paper.look({ reason: 'OsdsUpdating' })
    expect(paper.news()).toEqual([
      'Warning OsdUpdateBlocked: none can stop now',
      'Normal OsdsUpdating: the update continues: 6 OSDs left in about 3 rounds, 2 at least',
    ])
  })

  it('does not hide what comes after it', async () => {
    const paper = newspaper()
    await paper.look({ reason: 'OsdsUpdating' })
    paper.news()
    await paper.look({ reason: 'OsdUpdateBlocked' })
    await paper.look({ reason: 'OsdsUpToDate', record: done, explanation: 'no OSD needs an update' })
    expect(paper.news()).toEqual([
      'Normal OsdsUpToDate: the update is done: 6 OSDs updated in 9m5s; no OSD needs an update',
    ])
  })
})

describe('a new leader', () => {
  it.each<[string, Look]>([
    ['an update on its way', { reason: 'OsdsUpdating' }],
    ['an update that is done', { reason: 'OsdsUpToDate', record: done }],
    ['a frozen one', { reason: 'OsdUpdateFrozen', record: { ...begun, failed: [late], frozen: late } }],
    ['one with failures', { reason: 'OsdUpdateFailed', record: { ...begun, failed: [late] } }],
    ['one that Ceph says no to', { reason: 'CephDisagrees' }],
  ])('tells nothing that the one before it told, and counts nothing twice: %s', async (_name, look) => {
    const paper = newspaper()
    await paper.look({ reason: 'StorageKeyHeld' })
    paper.news()
    await paper.look(look)
    expect(paper.news()).not.toEqual([])
    paper.counted()
    paper.changeLeader()
    await paper.look(look)
    expect([paper.news(), paper.counted()]).toEqual([[], []])
  })

  it('tells what happened while nobody led', async () => {
    const paper = newspaper()
    await paper.look({ reason: 'OsdsUpdating' })
    paper.news()
    paper.changeLeader()
    const failed = [late]
    await paper.look({
      reason: 'OsdUpdateFrozen',
      record: { ...begun, done: 3, failed, frozen: late },
      explanation: 'osd.1 froze the update',
    })
    expect([paper.news(), paper.counted()]).toEqual([
      ['Warning OsdUpdateFrozen: osd.1 froze the update'],
      ['3 updated', 'freeze'],
    ])
  })
})

describe('what cannot be used', () => {
  it('is told once, each for itself, and again only after it was put right', async () => {
    const paper = newspaper()
    const old = 'spec.skipUpgradeChecks is deprecated: use spec.updatePolicy.skipUpgradeChecks'
    const bad = 'spec.updatePolicy.osds.maxInParallelPerCluster: "150%" is not 1 and more, or "1%" to "100%"'
    await paper.look({ reason: 'OsdsUpToDate', record: fresh, problems: [old] })
    await paper.look({ reason: 'OsdsUpToDate', record: fresh, problems: [old, bad] })
    await paper.look({ reason: 'OsdsUpToDate', record: fresh, problems: [old, bad] })
    expect(paper.news()).toEqual([`Warning ObjectsUnusable: ${old}`, `Warning ObjectsUnusable: ${bad}`])
    await paper.look({ reason: 'OsdsUpToDate', record: fresh, problems: [old] })
    await paper.look({ reason: 'OsdsUpToDate', record: fresh, problems: [old, bad] })
    expect(paper.news()).toEqual([`Warning ObjectsUnusable: ${bad}`])
  })

  it('and a right that is missing is told once until something works again', async () => {
    const paper = newspaper()
    await paper.refuse('deployments is forbidden')
    await paper.refuse('deployments is forbidden')
    expect([paper.news(), paper.counted()]).toEqual([
      ['Warning RightsMissing: deployments is forbidden'],
      ['refusal of rook-ceph/ceph', 'refusal of rook-ceph/ceph'],
    ])
  })
})

describe('figures of an update', () => {
  it('are shown at every look, and go with the cluster', async () => {
    const paper = newspaper()
    await paper.look({ reason: 'OsdsUpdating' })
    paper.forget()
    const { total: _, ...figures } = progress
    expect(paper.shown).toEqual([
      expect.objectContaining({ cluster: key, ...figures, running: 2, isFrozen: false }),
      'rook-ceph/ceph is gone',
    ])
  })

  it('count each disagreement of the two judges once, by who said no', async () => {
    const paper = newspaper()
    await paper.look({ reason: 'CephDisagrees' })
    await paper.look({ reason: 'CephDisagrees' })
    await paper.look({ reason: 'OsdsUpdating' })
    await paper.look({ reason: 'ChecksDisagree' })
    expect(paper.counted()).toEqual([
      'disagreement of rook-ceph/ceph',
      'disagreement by ceph',
      'disagreement of rook-ceph/ceph',
      'disagreement by second-check',
    ])
  })

  it('count what was updated of another change from its own beginning', async () => {
    const paper = newspaper()
    await paper.look({ reason: 'OsdsUpToDate', record: done })
    await paper.look({ reason: 'OsdsUpdating', record: { ...freshRecord(8), startedMs: 2_000_000, done: 1 } })
    expect(paper.counted()).toEqual(['6 updated', '1 updated'])
  })
})
