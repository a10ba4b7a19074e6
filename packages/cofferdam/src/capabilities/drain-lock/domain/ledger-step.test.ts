import { describe, expect, it } from 'vitest'
import { adopt, emptyLedger, grant, intend, type Ledger, orphan } from '../../../ledger/rules/ledger.ts'
import { type LedgerStep, takeLedgerStep } from './ledger-step.ts'

const now = '2026-01-01T00:00:00Z'
const claims = [{ key: 'node/a', uid: 'uid-a', scope: '' }]
const by = { requestId: 'R', holder: 'us' }

const given = (requestId: string, holder: string, ledger = emptyLedger): Ledger =>
  grant(ledger, { requestId, holder, claims, now }).ledger
const ours = given('R', 'us')
const begun = (intend(ours, { requestId: 'R', epoch: 1 }) as { ledger: Ledger }).ledger
const budget = { key: 'pdb/shop/web', uid: 'uid-web', scope: '' }
const both = grant(emptyLedger, { ...by, claims: [...claims, budget], now }).ledger
const withBudget = (intend(both, { requestId: 'R', epoch: 1 }) as { ledger: Ledger }).ledger
const takenOver = adopt(ours, { requestId: 'R', holder: 'another process' })?.ledger ?? ours
const waiting = given('R', 'us', given('other', 'somebody'))

interface Case {
  readonly ledger: Ledger
  readonly step: LedgerStep
  readonly isTaken: boolean
  readonly epoch?: number
  /** Who holds the node and who waits for it; left out: the ledger is the very same. */
  readonly then?: readonly string[]
}

const take: LedgerStep = { step: 'take', claims }
const cases: Record<string, Case> = {
  'what is free is taken': {
    ledger: emptyLedger,
    step: take,
    isTaken: true,
    epoch: 1,
    then: ['R holds, Granted at 1'],
  },
  'what is taken already is the same grant': { ledger: ours, step: take, isTaken: true, epoch: 1 },
  'what somebody else holds is waited for': {
    ledger: given('other', 'somebody'),
    step: take,
    isTaken: false,
    then: ['other holds, Granted at 1', 'R waits'],
  },
  'nothing is taken for a request that another process has taken over: two would act for it': {
    ledger: takenOver,
    step: take,
    isTaken: false,
  },
  'a request goes on under a new epoch': {
    ledger: takenOver,
    step: { step: 'adopt' },
    isTaken: true,
    epoch: 3,
    then: ['R holds, Granted at 3'],
  },
  'a request that holds nothing has nothing to go on with': {
    ledger: emptyLedger,
    step: { step: 'adopt' },
    isTaken: false,
  },
  'a holder that was replaced does not begin: its node would go under the eyes of the next': {
    ledger: takenOver,
    step: { step: 'intend', epoch: 1, bootID: 'b' },
    isTaken: false,
  },
  'the rightful holder begins': {
    ledger: ours,
    step: { step: 'intend', epoch: 1, bootID: 'b' },
    isTaken: true,
    then: ['R holds, Acting at 1'],
  },
  'a holder that was replaced releases nothing': {
    ledger: takenOver,
    step: { step: 'release', epoch: 1 },
    isTaken: false,
  },
  'what was taken for dead is not released before it is taken up again': {
    ledger: orphan(begun, 'R'),
    step: { step: 'release', epoch: 1 },
    isTaken: false,
  },
  'the rightful holder releases all of it': {
    ledger: begun,
    step: { step: 'release', epoch: 1 },
    isTaken: true,
    then: [],
  },
  'the budgets of pods that run again are released, and the node is held until the rest has recovered': {
    ledger: withBudget,
    step: { step: 'release-budgets', epoch: 1, keys: ['pdb/shop/web'] },
    isTaken: true,
    then: ['R holds, Acting at 1'],
  },
  'a budget that is released already is released no second time': {
    ledger: begun,
    step: { step: 'release-budgets', epoch: 1, keys: ['pdb/shop/web'] },
    isTaken: true,
  },
  'a holder that was replaced releases no budget either: its successor counts on it': {
    ledger: takenOver,
    step: { step: 'release-budgets', epoch: 1, keys: ['node/a'] },
    isTaken: false,
  },
  'who steps back holds nothing and keeps its place in the queue': {
    ledger: ours,
    step: { step: 'step-back', epoch: 1, aside: undefined },
    isTaken: true,
    then: ['R waits'],
  },
  'a holder that was replaced steps back from nothing': {
    ledger: takenOver,
    step: { step: 'step-back', epoch: 1, aside: undefined },
    isTaken: false,
  },
  'a holder that was replaced shows no sign of life': {
    ledger: takenOver,
    step: { step: 'renew', epoch: 1 },
    isTaken: false,
  },
  'who withdraws loses its place, and nobody else anything': {
    ledger: waiting,
    step: { step: 'withdraw' },
    isTaken: true,
    then: ['other holds, Granted at 1'],
  },
  'locks of others are broken, and the request keeps what it has': {
    ledger: waiting,
    step: { step: 'break', keys: ['node/a'], by: 'admin', reason: 'fire' },
    isTaken: true,
    then: ['R waits'],
  },
}

describe('a step of a request in the ledger', () => {
  it.each(Object.entries(cases))('%s', (_, { ledger, step, isTaken, epoch, then }) => {
    const outcome = takeLedgerStep(ledger, step, { ...by, now })
    expect([outcome.isTaken, outcome.epoch]).toEqual([isTaken, epoch])
    if (then === undefined) expect(outcome.ledger).toBe(ledger)
    else
      expect([
        ...outcome.ledger.entries.map(({ requestId, state, epoch }) => `${requestId} holds, ${state} at ${epoch}`),
        ...outcome.ledger.tickets.map(({ requestId }) => `${requestId} waits`),
      ]).toEqual(then)
  })
})

it('who steps aside keeps its place too, and its ticket says that later ones may pass: they would wait for what does not end', () => {
  const asideAfter = (aside: 'Always' | undefined) =>
    takeLedgerStep(ours, { step: 'step-back', epoch: 1, aside }, { ...by, now }).ledger.tickets.map(
      (each) => each.aside,
    )
  expect([asideAfter('Always'), asideAfter(undefined)]).toEqual([['Always'], [undefined]])
})
