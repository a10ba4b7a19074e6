import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decideLonghornDrain } from './decide.ts'
import { createLonghornJudge, type LonghornJudge } from './judge.ts'
import { drainPolicies } from './snapshot.ts'
import { longhornFixture } from './testing/longhorn-fixture.ts'
import { SmallLonghorn } from './testing/small-longhorn.ts'

const nodeNames = ['n1', 'n2', 'n3', 'n4', 'n5']
const happenings = [
  'cordon',
  'cordon',
  'cordon',
  'uncordon',
  'uncordon',
  'fail',
  'crash',
  'rebuild',
  'rebuild',
  'move',
] as const
const policy = fc.constantFrom(...drainPolicies, 'nonsense')

const scenario = fc.record({
  policy,
  isAutoscaled: fc.boolean(),
  surplus: fc.constantFrom('keep' as const, 'remove' as const),
  nodeCount: fc.integer({ min: 2, max: 5 }),
  volumes: fc.array(
    fc.record({
      places: fc.uniqueArray(fc.nat(4), { minLength: 1, maxLength: 3 }),
      own: fc.option(policy, { nil: undefined }),
      stopped: fc.constantFrom<readonly boolean[]>(
        [false, false, false],
        [true, true, true],
        [false, true, true],
        [true, false, true],
      ),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  events: fc.array(
    fc.record({
      happenings: fc.array(fc.record({ what: fc.constantFrom(...happenings), which: fc.nat(50) }), {
        minLength: 1,
        maxLength: 3,
      }),
      greed: fc.array(fc.nat(50), { maxLength: 6 }),
    }),
    { minLength: 5, maxLength: 40 },
  ),
})
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never

it('an administrator who evicts all that the budgets allow, between any two writes, leaves every volume a copy', () => {
  let evictions = 0
  fc.assert(
    fc.property(scenario, ({ events, ...placing }) => {
      const longhorn = fixtureOf(placing)
      const judge = createLonghornJudge()
      for (const { happenings: met, greed } of events) {
        for (const { what, which } of met) happen(longhorn, what, which)
        if (met.some(isSudden)) reconcile(longhorn, judge, () => undefined)
        reconcile(longhorn, judge, () => {
          for (const pick of greed) evict(longhorn, pick)
        })
      }
    }),
    { numRuns: 250 },
  )
  expect(evictions).toBeGreaterThan(300)

  function evict(longhorn: SmallLonghorn, pick: number): void {
    const node = pickFrom(longhorn.seen.nodes, pick).name
    if (!longhorn.mayEvict(node)) return
    const before = longhorn.guardedVolumesOn(node).filter((volume) => longhorn.available(volume).length > 0)
    longhorn.evict(node)
    evictions += 1
    expect(before.filter((volume) => longhorn.available(volume).length === 0)).toEqual([])
  }
})

it('of the copies that a volume has left, one is always held by a budget', () => {
  fc.assert(
    fc.property(scenario, ({ events, ...placing }) => {
      const longhorn = fixtureOf(placing)
      const judge = createLonghornJudge()
      for (const { happenings: met, greed } of events) {
        for (const { what, which } of met) happen(longhorn, what, which)
        if (met.some(isSudden)) reconcile(longhorn, judge, () => undefined)
        reconcile(longhorn, judge, () => {
          expect(unheld(longhorn)).toEqual([])
          for (const pick of greed) {
            const node = pickFrom(longhorn.seen.nodes, pick).name
            if (longhorn.mayEvict(node)) longhorn.evict(node)
          }
        })
      }
    }),
    { numRuns: 250 },
  )
})

it('with patience every node of a healthy Longhorn with room can be emptied, and the volumes keep their copies', () => {
  fc.assert(
    fc.property(scenario, fc.nat(50), (told, pick) => {
      const moving = ['block-for-eviction', 'block-for-eviction-if-contains-last-replica'] as const
      const policyName = moving[pick % 2] ?? 'block-for-eviction'
      const volumes = told.volumes.map(({ places }) => ({
        places: places.slice(0, 2),
        own: undefined,
        stopped: [false, false, false],
      }))
      const longhorn = fixtureOf({ ...told, policy: policyName, volumes, nodeCount: 5 })
      const judge = createLonghornJudge()
      const node = pickFrom(longhorn.seen.nodes, pick).name
      longhorn.cordon(node, true)
      for (let round = 0; round < 12; round += 1) {
        reconcile(longhorn, judge, () => undefined)
        for (const { name } of longhorn.seen.volumes) longhorn.move(name)
      }
      expect(longhorn.mayEvict(node)).toBe(true)
      longhorn.evict(node)
      for (const { name } of longhorn.seen.volumes) expect(longhorn.available(name).length).toBeGreaterThan(0)
    }),
    { numRuns: 200 },
  )
})

it('a judge that follows the story answers as one that sees it for the first time, whether or not it is obeyed', () => {
  fc.assert(
    fc.property(scenario, ({ events, ...placing }) => {
      const longhorn = fixtureOf(placing)
      const judge = createLonghornJudge()
      for (const { happenings: met, greed } of events) {
        const decision = judge.decide(longhorn.seen)
        expect(decision).toEqual(decideLonghornDrain(longhorn.seen))
        const writes = longhorn.writesOf(decision)
        for (const write of writes.slice(0, (greed[0] ?? 0) % (writes.length + 1))) longhorn.seen = write(longhorn.seen)
        for (const { what, which } of met) happen(longhorn, what, which)
      }
    }),
    { numRuns: 200 },
  )
})

function fixtureOf(placing: Omit<Scenario, 'events'>): SmallLonghorn {
  const names = nodeNames.slice(0, placing.nodeCount)
  const volumes = placing.volumes.map(({ places, own, stopped }, at) => [
    `v${at}`,
    {
      copies: Object.fromEntries(
        places.map((place, index) => [names[place % names.length] as string, { isStopped: stopped[index] ?? false }]),
      ),
      ...(own === undefined ? {} : { policy: own }),
    },
  ])
  return new SmallLonghorn(
    longhornFixture({
      policy: placing.policy,
      isAutoscaled: placing.isAutoscaled,
      surplus: placing.surplus,
      nodes: Object.fromEntries(names.map((name) => [name, {}])),
      volumes: Object.fromEntries(volumes),
    }),
  )
}

function reconcile(longhorn: SmallLonghorn, judge: LonghornJudge, between: () => void): void {
  between()
  for (const write of longhorn.writesOf(judge.decide(longhorn.seen))) {
    longhorn.seen = write(longhorn.seen)
    between()
  }
}

function happen(longhorn: SmallLonghorn, what: (typeof happenings)[number], which: number): void {
  const node = pickFrom(longhorn.seen.nodes, which).name
  const volume = pickFrom(longhorn.seen.volumes, which).name
  if (what === 'cordon') longhorn.cordon(node, true)
  if (what === 'uncordon') longhorn.cordon(node, false)
  if (what === 'fail' && longhorn.seen.replicas.length > 0) longhorn.fail(pickFrom(longhorn.seen.replicas, which).name)
  if (what === 'crash') longhorn.evict(node)
  if (what === 'rebuild') longhorn.rebuild(volume)
  if (what === 'move') longhorn.move(volume)
}

/**
 * Nothing can refuse an eviction in the instant after a failure that nobody has seen yet, or after an instance manager
 * has started whose budget is not there yet.
 */
function isSudden({ what }: { readonly what: (typeof happenings)[number] }): boolean {
  return what === 'fail' || what === 'crash' || what === 'uncordon'
}

/** Guarded volumes that can be read, and of whose copies no budget holds any. */
function unheld(longhorn: SmallLonghorn): string[] {
  return longhorn.guardedVolumes().filter((volume) => {
    const copies = longhorn.available(volume)
    return copies.length > 0 && !copies.some((copy) => longhorn.hasBudget(copy))
  })
}

function pickFrom<T>(items: readonly T[], pick: number): T {
  return items[pick % items.length] as T
}
