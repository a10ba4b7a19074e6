import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runsOf } from '../../../../../../test/property-runs.ts'
import { decideLonghornDrain } from './decide.ts'
import type { LonghornDecision } from './decision.ts'
import { createLonghornJudge } from './judge.ts'
import type { LonghornSnapshot } from './snapshot.ts'
import { arbitraryLonghorn } from './testing/arbitrary-longhorn.ts'
import { applyDecision } from './testing/longhorn-fixture.ts'

it('every instance manager is answered once, whatever is seen, and the same each time', () => {
  fc.assert(
    fc.property(arbitraryLonghorn, (seen) => {
      const decision = decideLonghornDrain(seen)
      expect(decideLonghornDrain(seen)).toEqual(decision)
      expect(decision.budgets.map(({ instanceManager }) => instanceManager).sort()).toEqual(
        seen.instanceManagers.map(({ name }) => name).sort(),
      )
    }),
    { numRuns: runsOf(300) },
  )
})

it('the order in which objects are listed decides nothing', () => {
  fc.assert(
    fc.property(arbitraryLonghorn, (seen) => {
      expect(decideLonghornDrain(reversed(seen))).toEqual(decideLonghornDrain(seen))
    }),
    { numRuns: runsOf(300) },
  )
})

it('what is decided settles: budgets that are made let others go, and then nothing more is asked for', () => {
  fc.assert(
    fc.property(arbitraryLonghorn, (seen) => {
      const first = applyDecision(seen, decideLonghornDrain(seen))
      const second = applyDecision(first, decideLonghornDrain(first))
      const third = applyDecision(second, decideLonghornDrain(second))
      expect(asksOf(third)).toEqual({ flags: [], budgets: [], surplus: [] })
    }),
    { numRuns: runsOf(500) },
  )
})

it('where no budget is missing, one decision is enough', () => {
  fc.assert(
    fc.property(arbitraryLonghorn, (arbitrary) => {
      const managers = arbitrary.instanceManagers.map(({ name }) => name)
      const seen = { ...arbitrary, budgets: new Set(managers) }
      const after = applyDecision(seen, decideLonghornDrain(seen))
      expect(asksOf(after)).toEqual({ flags: [], budgets: [], surplus: [] })
    }),
    { numRuns: runsOf(500) },
  )
})

it('a judge that sees one change after the other answers as one that sees everything for the first time', () => {
  fc.assert(
    fc.property(severalWorlds, fc.array(fc.nat(14), { size: 'medium' }), (worlds, picks) => {
      const judge = createLonghornJudge()
      let seen = worlds[0] as LonghornSnapshot
      expect(judge.decide(seen)).toEqual(decideLonghornDrain(seen))
      for (const [at, pick] of picks.entries()) {
        seen = withOnePart(seen, worlds[at % worlds.length] as LonghornSnapshot, pick)
        const fresh = decideLonghornDrain(seen)
        for (const { name } of seen.nodes) {
          expect(judge.decideNode(seen, name)).toEqual(fresh.nodes.find(({ node }) => node === name))
        }
        expect(judge.decide(seen)).toEqual(fresh)
      }
    }),
    { numRuns: runsOf(300) },
  )
})

/** Also without hold, where open nodes are judged by less. */
const severalWorlds = fc
  .array(fc.tuple(arbitraryLonghorn, fc.constantFrom('hold' as const, 'hold' as const, 'guide' as const)), {
    minLength: 2,
    maxLength: 5,
  })
  .map((worlds) => worlds.map(([seen, mode]) => ({ ...seen, settings: { ...seen.settings, mode } })))

function reversed(seen: LonghornSnapshot): LonghornSnapshot {
  return {
    ...seen,
    nodes: seen.nodes.toReversed(),
    volumes: seen.volumes.toReversed(),
    replicas: seen.replicas.toReversed(),
    instanceManagers: seen.instanceManagers.toReversed(),
    budgets: new Set([...seen.budgets].reverse()),
    unreadable: seen.unreadable.toReversed(),
  }
}

function asksOf(seen: LonghornSnapshot) {
  const decision: LonghornDecision = decideLonghornDrain(seen)
  const budgets = decision.budgets.filter(({ instanceManager, wanted }) => {
    const isThere = seen.budgets.has(instanceManager)
    return (wanted === 'present' && !isThere) || (wanted === 'absent' && isThere)
  })
  return {
    flags: decision.evictions.filter(({ changes }) => changes),
    budgets,
    surplus: decision.surplusReplicas,
  }
}

function withOnePart(seen: LonghornSnapshot, other: LonghornSnapshot, pick: number): LonghornSnapshot {
  const parts: Partial<LonghornSnapshot>[] = [
    { nodes: [...seen.nodes.slice(1), ...other.nodes.slice(0, 1)].filter(isFirstOfName) },
    { volumes: other.volumes },
    { replicas: [...other.replicas.slice(0, 1), ...seen.replicas].filter(isFirstOfName) },
    { replicas: seen.replicas.slice(1) },
    { instanceManagers: other.instanceManagers },
    { budgets: other.budgets },
    { settings: other.settings, unreadable: other.unreadable },
    { longhornBudgets: other.longhornBudgets },
    { otherBudgets: other.longhornBudgets },
    { nodes: changeFirst(seen.nodes, (node) => ({ ...node, isCordoned: !node.isCordoned })) },
    { nodes: changeFirst(seen.nodes, (node) => ({ ...node, isDraining: !node.isDraining })) },
    { volumes: changeFirst(seen.volumes, (volume) => ({ ...volume, policy: other.volumes[0]?.policy })) },
    {
      replicas: changeFirst(seen.replicas, (replica) => ({
        ...replica,
        failedAt: replica.failedAt === '' ? 'now' : '',
      })),
    },
    { replicas: changeFirst(seen.replicas, (replica) => ({ ...replica, volume: replica.volume === '' ? 'v1' : '' })) },
    { instanceManagers: changeFirst(seen.instanceManagers, (each) => ({ ...each, isRunning: !each.isRunning })) },
  ]
  return { ...seen, ...parts[pick] }
}

/** And puts it last, so that the next one is another. */
function changeFirst<T>([first, ...rest]: readonly T[], change: (item: T) => T): readonly T[] {
  return first === undefined ? [] : [...rest, change(first)]
}

function isFirstOfName<T extends { readonly name: string }>({ name }: T, at: number, all: readonly T[]): boolean {
  return all.findIndex((item) => item.name === name) === at
}
