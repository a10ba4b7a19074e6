import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CephView } from './ceph-view.ts'
import { isFresh, stalePgCount } from './freshness.ts'
import { isHealthyPgState, pgHealth } from './pg-health.ts'
import { buildSafetyIndex } from './safety-index.ts'
import { type ExampleMap, exampleMap } from './testing/example-map.ts'

const rows = (counts: Record<string, number>) =>
  Object.entries(counts)
    .flatMap(([state, count]) => Array.from({ length: count }, () => state))
    .map((state, at) => ({ pg: `1.${at.toString(16)}`, state, acting: [0, 2, 4] }))

const clean: CephView['pgs'] = { health: 'clean' }

interface Case {
  readonly given: ExampleMap
  readonly isHealthy?: (state: string) => boolean
  readonly then: CephView['pgs']
  /** How many placement groups are waited for; none unless told. */
  readonly stale?: number
}

const cases: Record<string, Case> = {
  'no placement groups are clean ones': { given: {}, then: clean },
  'three clean ones of fourteen are not enough': {
    given: { pgs: rows({ 'active+clean': 3, 'active+undersized+degraded': 11 }) },
    then: { health: 'unclean', dirtyStates: { 'active+undersized+degraded': 11 } },
  },
  'several states that are not clean are named in order': {
    given: { pgs: rows({ peering: 1, 'active+clean': 1, 'active+degraded': 2, down: 1 }) },
    then: { health: 'unclean', dirtyStates: { 'active+degraded': 2, down: 1, peering: 1 } },
  },
  'scrubbing and trimming of snapshots is everyday work': {
    given: {
      pgs: rows({
        'active+clean': 2,
        'active+clean+scrubbing': 3,
        'active+clean+scrubbing+deep': 4,
        'active+clean+snaptrim': 2,
        'active+clean+snaptrim_wait': 3,
      }),
    },
    then: clean,
  },
  // rook/rook#16712: a drain hung for hours on placement groups that only waited for their turn to trim.
  'placement groups that wait to trim snapshots never block a drain': {
    given: { pgs: rows({ 'active+clean+snaptrim_wait': 16, 'active+clean+scrubbing+deep+snaptrim_wait': 1 }) },
    then: clean,
  },
  'a placement group that waits to trim snapshots and lacks a copy is dirty for the copy': {
    given: { pgs: rows({ 'active+clean': 1, 'active+undersized+degraded+snaptrim_wait': 1 }) },
    then: { health: 'unclean', dirtyStates: { 'active+undersized+degraded+snaptrim_wait': 1 } },
  },
  'a state that only ends like a clean one is dirty': {
    given: { pgs: rows({ 'active+clean': 13, notclean: 1 }) },
    then: { health: 'unclean', dirtyStates: { notclean: 1 } },
  },
  'a pattern that matches only the bad state makes the good ones dirty': {
    given: { pgs: rows({ 'active+clean': 13, notclean: 1 }) },
    isHealthy: (state) => state === 'notclean',
    then: { health: 'unclean', dirtyStates: { 'active+clean': 13 } },
  },
  'a pattern that admits moving data is clean while data moves': {
    given: { pgs: rows({ 'active+clean': 1, 'active+remapped+backfilling': 1 }) },
    isHealthy: (state) => state.startsWith('active+'),
    then: clean,
  },
  'clean reports from before an OSD went down prove nothing': {
    given: {
      osds: [{ id: 0, isUp: false, downAt: 9 }],
      pgs: rows({ 'active+clean': 3 }).map((row) => ({ ...row, reported: 8 })),
    },
    then: { health: 'unknown', why: '3 placement groups have not reported since the last change of their OSDs' },
    stale: 3,
  },
  'only the reports about the OSD that came up are waited for': {
    given: {
      osds: [{ id: 0, upFrom: 9, downAt: 7 }],
      pgs: [
        { pg: '1.0', acting: [2, 4], up: [0, 2, 4], reported: 8 },
        { pg: '1.1', acting: [1, 3, 5], reported: 2 },
      ],
    },
    then: { health: 'unknown', why: '1 placement group has not reported since the last change of their OSDs' },
    stale: 1,
  },
  'one whose OSDs are all down will never report: it is dirty, not unknown for ever': {
    given: {
      osds: [0, 2, 4].map((id) => ({ id, isUp: false, downAt: 9 })),
      pgs: [{ pg: '1.0', state: 'stale+active+clean', acting: [0, 2, 4], reported: 8 }],
    },
    then: { health: 'unclean', dirtyStates: { 'stale+active+clean': 1 } },
  },
  'one that Ceph calls stale is waited for while any of its OSDs is up': {
    given: {
      osds: [{ id: 0, isUp: false, downAt: 9 }],
      pgs: [{ pg: '1.0', state: 'stale+active+clean', acting: [0, 2, 4], reported: 8 }],
    },
    then: { health: 'unknown', why: '1 placement group has not reported since the last change of their OSDs' },
    stale: 1,
  },
  'after a restart of the manager the unreported ones are neither clean nor dirty': {
    given: { pgs: [...rows({ 'active+clean': 2 }), { pg: '2.0', state: 'unknown', acting: [], reported: 0 }] },
    then: { health: 'unknown', why: '1 placement group has not been reported by any OSD yet' },
  },
}

describe('the health of all placement groups', () => {
  for (const [sentence, { given, isHealthy = isHealthyPgState, then, stale = 0 }] of Object.entries(cases)) {
    it(sentence, () => {
      const map = exampleMap(given)
      expect([pgHealth(map, isHealthy), stalePgCount(map), isFresh(map)]).toEqual([then, stale, stale === 0])
    })
  }

  it('a map older than a report is not fresh, and health is unknown', () => {
    const map = exampleMap({ epoch: 10, pgs: [{ pg: '1.0', acting: [0, 2, 4], reported: 12 }] })
    expect([pgHealth(map, isHealthyPgState), isFresh(map)]).toEqual([
      { health: 'unknown', why: 'the OSD map of epoch 10 is older than a report from epoch 12' },
      false,
    ])
  })
})

it('a state without a name is not known: taken for a clean one it would let the next failure domain go', () => {
  const map = exampleMap({ pgs: rows({ 'active+clean': 2 }) })
  const damaged = { ...map, pgs: { ...map.pgs, states: Uint16Array.of(0, 7) } }
  const why = '1 placement group has not been reported by any OSD yet'
  expect(pgHealth(damaged, () => true)).toEqual({ health: 'unknown', why })
  expect(buildSafetyIndex(damaged).mayStop([0])).toEqual({ may: 'unknown', why })
})

describe('the default reading of a state', () => {
  const pattern = /^active(\+(clean|deep|scrubbing|snaptrim|snaptrim_wait))+$/

  it("equals Rook's default pattern for every combination of words", () => {
    const word = fc.constantFrom(
      'active',
      'clean',
      'deep',
      'scrubbing',
      'snaptrim',
      'snaptrim_wait',
      'remapped',
      'stale',
      '',
    )
    const calm = fc.constantFrom('clean', 'deep', 'scrubbing', 'snaptrim', 'snaptrim_wait')
    const state = fc.oneof(
      fc.array(word, { maxLength: 5 }).map((words) => words.join('+')),
      fc.array(calm, { maxLength: 4 }).map((words) => ['active', ...words].join('+')),
    )
    fc.assert(
      fc.property(state, (text) => isHealthyPgState(text) === pattern.test(text)),
      { numRuns: 500 },
    )
  })
})
