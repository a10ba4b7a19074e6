import { expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { decideLonghornDrain } from './decide.ts'
import type { LonghornSnapshot } from './snapshot.ts'
import { type Fixture, longhornFixture } from './testing/longhorn-fixture.ts'

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
