import { expect, it } from 'vitest'
import { openLockStage } from './testing/lock-stage.ts'
import { lockStories } from './testing/lock-stories.ts'

const { seed } = lockStories['skip-drain-reboot']

/** The leader stands still after so many writes; another takes the lead; then the first goes on, and still believes it leads. */
async function tell(writes: number) {
  const stage = await openLockStage()
  try {
    await seed(stage)
    const first = stage.operate({ identity: 'first' })
    await stage.seconds(5)
    const second = stage.operate({ identity: 'second' })
    stage.rebootForSeconds(45)
    await stage.seconds(5)
    first.freezeAfter(writes)
    await stage.request('reboot-1', { nodeName: 'node-1' })
    const whatComes = () => first.isFrozen() || stage.phaseOf('reboot-1') === 'Completed'
    await stage.until('the first stands still, or all is done', whatComes)
    const hasFrozen = first.isFrozen()
    await stage.seconds(hasFrozen ? 25 : 0)
    const holders = [...new Set(stage.ledger().entries.map(({ holder }) => holder.split(' ')[0]))]
    first.thaw()
    await stage.reach('reboot-1', 'Completed', 300)
    await stage.seconds(10)
    return {
      hasFrozen,
      holders,
      outcome: {
        budgets: stage.budgets(),
        held: stage.heldKeys(),
        isCordoned: stage.isCordoned('node-1'),
        violations: stage.oracle.violations,
        firstHasEnded: first.hasEnded() || !hasFrozen,
        secondLeads: !second.hasEnded(),
      },
    }
  } finally {
    await stage.close()
  }
}

const whole = {
  budgets: ['shop/db (1): 1 of 3', 'shop/web (1): 1 of 2'],
  held: [],
  isCordoned: false,
  violations: [],
  firstHasEnded: true,
  secondLeads: true,
}

it('two operators that both believe they lead do no harm, at whatever write the first one stood still', async () => {
  const differing: unknown[] = []
  const takenOver: number[] = []
  for (let writes = 0; ; writes += 1) {
    const { hasFrozen, holders, outcome } = await tell(writes)
    if (JSON.stringify(outcome) !== JSON.stringify(whole)) differing.push({ writes, outcome })
    if (holders.includes('second')) takenOver.push(writes)
    if (!hasFrozen) break
  }
  expect(differing).toEqual([])
  expect(takenOver.length).toBeGreaterThan(10)
}, 120_000)
