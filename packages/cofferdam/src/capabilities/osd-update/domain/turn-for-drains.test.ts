import { describe, expect, it } from 'vitest'
import type { LedgerEntry } from '../../../ledger/rules/ledger.ts'
import type { StorageArbiter } from '../../../ledger/rules/storage-arbiter.ts'
import { updateRequestId } from '../../../ledger/rules/update-request.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { decideOsdUpdate } from './decide.ts'
import type { DrainTurns } from './snapshot.ts'
import { nowMs, type UpdateFixture, updateSnapshot } from './testing/update-fixture.ts'

const key = 'storage/rook-ceph/rook-ceph'
const entry = (requestId: string, scope: string): LedgerEntry => ({
  key,
  uid: 'uid-1',
  scope,
  holder: requestId,
  requestId,
  epoch: 1,
  state: 'Acting',
  since: '',
  renewSequence: 0,
})
const arbiter = (...others: LedgerEntry[]) => known<StorageArbiter>({ key, own: [], others, tickets: [] })
const held = arbiter(entry(updateRequestId({ uid: 'uid-1' }), ''))
const free = arbiter()
const taken = arbiter(entry('ceph-drain of node-b', 'node-b'))

const seconds = (count: number) => nowMs + count * 1000
const cordoned = (...names: string[]) => names.map((name) => ({ name, runsOsds: true }))
const emptied = (name: string) => [{ name, runsOsds: false }]
const away = { 0: { needsUpdate: false, isPodReady: false, startedMs: seconds(-5) } }
const begun = (turns?: DrainTurns) => ({ startedMs: seconds(-100), ...(turns && { turns }) })
const asked = (nodes: readonly string[], had: readonly string[] = []): DrainTurns => ({
  had,
  open: { nodes, askedMs: seconds(-20) },
})
const freeFor = (count: number, nodes: readonly string[]): DrainTurns => ({
  had: [],
  open: { nodes, askedMs: seconds(-100), freeSinceMs: seconds(-count) },
})
const anew = (nodes: readonly string[]): DrainTurns => ({ had: [], open: { nodes, askedMs: nowMs } })
const unclean = { isClean: known(false) }

interface Case {
  readonly given: UpdateFixture
  /** Reason, whether anything starts, and what becomes of the storage. */
  readonly says: readonly [reason: string, starts: boolean, storage: 'hold' | 'release' | 'as it is']
  readonly turns: DrainTurns | undefined
}

const cases: Record<string, Case> = {
  'a node is cordoned while OSDs are on their way: nothing new starts, and what runs may finish': {
    given: { arbiter: held, osds: away, record: begun(), cordonedNodes: cordoned('node-b') },
    says: ['DrainFirst', false, 'hold'],
    turns: anew(['node-b']),
  },
  'a cordoned node on which no OSD runs is nobody to wait for': {
    given: { arbiter: held, record: begun(), cordonedNodes: emptied('node-b') },
    says: ['OsdsUpdating', true, 'hold'],
    turns: undefined,
  },
  'everything is back and clean: the storage is given back, and the turn does not count before it is free': {
    given: { arbiter: held, record: begun(asked(['node-b'])), cordonedNodes: cordoned('node-b') },
    says: ['DrainFirst', false, 'release'],
    turns: asked(['node-b']),
  },
  'everything is back and not clean: the storage is kept until it is': {
    given: { arbiter: held, ceph: unclean, record: begun(asked(['node-b'])), cordonedNodes: cordoned('node-b') },
    says: ['DrainFirst', false, 'as it is'],
    turns: asked(['node-b']),
  },
  'data does not become clean for ten minutes: the turn is forfeited, and the update goes on': {
    given: {
      arbiter: held,
      ceph: unclean,
      record: {
        ...begun({ had: [], open: { nodes: ['node-b'], askedMs: seconds(-900) } }),
        lastEndedMs: seconds(-600),
      },
      cordonedNodes: cordoned('node-b'),
    },
    says: ['OsdsUpdating', true, 'hold'],
    turns: { had: ['node-b'] },
  },
  'what ran came back late: the ten minutes begin with its return': {
    given: {
      arbiter: held,
      ceph: unclean,
      record: {
        ...begun({ had: [], open: { nodes: ['node-b'], askedMs: seconds(-900) } }),
        lastEndedMs: seconds(-599),
      },
      cordonedNodes: cordoned('node-b'),
    },
    says: ['DrainFirst', false, 'as it is'],
    turns: { had: [], open: { nodes: ['node-b'], askedMs: seconds(-900) } },
  },
  'the storage is free: the turn counts from now': {
    given: { arbiter: free, record: begun(asked(['node-b'])), cordonedNodes: cordoned('node-b') },
    says: ['DrainFirst', false, 'as it is'],
    turns: { had: [], open: { nodes: ['node-b'], askedMs: seconds(-20), freeSinceMs: nowMs } },
  },
  'a second before its end the turn still holds': {
    given: { arbiter: free, record: begun(freeFor(59, ['node-b'])), cordonedNodes: cordoned('node-b') },
    says: ['DrainFirst', false, 'as it is'],
    turns: freeFor(59, ['node-b']),
  },
  'nobody took it in 60 s: the update goes on, and the node has had its turn': {
    given: { arbiter: free, record: begun(freeFor(60, ['node-b'])), cordonedNodes: cordoned('node-b') },
    says: ['OsdsUpdating', true, 'hold'],
    turns: { had: ['node-b'] },
  },
  'a node that had its turn gets no other while it stays cordoned, however long': {
    given: { arbiter: held, osds: away, record: begun({ had: ['node-b'] }), cordonedNodes: cordoned('node-b') },
    says: ['OsdsUpdating', true, 'hold'],
    turns: { had: ['node-b'] },
  },
  'nor under the next generation': {
    given: {
      arbiter: held,
      cluster: { generation: 2 },
      record: begun({ had: ['node-b'] }),
      cordonedNodes: cordoned('node-b'),
    },
    says: ['OsdsUpdating', true, 'hold'],
    turns: { had: ['node-b'] },
  },
  'a node that was opened is forgotten, so the next cordon gets a turn again': {
    given: { arbiter: held, record: begun({ had: ['node-b'] }) },
    says: ['OsdsUpdating', true, 'hold'],
    turns: undefined,
  },
  'a node that is opened during its turn needs it no more': {
    given: { arbiter: free, record: begun(freeFor(10, ['node-b'])) },
    says: ['OsdsUpdating', true, 'hold'],
    turns: undefined,
  },
  'a drain takes the storage: that comes first, and the rest of the turn waits with it': {
    given: { arbiter: taken, record: begun(freeFor(10, ['node-b'])), cordonedNodes: cordoned('node-b') },
    says: ['StorageKeyHeld', false, 'as it is'],
    turns: { had: [], open: { nodes: ['node-b'], askedMs: seconds(-100) } },
  },
  'a drained node has had what it waited for; the other one, which could not use the turn, is next': {
    given: {
      arbiter: taken,
      record: begun(freeFor(70, ['node-b', 'node-c'])),
      cordonedNodes: [...emptied('node-b'), ...cordoned('node-c')],
    },
    says: ['StorageKeyHeld', false, 'as it is'],
    turns: { had: ['node-b'], open: { nodes: ['node-c'], askedMs: seconds(-100) } },
  },
  'a node that is cordoned while another one is drained goes before the update as well': {
    given: { arbiter: taken, record: begun(), cordonedNodes: cordoned('node-c') },
    says: ['StorageKeyHeld', false, 'as it is'],
    turns: anew(['node-c']),
  },
  'nodes that are cordoned while what runs comes back share the turn': {
    given: { arbiter: held, osds: away, record: begun(asked(['node-b'])), cordonedNodes: cordoned('node-a', 'node-b') },
    says: ['DrainFirst', false, 'hold'],
    turns: asked(['node-a', 'node-b']),
  },
  'so does one that is cordoned early in the turn, which becomes no longer for that': {
    given: { arbiter: free, record: begun(freeFor(30, ['node-b'])), cordonedNodes: cordoned('node-a', 'node-b') },
    says: ['DrainFirst', false, 'as it is'],
    turns: freeFor(30, ['node-a', 'node-b']),
  },
  'one that is cordoned near its end is not told that this was its turn': {
    given: { arbiter: free, record: begun(freeFor(31, ['node-b'])), cordonedNodes: cordoned('node-a', 'node-b') },
    says: ['DrainFirst', false, 'as it is'],
    turns: freeFor(31, ['node-b']),
  },
  'right after a turn the update goes on first, though yet another node is cordoned': {
    given: { arbiter: free, record: begun({ had: ['node-b'] }), cordonedNodes: cordoned('node-a', 'node-b') },
    says: ['OsdsUpdating', true, 'hold'],
    turns: { had: ['node-b'] },
  },
  'before the first OSD of all a node that is cordoned gets its turn, which costs the update nothing but the time': {
    given: { arbiter: free, cordonedNodes: cordoned('node-b') },
    says: ['DrainFirst', false, 'as it is'],
    turns: { had: [], open: { nodes: ['node-b'], askedMs: nowMs, freeSinceMs: nowMs } },
  },
  'where there is no ledger the storage is free when nothing is on its way': {
    given: { record: begun(asked(['node-b'])), cordonedNodes: cordoned('node-b') },
    says: ['DrainFirst', false, 'as it is'],
    turns: { had: [], open: { nodes: ['node-b'], askedMs: seconds(-20), freeSinceMs: nowMs } },
  },
  'while the ledger cannot be read no time counts': {
    given: { arbiter: unknown('no answer'), record: begun(freeFor(59, ['node-b'])), cordonedNodes: cordoned('node-b') },
    says: ['LedgerUnknown', false, 'as it is'],
    turns: { had: [], open: { nodes: ['node-b'], askedMs: seconds(-100) } },
  },
  'while Ceph is silent no drain could begin, so no time counts': {
    given: {
      arbiter: free,
      ceph: unknown('no answer'),
      record: begun(freeFor(59, ['node-b'])),
      cordonedNodes: cordoned('node-b'),
    },
    says: ['SafetyUnknown', false, 'as it is'],
    turns: { had: [], open: { nodes: ['node-b'], askedMs: seconds(-100) } },
  },
  'a clock that was ahead does not make the turn longer than it is': {
    given: { arbiter: free, record: begun(freeFor(-3_600, ['node-b'])), cordonedNodes: cordoned('node-b') },
    says: ['DrainFirst', false, 'as it is'],
    turns: freeFor(0, ['node-b']),
  },
  'a frozen update gives no turn, for its OSD is away': {
    given: {
      arbiter: held,
      ceph: unclean,
      osds: { 0: { ...away[0], startedMs: seconds(-700) } },
      record: begun(),
      cordonedNodes: cordoned('node-b'),
    },
    says: ['OsdUpdateFrozen', false, 'as it is'],
    turns: undefined,
  },
  'an OSD that waits for the very node to open does not keep the turn from beginning': {
    given: {
      arbiter: free,
      osds: { 0: { ...away[0], isNodeCordoned: true, leftAlone: 'its node is cordoned' } },
      record: begun(asked(['node-b'])),
      cordonedNodes: cordoned('node-b'),
    },
    says: ['DrainFirst', false, 'as it is'],
    turns: { had: [], open: { nodes: ['node-b'], askedMs: seconds(-20), freeSinceMs: nowMs } },
  },
  'the last ones are on their way: the storage is free soon anyway, and nobody is told to wait': {
    given: { arbiter: held, needing: [], osds: away, record: begun(), cordonedNodes: cordoned('node-b') },
    says: ['OsdsUpdating', false, 'hold'],
    turns: undefined,
  },
  'the last start is made: who had a turn is known until the last one is back': {
    given: {
      arbiter: held,
      needing: [],
      osds: away,
      record: begun(asked(['node-c'], ['node-b'])),
      cordonedNodes: cordoned('node-b', 'node-c'),
    },
    says: ['OsdsUpdating', false, 'hold'],
    turns: { had: ['node-b'] },
  },
  'nothing is left to update: nothing about turns is kept': {
    given: {
      arbiter: held,
      needing: [],
      record: begun(asked(['node-c'], ['node-b'])),
      cordonedNodes: cordoned('node-b', 'node-c'),
    },
    says: ['OsdsUpToDate', false, 'release'],
    turns: undefined,
  },
}

describe('the turn of a cordoned node', () => {
  for (const [name, { given, says, turns }] of Object.entries(cases)) {
    it(name, () => {
      const { reason, start, claim, record } = decideOsdUpdate(updateSnapshot(given))
      const seen = [[reason, start.length > 0, claim?.wants ?? 'as it is'], record.turns]
      expect(seen).toEqual([says, turns])
    })
  }

  it('is told with the node and the time that is left, and looked at again when that is over', () => {
    const decided = (record: UpdateFixture['record'], nodes: string[], seen = free) => {
      const snapshot = updateSnapshot({ arbiter: seen, ...(record && { record }), cordonedNodes: cordoned(...nodes) })
      const { explanation, recheckAfterSeconds } = decideOsdUpdate(snapshot)
      return [explanation, recheckAfterSeconds]
    }
    const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    expect([
      decided(begun(freeFor(18, ['node-b'])), ['node-b']),
      decided(begun(asked(['node-a', 'node-b'])), ['node-a', 'node-b'], held),
      decided(begun(freeFor(0, many)), many),
    ]).toEqual([
      ['node-b was cordoned: the storage is left free for 42 s more, so that a drain can start', 42],
      ['node-a, node-b were cordoned: nothing starts until the storage is free for a drain', 2],
      ['a, b, c, d, e and 2 more were cordoned: the storage is left free for 60 s more, so that a drain can start', 60],
    ])
  })

  it('leaves a record that cannot be read as it is', () => {
    const given = { arbiter: held, recordProblem: 'it has no key record', cordonedNodes: cordoned('node-b') }
    expect(decideOsdUpdate(updateSnapshot({ ...given, osds: away })).record.turns).toBeUndefined()
  })
})
