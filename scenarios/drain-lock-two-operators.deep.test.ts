import { expect, it } from 'vitest'
import { openLockFixture } from './testing/lock-fixture.ts'
import { lockScenarios } from './testing/lock-stories.ts'

const { seed } = lockScenarios['skip-drain-reboot']

/** The leader stands still after so many writes; another takes the lead; then the first goes on, and still believes it leads. */
async function tell(writes: number) {
  const fixture = await openLockFixture()
  try {
    await seed(fixture)
    const first = fixture.operate({ identity: 'first' })
    await fixture.seconds(5)
    const second = fixture.operate({ identity: 'second' })
    fixture.rebootForSeconds(45)
    await fixture.seconds(5)
    first.freezeAfter(writes)
    await fixture.request('reboot-1', { nodeName: 'node-1' })
    const whatComes = () => first.isFrozen() || fixture.phaseOf('reboot-1') === 'Completed'
    await fixture.until('the first stands still, or all is done', whatComes)
    const hasFrozen = first.isFrozen()
    await fixture.seconds(hasFrozen ? 25 : 0)
    const holders = [...new Set(fixture.ledger().entries.map(({ holder }) => holder.split(' ')[0]))]
    first.thaw()
    await fixture.reach('reboot-1', 'Completed', 300)
    await fixture.seconds(10)
    return {
      hasFrozen,
      holders,
      outcome: {
        budgets: fixture.budgets(),
        held: fixture.heldKeys(),
        isCordoned: fixture.isCordoned('node-1'),
        violations: fixture.oracle.violations,
        firstHasEnded: first.hasEnded() || !hasFrozen,
        secondLeads: !second.hasEnded(),
      },
    }
  } finally {
    await fixture.close()
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
})
