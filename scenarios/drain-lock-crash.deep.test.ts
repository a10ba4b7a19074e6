import { describe, expect, it } from 'vitest'
import { openLockStage } from './testing/lock-stage.ts'
import { type LockStory, lockStories } from './testing/lock-stories.ts'

/** The story with an operator that dies after so many writes, and another that comes after it. */
async function tell({ seed, act }: LockStory, writes: number, isGuard: boolean) {
  const stage = await openLockStage()
  try {
    await seed(stage)
    const operator = stage.operate({ isReplaced: true, isGuard })
    stage.rebootForSeconds(45)
    await stage.seconds(5)
    operator.killAfter(writes)
    await act(stage)
    const wasKilled = operator.isDead()
    await stage.seconds(wasKilled ? 15 : 0)
    const { entries, tickets } = stage.ledger()
    return {
      wasKilled,
      outcome: {
        budgets: stage.budgets(),
        entries,
        tickets,
        cordoned: ['node-1', 'node-2', 'node-3'].filter(stage.isCordoned),
        violations: stage.oracle.violations,
      },
    }
  } catch (error) {
    return { wasKilled: true, outcome: { broke: (error as Error).message } }
  } finally {
    await stage.close()
  }
}

describe('an operator that is killed is followed by another that comes to the same end', () => {
  it.each(Object.entries<LockStory>(lockStories))(
    'after any write of %s',
    async (name, story) => {
      // Locks must hold without the guard too: where it cannot be reached, evictions go on.
      const isGuard = name === 'skip-drain-reboot'
      const calm = await tell(story, Number.POSITIVE_INFINITY, isGuard)
      const differing: unknown[] = []
      let writes = 0
      for (; ; writes += 1) {
        const { wasKilled, outcome } = await tell(story, writes, isGuard)
        if (JSON.stringify(outcome) !== JSON.stringify(calm.outcome)) differing.push({ writes, outcome })
        if (!wasKilled) break
      }
      expect(differing).toEqual([])
      expect(writes).toBeGreaterThan(15)
    },
    240_000,
  )
})
