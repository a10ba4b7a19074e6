import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { describe, expect, it } from 'vitest'
import { type LockStage, openLockStage } from './testing/lock-stage.ts'
import { type LockStory, lockStories } from './testing/lock-stories.ts'

/** Asks for one database pod after the other to go, from nodes that are not ours. */
async function evictGreedily({ api, views }: LockStage, spared: string): Promise<void> {
  for (const { metadata, spec } of views.of(pods).values()) {
    if (metadata.labels?.['app'] !== 'db' || spec.nodeName === spared) continue
    await evictPod(api, { namespace: metadata.namespace ?? '', name: metadata.name }).catch((error: unknown) => {
      if (!hasReason(error, 'TooManyRequests', 'NotFound')) throw error
    })
  }
}

const besideGreedyDrain: LockStory = {
  title: 'a node reboots while somebody else evicts what it can of the same application',
  seed: (stage) => lockStories['skip-drain-reboot'].seed(stage),
  async act(stage) {
    const greedy = { isDone: false }
    const takeTurns = () => {
      if (greedy.isDone) return
      void evictGreedily(stage, 'node-1')
      stage.clock.after(7_000, takeTurns)
    }
    stage.clock.after(3_000, takeTurns)
    try {
      await stage.request('reboot-1', { nodeName: 'node-1' })
      await stage.reach('reboot-1', 'Completed', 600)
    } finally {
      greedy.isDone = true
    }
    await stage.seconds(30)
  },
}

const stories = { ...lockStories, 'beside-greedy-drain': besideGreedyDrain }

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
  it.each(Object.entries<LockStory>(stories))(
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
