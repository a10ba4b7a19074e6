import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { describe, expect, it } from 'vitest'
import { exampleMap } from '../../../safety/testing/example-map.ts'
import { known } from '../../../shared/observed.ts'
import { decideUpdatePass } from './decide-pass.ts'
import type { UpdatePassDecision } from './pass-end.ts'
import type { HeardInPass, SeenWays } from './pass-snapshot.ts'
import type { RestartWay } from './restart-way.ts'
import type { UsedOverrides } from './snapshot.ts'
import type { StartOutcome } from './start-outcome.ts'
import type { UpdateStep } from './steps.ts'
import { storedOf } from './stored-update.ts'
import { osdDeployment, osdPod, type PassFixture, passSnapshot, wordsOf } from './testing/pass-fixture.ts'
import { away, nowMs, twoTriples } from './testing/update-fixture.ts'

/** Ceph's answer under the hold; 0 and 1 are those that start. */
const said = (isYes: boolean, osds: readonly number[] = [0, 1]): Pick<HeardInPass, 'okToStop'> => ({
  okToStop: { osds, isSecured: true, answer: known(isYes) },
})
const decided = (given: PassFixture) => decideUpdatePass(passSnapshot(given))

type Deployments = Extract<UpdateStep, { readonly write: 'deployments' }>
type Recorded = Extract<UpdateStep, { readonly write: 'record' }>
type Reported = Extract<UpdateStep, { readonly report: 'decision' }>

/** The first step of this name; its type is up to the caller. */
const stepOf = <Step>({ steps }: UpdatePassDecision, name: string) =>
  steps.find((step) => wordsOf([step])[0] === name) as Step
const deploymentsOf = (decision: UpdatePassDecision) => stepOf<Deployments>(decision, 'write deployments')
const storedAfter = (decision: UpdatePassDecision) => storedOf(stepOf<Recorded>(decision, 'write record').configMap, 1)
const reportOf = (decision: UpdatePassDecision) => stepOf<Reported>(decision, 'report decision').decision

it('Ceph is asked without the pools that do not count: a test pool would refuse every update for ever', () => {
  const ceph = { map: { ...exampleMap(twoTriples), ignoredPools: [{ id: 7, name: 'scratch', pgs: 1 }] } }
  const asked = (world: PassFixture['world'] = {}) => stepOf(decided({ world }), 'ask ok-to-stop')
  expect([asked({ ceph }), asked()]).toEqual([
    { do: 'ask', ask: 'ok-to-stop', osds: [0, 1], isSecured: true, ignoredPools: [7] },
    { do: 'ask', ask: 'ok-to-stop', osds: [0, 1], isSecured: true },
  ])
})

const overriding = { settings: { continueUpgradeAfterChecksEvenIfNotHealthy: true } }
const refusals: Record<string, { readonly given: PassFixture; readonly steps: readonly string[] }> = {
  'without a setting that overrides it nothing is touched': {
    given: { heard: said(false) },
    steps: ['write record', 'hold release', 'report decision'],
  },
  'with the setting the first of the set is asked about alone, for one OSD takes least away': {
    given: { world: overriding, heard: said(false) },
    steps: ['ask trial', 'ask ok-to-stop'],
  },
  'the one alone is refused just now: recovery gets a minute, and nothing is touched': {
    given: { world: overriding, heard: said(false, [0]), refusedSinceMs: nowMs - 59_000 },
    steps: ['write record', 'hold release', 'report decision'],
  },
  'the one alone has been refused for a minute: it starts, on record before anything stops': {
    given: { world: overriding, heard: said(false, [0]), refusedSinceMs: nowMs - 60_000 },
    steps: ['write record', 'write flags', 'write deployments'],
  },
  'beside one that is restarting no refusal is overridden: two would be away though one is too many': {
    given: {
      world: { ...overriding, needing: [1], osds: { 0: away(5) } },
      heard: said(false),
      refusedSinceMs: nowMs - 600_000,
    },
    steps: ['write record', 'hold keep', 'report decision'],
  },
}

describe('where Ceph refuses', () => {
  it.each(Object.entries(refusals))('%s', (_, { given, steps }) => {
    expect(wordsOf(decided(given).steps)).toEqual(steps)
  })

  it('what starts all the same is one OSD alone, and the override is on record with the setting', () => {
    const decision = decided({ world: overriding, heard: said(false, [0]), refusedSinceMs: nowMs - 60_000 })
    const { starts, intent } = deploymentsOf(decision)
    expect([starts.map(({ osd }) => osd), intent.decision.override?.osd, intent.decision.progress.waiting]).toEqual([
      [0],
      0,
      5,
    ])
    expect(intent.decision.record.overrides).toEqual({
      count: 1,
      last: {
        osd: 0,
        why: 'continueUpgradeAfterChecksEvenIfNotHealthy: Ceph does not call it ok-to-stop',
        atMs: nowMs,
      },
    })
  })

  it('an answer about one OSD that is none of those to start narrows nothing: Ceph is asked about what is to stop', () => {
    expect(stepOf(decided({ world: overriding, heard: said(true, [4]) }), 'ask ok-to-stop')).toMatchObject({
      osds: [0, 1],
    })
  })
})

describe('where the Deployments are ours', () => {
  const withoutFirst = new Map([1, 2, 3, 4, 5].map((id) => [id, osdDeployment(id)]))

  it('an OSD whose Deployment is gone meanwhile is neither written nor noted as stopped', () => {
    const { starts, intent } = deploymentsOf(decided({ heard: said(true), deployments: withoutFirst }))
    expect([starts.map(({ osd }) => osd), [...intent.notes.keys()], intent.untouched]).toEqual([
      [1],
      [1],
      [{ osd: 0, result: 'later', why: 'its Deployment is gone' }],
    ])
  })

  it('what is on record already is not written again, so that a Deployment that stays gone costs no write in each pass', () => {
    const first = decided({ heard: said(true), deployments: new Map() })
    const second = decided({ heard: said(true), deployments: new Map(), stored: storedAfter(first) })
    expect([wordsOf(first.steps), wordsOf(second.steps)]).toEqual([
      ['write record', 'write deployments'],
      ['write deployments'],
    ])
  })

  it('the start is marked later than the last settling though the clock went back: otherwise it would count as over', () => {
    const record = { settledMs: nowMs + 5_000 }
    const { intent } = deploymentsOf(decided({ world: { record }, heard: said(true) }))
    expect(intent.notes.get(0)).toEqual({ atMs: nowMs + 5_000, epoch: 10 })
  })
})

const plan = { cluster: { mode: 'plan' as const } }
const seenWays = (ways: Readonly<Record<number, RestartWay>>): SeenWays => ({
  ways: new Map(Object.entries(ways).map(([osd, way]) => [Number(osd), way])),
})
const evict: RestartWay = { way: 'evict' }
const past: RestartWay = { way: 'past-own-budgets' }
const waits: RestartWay = { way: 'wait', why: 'orders is locked' }
const beside = (ways: SeenWays, given: PassFixture = {}) =>
  decided({ world: plan, ...given, heard: { ...said(true), ways, ...given.heard } })
const evictionOf = ({ steps }: UpdatePassDecision) => steps.find((step) => step.do === 'evict')

describe('beside Rook', () => {
  it('budgets are asked about right before the eviction: one that came meanwhile counts', () => {
    expect(wordsOf(decided({ world: plan, heard: said(true) }).steps)).toEqual(['ask restart-ways'])
    expect(wordsOf(beside(seenWays({ 0: evict })).steps)).toEqual(['ask restart-ways'])
  })

  it('budgets that cannot be read stop the pass before anything is on record, and the trouble is reported', () => {
    const error = new Error('no answer')
    const decision = beside({ error })
    expect([wordsOf(decision.steps), decision.trouble]).toEqual([['hold release'], error])
  })

  it('while an OSD is restarting the storage stays held though budgets cannot be read', () => {
    const world = { ...plan, needing: [1], osds: { 0: away(5) } }
    expect(wordsOf(beside({ error: new Error('no answer') }, { world }).steps)).toEqual(['hold keep'])
  })

  it('a pod that an owner has locked stays where it is, and the other goes', () => {
    const decision = beside(seenWays({ 0: waits, 1: evict }))
    expect(evictionOf(decision)?.evictions).toEqual([
      { osd: 1, by: 'eviction', pods: [{ namespace: 'rook-ceph', name: 'osd-1', uid: 'pod-1' }] },
    ])
    expect(evictionOf(decision)?.intent.untouched).toEqual([
      { osd: 0, result: 'later', why: 'orders is locked', isHeld: true },
    ])
  })

  it('where all have to stay nothing is evicted, the storage is free for drains, and the reason is reported', () => {
    const decision = beside(seenWays({ 0: waits, 1: waits }))
    expect(wordsOf(decision.steps)).toEqual(['write record', 'hold release', 'report decision'])
    expect(reportOf(decision).explanation).toContain('osd.0: orders is locked')
  })

  it('budgets of our own are passed only while this process holds the storage: a drain could have them otherwise', () => {
    const by = (isStorageHeld: boolean) =>
      evictionOf(beside(seenWays({ 0: past, 1: evict }), { isStorageHeld }))?.evictions.map((one) => one.by)
    expect([by(true), by(false)]).toEqual([
      ['deletion', 'eviction'],
      ['eviction', 'eviction'],
    ])
  })

  it('a pod that went by itself meanwhile is not named, and one without a uid names none that took its name', () => {
    const { uid: _, namespace: __, ...metadata } = osdPod(1).metadata
    const oldPods = new Map([[1, [{ ...osdPod(1), metadata }]]])
    expect(
      evictionOf(beside(seenWays({ 0: evict, 1: evict }), { oldPods }))?.evictions.map(({ pods }) => pods),
    ).toEqual([[], [{ namespace: '', name: 'osd-1', uid: '' }]])
  })
})

describe('after OSDs were touched', () => {
  const held = (osd: number): StartOutcome => ({ osd, result: 'later', why: 'budget is used up', isHeld: true })
  const started = (osd: number): StartOutcome => ({ osd, result: 'started' })
  const ways = seenWays({ 0: evict, 1: evict })
  const intent = evictionOf(beside(ways))?.intent as NonNullable<HeardInPass['begun']>['intent']
  const after = (outcomes: readonly StartOutcome[], given: PassFixture = {}, isTriedAgain = false) =>
    decided({
      world: plan,
      ...given,
      heard: { ...said(true), ways, begun: { intent, outcomes, isTriedAgain }, ...given.heard },
    })

  const again: Record<string, { readonly decision: UpdatePassDecision; readonly steps: readonly string[] }> = {
    'a budget that was open just now refuses: it may be closing for this very update, so it is asked about once more': {
      decision: after([held(0), started(1)]),
      steps: ['ask restart-ways'],
    },
    'it was closed for this update: the pod is deleted under the hold that it was closed for': {
      decision: after([held(0), started(1)], { heard: { waysAgain: seenWays({ 0: past }) } }),
      steps: ['evict'],
    },
    'it is closed for somebody else: the pod stays': {
      decision: after([held(0), started(1)], { heard: { waysAgain: seenWays({ 0: waits }) } }),
      steps: ['write record', 'hold keep', 'report held', 'report decision'],
    },
    'it cannot be read again: the pod stays': {
      decision: after([held(0), started(1)], { heard: { waysAgain: { error: new Error('no answer') } } }),
      steps: ['write record', 'hold keep', 'report held', 'report decision'],
    },
    'it was tried again already: a budget is not asked for ever': {
      decision: after([held(0), started(1)], {}, true),
      steps: ['write record', 'hold keep', 'report held', 'report decision'],
    },
    'the storage is not held any more: nothing is tried again without it': {
      decision: after([held(0), started(1)], { isStorageHeld: false }),
      steps: ['write record', 'hold keep', 'report held', 'report decision'],
    },
    'an object changed meanwhile: nothing held it, and it is decided again': {
      decision: after([{ osd: 0, result: 'later', why: 'modified' }, started(1)]),
      steps: ['write record', 'hold keep', 'report decision'],
    },
    'the pod was to go past budgets and is refused all the same: it stays': {
      decision: after([held(0), started(1)], { heard: { ways: seenWays({ 0: past, 1: evict }) } }),
      steps: ['write record', 'hold keep', 'report held', 'report decision'],
    },
    'budgets could not be read before: nothing is known to be closing': {
      decision: after([held(0), started(1)], { heard: { ways: { error: new Error('no answer') } } }),
      steps: ['write record', 'hold keep', 'report held', 'report decision'],
    },
  }
  it.each(Object.entries(again))('%s', (_, { decision, steps }) => {
    expect(wordsOf(decision.steps)).toEqual(steps)
  })

  it('only those are asked about again that a budget refused', () => {
    expect(stepOf(after([held(0), started(1)]), 'ask restart-ways')).toMatchObject({ osds: [0], isAgain: true })
  })

  it('a pod that was refused is named by its uid, so that the one that follows it is not left in peace', () => {
    const pods = (given: PassFixture) =>
      stepOf<{ readonly pods: unknown } | undefined>(after([held(0), started(1)], given, true), 'report held')?.pods
    const { uid: _, ...metadata } = osdPod(0).metadata
    expect([
      pods({}),
      pods({ oldPods: new Map([[0, [{ ...osdPod(0), metadata }]]]) }),
      pods({ oldPods: new Map() }),
    ]).toEqual([[{ uid: 'pod-0', why: 'budget is used up' }], [{ uid: '', why: 'budget is used up' }], undefined])
  })

  it('a missing right is the trouble of the pass and no failure of an OSD, and the storage is released', () => {
    const error = new ApiError('Forbidden', 'cannot delete resource "pods"')
    const decision = after([0, 1].map((osd): StartOutcome => ({ osd, result: 'unsure', error })))
    expect([wordsOf(decision.steps), decision.trouble]).toEqual([['write record', 'hold release'], error])
  })

  it('where no answer came it may have stopped: the storage stays held', () => {
    const error = new Error('connection lost')
    const decision = after([
      { osd: 0, result: 'unsure', error },
      { osd: 1, result: 'refused', why: 'no' },
    ])
    expect([wordsOf(decision.steps), decision.trouble, storedAfter(decision).record.failed]).toMatchObject([
      ['write record', 'hold keep'],
      error,
      [{ osd: 1, why: 'no' }],
    ])
  })

  const before: UsedOverrides = { count: 2, last: { osd: 5, why: 'skipUpgradeChecks: x', atMs: 1 } }
  const overridden: Record<
    string,
    { readonly result: StartOutcome; readonly before?: UsedOverrides; readonly count: number | undefined }
  > = {
    'an override that came to pass is counted': { result: started(0), before, count: 3 },
    'one that was refused was none: what was counted before counts': { result: held(0), before, count: 2 },
    'the first one that was refused leaves no trace: nobody has to explain an override that never was': {
      result: held(0),
      count: undefined,
    },
  }
  it.each(Object.entries(overridden))('%s', (_, { result, before: overrides, count }) => {
    const record = overrides === undefined ? {} : { overrides }
    const world = { ...overriding, record }
    const decision = decided({ world, heard: said(false, [0]), refusedSinceMs: nowMs - 60_000 })
    const begun = { intent: deploymentsOf(decision).intent, outcomes: [result], isTriedAgain: true }
    expect(reportOf(decided({ world, heard: { begun } })).record.overrides?.count).toBe(count)
  })
})
