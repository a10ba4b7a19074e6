import { expect, it } from 'vitest'
import { decideCephDrain } from './decide.ts'
import { no, notYet, ours, tell } from './testing/fixture.ts'
import { drained, inDrain, table, twoEach } from './testing/outcome-table.ts'

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
