import { expect, it } from 'vitest'
import { emptyLedger, type Ledger } from '../../../ledger/rules/ledger.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { decideDisruption } from './decide.ts'
import { actingTable } from './testing/acting-table.ts'
import {
  acting,
  ceph,
  drained,
  draining,
  entry,
  granted,
  job0,
  ledgerOf,
  locked,
  nowMs,
  other,
  recovering,
  tell,
  web,
  web0,
} from './testing/fixture.ts'

const cordoned = { isCordoned: true }
const rebooted = { isCordoned: true, bootID: 'boot-2' }
const giveBack = ['record Recovering', 'uncordon', 'unlock shop/web', 'release under 1']
const giveUp = giveBack.filter((step) => step !== 'uncordon')
/** With `Recovering` on record already. */
const ended = { giveBack: giveBack.slice(1), giveUp: giveUp.slice(1) }
const mayGo = 'node/node-a: NodeMayGo, alice'
const openedAtNoon = { ...recovering, cordonedBy: 'nodedisruption/reboot-a, lifted', heardBefore: 'noon' }
const withStorage: Ledger = ledgerOf(...acting.entries, entry(ceph.key, { state: 'Acting' }))
const unclean = { ...ceph, isClean: known(false) }
const lifted = { ...recovering, cordonedBy: 'nodedisruption/reboot-a, lifted' }
const releaseBudget = ['record Recovering', 'unlock shop/web', 'release pdb/shop/web under 1']
const withoutBudget = ledgerOf(...withStorage.entries.filter(({ key }) => key !== 'pdb/shop/web'))

actingTable('the node goes and comes back', {
  'while it is away everything is held': {
    given: { record: drained, node: { isCordoned: true, isReady: false }, pods: [{ ...web0, isReady: false }] },
    then: { reason: 'NodeAway', phase: 'Drained', blockedBy: ['node/node-a: NodeAway, alice'] },
  },
  'with a new boot and not ready yet, nothing more is evicted': {
    given: { record: draining, node: { ...rebooted, isReady: false } },
    then: {
      reason: 'NodeAway',
      phase: 'Recovering',
      steps: ['record Recovering'],
      blockedBy: ['node/node-a: NodeAway, node-a'],
    },
  },
  'ready with a new boot, it takes pods again at once; keys are held until what stayed runs': {
    given: { record: drained, node: rebooted, pods: [{ ...web0, isReady: false }] },
    then: {
      reason: 'PodsRecovering',
      phase: 'Recovering',
      steps: ['record Recovering', 'uncordon'],
      blockedBy: ['pod/shop/web-0: PodsRecovering, node-a'],
    },
  },
  'storage that is not clean yet is waited for': {
    given: {
      record: { ...recovering, cordonedBy: 'nodedisruption/reboot-a, lifted' },
      node: { bootID: 'boot-2' },
      pods: [web0],
      ledger: withStorage,
      storage: [unclean],
    },
    then: {
      reason: 'StorageRecovering',
      phase: 'Recovering',
      steps: releaseBudget,
      blockedBy: ['storage/rook-ceph/main: StorageRecovering, failure domain zone-a'],
    },
  },
  'storage recovers and what stayed runs: its budget is released, which another drain of the node may wait for, and storage for that drain (short seed 701474)':
    {
      given: {
        record: lifted,
        node: { bootID: 'boot-2' },
        pods: [web0, { ...web0, namespace: 'bank', name: 'db-0', uid: 'db-0-1', budgetUids: ['db-1'] }],
        ledger: ledgerOf(...withStorage.entries, entry('pdb/bank/db', { state: 'Acting', uid: 'db-1' })),
        storage: [unclean],
      },
      then: {
        reason: 'StorageRecovering',
        phase: 'Recovering',
        steps: ['record Recovering', 'unlock shop/web', 'unlock bank/db', 'release pdb/shop/web, pdb/bank/db under 1'],
        blockedBy: ['storage/rook-ceph/main: StorageRecovering, failure domain zone-a'],
      },
    },
  'what stayed of one namespace does not run: its budget is kept, or a second pod of it could go, and that of another is released':
    {
      given: {
        record: lifted,
        node: { bootID: 'boot-2' },
        pods: [
          { ...web0, isReady: false },
          { ...web0, namespace: 'bank', name: 'db-0', uid: 'db-0-1', budgetUids: ['db-1'] },
        ],
        ledger: ledgerOf(...withStorage.entries, entry('pdb/bank/db', { state: 'Acting', uid: 'db-1' })),
        storage: [unclean],
      },
      then: {
        reason: 'PodsRecovering',
        phase: 'Recovering',
        steps: ['record Recovering', 'unlock bank/db', 'release pdb/bank/db under 1'],
        blockedBy: [
          'pod/shop/web-0: PodsRecovering, node-a',
          'storage/rook-ceph/main: StorageRecovering, failure domain zone-a',
        ],
      },
    },
  'a node that is away again keeps its budgets, though its pods still count as ready': {
    given: {
      record: lifted,
      node: { bootID: 'boot-2', isReady: false },
      pods: [web0],
      ledger: withStorage,
      storage: [unclean],
    },
    then: {
      reason: 'NodeAway',
      phase: 'Recovering',
      blockedBy: ['node/node-a: NodeAway, node-a', 'storage/rook-ceph/main: StorageRecovering, failure domain zone-a'],
    },
  },
  'a released budget is not locked a second time, whatever becomes of its pod: the request holds it no more': {
    given: {
      record: { ...lifted, releasedBudgets: lifted.lockedBudgets },
      node: { bootID: 'boot-2' },
      pods: [{ ...web0, isReady: false }],
      budgets: [web],
      ledger: withoutBudget,
      storage: [unclean],
    },
    then: {
      reason: 'PodsRecovering',
      phase: 'Recovering',
      blockedBy: [
        'pod/shop/web-0: PodsRecovering, node-a',
        'storage/rook-ceph/main: StorageRecovering, failure domain zone-a',
      ],
    },
  },
  'the mark on a budget is taken away though the ledger has lost its key: nobody else would come for it': {
    given: {
      record: { ...lifted, releasedBudgets: lifted.lockedBudgets },
      node: { bootID: 'boot-2' },
      pods: [web0],
      ledger: withoutBudget,
      storage: [unclean],
    },
    then: {
      reason: 'StorageRecovering',
      phase: 'Recovering',
      steps: ['unlock shop/web'],
      blockedBy: ['storage/rook-ceph/main: StorageRecovering, failure domain zone-a'],
    },
  },
  'storage that is held and that nobody sees any more is not taken for clean': {
    given: {
      record: { ...recovering, cordonedBy: 'nodedisruption/reboot-a, lifted' },
      node: { bootID: 'boot-2' },
      pods: [web0],
      ledger: withStorage,
    },
    then: {
      reason: 'SafetyUnknown',
      phase: 'Recovering',
      steps: releaseBudget,
      blockedBy: ['storage/rook-ceph/main: SafetyUnknown, failure domain zone-a'],
    },
  },
  'everything runs: cordon, locks and keys are given back in this order, and it is over': {
    given: { record: recovering, node: rebooted, pods: [web0] },
    then: { reason: 'DisruptionCompleted', phase: 'Completed', steps: [...ended.giveBack, 'record Completed'] },
  },
  'everything runs and the record still lets the node go: it is taken back first, or the node would go with nothing held':
    {
      given: { record: drained, node: rebooted },
      then: { reason: 'DisruptionCompleted', phase: 'Recovering', steps: ['record Recovering'] },
    },
  'past its deadline with the node still there: it may be rebooted until the record says otherwise, so nothing is given back':
    {
      given: { request: { deadlineMs: nowMs }, record: drained, node: cordoned, pods: [web0] },
      then: { reason: 'DeadlinePassed', phase: 'Recovering', steps: ['record Recovering'] },
    },
  'a node cordoned by somebody else is not uncordoned': {
    given: { record: { ...recovering, cordonedBy: 'another user' }, node: rebooted, pods: [web0] },
    then: { reason: 'DisruptionCompleted', phase: 'Completed', steps: [...ended.giveUp, 'record Completed'] },
  },
  'a cordon that somebody sets after ours was lifted is theirs': {
    given: {
      record: { ...recovering, cordonedBy: 'nodedisruption/reboot-a, lifted' },
      node: rebooted,
      pods: [{ ...web0, isReady: false }],
    },
    then: {
      reason: 'PodsRecovering',
      phase: 'Recovering',
      blockedBy: ['pod/shop/web-0: PodsRecovering, node-a'],
    },
  },
  'a pod that stayed and has finished or is leaving is not waited for': {
    given: { record: recovering, node: rebooted, pods: [{ ...web0, isReady: false, kind: 'finished' }] },
    then: { reason: 'DisruptionCompleted', phase: 'Completed', steps: [...ended.giveBack, 'record Completed'] },
  },
  'uncordoned by somebody without a reboot, it is taken as given back': {
    given: { record: drained, pods: [web0] },
    then: { reason: 'DisruptionCompleted', phase: 'Recovering', steps: ['record Recovering'] },
  },
  'opened while its machine goes down: its holds are kept until its kubelet is heard of': {
    given: { record: openedAtNoon, node: { heard: 'noon' }, pods: [web0] },
    then: {
      reason: 'NodeUnheard',
      phase: 'Recovering',
      blockedBy: ['node/node-a: NodeUnheard, node-a'],
    },
  },
  'heard of after it was opened, it is released': {
    given: { record: openedAtNoon, node: { heard: 'a second later' }, pods: [web0] },
    then: { reason: 'DisruptionCompleted', phase: 'Completed', steps: [...ended.giveUp, 'record Completed'] },
  },
  'where no one keeps what is heard of nodes, it is released as it is seen': {
    given: { record: openedAtNoon, pods: [web0] },
    then: { reason: 'DisruptionCompleted', phase: 'Completed', steps: [...ended.giveUp, 'record Completed'] },
  },
  'it has rebooted meanwhile, and is back: its kubelet has said so by its boot': {
    given: { record: { ...recovering, heardBefore: 'noon' }, node: { ...rebooted, heard: 'noon' }, pods: [web0] },
    then: { reason: 'DisruptionCompleted', phase: 'Completed', steps: [...ended.giveBack, 'record Completed'] },
  },
  'of a node that somebody opened the mark goes too: a cordon that they set later would be taken for ours, and lifted by an uninstall':
    {
      given: {
        record: { ...recovering, cordonedBy: 'nodedisruption/reboot-a, lifted' },
        node: { cordonedBy: 'R1' },
        pods: [web0],
      },
      then: {
        reason: 'DisruptionCompleted',
        phase: 'Completed',
        steps: ['forget-cordon', ...ended.giveUp, 'record Completed'],
      },
    },
  'the mark of another request on an open node is theirs to take away': {
    given: {
      record: { ...recovering, cordonedBy: 'nodedisruption/reboot-a, lifted' },
      node: { cordonedBy: 'R2' },
      pods: [web0],
    },
    then: { reason: 'DisruptionCompleted', phase: 'Completed', steps: [...ended.giveUp, 'record Completed'] },
  },
  'a removed node that reboots has not gone': {
    given: { request: { intent: 'Remove' }, record: { ...drained, skippedPods: [] }, node: rebooted, pods: [] },
    then: { reason: 'NodeMayGo', phase: 'Drained', steps: ['unlock shop/web'], blockedBy: [mayGo] },
  },
  'a removed node that is gone has done what was wanted': {
    given: { request: { intent: 'Remove' }, record: drained, node: null, pods: [] },
    then: {
      reason: 'DisruptionCompleted',
      phase: 'Completed',
      steps: [...giveUp, 'record Completed'],
    },
  },
  'another node under the same name may be rebooted by whoever reads the record, so that it may go is taken back first':
    {
      given: { record: drained, node: { ...rebooted, uid: 'node-a-2' }, pods: [] },
      then: { reason: 'DisruptionCompleted', phase: 'Recovering', steps: ['record Recovering'] },
    },
  'another node under the same name counts as gone, and is not touched': {
    given: { record: { ...drained, phase: 'Recovering' }, node: { ...rebooted, uid: 'node-a-2' }, pods: [] },
    then: {
      reason: 'DisruptionCompleted',
      phase: 'Completed',
      steps: [...giveUp, 'record Completed'],
    },
  },
  'a pod that stayed runs on a Node that was made again: waiting for it to go would hold the keys for ever': {
    given: { record: { ...drained, phase: 'Recovering' }, node: { ...rebooted, uid: 'node-a-2' }, pods: [web0] },
    then: {
      reason: 'DisruptionCompleted',
      phase: 'Completed',
      steps: [...giveUp, 'record Completed'],
    },
  },
  'a node that is gone holds its keys until storage is clean': {
    given: { record: drained, node: null, pods: [], ledger: withStorage, storage: [unclean] },
    then: {
      reason: 'StorageRecovering',
      phase: 'Recovering',
      steps: ['record Recovering'],
      blockedBy: ['storage/rook-ceph/main: StorageRecovering, failure domain zone-a'],
    },
  },
})

actingTable('nobody wants it any more', {
  'deleted while pods leave: nothing more is evicted, the node is given back, and then the request is let go': {
    given: { request: { isCancelled: true }, record: draining, node: cordoned },
    then: { reason: 'DisruptionCancelled', phase: 'Recovering', steps: [...giveBack, 'finish'] },
  },
  'deleted while the node is away: the keys are held until it is back': {
    given: {
      request: { isCancelled: true },
      record: drained,
      node: { isCordoned: true, isReady: false },
      pods: [{ ...web0, isReady: false }],
    },
    then: {
      reason: 'NodeAway',
      phase: 'Recovering',
      steps: ['record Recovering'],
      blockedBy: ['node/node-a: NodeAway, node-a', 'pod/shop/web-0: PodsRecovering, node-a'],
    },
  },
  'past its deadline while pods leave: nothing more is evicted, and the node is given back': {
    given: { request: { deadlineMs: nowMs }, record: draining, node: cordoned },
    then: { reason: 'DeadlinePassed', phase: 'Rejected', steps: [...giveBack, 'record Rejected'] },
  },
  'past its deadline with storage not clean: the node takes pods again, and the keys are held': {
    given: {
      request: { deadlineMs: nowMs },
      record: draining,
      node: cordoned,
      ledger: withStorage,
      storage: [unclean],
    },
    then: {
      reason: 'StorageRecovering',
      phase: 'Recovering',
      steps: ['record Recovering', 'uncordon'],
      blockedBy: ['storage/rook-ceph/main: StorageRecovering, failure domain zone-a'],
    },
  },
  'past its deadline on the way back: it is completed all the same': {
    given: { request: { deadlineMs: nowMs }, record: recovering, node: rebooted },
    then: { reason: 'DisruptionCompleted', phase: 'Completed', steps: [...giveBack, 'record Completed'] },
  },
  'a record that says Completed while the intent stands: what was done is undone first': {
    given: { record: { ...draining, phase: 'Completed' }, node: { isCordoned: true, isReady: false } },
    then: {
      reason: 'NodeAway',
      phase: 'Recovering',
      steps: ['record Recovering'],
      blockedBy: ['node/node-a: NodeAway, node-a'],
    },
  },
})

actingTable('the ledger was wiped', {
  'while pods leave: nothing is evicted, the locks are given back, and everything is asked for anew': {
    given: { ledger: emptyLedger, record: draining, node: cordoned },
    then: { reason: 'LocksPending', phase: 'Waiting', steps: ['record Waiting', 'unlock shop/web'] },
  },
  'and after that the keys are asked for': {
    given: { ledger: emptyLedger, record: { ...draining, phase: 'Waiting' }, node: cordoned, budgets: [web] },
    then: { reason: 'LocksAsked', phase: 'Waiting', steps: ['take node/node-a, pdb/shop/web'] },
  },
  'and somebody has the node by now: it is waited for with nothing held, and its cordon is left alone': {
    given: {
      ledger: ledgerOf(entry('node/node-a', { requestId: 'R2', holder: other, state: 'Acting' })),
      request: { deadlineMs: nowMs },
      record: { ...draining, phase: 'Waiting' },
      node: cordoned,
      budgets: [web],
    },
    then: {
      reason: 'DeadlinePassed',
      phase: 'Waiting',
      blockedBy: [`node/node-a: HeldByRequest, ${other}`],
    },
  },
  'while the node is away: its keys are taken again before anything goes on': {
    given: {
      ledger: emptyLedger,
      record: drained,
      node: { isCordoned: true, isReady: false },
      pods: [{ ...web0, isReady: false }],
    },
    then: {
      reason: 'LedgerLost',
      phase: 'Drained',
      steps: ['take node/node-a, pdb/shop/web'],
      blockedBy: ['disruptionledger/cluster: LedgerLost, nobody'],
    },
  },
  'while the node is away: the intent is told again with the boot on record': {
    given: {
      ledger: granted,
      record: drained,
      node: { isCordoned: true, isReady: false },
      pods: [{ ...web0, isReady: false }],
    },
    then: { reason: 'LedgerLost', phase: 'Drained', steps: ['intend boot-1 under 1'] },
  },
  'but for the keys, while the node may go: the intent is told again, for a reboot meanwhile would find its budgets given back':
    {
      given: { ledger: granted, record: drained, node: cordoned },
      then: { reason: 'LedgerLost', phase: 'Drained', steps: ['intend boot-1 under 1'] },
    },
  'but for keys of an earlier grant, while the node may go: everything is asked for anew': {
    given: { ledger: granted, record: { ...drained, epoch: 2 }, node: cordoned, budgets: [web] },
    then: {
      reason: 'LocksPending',
      phase: 'Locking',
      steps: ['record Locking', 'lock shop/web for web-0 until 2026-01-01T12:10:00Z under 1'],
    },
  },
  'and everything runs again: it is over': {
    given: { ledger: emptyLedger, record: recovering, node: { bootID: 'boot-2' }, budgets: [web] },
    then: { reason: 'DisruptionCompleted', phase: 'Completed' },
  },
})

it('storage that nobody knows of is not taken for clean', () => {
  const scenario = { record: recovering, node: { bootID: 'boot-2' }, ledger: withStorage, budgets: [locked()] }
  const { reason, steps } = decideDisruption(
    tell({ ...scenario, storage: [{ ...ceph, isClean: unknown('Ceph is silent') }] }),
  )
  expect([reason, steps.map(({ step }) => step)]).toEqual(['SafetyUnknown', ['record', 'unlock', 'release-budgets']])
})

it('storage that recovers is asked again soon, and tells in its own words what it waits for', () => {
  const storage = [{ ...unclean, awaited: 'Replica db-1 is not whole again.' }]
  const node = { bootID: 'boot-2' }
  const { blockedBy, recheckAfterMs } = decideDisruption(
    tell({ budgets: [locked()], ledger: withStorage, record: recovering, node, pods: [web0], storage }),
  )
  expect([blockedBy.map(({ wayOut }) => wayOut), recheckAfterMs]).toEqual([['Replica db-1 is not whole again.'], 5000])
})

it('a node that its colleague opened while it was away is closed as ours: else the mark on it would stay for ever (short seed 31557)', () => {
  const decided = decideDisruption(
    tell({
      budgets: [locked()],
      ledger: acting,
      record: { ...drained, cordonedBy: 'another user' },
      node: { isCordoned: false, isReady: false },
      pods: [web0, job0],
    }),
  )
  expect(decided.steps.map(({ step }) => step).slice(0, 2)).toEqual(['record', 'cordon'])
  expect(decided.record).toMatchObject({ phase: 'Draining', cordonedBy: 'nodedisruption/reboot-a' })
})

it('what was last heard of a node that stays is on record, and is read again soon: else two nodes could be away at once (short seed 39949)', () => {
  const heard = { node: { heard: 'noon' }, pods: [web0], ledger: acting, budgets: [locked()] }
  const opened = decideDisruption(tell({ ...heard, record: drained }))
  expect([opened.record.phase, opened.record.heardBefore]).toEqual(['Recovering', 'noon'])
  const waits = decideDisruption(tell({ ...heard, record: { ...recovering, heardBefore: 'noon' } }))
  expect([waits.reason, waits.record.heardBefore, waits.recheckAfterMs]).toEqual(['NodeUnheard', 'noon', 5_000])
})
