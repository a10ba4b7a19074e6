import { no, ours } from './testing/fixture.ts'
import { calm, drained, inDrain, released, table, twoEach } from './testing/outcome-table.ts'

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
