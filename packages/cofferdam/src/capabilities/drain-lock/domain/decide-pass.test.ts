import { describe, expect, it } from 'vitest'
import { emptyLedger } from '../../../ledger/rules/ledger.ts'
import { decidePass } from './decide-pass.ts'
import type { PassSnapshot, ProtectedRequest } from './pass-snapshot.ts'
import type { PassStep } from './steps.ts'
import {
  acting,
  draining,
  granted,
  job0,
  locked,
  planned,
  recovering,
  settings,
  tell,
  web0,
} from './testing/fixture.ts'

const protectedAs = (
  scenario: Parameters<typeof tell>[0],
  change: Partial<ProtectedRequest> = {},
): ProtectedRequest => ({
  state: 'protected',
  seen: tell(scenario),
  isFresh: true,
  isReplaced: false,
  refusals: [],
  granted: [],
  faults: [],
  isDryRun: false,
  ...change,
})

const ready = { record: planned, ledger: granted, budgets: [locked()] }
const underWay = { record: draining, ledger: acting, budgets: [locked()], node: { isCordoned: true } }
const refused = {
  object: 'pod/shop/job-0',
  holder: 'the API server',
  since: '2026-01-01T12:00:00Z',
  reason: 'BudgetExhausted',
  wayOut: 'Asked for again every 5 s; refused with: no',
} as const

function inWords(step: PassStep): string {
  switch (step.do) {
    case 'hold':
      return step.change.step
    case 'write':
      return step.what === 'record'
        ? [`record ${step.record.phase}`, ...step.words.blockedBy.map(({ object }) => object)].join(', ')
        : step.what
    case 'report':
      return `report ${step.reason}`
    default:
      return step.do
  }
}

const cases: Record<string, { given: PassSnapshot; then: string[] }> = {
  'a request that is gone needs nothing': { given: { state: 'gone' }, then: [] },
  'our finalizer comes first: a request that is deleted with keys held would leave them behind': {
    given: { state: 'unprotected', request: tell().request },
    then: ['add-finalizer', 'ask'],
  },
  'a request that was deleted before it was ever ours is left alone': {
    given: { state: 'unprotected', request: tell({ request: { isCancelled: true } }).request },
    then: [],
  },
  'a request with a thousand older ones before it is told so, and costs nothing more: nothing is read or held for it': {
    given: { state: 'far', request: tell().request, ahead: 1_000, nowMs: 0 },
    then: ['record Waiting, disruptionledger/cluster'],
  },
  'no key is taken on a copy: the server is asked first': {
    given: protectedAs({}, { isFresh: false }),
    then: ['ask'],
  },
  'the node is not allowed to go on a copy: a budget that was filled meanwhile would not show': {
    given: protectedAs(ready, { isFresh: false }),
    then: ['ask'],
  },
  'once the server was asked, it is on record, then in the ledger, then told that the node may go': {
    given: protectedAs(ready),
    then: ['record Locking', 'intend', 'record Locking', 'report IntentWritten', 'ask'],
  },
  'pods are evicted on a copy, as every drain does': {
    given: protectedAs(underWay, { isFresh: false }),
    then: ['evict', 'record Draining', 'report PodsLeaving'],
  },
  'what the server said of an eviction is on record': {
    given: protectedAs(underWay, { refusals: [refused] }),
    then: ['evict', 'record Draining, pod/shop/job-0', 'report PodsLeaving'],
  },
  'that a budget allows no eviction is not told of a monitor: it waits for the quorum, and more pods would not help': {
    given: protectedAs(
      {
        ...underWay,
        pods: [web0, { ...job0, budgetUids: ['mon-1'] }],
        budgets: [
          locked(),
          {
            ...locked(),
            name: 'mons',
            uid: 'mon-1',
            hold: undefined,
            disruptionsAllowed: 0,
            currentHealthy: 2,
            isQuorum: true,
          },
        ],
      },
      { refusals: [refused] },
    ),
    then: ['evict', 'record Draining, pdb/shop/mons', 'report PodsLeaving'],
  },
  'what the server said of a pod that has left meanwhile is not': {
    given: protectedAs(
      { ...underWay, pods: [web0, { ...job0, name: 'job-1', uid: 'job-1-1' }] },
      { refusals: [refused] },
    ),
    then: ['evict', 'record Draining', 'report PodsLeaving'],
  },
  'whoever was replaced by another process does nothing: two would take the keys from each other in turn': {
    given: protectedAs(underWay, { isReplaced: true }),
    then: [],
  },
  'a dry run is not followed up: nothing of it is ever seen': {
    given: protectedAs(ready, { isDryRun: true }),
    then: ['record Locking', 'intend', 'record Locking', 'report IntentWritten'],
  },
}

describe('the steps of a pass over a request', () => {
  it.each(Object.entries(cases))('%s', (_sentence, { given, then }) => {
    expect(decidePass(given).steps.map(inWords)).toEqual(then)
  })

  it('a pod that was gone before it was seen to leave is on record as evicted, and one that was refused is not', () => {
    const granted = [{ namespace: 'shop', name: 'quick-0', uid: 'quick-0-1' }]
    const { steps } = decidePass(protectedAs(underWay, { granted, refusals: [refused] }))
    const written = steps.findLast((step) => step.do === 'write' && step.what === 'record')
    expect(written).toMatchObject({ record: { evictedPods: [...draining.evictedPods, ...granted] } })
  })

  it('pods have the grace period that the request asks for, and their own where it asks for none', () => {
    const evictions = (request: object) =>
      decidePass(protectedAs({ ...underWay, request })).steps.filter((step) => step.do === 'evict')
    expect(evictions({ gracePeriodSeconds: 0 })).toMatchObject([{ gracePeriodSeconds: 0 }])
    expect(evictions({})[0]).not.toHaveProperty('gracePeriodSeconds')
  })

  it('whoever was replaced looks again when its successor should have shown that it lives', () => {
    expect(decidePass(protectedAs(underWay, { isReplaced: true })).recheckAfterMs).toBe(settings.renewMs)
  })
})

describe('the node that is cordoned or opened', () => {
  const uidOf = (scenario: Parameters<typeof tell>[0]) =>
    decidePass(protectedAs(scenario)).steps.flatMap((step) => ('nodeUid' in step ? [step.nodeUid] : []))
  const open = { ...underWay, node: { isCordoned: false } }

  it('is the one that the ledger knows, whatever was written on the record', () => {
    expect(uidOf(open)).toEqual(['node-a-1'])
  })

  it('is the one on record where the ledger was lost, and the present one where that names none', () => {
    const back = { ledger: emptyLedger, node: { isCordoned: true, bootID: 'boot-2' }, pods: [] }
    expect(uidOf({ ...back, record: recovering })).toEqual(['node-a-1'])
    expect(uidOf({ ...back, record: { ...recovering, nodeUid: undefined } })).toEqual(['node-a-1'])
  })
})

it('responders are asked after all else, and in no pass that has none to ask', () => {
  const asking = { ...job0, responders: ['mover.example/a', 'mover.example/b'] }
  const responders = { state: 'seen', asks: [], progress: [], refused: new Map() } as never
  const seen = { ...tell({ ...underWay, pods: [web0, asking] }), responders }
  const steps = decidePass(protectedAs({}, { seen })).steps.map(inWords)
  expect(steps).toContain('ask-responders')
  expect(decidePass(protectedAs(underWay)).steps.map(inWords)).not.toContain('ask-responders')
})

it('without the ledger nothing is done, and that is told', () => {
  const { steps } = decidePass(protectedAs({ ledger: 'it has not been read yet' }))
  expect(steps.map(inWords)).toEqual(['record Pending, disruptionledger/cluster', 'report LedgerUnknown'])
})
