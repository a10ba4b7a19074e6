import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { decideLonghornDrain } from './decide.ts'
import type { LonghornSnapshot } from './snapshot.ts'
import { type Fixture, longhornFixture, managerView } from './testing/longhorn-fixture.ts'

/** A node that leaves with the only copy of a volume, which Longhorn holds by its default for as long as it is the only one. */
const onlyCopy: Fixture = {
  nodes: { n1: { isCordoned: true, isHeld: true }, n2: {} },
  volumes: { v: { copies: { n1: 'healthy' } } },
}

const holdOf = (seen: LonghornSnapshot) => decideLonghornDrain(seen).budgets.find(({ node }) => node === 'n1')?.hold

it('the last copy alone is what Longhorn holds a node for too: no budget beside its own', () => {
  expect(holdOf(longhornFixture(onlyCopy))).toBe('needless')
})

it('a copy that must leave first is held by a budget beside that of Longhorn, which lets go as soon as another copy is protected', () => {
  const fixture = { ...onlyCopy, volumes: { v: { copies: { n1: 'healthy' as const }, policy: 'block-for-eviction' } } }
  expect(holdOf(longhornFixture(fixture))).toBe('needed')
})

it('a setting that was deleted took along what was wanted: the budget stays, since by it alone an operator knows that it holds', () => {
  const { settings, ...seen } = longhornFixture(onlyCopy)
  const byDefault = known('block-if-contains-last-replica' as const)
  const lost = { ...settings, policy: unknown('it is gone'), inForce: byDefault, atRest: byDefault }
  expect(holdOf({ ...seen, settings: lost })).toBe('needed')
})

it('beside a budget of Longhorn that holds for the same reason none stays on an open node either: every drain met two, after each restart of an instance manager', () => {
  const fixture = { ...onlyCopy, policy: 'block-for-eviction', nodes: { n1: { isHeld: true }, n2: {} } }
  expect(holdOf(longhornFixture(fixture))).toBe('needless')
})

/** Node n1 has a copy that is the last one for us; whether Longhorn sees another one on n2 decides whether its budget holds n1. */
function holdOfFirst(seen: LonghornSnapshot): string | undefined {
  return decideLonghornDrain(seen).budgets.find(({ instanceManager }) => instanceManager === 'im-n1')?.hold
}

const both = { nodes: { n1: { isCordoned: true }, n2: {} } }
const healthy = longhornFixture({ ...both, volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } } })
const leaving = longhornFixture({
  ...both,
  volumes: { v: { copies: { n1: 'healthy', n2: { isBeingDeleted: true } } } },
})
const strange: LonghornSnapshot = { ...leaving, longhornBudgets: new Set(['im-n1']), budgets: new Set(['im-n1']) }

describe("whether Longhorn's budget is enough to hold a node", () => {
  const cases: Record<string, readonly [LonghornSnapshot, string]> = {
    'nothing has to be held': [healthy, 'needless'],
    'the last copy for us and for Longhorn: its budget holds': [
      { ...leaving, replicas: leaving.replicas.filter(({ node }) => node === 'n1') },
      'needless',
    ],
    'a copy that is being deleted counts in Longhorn, which lets go: ours is needed': [leaving, 'needed'],
    'a copy without a budget does not count in Longhorn either': [strange, 'needless'],
    "somebody else's budget with the name of its manager does: Longhorn let go of the last copy": [
      { ...strange, otherBudgets: new Set(['im-n2']) },
      'needed',
    ],
    'a node that only Kubernetes has does: Longhorn let go of the last copy': [
      { ...healthy, nodes: healthy.nodes.filter(({ name }) => name === 'n1') },
      'needed',
    ],
    'another manager that runs on the node does: Longhorn takes that one for replicas of the second data engine': [
      longhornFixture({
        nodes: { n1: { isCordoned: true }, n2: { manager: { isRunning: false } } },
        managers: [managerView('n2', { name: 'im-n2-other' })],
        moreBudgets: ['im-n2-other'],
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
      }),
      'needed',
    ],
  }
  it.each(Object.entries(cases))('%s', (_, [seen, hold]) => {
    expect(holdOfFirst(seen)).toBe(hold)
  })
})
