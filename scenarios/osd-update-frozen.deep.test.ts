import { describe, expect, it } from 'vitest'
import type { StagedOperator } from './testing/lock-fixture.ts'
import { openUpdateFixture } from './testing/osd-update-fixture.ts'

const next = 'v19.2.4'

/** A whole update, in which something befalls the operator after so many writes. */
async function tell(befall: (operator: StagedOperator) => void) {
  const fixture = await openUpdateFixture({
    storage: 4,
    pgs: 8,
    readySeconds: 4,
    annotations: { 'cofferdam.io/update-max-in-parallel': '3' },
  })
  try {
    const operator = fixture.operate({ isReplaced: true })
    await fixture.seconds(20)
    befall(operator)
    await fixture.want(next)
    let wasFrozen = false
    const isOver = () => {
      if (operator.isFrozen() && !wasFrozen) {
        wasFrozen = true
        fixture.clock.after(10_000, () => operator.thaw())
      }
      return fixture.isUpdated(next) && fixture.holders().length === 0
    }
    await fixture.until('all are updated', isOver, 900)
    await fixture.seconds(30)
    const { violations, below, started } = fixture.oracle
    const { failed = [], frozen } = JSON.parse(fixture.record()?.data?.['record'] ?? '{}')
    const twice = started.filter((start, at) => started.indexOf(start) !== at)
    return {
      wasHit: wasFrozen,
      outcome: { versions: fixture.versions(), holders: fixture.holders(), violations, below, twice, failed, frozen },
    }
  } catch (error) {
    return { wasHit: true, outcome: { broke: (error as Error).message } }
  } finally {
    await fixture.close()
  }
}

const whole = { versions: next, holders: [], violations: [], below: [], twice: [], failed: [], frozen: undefined }

/** After every so many writes: all of them would take minutes. That a process dies is told at the level of the controller, for each write. */
async function tellAll(first: number, every: number, befall: (operator: StagedOperator, writes: number) => void) {
  const differing: unknown[] = []
  let writes = first
  for (; writes < 400; writes += every) {
    const { wasHit, outcome } = await tell((operator) => befall(operator, writes))
    if (JSON.stringify(outcome) !== JSON.stringify(whole)) differing.push({ writes, outcome })
    if (!wasHit) break
  }
  return { differing, writes }
}

describe('a whole update comes to the same end, each OSD restarted once', () => {
  it('when the operator stands still for ten seconds after any eleventh write, and goes on with what it knew', async () => {
    const { differing, writes } = await tellAll(3, 11, (operator, count) => operator.freezeAfter(count))
    expect(differing).toEqual([])
    expect(writes).toBeGreaterThan(20)
  })
})
