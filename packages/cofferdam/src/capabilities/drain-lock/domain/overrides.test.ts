import { describe, expect, it } from 'vitest'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import { unknown } from '../../../shared/observed.ts'
import { decideDisruption } from './decide.ts'
import {
  blank,
  ceph,
  entry,
  granted,
  inWords,
  job0,
  ledgerOf,
  locked,
  me,
  minutes,
  now,
  nowMs,
  type Outcome,
  other,
  planned,
  type Scenario,
  tell,
  web,
} from './testing/fixture.ts'

function table(name: string, rows: Record<string, { given: Scenario; then: Outcome }>): void {
  describe(name, () => {
    it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
      expect(inWords(decideDisruption(tell(given)))).toEqual(then)
    })
  })
}

const takeBoth = 'take node/node-a, pdb/shop/web'
const queueForBoth = 'queue for node/node-a, pdb/shop/web'
const heldByOther = (...keys: string[]): Ledger =>
  ledgerOf(...keys.map((key) => entry(key, { requestId: 'R2', holder: other, state: 'Acting' })))
const waiting = (reason: string, blockedBy: string, more: Partial<Outcome> = {}): Outcome => ({
  reason,
  phase: 'Waiting',
  blockedBy: [blockedBy],
  ...more,
})

const holdOfOther = {
  requestId: 'R2',
  request: 'nodedisruption/reboot-b',
  epoch: 1,
  untilMs: nowMs + minutes(9),
  reason: '',
}
const glass = { by: 'eve', reason: 'outage', untilMs: nowMs + minutes(5) }

table('break-glass', {
  'in force, it takes the keys of others and names whose they were': {
    given: { request: { breakGlass: glass }, ledger: heldByOther('node/node-a', 'pdb/shop/web') },
    then: {
      reason: 'BreakGlass',
      phase: 'Pending',
      steps: ['break node/node-a, pdb/shop/web for eve', takeBoth],
      warnings: [`node/node-a taken from ${other} by eve: outage`, `pdb/shop/web taken from ${other} by eve: outage`],
    },
  },
  'in force, it takes a budget whose last disruption the other has reserved': {
    given: {
      request: { breakGlass: glass },
      ledger: heldByOther('pdb/shop/web'),
      budgets: [{ ...web, disruptionsAllowed: 0, hold: holdOfOther }],
    },
    then: {
      reason: 'BreakGlass',
      phase: 'Pending',
      steps: ['break pdb/shop/web for eve', takeBoth],
      warnings: [`pdb/shop/web taken from ${other} by eve: outage`],
    },
  },
  'in force, it breaks nothing for a budget that nobody has reserved and that has nothing to give: it would stop there, give back what it broke, and break it again without an end':
    {
      given: {
        request: { breakGlass: glass },
        ledger: heldByOther('pdb/shop/web'),
        budgets: [{ ...web, disruptionsAllowed: 0 }],
      },
      then: {
        reason: 'BudgetExhausted',
        phase: 'Waiting',
        blockedBy: ['pdb/shop/web: BudgetExhausted, its own pods', `pdb/shop/web: HeldByRequest, ${other}`],
        steps: [`${queueForBoth}, aside once`],
      },
    },
  'in force, it keeps what it broke until the budget is counted again: given back, it was taken and broken several times a second':
    {
      given: {
        request: { breakGlass: glass },
        ledger: granted,
        record: planned,
        budgets: [{ ...web, disruptionsAllowed: 0 }],
      },
      then: { reason: 'BudgetExhausted', phase: 'Locking', blockedBy: ['pdb/shop/web: BudgetExhausted, its own pods'] },
    },
  'in force, it keeps no budget locked that it cannot use yet: others of that application would wait for nothing': {
    given: {
      request: { breakGlass: glass },
      ledger: granted,
      record: planned,
      budgets: [{ ...locked(), currentHealthy: 1 }],
    },
    then: {
      reason: 'BudgetExhausted',
      phase: 'Locking',
      steps: ['unlock shop/web'],
      blockedBy: ['pdb/shop/web: BudgetExhausted, nodedisruption/reboot-a'],
    },
  },
  'over, it gives back what it has kept for a budget with nothing to give': {
    given: {
      request: { breakGlass: { ...glass, untilMs: nowMs } },
      ledger: granted,
      record: planned,
      budgets: [{ ...web, disruptionsAllowed: 0 }],
    },
    then: waiting('BudgetExhausted', 'pdb/shop/web: BudgetExhausted, its own pods', {
      steps: ['step back under 1, aside once'],
      warnings: ['nodedisruption/reboot-a break-glass by eve ended at 2026-01-01T12:00:00Z and is ignored'],
    }),
  },
  'what another override took from a request, its own does not take back: two of them for one node took it from each other without an end':
    {
      given: {
        request: { breakGlass: glass },
        ledger: {
          ...heldByOther('node/node-a'),
          broken: [{ key: 'node/node-a', by: 'bob', reason: 'flood', at: now, formerHolder: me.replace('1', '7') }],
        },
      },
      then: waiting('HeldByRequest', `node/node-a: HeldByRequest, ${other}`, {
        steps: [queueForBoth],
        warnings: [
          'node/node-a was taken by the override of bob (flood), and this one does not take it back: delete the request that has it if this one is to go first',
        ],
      }),
    },
  'what another override took from a request long ago, and a third one has now, its own takes': {
    given: {
      nowMs: nowMs + minutes(2),
      request: { breakGlass: glass },
      ledger: {
        ...ledgerOf(entry('node/node-a', { requestId: 'R2', holder: other, since: '2026-01-01T12:01:00Z' })),
        broken: [{ key: 'node/node-a', by: 'bob', reason: 'flood', at: now, formerHolder: me }],
      },
    },
    then: {
      reason: 'BreakGlass',
      phase: 'Pending',
      steps: ['break node/node-a for eve', takeBoth],
      warnings: [`node/node-a taken from ${other} by eve: outage`],
    },
  },
  'what another override took from somebody else, it takes: the later of two overrides has it': {
    given: {
      request: { breakGlass: glass },
      ledger: {
        ...heldByOther('node/node-a'),
        broken: [{ key: 'node/node-a', by: 'bob', reason: 'flood', at: now, formerHolder: 'x for nodedisruption/c' }],
      },
    },
    then: {
      reason: 'BreakGlass',
      phase: 'Pending',
      steps: ['break node/node-a for eve', takeBoth],
      warnings: [`node/node-a taken from ${other} by eve: outage`],
    },
  },
  "in force, it passes over an owner's lock": {
    given: {
      request: { breakGlass: glass },
      budgets: [
        {
          ...web,
          appLock: { holder: 'bob', reason: 'rebalance', sinceMs: nowMs, writtenMs: nowMs, untilMs: nowMs + 1 },
        },
      ],
    },
    then: { reason: 'LocksAsked', phase: 'Waiting', steps: [takeBoth] },
  },
  'in force, it breaks nothing for somebody whom storage holds back anyway': {
    given: {
      request: { breakGlass: glass },
      ledger: heldByOther('node/node-a'),
      storage: [{ ...ceph, mayGo: unknown('Ceph is silent') }],
    },
    then: {
      reason: 'SafetyUnknown',
      phase: 'Waiting',
      blockedBy: [
        'storage/rook-ceph/main: SafetyUnknown, failure domain zone-a',
        `node/node-a: HeldByRequest, ${other}`,
      ],
      steps: ['queue for node/node-a, storage/rook-ceph/main in zone-a, pdb/shop/web, aside always'],
    },
  },
  'for a day, it is ignored and said to be: an override is for an emergency, and has no time to be forgotten': {
    given: {
      request: { breakGlass: { ...glass, untilMs: nowMs + minutes(1440) } },
      ledger: heldByOther('node/node-a'),
    },
    then: waiting('HeldByRequest', `node/node-a: HeldByRequest, ${other}`, {
      steps: [queueForBoth],
      warnings: [
        'nodedisruption/reboot-a break-glass by eve until 2026-01-02T12:00:00Z is ignored: it may last 1h at most',
      ],
    }),
  },
  'expired, it is ignored and said to be': {
    given: { request: { breakGlass: { ...glass, untilMs: nowMs } }, ledger: heldByOther('node/node-a') },
    then: waiting('HeldByRequest', `node/node-a: HeldByRequest, ${other}`, {
      steps: [queueForBoth],
      warnings: ['nodedisruption/reboot-a break-glass by eve ended at 2026-01-01T12:00:00Z and is ignored'],
    }),
  },
})

const lost = { ...blank, phase: 'Waiting', nodeUid: 'node-a-1', bootIDBefore: 'boot-1' } as const

table('a request that an override took its node from, after it had said that the node may go', {
  'is completed by the reboot that followed: its tool had rebooted the node, and would not have done so twice': {
    given: { record: lost, node: { bootID: 'boot-2' }, ledger: heldByOther('node/node-a') },
    then: { reason: 'DisruptionCompleted', phase: 'Completed' },
  },
  'waits while the node is in that boot': {
    given: { record: lost, ledger: heldByOther('node/node-a') },
    then: waiting('HeldByRequest', `node/node-a: HeldByRequest, ${other}`, { steps: [queueForBoth] }),
  },
  'waits while the node is away': {
    given: { record: lost, node: { bootID: 'boot-2', isReady: false }, ledger: heldByOther('node/node-a') },
    then: waiting('HeldByRequest', `node/node-a: HeldByRequest, ${other}`, { steps: [queueForBoth] }),
  },
  'begins anew with what it holds already: that was granted for the boot that the node is in': {
    given: {
      record: { ...planned, bootIDBefore: 'boot-1' },
      node: { bootID: 'boot-2' },
      ledger: granted,
      budgets: [locked()],
    },
    then: { reason: 'IntentWritten', phase: 'Locking', steps: ['record Locking', 'intend boot-2 under 1'] },
  },
  'drains the node for its removal, in whichever boot it is': {
    given: { request: { intent: 'Remove' }, record: lost, pods: [job0], node: { bootID: 'boot-2' } },
    then: { reason: 'LocksAsked', phase: 'Waiting', steps: ['take node/node-a'] },
  },
})

it('break-glass names a holder without a name by its request', () => {
  const ledger = ledgerOf(entry('node/node-a', { requestId: 'R2', holder: '', state: 'Acting' }))
  const breakGlass = { by: 'eve', reason: 'fire', untilMs: nowMs + minutes(10) }
  expect(decideDisruption(tell({ ledger, request: { breakGlass } })).explanation).toBe(
    'eve breaks node/node-a of R2: fire.',
  )
})
