import { describe, expect, it } from 'vitest'
import { emptyLedger, type Ledger } from '../../../ledger/rules/ledger.ts'
import type { Ticket } from '../../../ledger/rules/queue.ts'
import { known, unknown } from '../../../shared/observed.ts'
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
  minutes,
  now,
  nowMs,
  type Outcome,
  other,
  planned,
  type Scenario,
  tell,
  web,
  web0,
} from './testing/fixture.ts'

function table(name: string, rows: Record<string, { given: Scenario; then: Outcome }>): void {
  describe(name, () => {
    it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
      expect(inWords(decideDisruption(tell(given)))).toEqual(then)
    })
  })
}

const untilTen = '2026-01-01T12:10:00Z'
const lockWeb = `lock shop/web for web-0 until ${untilTen} under 1`
const takeBoth = 'take node/node-a, pdb/shop/web'
const waitingForWeb: Ticket = {
  requestId: 'R2',
  number: 1,
  holder: other,
  since: now,
  claims: [{ key: 'pdb/shop/web', scope: '' }],
}
const queueForBoth = 'queue for node/node-a, pdb/shop/web'
const heldByOther = (...keys: string[]): Ledger =>
  ledgerOf(...keys.map((key) => entry(key, { requestId: 'R2', holder: other, state: 'Acting' })))
const waiting = (reason: string, blockedBy: string, more: Partial<Outcome> = {}): Outcome => ({
  reason,
  phase: 'Waiting',
  blockedBy: [blockedBy],
  ...more,
})
const leaves = (why: string) => `pod/shop/web-0 asks to stay but is evicted: ${why}`

table('before anything is held', {
  'everything that is needed is asked for at once': {
    given: { storage: [ceph] },
    then: {
      reason: 'LocksAsked',
      phase: 'Waiting',
      steps: ['take node/node-a, storage/rook-ceph/main in zone-a, pdb/shop/web'],
    },
  },
  'with no pod that stays, no budget is locked: the node is drained as ever': {
    given: { pods: [job0] },
    then: { reason: 'LocksAsked', phase: 'Waiting', steps: ['take node/node-a'] },
  },
  'while the ledger cannot be read nothing is begun': {
    given: { ledger: 'connection refused' },
    then: {
      reason: 'LedgerUnknown',
      phase: 'Pending',
      blockedBy: ['disruptionledger/cluster: LedgerUnknown, not known'],
    },
  },
  'while the ledger cannot be read, what is held is neither renewed nor given back': {
    given: { ledger: 'connection refused', record: planned, budgets: [locked()], request: { isCancelled: true } },
    then: {
      reason: 'LedgerUnknown',
      phase: 'Locking',
      blockedBy: ['disruptionledger/cluster: LedgerUnknown, not known'],
    },
  },
  'two requests for one node: the later one takes a ticket and names the first': {
    given: { ledger: heldByOther('node/node-a') },
    then: waiting('HeldByRequest', `node/node-a: HeldByRequest, ${other}`, { steps: [queueForBoth] }),
  },
  'with its ticket in hand, the later one only waits': {
    given: {
      ledger: {
        ...heldByOther('node/node-a'),
        nextTicket: 2,
        tickets: [
          {
            requestId: 'R1',
            number: 1,
            holder: 'operator-1 for nodedisruption/reboot-a',
            since: now,
            claims: ['node/node-a', 'pdb/shop/web'].map((key) => ({ key, scope: '' })),
          },
        ],
      },
    },
    then: waiting('HeldByRequest', `node/node-a: HeldByRequest, ${other}`),
  },
  'a request that came earlier goes first, though nobody holds anything': {
    given: {
      ledger: {
        ...emptyLedger,
        nextTicket: 2,
        tickets: [waitingForWeb],
      },
    },
    then: waiting('EarlierRequest', `pdb/shop/web: EarlierRequest, ${other}`, { steps: [queueForBoth] }),
  },
  'a budget whose disruption another request has reserved is queued for: who left the queue for it was overtaken for ever':
    {
      given: { ledger: heldByOther('pdb/shop/web'), budgets: [{ ...web, disruptionsAllowed: 0, currentHealthy: 2 }] },
      then: waiting('HeldByRequest', `pdb/shop/web: HeldByRequest, ${other}`, { steps: [queueForBoth] }),
    },
  'a request that an owner’s lock keeps waiting holds up no other': {
    given: { ledger: { ...emptyLedger, nextTicket: 2, tickets: [{ ...waitingForWeb, aside: 'Always' }] } },
    then: { reason: 'LocksAsked', phase: 'Waiting', steps: [takeBoth] },
  },
  'a request that may be passed once is passed': {
    given: { ledger: { ...emptyLedger, nextTicket: 2, tickets: [{ ...waitingForWeb, aside: 'Once' }] } },
    then: { reason: 'LocksAsked', phase: 'Waiting', steps: [takeBoth] },
  },
  'a request that was passed once already is not passed again': {
    given: { ledger: { ...emptyLedger, nextTicket: 2, tickets: [{ ...waitingForWeb, aside: 'Once', overtaken: 1 }] } },
    then: waiting('EarlierRequest', `pdb/shop/web: EarlierRequest, ${other}`, { steps: [queueForBoth] }),
  },
  'storage in the same failure domain is held together with others': {
    given: {
      storage: [ceph],
      ledger: ledgerOf(entry(ceph.key, { requestId: 'R2', holder: other, state: 'Acting' })),
    },
    then: {
      reason: 'LocksAsked',
      phase: 'Waiting',
      steps: ['take node/node-a, storage/rook-ceph/main in zone-a, pdb/shop/web'],
    },
  },
  'storage of another failure domain that is away is waited for': {
    given: {
      pods: [job0],
      storage: [ceph],
      ledger: ledgerOf(entry(ceph.key, { requestId: 'R2', holder: other, scope: 'zone-b', state: 'Acting' })),
    },
    then: waiting('HeldByRequest', `storage/rook-ceph/main: HeldByRequest, ${other}`, {
      steps: ['queue for node/node-a, storage/rook-ceph/main in zone-a'],
    }),
  },
  'storage that cannot spare the node is waited for; every later request may go first meanwhile, and the place is kept':
    {
      given: {
        storage: [{ ...ceph, mayGo: known({ allowed: false, explanation: 'PG 1.1b would be lost.' }) }],
        ledger: {
          ...emptyLedger,
          nextTicket: 2,
          tickets: [
            { requestId: 'R1', number: 1, holder: 'x', since: now, claims: [{ key: 'node/node-a', scope: '' }] },
          ],
        },
      },
      then: waiting('StorageNeedsNode', 'storage/rook-ceph/main: StorageNeedsNode, failure domain zone-a', {
        steps: ['queue for node/node-a, storage/rook-ceph/main in zone-a, pdb/shop/web, aside always'],
      }),
    },
  'storage that cannot spare the node because its OSDs are updated is queued for: an update of hours would let nobody in':
    {
      given: {
        pods: [job0],
        storage: [{ ...ceph, mayGo: known({ allowed: false, explanation: 'PG 1.1b would be lost.' }) }],
        ledger: ledgerOf(entry(ceph.key, { requestId: 'osd-update/C1', holder: other, scope: '', state: 'Acting' })),
      },
      then: waiting('StorageNeedsNode', 'storage/rook-ceph/main: StorageNeedsNode, failure domain zone-a', {
        blockedBy: [
          'storage/rook-ceph/main: StorageNeedsNode, failure domain zone-a',
          `storage/rook-ceph/main: HeldByRequest, ${other}`,
        ],
        steps: ['queue for node/node-a, storage/rook-ceph/main in zone-a'],
      }),
    },
  'storage that nobody knows of is waited for': {
    given: { storage: [{ ...ceph, mayGo: unknown('Ceph is silent') }] },
    then: waiting('SafetyUnknown', 'storage/rook-ceph/main: SafetyUnknown, failure domain zone-a', {
      steps: ['queue for node/node-a, storage/rook-ceph/main in zone-a, pdb/shop/web, aside always'],
    }),
  },
  'a budget that can spare no pod is waited for, with nothing held': {
    given: { budgets: [{ ...web, disruptionsAllowed: 0, currentHealthy: 2 }] },
    then: waiting('BudgetExhausted', 'pdb/shop/web: BudgetExhausted, its own pods', {
      steps: [`${queueForBoth}, aside once`],
    }),
  },
  'a budget that can spare fewer pods than stay is waited for: all of them or none': {
    given: { pods: [web0, { ...web0, name: 'web-1', uid: 'web-1-1' }] },
    then: waiting('BudgetExhausted', 'pdb/shop/web: BudgetExhausted, its own pods', {
      steps: [`${queueForBoth}, aside once`],
    }),
  },
  'a budget whose status is not counted is waited for': {
    given: { budgets: [{ ...web, isCounted: false }] },
    then: waiting('BudgetNotCounted', 'pdb/shop/web: BudgetNotCounted, its own pods', {
      steps: [`${queueForBoth}, aside once`],
    }),
  },
  "an owner's lock on the budget of a pod that stays is waited for": {
    given: {
      budgets: [
        {
          ...web,
          appLock: { holder: 'bob', reason: 'rebalance', sinceMs: nowMs, writtenMs: nowMs, untilMs: nowMs + 1 },
        },
      ],
    },
    then: waiting('AppLocked', 'pdb/shop/web: AppLocked, bob', { steps: [`${queueForBoth}, aside always`] }),
  },
  "an owner's lock that has ended holds nobody up": {
    given: {
      budgets: [
        { ...web, appLock: { holder: 'bob', reason: 'rebalance', sinceMs: nowMs, writtenMs: nowMs, untilMs: nowMs } },
      ],
    },
    then: { reason: 'LocksAsked', phase: 'Waiting', steps: [takeBoth] },
  },
  "an owner's lock on the budget of a pod that leaves is waited for before the node is cordoned": {
    given: {
      pods: [{ ...web0, wantsToStay: false }],
      budgets: [
        {
          ...web,
          appLock: { holder: 'bob', reason: 'rebalance', sinceMs: nowMs, writtenMs: nowMs, untilMs: nowMs + 1 },
        },
      ],
    },
    then: waiting('AppLocked', 'pdb/shop/web: AppLocked, bob', { steps: ['queue for node/node-a, aside always'] }),
  },
  'a budget of a pod that leaves, held by somebody for one that stays, is waited for before anything is taken': {
    given: { pods: [{ ...web0, wantsToStay: false }], ledger: heldByOther('pdb/shop/web') },
    then: waiting('HeldByRequest', `pdb/shop/web: HeldByRequest, ${other}`, { steps: ['queue for node/node-a'] }),
  },
  'a lock of an earlier attempt is given back before anything is asked for': {
    given: { budgets: [locked(web, 7)], record: { ...planned, phase: 'Waiting' } },
    then: { reason: 'LocksPending', phase: 'Waiting', steps: ['record Waiting', 'unlock shop/web'] },
  },
  'a reservation of an earlier attempt that never got its mark is given back too': {
    given: { budgets: [{ ...locked(), hold: undefined }], record: planned },
    then: { reason: 'LocksPending', phase: 'Waiting', steps: ['record Waiting', 'unlock shop/web'] },
  },
})

table('a request that cannot be', {
  'a node that is not there: rejected, with what to do': {
    given: { node: null },
    then: { reason: 'NodeUnknown', phase: 'Rejected' },
  },
  'a node that vanishes while keys are held: they are given back': {
    given: { node: null, ledger: granted, record: planned, budgets: [locked()] },
    then: {
      reason: 'NodeUnknown',
      phase: 'Rejected',
      steps: ['unlock shop/web', 'release under 1', 'record Rejected'],
    },
  },
  'another node under the same name: rejected, for it is not the one that was meant': {
    given: { node: { uid: 'node-a-2' }, record: { ...blank, phase: 'Waiting', nodeUid: 'node-a-1' } },
    then: { reason: 'NodeReplaced', phase: 'Rejected' },
  },
  'a deadline that passes while it waits: rejected': {
    given: { request: { deadlineMs: nowMs } },
    then: { reason: 'DeadlinePassed', phase: 'Rejected' },
  },
  'a deadline that passes while budgets are being locked: everything is given back': {
    given: { request: { deadlineMs: nowMs }, ledger: granted, record: planned, budgets: [locked()] },
    then: {
      reason: 'DeadlinePassed',
      phase: 'Rejected',
      steps: ['unlock shop/web', 'release under 1', 'record Rejected'],
    },
  },
  'deleted before anything was held: it is let go': {
    given: { request: { isCancelled: true } },
    then: { reason: 'DisruptionCancelled', phase: 'Pending', steps: ['finish'] },
  },
  'deleted while budgets are being locked: everything is given back before it is let go': {
    given: { request: { isCancelled: true }, ledger: granted, record: planned, budgets: [locked()] },
    then: {
      reason: 'DisruptionCancelled',
      phase: 'Locking',
      steps: ['unlock shop/web', 'release under 1', 'finish'],
    },
  },
  'deleted while it waits: its place in the queue goes too': {
    given: {
      request: { isCancelled: true },
      ledger: {
        ...emptyLedger,
        nextTicket: 2,
        tickets: [{ requestId: 'R1', number: 1, holder: 'x', since: now, claims: [{ key: 'node/node-a', scope: '' }] }],
      },
    },
    then: { reason: 'DisruptionCancelled', phase: 'Pending', steps: ['withdraw', 'finish'] },
  },
  'a record that says Completed while keys are granted: they are given back': {
    given: { record: { ...planned, phase: 'Completed' }, ledger: granted, budgets: [locked()] },
    then: { reason: 'DisruptionCompleted', phase: 'Completed', steps: ['unlock shop/web', 'release under 1'] },
  },
  'what was seen of a budget is older than the mark on it: it is unlocked all the same, or it would stay marked for ever':
    {
      given: { record: { ...planned, phase: 'Completed' }, ledger: granted, budgets: [web] },
      then: { reason: 'DisruptionCompleted', phase: 'Completed', steps: ['unlock shop/web', 'release under 1'] },
    },
  'a record that says Draining without an intent on it: nothing is evicted before everything is held': {
    given: { record: { ...blank, phase: 'Draining' } },
    then: { reason: 'LocksAsked', phase: 'Waiting', steps: [takeBoth] },
  },
  'a rejected request stays rejected, and its cordon is nobody of ours': {
    given: {
      record: { ...planned, phase: 'Rejected', cordonedBy: 'nodedisruption/reboot-a' },
      node: { isCordoned: true },
    },
    then: { reason: 'DisruptionRejected', phase: 'Rejected' },
  },
})

table('while keys are held and nothing was touched', {
  'the plan is written down before the first budget is locked': {
    given: { ledger: granted },
    then: { reason: 'LocksPending', phase: 'Locking', steps: ['record Locking', lockWeb] },
  },
  'all budgets hold: the boot that goes is written down, then the intent': {
    given: { ledger: granted, record: planned, budgets: [locked()] },
    then: { reason: 'IntentWritten', phase: 'Locking', steps: ['record Locking', 'intend boot-1 under 1'] },
  },
  'autoscalers are not kept from the node yet: the intent waits, or they would take the node as soon as it is empty': {
    given: { ledger: granted, record: planned, budgets: [locked()], node: { isKeptFromScaleDown: false } },
    then: {
      reason: 'AutoscalersNotKept',
      phase: 'Locking',

      blockedBy: ['node/node-a: AutoscalersNotKept, cofferdam'],
    },
  },
  'autoscalers are kept from the node: the intent is written': {
    given: { ledger: granted, record: planned, budgets: [locked()], node: { isKeptFromScaleDown: true } },
    then: { reason: 'IntentWritten', phase: 'Locking', steps: ['record Locking', 'intend boot-1 under 1'] },
  },
  'what another process held is adopted before anything else': {
    given: {
      ledger: ledgerOf(entry('node/node-a', { holder: 'operator-0' }), entry('pdb/shop/web', { holder: 'operator-0' })),
      record: planned,
      budgets: [locked()],
    },
    then: { reason: 'RequestAdopted', phase: 'Locking', steps: ['adopt'] },
  },
  'after it was adopted, the new epoch is written down and the lock is marked with it': {
    given: {
      ledger: ledgerOf(entry('node/node-a', { epoch: 4 }), entry('pdb/shop/web', { epoch: 4 })),
      record: planned,
      budgets: [locked()],
    },
    then: {
      reason: 'LocksPending',
      phase: 'Locking',
      steps: ['record Locking', `lock shop/web for web-0 until ${untilTen} under 4`],
    },
  },
  'a lock that runs out too soon is dated anew before the intent': {
    given: {
      ledger: granted,
      record: planned,
      budgets: [{ ...locked(), disruptedUntilMs: { 'web-0': nowMs + minutes(4) } }],
    },
    then: { reason: 'LocksPending', phase: 'Locking', steps: [lockWeb] },
  },
  'another pod of the budget fails after the lock: everything is given back': {
    given: { ledger: granted, record: planned, budgets: [{ ...locked(), currentHealthy: 1 }] },
    then: waiting('BudgetExhausted', 'pdb/shop/web: BudgetExhausted, nodedisruption/reboot-a', {
      steps: ['unlock shop/web', 'step back under 1, aside once'],
    }),
  },
  'the budget is used up before it could be locked: everything is given back': {
    given: { ledger: granted, record: planned, budgets: [{ ...web, disruptionsAllowed: 0 }] },
    then: waiting('BudgetExhausted', 'pdb/shop/web: BudgetExhausted, its own pods', {
      steps: ['step back under 1, aside once'],
    }),
  },
  "an owner's lock comes first: everything is given back": {
    given: {
      ledger: granted,
      record: planned,
      budgets: [
        {
          ...locked(),
          appLock: { holder: 'bob', reason: 'rebalance', sinceMs: nowMs, writtenMs: nowMs, untilMs: nowMs + 1 },
        },
      ],
    },
    then: waiting('AppLocked', 'pdb/shop/web: AppLocked, bob', {
      steps: ['unlock shop/web', 'step back under 1, aside always'],
    }),
  },
  'storage has not answered since the grant: the keys are kept for a moment, or they would be asked for and given back hundreds of times a second':
    {
      given: {
        ledger: ledgerOf(...granted.entries, entry(ceph.key)),
        record: planned,
        storage: [{ ...ceph, mayGo: unknown('the other failure domains are not held yet') }],
      },
      then: {
        reason: 'SafetyUnknown',
        phase: 'Locking',
        blockedBy: ['storage/rook-ceph/main: SafetyUnknown, failure domain zone-a'],
      },
    },
  'storage changes its mind: everything is given back': {
    given: {
      ledger: ledgerOf(...granted.entries, entry(ceph.key)),
      record: planned,
      budgets: [locked()],
      storage: [{ ...ceph, mayGo: known({ allowed: false, explanation: 'zone-b is down.' }) }],
    },
    then: waiting('StorageNeedsNode', 'storage/rook-ceph/main: StorageNeedsNode, failure domain zone-a', {
      steps: ['unlock shop/web', 'step back under 1, aside always'],
    }),
  },
  'storage stays silent: everything is given back': {
    given: {
      nowMs: nowMs + 15_000,
      ledger: ledgerOf(...granted.entries, entry(ceph.key)),
      record: planned,
      budgets: [locked()],
      storage: [{ ...ceph, mayGo: unknown('Ceph is silent') }],
    },
    then: waiting('SafetyUnknown', 'storage/rook-ceph/main: SafetyUnknown, failure domain zone-a', {
      steps: ['unlock shop/web', 'step back under 1, aside always'],
    }),
  },
  'a budget that was deleted and created again: the lock on the old one is void, and it is asked for by its new uid': {
    given: {
      ledger: granted,
      record: planned,
      pods: [{ ...web0, budgetUids: ['web-2'] }],
      budgets: [{ ...web, uid: 'web-2' }],
    },
    then: { reason: 'LocksAsked', phase: 'Locking', steps: [takeBoth] },
  },
  'a pod that came meanwhile and stays: its budget is asked for together with the rest, never on top': {
    given: {
      ledger: ledgerOf(entry('node/node-a')),
      record: { ...planned, lockedBudgets: [], skippedPods: [] },
    },
    then: { reason: 'LocksAsked', phase: 'Locking', steps: [takeBoth] },
  },
  'a pod that stays has gone meanwhile: its budget is given back': {
    given: { ledger: granted, record: planned, budgets: [locked()], pods: [job0] },
    then: { reason: 'LocksAsked', phase: 'Locking', steps: ['unlock shop/web', 'take node/node-a'] },
  },
  'two were granted side by side and each needs what the other holds: the one granted first goes on': {
    given: {
      pods: [{ ...web0, wantsToStay: false }],
      record: { ...planned, skippedPods: [], lockedBudgets: [] },
      ledger: ledgerOf(entry('node/node-a'), entry('pdb/shop/web', { requestId: 'R2', holder: other, epoch: 2 })),
    },
    then: { reason: 'IntentWritten', phase: 'Locking', steps: ['record Locking', 'intend boot-1 under 1'] },
  },
  'two were granted side by side and each needs what the other holds: the one granted later gives way': {
    given: {
      pods: [{ ...web0, wantsToStay: false }],
      record: { ...planned, epoch: 3, skippedPods: [], lockedBudgets: [] },
      ledger: ledgerOf(
        entry('node/node-a', { epoch: 3 }),
        entry('pdb/shop/web', { requestId: 'R2', holder: other, epoch: 2 }),
      ),
    },
    then: waiting('HeldByRequest', `pdb/shop/web: HeldByRequest, ${other}`, { steps: ['step back under 3'] }),
  },
  'after a while of locking, the holder shows that it lives': {
    given: { nowMs: nowMs + 20_000, ledger: granted, record: planned, budgets: [{ ...web }] },
    then: {
      reason: 'LocksPending',
      phase: 'Locking',
      steps: ['renew under 1', 'lock shop/web for web-0 until 2026-01-01T12:10:20Z under 1'],
    },
  },
})

table('a pod that wants to stay and may not leaves, with the reason', {
  'the node does not come back': {
    given: { request: { intent: 'Remove' }, pods: [web0] },
    then: {
      reason: 'LocksAsked',
      phase: 'Waiting',
      steps: ['take node/node-a'],
      warnings: [leaves('the node is to be removed')],
    },
  },
  'it would be evicted by its taint before the node is back': {
    given: { pods: [{ ...web0, toleratesMs: 300_000 }] },
    then: {
      reason: 'LocksAsked',
      phase: 'Waiting',
      steps: ['take node/node-a'],
      warnings: [leaves('it tolerates an unreachable or unready node for 300 s, and 900 s are needed')],
    },
  },
  'it is not ready': {
    given: { pods: [{ ...web0, isReady: false }] },
    then: {
      reason: 'LocksAsked',
      phase: 'Waiting',
      steps: ['take node/node-a'],
      warnings: [leaves('it is not ready')],
    },
  },
  'no budget covers it, but the node does not come back': {
    given: { request: { intent: 'Remove' }, pods: [{ ...web0, budgetUids: [] }] },
    then: {
      reason: 'LocksAsked',
      phase: 'Waiting',
      steps: ['take node/node-a'],
      warnings: [leaves('the node is to be removed')],
    },
  },
  'more than one budget covers it': {
    given: { pods: [{ ...web0, budgetUids: ['web-1', 'all-1'] }] },
    then: {
      reason: 'LocksAsked',
      phase: 'Waiting',
      steps: ['take node/node-a'],
      warnings: [leaves('2 budgets cover it, and none of them can answer for it alone')],
    },
  },
  'another pod of its budget leaves the node, and the budget can spare one of them': {
    given: { pods: [web0, { ...web0, name: 'web-1', uid: 'web-1-1', wantsToStay: false }] },
    then: {
      reason: 'LocksAsked',
      phase: 'Waiting',
      steps: ['take node/node-a'],
      warnings: [leaves('others of web leave the node, and it does not allow both')],
    },
  },
  'the request does not want any to stay': {
    given: { request: { honourSkipDrain: false }, pods: [web0] },
    then: {
      reason: 'LocksAsked',
      phase: 'Waiting',
      steps: ['take node/node-a'],
      warnings: [leaves('the request does not honour skip-drain')],
    },
  },
  'a pod that stays is told of what a shutdown does to it': {
    given: { node: { shutdownGraceSeconds: 30 } },
    then: {
      reason: 'LocksAsked',
      phase: 'Waiting',
      steps: [takeBoth],
      warnings: [
        'node/node-a its kubelet ends pods within 30 s when the machine shuts down, including those that stay; their controllers create new ones',
      ],
    },
  },
})

const late = nowMs + minutes(30)
const firstForLong = { ...blank, firstInQueueSinceMs: nowMs }

table('when not all locks were acquired in time', {
  'a request that waits gives the locks up, and every pod will leave': {
    given: { nowMs: late, record: firstForLong, budgets: [{ ...web, disruptionsAllowed: 0 }] },
    then: { reason: 'FellBack', phase: 'Waiting', steps: ['record Waiting'] },
  },
  'a request that only waited for its turn gives up nothing: the fourth node of a rolling reboot keeps its pods': {
    given: { nowMs: late, ledger: heldByOther('pdb/shop/web'), budgets: [{ ...web, disruptionsAllowed: 0 }] },
    then: waiting('HeldByRequest', `pdb/shop/web: HeldByRequest, ${other}`, { steps: [queueForBoth] }),
  },
  'a request that was first before and is not any more gives up nothing': {
    given: {
      nowMs: late,
      record: { ...blank, firstInQueueMs: minutes(29) },
      budgets: [{ ...web, disruptionsAllowed: 0 }],
    },
    then: waiting('BudgetExhausted', 'pdb/shop/web: BudgetExhausted, its own pods', {
      steps: [`${queueForBoth}, aside once`],
    }),
  },
  'the times in which it was first are added up': {
    given: {
      nowMs: late,
      record: { ...blank, firstInQueueMs: minutes(29), firstInQueueSinceMs: late - minutes(1) },
      budgets: [{ ...web, disruptionsAllowed: 0 }],
    },
    then: { reason: 'FellBack', phase: 'Waiting', steps: ['record Waiting'] },
  },
  'a request that was locking gives everything back': {
    given: {
      nowMs: late,
      ledger: ledgerOf(entry('node/node-a', { renewSequence: 2 }), entry('pdb/shop/web', { renewSequence: 2 })),
      record: { ...planned, firstInQueueSinceMs: nowMs },
      budgets: [locked()],
    },
    then: {
      reason: 'FellBack',
      phase: 'Waiting',
      steps: ['record Waiting', 'unlock shop/web', 'step back under 1'],
    },
  },
  'one that has everything goes on': {
    given: {
      nowMs: nowMs + minutes(1),
      request: { fallbackAfterMs: 0 },
      ledger: ledgerOf(entry('node/node-a', { renewSequence: 3 }), entry('pdb/shop/web', { renewSequence: 3 })),
      record: planned,
      budgets: [locked()],
    },
    then: { reason: 'IntentWritten', phase: 'Locking', steps: ['record Locking', 'intend boot-1 under 1'] },
  },
  'after that only the node and its storage are asked for': {
    given: { nowMs: late, record: { ...planned, phase: 'Waiting', hasFallenBack: true }, storage: [ceph] },
    then: {
      reason: 'LocksAsked',
      phase: 'Waiting',
      steps: ['take node/node-a, storage/rook-ceph/main in zone-a'],
      warnings: [leaves('not all locks were acquired in time')],
    },
  },
  'a request without pods that stay has nothing to give up': {
    given: { nowMs: late, pods: [job0], ledger: heldByOther('node/node-a') },
    then: waiting('HeldByRequest', `node/node-a: HeldByRequest, ${other}`, { steps: ['queue for node/node-a'] }),
  },
})

const marked = {
  requestId: 'R1',
  request: 'nodedisruption/reboot-a',
  epoch: 1,
  untilMs: nowMs + minutes(9),
  reason: '',
}

table('the other ways to lock a budget', {
  'lowered, and not counted yet: it is waited for with the keys in hand': {
    given: {
      settings: { mode: 'spec' },
      ledger: granted,
      record: planned,
      budgets: [{ ...web, isCounted: false, hold: { ...marked, formerLimit: { maxUnavailable: 1 } } }],
    },
    then: {
      reason: 'BudgetNotCounted',
      phase: 'Locking',
      blockedBy: ['pdb/shop/web: BudgetNotCounted, nodedisruption/reboot-a'],
    },
  },
  'lowered and counted, with all pods healthy: the node may go': {
    given: {
      settings: { mode: 'spec' },
      ledger: granted,
      record: planned,
      budgets: [
        { ...web, disruptionsAllowed: 0, desiredHealthy: 3, hold: { ...marked, formerLimit: { maxUnavailable: 1 } } },
      ],
    },
    then: { reason: 'IntentWritten', phase: 'Locking', steps: ['record Locking', 'intend boot-1 under 1'] },
  },
  'lowered while an eviction was under way: everything is given back': {
    given: {
      settings: { mode: 'spec' },
      ledger: granted,
      record: planned,
      budgets: [
        {
          ...web,
          disruptionsAllowed: 0,
          desiredHealthy: 3,
          disruptedUntilMs: { 'web-2': nowMs + 1000 },
          hold: { ...marked, formerLimit: { maxUnavailable: 1 } },
        },
      ],
    },
    then: waiting('BudgetExhausted', 'pdb/shop/web: BudgetExhausted, nodedisruption/reboot-a', {
      steps: ['unlock shop/web', 'step back under 1, aside once'],
    }),
  },
  'lowered, and raised again by somebody: it is lowered anew': {
    given: {
      settings: { mode: 'spec' },
      ledger: granted,
      record: planned,
      budgets: [{ ...web, hold: { ...marked, formerLimit: { maxUnavailable: 1 } } }],
    },
    then: { reason: 'LocksPending', phase: 'Locking', steps: [lockWeb] },
  },
  'marked: the time from which to wait is when all marks were first seen': {
    given: { settings: { mode: 'settle' }, ledger: granted, record: planned, budgets: [{ ...web, hold: marked }] },
    then: {
      reason: 'BudgetsSettling',
      phase: 'Locking',
      steps: ['record Locking'],
      blockedBy: ['pdb/shop/web: BudgetsSettling, nodedisruption/reboot-a'],
    },
  },
  'marked for as long as an eviction can take: the node may go': {
    given: {
      settings: { mode: 'settle' },
      ledger: granted,
      record: { ...planned, lockedAtMs: nowMs - 75_000 },
      budgets: [{ ...web, hold: marked }],
    },
    then: { reason: 'IntentWritten', phase: 'Locking', steps: ['record Locking', 'intend boot-1 under 1'] },
  },
  'marked, but an eviction came through: everything is given back': {
    given: {
      settings: { mode: 'settle' },
      ledger: granted,
      record: { ...planned, lockedAtMs: nowMs - 75_000 },
      budgets: [{ ...web, disruptionsAllowed: 0, hold: marked }],
    },
    then: waiting('BudgetExhausted', 'pdb/shop/web: BudgetExhausted, nodedisruption/reboot-a', {
      steps: ['unlock shop/web', 'step back under 1, aside once'],
    }),
  },
})

it('a wait for an owner or for a held budget says since when that is so, not since when the request waits', () => {
  const lockedMs = nowMs - 3 * 3_600_000
  const appLock = { holder: 'bob', reason: 'x', sinceMs: lockedMs, writtenMs: nowMs, untilMs: nowMs + 1 }
  const sinceOf = (given: Parameters<typeof tell>[0]) =>
    decideDisruption(tell(given)).blockedBy.map(({ since }) => since)
  expect(sinceOf({ budgets: [{ ...web, appLock }] })).toEqual(['2026-01-01T09:00:00Z'])
  const hold = { requestId: 'R9', request: 'nodedisruption/other', epoch: 1, untilMs: nowMs + 1, reason: 'x' }
  const held = heldByOther('pdb/shop/web')
  const since = '2026-01-01T08:00:00Z'
  const entries = held.entries.map((entry) => ({ ...entry, requestId: 'R9', key: 'pdb/shop/web', since }))
  expect(sinceOf({ budgets: [{ ...web, isCounted: false, hold }], ledger: { ...held, entries } })).toContain(since)
})

it('who gives up before the drain began keeps no boot on record: a reboot by others would pass for the one that was asked for', () => {
  const record = { ...planned, bootIDBefore: 'boot-1' }
  const storage = [{ ...ceph, mayGo: known({ allowed: false, explanation: 'zone-b is down.' }) }]
  const ledger = ledgerOf(...granted.entries, entry(ceph.key))
  const decision = decideDisruption(tell({ ledger, record, budgets: [locked()], storage }))
  expect([decision.reason, decision.record.bootIDBefore]).toEqual(['StorageNeedsNode', undefined])
})

it('a wait for the marks against autoscalers says since when the keys are held: a time that moves was written on the request every second', () => {
  const node = { isKeptFromScaleDown: false }
  const seen = { ledger: granted, record: planned, budgets: [locked()], node }
  const [first, later] = [seen, { ...seen, nowMs: nowMs + 1_000 }].map((each) => decideDisruption(tell(each)).blockedBy)
  expect(first).toMatchObject([{ reason: 'AutoscalersNotKept', since: now }])
  expect(later).toEqual(first)
})

it('a wait tells since when, and the way out', () => {
  const { blockedBy, explanation, recheckAfterMs } = decideDisruption(tell({ ledger: heldByOther('node/node-a') }))
  expect({ blockedBy, explanation, recheckAfterMs }).toEqual({
    blockedBy: [
      {
        object: 'node/node-a',
        holder: other,
        since: now,
        reason: 'HeldByRequest',
        wayOut: 'It is released when the node of that request is back and its pods are ready.',
      },
    ],
    explanation: `node-a waits for node/node-a, held by ${other}; it holds nothing while it waits.`,
    recheckAfterMs: 5000,
  })
})

it('a request far behind in a long queue asks seldom: a thousand of them would read the ledger all day', () => {
  const tickets = Array.from({ length: 400 }, (_, at) => ({ ...waitingForWeb, requestId: `Q${at}`, number: at + 1 }))
  const ledger = { ...heldByOther('node/node-a'), tickets }
  expect(decideDisruption(tell({ ledger })).recheckAfterMs).toBeGreaterThan(5000)
})

it('a pod whose budget is not seen does not stay: nobody could hold it', () => {
  const { warnings } = decideDisruption(tell({ budgets: [] }))
  expect(warnings.map(({ says }) => says)).toEqual(['asks to stay but is evicted: its budget cannot be seen'])
})

it('budgets are locked in the order of their names, whichever pod was listed first: two requests would cross', () => {
  const db = { ...web, name: 'db', uid: 'db-1' }
  const db0 = { ...web0, name: 'db-0', uid: 'db-0-1', budgetUids: ['db-1'] }
  const claims = (pods: (typeof web0)[]) =>
    decideDisruption(tell({ pods, budgets: [web, db] })).steps.flatMap((step) =>
      step.step === 'take' ? step.claims.map(({ key }) => key) : [],
    )
  expect(claims([web0, db0])).toEqual(['node/node-a', 'pdb/shop/db', 'pdb/shop/web'])
  expect(claims([db0, web0])).toEqual(claims([web0, db0]))
})
