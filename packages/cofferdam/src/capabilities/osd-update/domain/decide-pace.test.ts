import { describe, expect, it } from 'vitest'
import { known } from '../../../shared/observed.ts'
import { paceFirst, paceLast } from './decide-pace.ts'
import { decideUpdatePass } from './decide-pass.ts'
import { labelChange, labelPatch, paceHoldOf } from './pace-label.ts'
import type { HeardInPass } from './pass-snapshot.ts'
import type { OsdPace, OsdUpdateSnapshot } from './snapshot.ts'
import type { UpdateStep } from './steps.ts'
import { storedOf } from './stored-update.ts'
import { type PacedFixture, paced, resting } from './testing/paced-fixture.ts'
import { osdDeployment, type PassFixture, passSnapshot, wordsOf } from './testing/pass-fixture.ts'
import { nowMs } from './testing/update-fixture.ts'
import { freshRecord } from './update-record.ts'

/** The state of the pace is on record, as it is after the first pass. */
function passOf(seen: OsdUpdateSnapshot, given: PassFixture = {}) {
  const stored = storedOf(undefined, 1)
  const record = seen.pace === undefined ? stored.record : { ...stored.record, pace: seen.pace }
  return passSnapshot({ seen, stored: { ...stored, record }, ...given })
}

/** `write labels: free 0 1` */
const told = (steps: readonly UpdateStep[] | undefined) =>
  steps?.map((step) => {
    const changes = 'changes' in step ? step.changes : []
    return [wordsOf([step])[0], ...new Set(changes.map(({ change }) => change)), ...changes.map(({ osd }) => osd)].join(
      ' ',
    )
  })

const exposed = { osds: { 3: { hold: 'none' as const } } }
const noRound = { pace: { open: [] } }
const inMode = (mode: 'plan' | 'contested', seen: OsdUpdateSnapshot): OsdUpdateSnapshot => ({
  ...seen,
  cluster: { ...seen.cluster, mode },
})
function unpaced(paced: OsdUpdateSnapshot): OsdUpdateSnapshot {
  const { pace: _, isWalking: __, ...seen } = paced
  return seen
}

const first: Record<
  string,
  {
    readonly seen: OsdUpdateSnapshot
    readonly heard?: HeardInPass
    readonly given?: PassFixture
    readonly steps: string[] | undefined
  }
> = {
  'an OSD without our label that is not open is held: Rook could stop it beside the round': {
    seen: paced(exposed),
    steps: ['write labels hold 3'],
  },
  'one that Rook is to make again is not held: its way would never end': {
    seen: paced({ osds: { 3: { hold: 'none', isExempt: true } }, ...noRound }),
    heard: { hasRook: true },
    steps: undefined,
  },
  'one that a person holds stays his': {
    seen: paced({ osds: { 3: { hold: 'theirs' } } }),
    heard: { hasRook: true },
    steps: undefined,
  },
  'one whose Deployment is gone has nothing that could carry a label': {
    seen: paced(exposed),
    heard: { hasRook: true },
    given: { deployments: new Map() },
    steps: undefined,
  },
  'labels that others overwrite all the time are left to the next pass: this one would not end': {
    seen: paced(exposed),
    heard: { hasRook: true, labelled: 3 },
    steps: undefined,
  },
  'while a round is open Rook is heard first: it may have changed an OSD of it': {
    seen: paced({}),
    steps: ['ask rook'],
  },
  'OSDs are to be opened: Rook is heard first, for a pass that runs has read the labels of before': {
    seen: paced(noRound),
    steps: ['ask rook'],
  },
  'no round is open and none is due: Rook is left alone': {
    seen: { ...paced(noRound), isWalking: false },
    steps: undefined,
  },
  'the first time Rook is heard before anything is remembered: what it has finished need not be walked': {
    seen: unpaced(paced({})),
    steps: ['ask rook'],
  },
  'what was remembered cannot be read: OSDs are held all the same, and nothing is opened': {
    seen: { ...unpaced(paced({ osds: { 0: {}, 1: {} }, ...noRound })), recordProblem: 'no JSON' },
    steps: undefined,
  },
  'what was remembered cannot be read and an OSD has no label: it is held, for Rook would stop it': {
    seen: { ...unpaced(paced({ ...noRound, ...exposed })), recordProblem: 'no JSON' },
    steps: ['write labels hold 3'],
  },
  "the first time the pace is on record before the first label is: a label alone would be nobody's": {
    seen: paced(exposed),
    given: { stored: storedOf(undefined, 1) },
    steps: ['write record', 'write labels hold 3'],
  },
  'OSDs are not paced any more: every label of ours goes, and those of others stay': {
    seen: inMode('plan', paced({ osds: { 3: { hold: 'theirs' } } })),
    steps: ['write labels free 2 4 5'],
  },
  'OSDs are not paced any more and none has a label of ours: nothing is written': {
    seen: inMode('plan', paced({ osds: Object.fromEntries([2, 3, 4, 5].map((id) => [id, { hold: 'none' }])) })),
    steps: undefined,
  },
  'labels that cannot be taken off now are left to the next pass': {
    seen: inMode('plan', paced({})),
    heard: { labelled: 3 },
    steps: undefined,
  },
  'it is contested whose the Deployments are: no label is touched': {
    seen: inMode('contested', paced(exposed)),
    steps: undefined,
  },
}

describe('what comes before everything else where OSDs are paced', () => {
  it.each(Object.entries(first))('%s', (_, { seen, heard = {}, given = {}, steps }) => {
    expect(told(paceFirst(passOf(seen, { ...given, heard })))).toEqual(steps)
  })

  it('ends the pass: all is decided again with the labels as they are then', () => {
    expect(told(decideUpdatePass(passOf(paced(exposed))).steps)).toEqual(['write labels hold 3'])
  })
})

const asked = { pass: { atMs: nowMs - 5_000 } }
const last: Record<
  string,
  { readonly given: PacedFixture; readonly heard?: HeardInPass; readonly steps: readonly string[] }
> = {
  'Rook is asked for the pass that is on record': {
    given: { pace: asked },
    heard: { hasRook: true },
    steps: ['write pass-request'],
  },
  'Rook was not heard in this pass: it is not asked, for it may have begun already': {
    given: { pace: asked },
    steps: [],
  },
  'it was asked for this very pass: another write would start one more': {
    given: { pace: asked, rook: { ...resting, asked: String(nowMs - 5_000) } },
    heard: { hasRook: true },
    steps: [],
  },
  'it was asked for the pass before: that one saw other labels': {
    given: { pace: asked, rook: { ...resting, asked: String(nowMs - 600_000) } },
    heard: { hasRook: true },
    steps: ['write pass-request'],
  },
  'the pass has begun: nothing is asked for': {
    given: { pace: { pass: { atMs: nowMs - 5_000, isSeen: true } } },
    heard: { hasRook: true },
    steps: [],
  },
  'Rook cannot be asked: nothing is written where it does not read': {
    given: { pace: asked, rook: { ...resting, problem: 'ConfigMap rook-config-override is missing' } },
    heard: { hasRook: true },
    steps: [],
  },
  'who has left the round is held again before Rook is asked: its next pass could stop it': {
    given: { pace: { ...asked, open: [] }, osds: { 0: { hold: 'none' } } },
    heard: { hasRook: true },
    steps: ['write labels hold 0', 'write pass-request'],
  },
}

describe('what follows the record where OSDs are paced', () => {
  it.each(Object.entries(last))('%s', (_, { given, heard = {}, steps }) => {
    const seen = paced(given)
    const record = { ...freshRecord(1), ...(seen.pace && { pace: seen.pace }) }
    expect(told(paceLast(passOf(seen, { heard }), { record }))).toEqual(steps)
  })

  it('nothing where OSDs are not paced, or nothing is remembered of it', () => {
    const seen = paced({ pace: asked, ...exposed })
    const record = { ...freshRecord(1), ...(seen.pace && { pace: seen.pace }) }
    expect(paceLast(passOf(inMode('plan', seen)), { record })).toEqual([])
    expect(paceLast(passOf(seen), { record: freshRecord(1) })).toEqual([])
  })
})

describe('a round', () => {
  const heard: HeardInPass = {
    hasMap: true,
    hasRook: true,
    okToStop: { osds: [0, 1], isSecured: true, answer: known(true) },
  }

  it('is on record before the first label goes, and what is gone meanwhile is not noted as stopped', () => {
    const deployments = new Map([[1, osdDeployment(1)]])
    const { steps } = decideUpdatePass(passOf(paced(noRound), { heard, deployments }))
    expect(told(steps)).toEqual(['write record', 'write flags', 'write round free 1'])
    expect(steps.at(-1)).toMatchObject({
      intent: { untouched: [{ osd: 0, result: 'later', why: 'its Deployment is gone' }], notes: new Map([[1, {}]]) },
    })
  })

  it('is marked later than the last settling though the clock went back', () => {
    const world = { record: { settledMs: nowMs + 7_000 } }
    const { steps } = decideUpdatePass(passOf(paced({ ...noRound, world }), { heard }))
    expect(steps.at(-1)).toMatchObject({
      intent: { notes: new Map([0, 1].map((osd) => [osd, { atMs: nowMs + 7_000 }])) },
    })
  })

  it('that was refused is not tried again past budgets: its labels are no pods', () => {
    const step = decideUpdatePass(passOf(paced(noRound), { heard })).steps.at(-1) as Extract<
      UpdateStep,
      { readonly write: 'round' }
    >
    const begun = {
      intent: step.intent,
      outcomes: [0, 1].map((osd) => ({ osd, result: 'later' as const, why: 'held', isHeld: true })),
      isTriedAgain: false,
    }
    expect(wordsOf(decideUpdatePass(passOf(paced(noRound), { heard: { ...heard, begun } })).steps)).not.toContain(
      'ask restart-ways',
    )
  })
})

describe('the label of the pace', () => {
  const labelled = (value: string | undefined) => ({
    metadata: { name: 'x', labels: value === undefined ? {} : { 'ceph.rook.io/do-not-reconcile': value } },
  })
  it.each([
    ['ours by its value', 'cofferdam-pace', 'ours'],
    ['of others by any other value, which is never overwritten', '', 'theirs'],
    ['not there', undefined, 'none'],
  ])('is %s', (_, value, hold) => {
    expect(paceHoldOf(labelled(value))).toBe(hold as OsdPace['hold'])
  })

  it('is written only on what was seen: a label that a person put there meanwhile makes the write fail', () => {
    const seen = { ...osdDeployment(0), metadata: { ...osdDeployment(0).metadata, resourceVersion: '7' } }
    expect([labelPatch(labelChange(0, seen, 'hold')), labelPatch(labelChange(0, seen, 'free'))]).toEqual([
      { metadata: { resourceVersion: '7', labels: { 'ceph.rook.io/do-not-reconcile': 'cofferdam-pace' } } },
      { metadata: { resourceVersion: '7', labels: { 'ceph.rook.io/do-not-reconcile': null } } },
    ])
  })
})
