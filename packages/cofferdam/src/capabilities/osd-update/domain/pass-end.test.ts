import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { decideUpdatePass } from './decide-pass.ts'
import type { HeardInPass } from './pass-snapshot.ts'
import type { UpdateStep } from './steps.ts'
import { paced } from './testing/paced-fixture.ts'
import { type PassFixture, passSnapshot, wordsOf } from './testing/pass-fixture.ts'
import { nowMs } from './testing/update-fixture.ts'

const end = (given: PassFixture) => decideUpdatePass(passSnapshot(given))
const resting = { needing: [] }

describe('the end of a pass', () => {
  it('says what could not be done with the ledger, and does not try it a second time in this pass', () => {
    const heard: HeardInPass = { unsettled: 'the ledger does not answer' }
    const { steps } = end({ world: resting, heard, problems: ['a setting is refused'] })
    expect([wordsOf(steps), (steps.at(-1) as Extract<UpdateStep, { report: 'decision' }>).problems]).toEqual([
      ['write record', 'report decision'],
      ['a setting is refused', 'the ledger does not answer'],
    ])
  })

  it('comes again soon after labels, for a write that somebody else prevented has no event', () => {
    const osds = { 0: { hold: 'none' as const } }
    const seen = paced({ pace: { open: [], pass: { atMs: nowMs } }, osds })
    const stored = passSnapshot().stored
    const record = { ...stored.record, pace: { key: '1||', pending: [], open: [], rounds: 1 } }
    const decision = end({
      seen,
      stored: { ...stored, record },
      heard: { labelled: 3, hasRook: true },
    })
    expect([wordsOf(decision.steps), decision.recheckAfterSeconds]).toEqual([
      ['write record', 'write labels', 'hold keep', 'report decision'],
      2,
    ])
  })

  it('comes again for a release that lags, and for versions that Ceph did not tell', () => {
    const record = { done: 3, release: { atMs: nowMs, lag: 'require_osd_release is reef' } }
    const asked = { ...resting, record: { done: 3 } }
    expect([
      end({ world: { ...resting, record } }).recheckAfterSeconds,
      wordsOf(end({ world: asked }).steps),
      end({ world: asked, heard: { versions: unknown('no answer') } }).recheckAfterSeconds,
    ]).toEqual([300, ['ask osd-versions'], 300])
  })

  it('an OSD that was made after the last update is asked for its version and labelled, as Rook does: the update before it will not come again', () => {
    const snapshot = passSnapshot({ world: resting })
    const [[id, { metadata, ...rest }]] = [...snapshot.deployments] as [[number, Deployment]]
    const { 'ceph-version': _, ...labels } = metadata.labels ?? {}
    const made = { ...rest, metadata: { ...metadata, labels } }
    const given = { ...snapshot, deployments: new Map([...snapshot.deployments, [id, made]]) }
    expect(wordsOf(decideUpdatePass(given).steps)).toEqual(['ask osd-versions'])
    const heard: HeardInPass = { ...given.heard, versions: known(new Map([[id, '19.2.3']])) }
    const { steps } = decideUpdatePass({ ...given, heard })
    expect(wordsOf(steps)).toContain('write version-labels')
    const observing = { ...given, seen: { ...given.seen, cluster: { ...given.seen.cluster, mode: 'pace' as const } } }
    expect(wordsOf(decideUpdatePass(observing).steps)).not.toContain('ask osd-versions')
  })

  it('asks no OSD for its version where updates are switched off', () => {
    const world = { ...resting, cluster: { mode: 'off' as const }, record: { done: 3 } }
    expect(wordsOf(end({ world }).steps)).not.toContain('ask osd-versions')
  })

  it('where Ceph is to choose, it is asked before anything is held', () => {
    expect(wordsOf(end({ world: { settings: { strategy: 'ok-to-stop' } } }).steps)).toEqual(['ask batch'])
  })
})
