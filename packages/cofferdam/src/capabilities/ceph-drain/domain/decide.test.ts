import { no, now, ours } from './testing/fixture.ts'
import { calm, drained, inDrain, released, table } from './testing/outcome-table.ts'

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
