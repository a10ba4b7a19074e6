import { describe, expect, it } from 'vitest'
import type { Reason } from '../../../shared/reasons.ts'
import { decideCephDrain } from './decide.ts'
import { inWords, no, notYet, now, nowMs, ours, type Scenario, settle, tell } from './testing/fixture.ts'

interface Outcome {
  readonly reason: Reason
  readonly budgets: readonly string[]
  readonly open?: readonly string[]
  readonly noout?: readonly string[]
}

/** What stands when everything decided has been written and nothing changes any more. */
function outcomeOf(scenario: Scenario): Outcome {
  const { decision, snapshot } = settle(tell(scenario))
  const { openDomains } = decision.state
  const noout = snapshot.ceph.known ? snapshot.ceph.value.nooutBuckets : []
  return {
    reason: decision.reason,
    budgets: inWords(decision.budgets),
    ...(openDomains.length === 0 ? {} : { open: openDomains }),
    ...(noout.length === 0 ? {} : { noout }),
  }
}

function table(name: string, rows: Record<string, { given: Scenario; then: Outcome }>): void {
  describe(name, () => {
    it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
      expect(outcomeOf(given)).toEqual(then)
    })
  })
}

const calm: Outcome = { reason: 'AnyOsdMayGo', budgets: ['default'] }
const released = (zone: string, ...budgets: string[]): Outcome => ({
  reason: 'DomainReleased',
  budgets,
  open: [zone],
})
const drained = (zone: string, ...budgets: string[]): Outcome => ({ ...released(zone, ...budgets), noout: [zone] })

table('what counts as a drain', {
  'all OSDs run: any one may go': { given: {}, then: calm },
  'one OSD is down on a cordoned node: its zone is released, the others are held, its data stays put': {
    given: { down: [1], cordoned: ['node-1'] },
    then: drained('zone-1', 'zone-2', 'zone-3'),
  },
  'two zones are down on cordoned nodes: the first by name is released, the second is held': {
    given: { down: [1, 2], cordoned: ['node-1', 'node-2'] },
    then: drained('zone-1', 'zone-2', 'zone-3'),
  },
  'an OSD fails on a node that takes pods: its zone is released, and its data may move': {
    given: { down: [1] },
    then: released('zone-1', 'zone-2', 'zone-3'),
  },
  'the last zone is drained: the first two are held': {
    given: { down: [3], cordoned: ['node-3'] },
    then: drained('zone-3', 'zone-1', 'zone-2'),
  },
  'a node that no longer exists counts as drained': {
    given: { down: [3], missingNodes: ['node-3'] },
    then: drained('zone-3', 'zone-1', 'zone-2'),
  },
  'two nodes that no longer exist: one zone is released, not both': {
    given: { down: [1, 2], missingNodes: ['node-1', 'node-2'] },
    then: drained('zone-1', 'zone-2', 'zone-3'),
  },
  'an OSD that is being replaced is meant to be away and opens nothing': {
    given: { cephDown: [1], osd: { 1: { isReady: false, isBeingReplaced: true } } },
    then: calm,
  },
  'an OSD beside one that is being replaced still opens its zone when it fails': {
    given: { cephDown: [1, 2], down: [2], osd: { 1: { isReady: false, isBeingReplaced: true } }, data: 'unclean' },
    then: released('zone-2', 'zone-1', 'zone-3'),
  },
  'a cordon alone changes nothing while all data is there: the first OSD may go by the default budget': {
    given: { cordoned: ['node-1'] },
    then: calm,
  },
})

const inDrain = { openDomains: ['zone-1'] }

table('the way into a drain and back', {
  'nothing down and clean: one budget, nothing recorded': { given: {}, then: calm },
  'the drain begins: the default budget goes, blocks stand on the other zones': {
    given: { budgets: ours('default'), down: [1], cordoned: ['node-1'] },
    then: drained('zone-1', 'zone-2', 'zone-3'),
  },
  'the OSDs are back and data still recovers: the others stay held, and data may move again': {
    given: { state: inDrain, budgets: ours('zone-2', 'zone-3'), data: 'unclean' },
    then: { reason: 'RecoveryAwaited', budgets: ['zone-2', 'zone-3'], open: ['zone-1'] },
  },
  'the OSDs are back and all data is clean: any one OSD may go again': {
    given: { state: inDrain, budgets: ours('zone-2', 'zone-3') },
    then: calm,
  },
  'OSDs are down, nothing waits for them, nothing is drained: they are left out of the budget': {
    given: { down: [1, 2], data: 'clean', state: inDrain, budgets: ours('zone-2', 'zone-3') },
    then: { reason: 'AnyOsdMayGo', budgets: ['default but 1,2'] },
  },
})

table('which zone is released', {
  'nothing recorded, two zones failed: the first by name': {
    given: { down: [1, 2] },
    then: released('zone-1', 'zone-2', 'zone-3'),
  },
  'the recorded zone is among the failed ones: it stays': {
    given: { down: [1, 2], state: { openDomains: ['zone-2'] }, budgets: ours('zone-1', 'zone-3') },
    then: released('zone-2', 'zone-1', 'zone-3'),
  },
  'nothing recorded, one zone drained: that one, and its data stays put': {
    given: { down: [1], cordoned: ['node-1'] },
    then: drained('zone-1', 'zone-2', 'zone-3'),
  },
  'all zones lost an OSD and one of them is drained: the drain comes before the failures': {
    given: { down: [1, 2, 3], cordoned: ['node-3'] },
    then: drained('zone-3', 'zone-1', 'zone-2'),
  },
  'the recorded zone is back and another is drained: the drained one takes its place': {
    given: { down: [2, 3], cordoned: ['node-3'], state: inDrain, budgets: ours('zone-2', 'zone-3') },
    then: drained('zone-3', 'zone-1', 'zone-2'),
  },
  'the recorded zone is back and another failed: the failed one takes its place': {
    given: { down: [2], state: inDrain, budgets: ours('zone-2', 'zone-3') },
    then: released('zone-2', 'zone-1', 'zone-3'),
  },
  'the first by name may not go on, the second may: the second is released': {
    given: { down: [1, 2], verdicts: { 'zone-1': no } },
    then: released('zone-2', 'zone-1', 'zone-3'),
  },
  'no zone may go on: everything is held and nothing is recorded': {
    given: { down: [1, 2], verdicts: { 'zone-1': no, 'zone-2': no, 'zone-3': no } },
    then: { reason: 'TooFewCopies', budgets: ['closed'] },
  },
  'a disk dies elsewhere in the middle of a drain and copies get scarce: the drained zone is held too, its data stays put':
    {
      given: {
        zones: { 'zone-1': [1, 4], 'zone-2': [2], 'zone-3': [3] },
        down: [1, 2],
        cordoned: ['node-1'],
        verdicts: { 'zone-1': no, 'zone-2': no, 'zone-3': no },
        state: inDrain,
        budgets: ours('zone-2', 'zone-3'),
      },
      then: {
        reason: 'DomainHeld',
        budgets: ['zone-1', 'zone-2', 'zone-3'],
        open: ['zone-1'],
        noout: ['zone-1'],
      },
    },
})

table('what Rook does not do', {
  'a failure first and the cordon later, in the same zone: from then on its data stays put': {
    given: { down: [1], cordoned: ['node-1'], state: inDrain, budgets: ours('zone-2', 'zone-3') },
    then: drained('zone-1', 'zone-2', 'zone-3'),
  },
  'cordoned for days, and others hold its data by now: the other zones are free again': {
    given: { down: [1], cordoned: ['node-1'], data: 'clean', state: inDrain, budgets: ours('zone-2', 'zone-3') },
    then: { reason: 'AnyOsdMayGo', budgets: ['default but 1'] },
  },
  'the type of failure domain changes from host to zone: no budget of the old type is left': {
    given: { budgets: ours('node-2', 'node-3'), state: { openDomains: ['node-1'] } },
    then: calm,
  },
  'the type changes in the middle of a drain: the new domain is released, the old blocks go, its flag goes': {
    given: {
      down: [1],
      cordoned: ['node-1'],
      budgets: ours('node-2', 'node-3'),
      state: { openDomains: ['node-1'], ownNoout: ['node-1'], nooutSince: { 'node-1': now } },
      ceph: { nooutBuckets: ['node-1'] },
    },
    then: drained('zone-1', 'zone-2', 'zone-3'),
  },
  'the last OSD of a zone is removed: its budget and its flag go': {
    given: {
      zones: { 'zone-2': [2], 'zone-3': [3] },
      budgets: ours('zone-2', 'zone-3', 'zone-1'),
      state: { openDomains: ['zone-1'], ownNoout: ['zone-1'], nooutSince: { 'zone-1': now } },
      ceph: { nooutBuckets: ['zone-1'] },
    },
    then: calm,
  },
  'an administrator keeps data in place on zone-2: that flag is neither claimed nor removed': {
    given: { ceph: { nooutBuckets: ['zone-2'] } },
    then: { ...calm, noout: ['zone-2'] },
  },
  "an administrator's flag is on the very zone that is drained: it stays after the drain": {
    given: { state: inDrain, budgets: ours('zone-2', 'zone-3'), ceph: { nooutBuckets: ['zone-1'] } },
    then: { ...calm, noout: ['zone-1'] },
  },
  'all OSDs run, but placement groups sit at their minimum: no drain may start': {
    given: { data: 'unclean', verdicts: { 'zone-1': no, 'zone-2': no, 'zone-3': no }, cordoned: ['node-1'] },
    then: { reason: 'TooFewCopies', budgets: ['closed'] },
  },
  'only one zone may go without harm: there the first OSD may go, the others are held': {
    given: { data: 'unclean', verdicts: { 'zone-2': no, 'zone-3': no } },
    then: { reason: 'TooFewCopies', budgets: ['default but 2,3', 'zone-2', 'zone-3'] },
  },
  'data moves to new disks and no copy is missing: drains go on': { given: { data: 'unclean' }, then: calm },
  'a budget was deleted by hand in the middle of a drain: it is back, and the drain goes on': {
    given: { down: [1], state: inDrain, budgets: ours('zone-3') },
    then: released('zone-1', 'zone-2', 'zone-3'),
  },
  'the default budget was deleted by hand: it is back': { given: { budgets: [] }, then: calm },
  'an OSD never booted and is the only one of its zone: it is left out, and nobody waits for it': {
    given: {
      down: [3],
      data: 'clean',
      ceph: {
        upOsds: [1, 2],
        domains: [
          { domain: 'zone-1', osds: [1], verdict: { may: 'yes' } },
          { domain: 'zone-2', osds: [2], verdict: { may: 'yes' } },
        ],
      },
    },
    then: { reason: 'AnyOsdMayGo', budgets: ['default but 3'] },
  },
  'an OSD that never booted is not taken for the reason of unclean data': {
    given: {
      down: [1, 2],
      ceph: {
        upOsds: [3],
        domains: [
          { domain: 'zone-2', osds: [2], verdict: { may: 'yes' } },
          { domain: 'zone-3', osds: [3], verdict: { may: 'yes' } },
        ],
      },
    },
    then: released('zone-2', 'zone-1', 'zone-3'),
  },
})

const twoEach = { 'zone-1': [1, 4], 'zone-2': [2, 5], 'zone-3': [3, 6] }

table('complaints that users have had', {
  '#12375: the first evicted OSD holds no data: the drain goes on at once instead of hanging': {
    given: { zones: twoEach, down: [1], cordoned: ['node-1'], data: 'clean', budgets: ours('default') },
    then: drained('zone-1', 'zone-2', 'zone-3'),
  },
  '#12375: the whole node held no data: when it is empty, everything is free again': {
    given: { zones: twoEach, down: [1, 4], cordoned: ['node-1'], data: 'clean', budgets: ours('zone-2', 'zone-3') },
    then: { reason: 'AnyOsdMayGo', budgets: ['default but 1,4'] },
  },
  '#15341: one dead disk whose data is safe elsewhere blocks no drain, for weeks': {
    given: { zones: twoEach, down: [1], data: 'clean' },
    then: { reason: 'AnyOsdMayGo', budgets: ['default but 1'] },
  },
  '#15341: a drain beside that dead disk is a drain like any other': {
    given: { zones: twoEach, down: [1, 2], cordoned: ['node-2'], state: { unneededOsds: [1] } },
    then: drained('zone-2', 'zone-1', 'zone-3'),
  },
  '#15341: the dead disk sits in a cordoned node, and another node wants to go: neither waits for the other': {
    given: { zones: twoEach, down: [1], cordoned: ['node-1', 'node-2'], data: 'clean' },
    then: { reason: 'AnyOsdMayGo', budgets: ['default but 1'] },
  },
  '#16064: five new OSDs come up beside dead ones: still only one healthy OSD may go': {
    given: { zones: { 'zone-1': [1, 11, 12], 'zone-2': [2, 13, 14], 'zone-3': [3] }, down: [1, 2], data: 'clean' },
    then: { reason: 'AnyOsdMayGo', budgets: ['default but 1,2'] },
  },
  '#14730: two zones look drained at once: one is released, so they cannot block each other': {
    given: { zones: twoEach, down: [1, 2], cordoned: ['node-1', 'node-2'], budgets: ours('default') },
    then: drained('zone-1', 'closed but 1,4'),
  },
  'another node is being drained when a zone is released: one write closes the default budget, and no OSD is under two of them':
    {
      given: { zones: twoEach, down: [1], cordoned: ['node-1', 'node-2'], budgets: ours('default') },
      then: drained('zone-1', 'closed but 1,4'),
    },
  'its OSDs are back, no zone may lose any, and another node is being drained: the default budget is closed for all': {
    given: {
      zones: twoEach,
      data: 'unclean',
      cordoned: ['node-2'],
      verdicts: { 'zone-1': no, 'zone-2': no, 'zone-3': no },
      budgets: ours('closed but 1,4'),
      state: inDrain,
    },
    then: { reason: 'DomainHeld', budgets: ['closed'], open: ['zone-1'] },
  },
  'the blocks stand when another node begins to be drained: they stay': {
    given: {
      zones: twoEach,
      down: [1],
      cordoned: ['node-1', 'node-2'],
      budgets: ours('zone-2', 'zone-3'),
      state: inDrain,
    },
    then: drained('zone-1', 'zone-2', 'zone-3'),
  },
  '#15840: node-2 dies while node-1 is drained, and node-1 returns: the blocks move': {
    given: { down: [2], state: inDrain, budgets: ours('zone-2', 'zone-3') },
    then: released('zone-2', 'zone-1', 'zone-3'),
  },
  '#16086: a deleted Node object stops nobody: new OSDs are protected': {
    given: { zones: twoEach, down: [1], missingNodes: ['node-1'], data: 'clean' },
    then: drained('zone-1', 'zone-2', 'zone-3'),
  },
  '#6737: an OSD without a zone label is held by its number, and the others as ever': {
    given: { zones: twoEach, down: [1], cordoned: ['node-1'], osd: { 2: { topology: { host: 'node-2' } } } },
    then: drained('zone-1', 'osds 2', 'zone-2', 'zone-3'),
  },
  '#6737: an OSD without a zone label goes with the zone that CRUSH has it in': {
    given: { zones: twoEach, down: [1], cordoned: ['node-1'], osd: { 4: { topology: { host: 'node-1' } } } },
    then: drained('zone-1', 'zone-2', 'zone-3'),
  },
  'CRUSH keeps apart what no label tells: OSDs are held by number, and the drain goes on': {
    given: {
      zones: twoEach,
      down: [1],
      cordoned: ['node-1'],
      ceph: { failureDomainType: 'shelf' },
    },
    then: drained('zone-1', 'osds 2,3,5,6'),
  },
  '#11100: the flag on a host that was removed is taken off': {
    given: { state: { ownNoout: ['zone-9'] }, ceph: { nooutBuckets: ['zone-9'] } },
    then: calm,
  },
})

table('when an OSD hangs: its pod is ready and Ceph has it down', {
  'the first OSD to go may only be one of the same zone': {
    given: { zones: twoEach, cephDown: [1], data: 'unclean' },
    then: { reason: 'DataWaits', budgets: ['default but 2,3,5,6', 'zone-2', 'zone-3'] },
  },
  'its data is safe elsewhere by now: any one may go': {
    given: { zones: twoEach, cephDown: [1], data: 'clean' },
    then: calm,
  },
})

table('while Ceph says nothing', {
  'Ceph does not answer when a drain begins: the default budget stays, and spares no second OSD': {
    given: { silentMs: 5000, down: [1], cordoned: ['node-1'], budgets: ours('default') },
    then: { reason: 'CephAnswerAwaited', budgets: ['default'] },
  },
  'a manager restarts in the middle of a drain: nothing flaps': {
    given: { silentMs: 29_999, down: [1], state: inDrain, budgets: ours('zone-2', 'zone-3') },
    then: { reason: 'CephAnswerAwaited', budgets: ['zone-2', 'zone-3'], open: ['zone-1'] },
  },
  'a budget is deleted by hand meanwhile: it is back, and nothing else changes': {
    given: { silentMs: 5000, down: [1], state: inDrain, budgets: ours('zone-3') },
    then: { reason: 'CephAnswerAwaited', budgets: ['zone-2', 'zone-3'], open: ['zone-1'] },
  },
  'the silence lasts: nothing more may go down': {
    given: { silentMs: 30_000, budgets: ours('default but 1'), down: [1] },
    then: { reason: 'CephSilent', budgets: ['closed'] },
  },
  'the silence lasts in the middle of a drain: the drained zone is held as well': {
    given: { silentMs: 30_000, down: [1], state: inDrain, budgets: ours('zone-2', 'zone-3') },
    then: { reason: 'CephSilent', budgets: ['zone-1', 'zone-2', 'zone-3'], open: ['zone-1'] },
  },
  'Ceph never answered and there is no budget yet: nothing may go': {
    given: { silentMs: 1000 },
    then: { reason: 'CephAnswerAwaited', budgets: ['closed'] },
  },
})

table('while what Ceph says is older than the last change', {
  'nothing is open: nothing may go until it is known': {
    given: { data: 'unknown', verdicts: { 'zone-1': notYet, 'zone-2': notYet, 'zone-3': notYet } },
    then: { reason: 'SafetyUnknown', budgets: ['closed'] },
  },
  'an OSD went down on a drained node and its zone is not judged yet: it is not released': {
    given: {
      down: [1],
      cordoned: ['node-1'],
      data: 'unknown',
      verdicts: { 'zone-1': notYet, 'zone-2': notYet, 'zone-3': notYet },
      budgets: ours('default'),
    },
    then: { reason: 'SafetyUnknown', budgets: ['closed'] },
  },
  'a drain goes on and nothing is missing elsewhere: it need not stop for every report': {
    given: {
      zones: twoEach,
      down: [1],
      cordoned: ['node-1'],
      data: 'unknown',
      verdicts: { 'zone-1': notYet, 'zone-2': notYet, 'zone-3': notYet },
      state: inDrain,
      budgets: ours('zone-2', 'zone-3'),
    },
    then: drained('zone-1', 'zone-2', 'zone-3'),
  },
  'an OSD is lost elsewhere in the middle of a drain: the drain stops until it is known what that means': {
    given: {
      zones: twoEach,
      down: [1, 2],
      cordoned: ['node-1'],
      data: 'unknown',
      verdicts: { 'zone-1': notYet, 'zone-2': notYet, 'zone-3': notYet },
      state: inDrain,
      budgets: ours('zone-2', 'zone-3'),
    },
    then: {
      reason: 'DomainHeld',
      budgets: ['zone-1', 'zone-2', 'zone-3'],
      open: ['zone-1'],
      noout: ['zone-1'],
    },
  },
  'the pod is gone and Ceph still has the OSD up: its own zone was judged whole and is released': {
    given: { zones: twoEach, down: [1], cephDown: [], cordoned: ['node-1'], data: 'clean', budgets: ours('default') },
    then: drained('zone-1', 'zone-2', 'zone-3'),
  },
  'a pod fails and Ceph has not noticed: no other zone is believed, even where it was said to be safe': {
    given: { zones: twoEach, down: [1], cephDown: [], cordoned: ['node-2'], verdicts: { 'zone-1': no }, data: 'clean' },
    then: { reason: 'SafetyUnknown', budgets: ['closed'] },
  },
})

table('where Ceph and we differ', {
  'Ceph says no to the zone that we would release: it is held': {
    given: { down: [1], cordoned: ['node-1'], ceph: { disagreements: ['zone-1'] } },
    then: { reason: 'CephDisagrees', budgets: ['closed'] },
  },
  'Ceph says no where nobody has begun: that zone is held, the others are not': {
    given: { ceph: { disagreements: ['zone-1'] } },
    then: { reason: 'CephDisagrees', budgets: ['default but 1', 'zone-1'] },
  },
})

it('a difference with Ceph raises the alarm', () => {
  expect(decideCephDrain(tell({ ceph: { disagreements: ['zone-1'] } })).alarm).toBe(true)
  expect(decideCephDrain(tell({})).alarm).toBe(false)
})

describe('noout ends', () => {
  const since = '2026-01-01T11:30:00Z'
  const drain: Scenario = {
    down: [1],
    cordoned: ['node-1'],
    budgets: ours('zone-2', 'zone-3'),
    state: { openDomains: ['zone-1'], ownNoout: ['zone-1'], nooutSince: { 'zone-1': since } },
    ceph: { nooutBuckets: ['zone-1'] },
  }

  it('when the maintenance time is over, once and for all for this drain', () => {
    const { decision, snapshot } = settle(tell(drain))
    expect(snapshot.ceph.known && snapshot.ceph.value.nooutBuckets).toEqual([])
    expect(decision.state).toMatchObject({ nooutSince: { 'zone-1': since }, ownNoout: [], wantsNoout: false })
  })

  it('not a second earlier, and the next look is in time', () => {
    const decision = decideCephDrain(tell({ ...drain, nowMs: nowMs - 1000 }))
    expect(decision.noout).toEqual({ set: [], unset: [] })
    expect(decision.recheckAfterSeconds).toBe(1)
  })

  it('stays while the node is uncordoned and its OSDs are not back', () => {
    const decision = decideCephDrain(tell({ ...drain, cordoned: [], nowMs: nowMs - 60_000 }))
    expect(decision.noout).toEqual({ set: [], unset: [] })
  })

  it('when the OSDs are back, before the data is clean', () => {
    const decision = decideCephDrain(tell({ ...drain, down: [], cordoned: [], data: 'unclean', nowMs: nowMs - 60_000 }))
    expect(decision.noout).toEqual({ set: [], unset: ['zone-1'] })
    expect(decision.state.ownNoout).toEqual(['zone-1'])
  })
})

describe('noout that somebody removes in the middle of a drain', () => {
  const drain: Scenario = {
    down: [1],
    cordoned: ['node-1'],
    budgets: ours('zone-2', 'zone-3'),
    state: { openDomains: ['zone-1'], ownNoout: ['zone-1'], nooutSince: { 'zone-1': now } },
    ceph: { nooutBuckets: ['zone-1'] },
  }
  const seen = decideCephDrain(tell(drain)).state
  const without = { ...drain, ceph: {} }

  it('is not set again: an administrator who wants data to move had it undone within seconds, every time', () => {
    expect(seen.seenNoout).toEqual(['zone-1'])
    const removed = decideCephDrain(tell({ ...without, state: seen }))
    expect(removed.noout).toEqual({ set: [], unset: [] })
    expect(removed.state).toMatchObject({ ownNoout: [], seenNoout: [], removedNoout: ['zone-1'] })
    expect(removed.problems).toMatchObject([{ object: 'bucket/zone-1' }])
    const later = decideCephDrain(tell({ ...without, state: removed.state }))
    expect([later.noout, later.state.removedNoout]).toEqual([{ set: [], unset: [] }, ['zone-1']])
  })

  it('and set again by somebody, is not ours and stays when the drain is over', () => {
    const theirs = decideCephDrain(tell({ ...drain, state: { ...seen, ownNoout: [], removedNoout: ['zone-1'] } }))
    expect(theirs.state).toMatchObject({ ownNoout: [], removedNoout: ['zone-1'] })
    expect(theirs.problems).toEqual([])
    const over = decideCephDrain(tell({ ...drain, down: [], cordoned: [], state: theirs.state }))
    expect([over.noout, over.state.removedNoout]).toEqual([{ set: [], unset: [] }, []])
  })

  it('is not mixed up with one that was never set: an operator that died before it set noout sets it now', () => {
    expect(decideCephDrain(tell(without)).noout).toEqual({ set: ['zone-1'], unset: [] })
  })
})

describe('several zones at once', () => {
  const scenario: Scenario = {
    zones: twoEach,
    down: [1],
    cordoned: ['node-1', 'node-2'],
    settings: { maxDomains: 2 },
    budgets: ours('zone-2', 'zone-3'),
    state: inDrain,
  }

  it('go together where policy allows it and the data does', () => {
    expect(outcomeOf({ ...scenario, ceph: { openable: [['zone-1', 'zone-2']] } })).toMatchObject({
      budgets: ['zone-3'],
      open: ['zone-1', 'zone-2'],
    })
  })

  it('do not where the data does not', () => {
    expect(outcomeOf({ ...scenario, ceph: { openable: [] } })).toEqual(drained('zone-1', 'zone-2', 'zone-3'))
  })

  it('do not where policy does not', () => {
    const careful = { ...scenario, settings: {}, ceph: { openable: [['zone-1', 'zone-2']] } }
    expect(outcomeOf(careful)).toEqual(drained('zone-1', 'zone-2', 'zone-3'))
  })
})

describe('whose budgets they are', () => {
  it('beside Rook nothing is wanted but what is there, and the answers are given all the same', () => {
    const rook = { managesBudgets: true }
    const snapshot = tell({ mode: 'observe', rook, down: [1], cordoned: ['node-1'], budgets: ours('default') })
    const decision = decideCephDrain(snapshot)
    expect(decision.reason).toBe('ManagedElsewhere')
    expect(inWords(decision.budgets)).toEqual(['default'])
    expect(decision.state).toBe(snapshot.state)
    expect(decision.noout).toEqual({ set: [], unset: [] })
    expect(decision.domains.map(({ domain, mayDrain }) => [domain, mayDrain])).toEqual([
      ['zone-1', true],
      ['zone-2', false],
      ['zone-3', false],
    ])
  })

  it.each([
    ['observe', { managesBudgets: true }, 'ManagedElsewhere'],
    ['observe', { managesBudgets: false }, 'HandedBack'],
    ['observe', undefined, 'HandedBack'],
    ['contested', { managesBudgets: true }, 'BudgetsContested'],
  ] as const)('in mode %s with Rook %o it is said who has them, and how to hand them over', (mode, rook, reason) => {
    const decision = decideCephDrain(tell({ mode, ...(rook === undefined ? {} : { rook }) }))
    expect(decision.reason).toBe(reason)
    expect(decision.explanation).toContain('cofferdam adopt cephcluster/rook-ceph/my-cluster')
    expect(decision.claim).toEqual({ wants: 'release' })
  })
})

it('every zone has an answer with names in it', () => {
  const { decision } = settle(
    tell({ zones: twoEach, down: [1], cordoned: ['node-1'], verdicts: { 'zone-3': no }, budgets: ours('default') }),
  )
  expect(decision.explanation).toBe(
    'zone zone-1 may go (osd.1 down, node-1 being drained); every other zone is held. Waiting for clean data: active+undersized+degraded.',
  )
  expect(decision.domains).toEqual([
    {
      domain: 'zone-1',
      osds: [1, 4],
      nodes: ['node-1'],
      mayDrain: true,
      reason: 'DomainReleased',
      explanation: 'zone zone-1 may be drained: it is the failure domain that is allowed to be down.',
    },
    {
      domain: 'zone-2',
      osds: [2, 5],
      nodes: ['node-2'],
      mayDrain: false,
      reason: 'OtherDomainDown',
      explanation: 'zone zone-2 waits until zone-1 is back and all data is clean.',
    },
    {
      domain: 'zone-3',
      osds: [3, 6],
      nodes: ['node-3'],
      mayDrain: false,
      reason: 'OtherDomainDown',
      explanation: 'zone zone-3 waits until zone-1 is back and all data is clean.',
    },
  ])
})

it('a held cluster names the placement group that is in the way, and since when Ceph is silent', () => {
  const scarce = decideCephDrain(tell({ verdicts: { 'zone-1': no, 'zone-2': no, 'zone-3': no }, data: 'unclean' }))
  expect(scarce.explanation).toBe(
    'No OSD may go: placement group 1.1b of pool vm would be left with 1 of the 2 it needs and 2 more.',
  )
  const silent = decideCephDrain(tell({ silentMs: 60_000 }))
  expect(silent.explanation).toBe(
    'Ceph has not answered since 2026-01-01T11:59:00Z (no answer within 15 s): nothing more may go down.',
  )
})

it('what is wrong with single objects is named', () => {
  const { problems } = decideCephDrain(
    tell({
      zones: twoEach,
      missingNodes: ['node-3'],
      osd: {
        1: { topology: { host: 'node-1' } },
        2: { topology: { zone: 'zone-3' } },
        5: { nodeName: { known: false, why: 'it never ran' } },
      },
      budgets: [{ ...(ours('default')[0] as ReturnType<typeof ours>[number]), isOurs: false }],
    }),
  )
  expect(problems).toEqual([
    {
      object: 'deployment/rook-ceph-osd-1',
      problem: 'has no label topology-location-zone; CRUSH has it in zone-1',
    },
    {
      object: 'deployment/rook-ceph-osd-2',
      problem: 'says zone zone-3, and CRUSH has it in zone-2; it is held unless both are open',
    },
    { object: 'deployment/rook-ceph-osd-3', problem: 'its node node-3 does not exist' },
    { object: 'deployment/rook-ceph-osd-5', problem: 'its node is not known: it never ran' },
    { object: 'deployment/rook-ceph-osd-6', problem: 'its node node-3 does not exist' },
    {
      object: 'poddisruptionbudget/rook-ceph-osd',
      problem:
        'is not managed by Cofferdam and has the name of a budget that Cofferdam needs; it is left alone, and nothing is released until it is gone',
    },
  ])
})
