import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { describe, expect, it } from 'vitest'
import { stepOf } from '../test/property-runs.ts'
import { type LockFixture, openLockFixture } from './testing/lock-fixture.ts'
import { type LockScenario, lockScenarios } from './testing/lock-stories.ts'

/** Asks for one database pod after the other to go, from nodes that are not ours. */
async function evictGreedily({ api, views }: LockFixture, spared: string): Promise<void> {
  for (const { metadata, spec } of views.of(pods).values()) {
    if (metadata.labels?.['app'] !== 'db' || spec.nodeName === spared) continue
    await evictPod(api, { namespace: metadata.namespace ?? '', name: metadata.name }).catch((error: unknown) => {
      if (!hasReason(error, 'TooManyRequests', 'NotFound')) throw error
    })
  }
}

const besideGreedyDrain: LockScenario = {
  title: 'a node reboots while somebody else evicts what it can of the same application',
  seed: (fixture) => lockScenarios['skip-drain-reboot'].seed(fixture),
  async act(fixture) {
    const greedy = { isDone: false }
    const takeTurns = () => {
      if (greedy.isDone) return
      void evictGreedily(fixture, 'node-1')
      fixture.clock.after(7_000, takeTurns)
    }
    fixture.clock.after(3_000, takeTurns)
    try {
      await fixture.request('reboot-1', { nodeName: 'node-1' })
      await fixture.reach('reboot-1', 'Completed', 600)
    } finally {
      greedy.isDone = true
    }
    await fixture.seconds(30)
  },
}

const scenarios = { ...lockScenarios, 'beside-greedy-drain': besideGreedyDrain }

/** The story with an operator that dies after so many writes, and another that comes after it. */
async function tell({ seed, act }: LockScenario, writes: number, isGuard: boolean) {
  const fixture = await openLockFixture()
  try {
    await seed(fixture)
    const operator = fixture.operate({ isReplaced: true, isGuard })
    fixture.rebootForSeconds(45)
    await fixture.seconds(5)
    operator.killAfter(writes)
    await act(fixture)
    const wasKilled = operator.isDead()
    await fixture.seconds(wasKilled ? 15 : 0)
    const { entries, tickets } = fixture.ledger()
    return {
      wasKilled,
      outcome: {
        budgets: fixture.budgets(),
        entries,
        tickets,
        cordoned: ['node-1', 'node-2', 'node-3'].filter(fixture.isCordoned),
        violations: fixture.oracle.violations,
      },
    }
  } catch (error) {
    return { wasKilled: true, outcome: { broke: (error as Error).message } }
  } finally {
    await fixture.close()
  }
}

/** The scenarios begin one write apart, so that together they meet what they have in common after each of its writes. */
const step = stepOf(3)
const cases = Object.entries<LockScenario>(scenarios).map(
  ([name, scenario], at) => [name, scenario, at % step] as const,
)

describe('an operator that is killed is followed by another that comes to the same end', () => {
  it.each(cases)('after any write of %s', async (name, scenario, first) => {
    // Locks must hold without the guard too: where it cannot be reached, evictions go on.
    const isGuard = name === 'skip-drain-reboot'
    const calm = await tell(scenario, Number.POSITIVE_INFINITY, isGuard)
    const differing: unknown[] = []
    let writes = first
    for (; ; writes += step) {
      const { wasKilled, outcome } = await tell(scenario, writes, isGuard)
      if (JSON.stringify(outcome) !== JSON.stringify(calm.outcome)) differing.push({ writes, outcome })
      if (!wasKilled) break
    }
    expect(differing).toEqual([])
    expect(writes).toBeGreaterThan(15)
  })
})
