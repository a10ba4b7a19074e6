import { describe, expect, it } from 'vitest'
import type { StagedOperator } from './testing/lock-fixture.ts'
import { openLonghornFixture } from './testing/longhorn-fixture.ts'

const mib = 1024 ** 2
const data = { filled: 0.25, sizeBytes: 256 * mib }

/** A drain and an uncordon, during which something befalls the operator after so many writes. */
async function tell(befall: (operator: StagedOperator) => void, isReplaced = false) {
  const fixture = await openLonghornFixture({
    volumes: [
      { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], ...data },
      { name: 'solo', numberOfReplicas: 1, placedOn: ['node-1'], ...data },
      { name: 'idle', numberOfReplicas: 2, placedOn: ['node-1', 'node-3'], ...data },
    ],
    timings: { rebuildBytesPerSecond: 16 * mib },
    blocks: { count: 16, bytes: 128 },
  })
  try {
    const operator = fixture.operate({ isReplaced })
    await fixture.use('db', 'node-2', 'node-3')
    await fixture.use('solo', 'node-1', 'node-2')
    await fixture.seconds(5)
    befall(operator)
    const drain = fixture.drain('node-1')
    let wasFrozen = false
    const thaw = async () => {
      if (!operator.isFrozen()) return
      wasFrozen = true
      await fixture.seconds(20)
      operator.thaw()
    }
    await fixture.until(
      'the drain is over',
      async () => {
        await thaw()
        return drain.isOver()
      },
      300,
    )
    await fixture.cordon('node-1', false)
    await fixture.seconds(10)
    await thaw()
    await fixture.until(
      'all is quiet',
      () => fixture.guarded().length === 3 && fixture.volume('idle').status?.state === 'detached',
      90,
    )
    await fixture.seconds(5)
    return {
      wasHit: operator.isDead() || wasFrozen,
      outcome: {
        copies: ['db', 'solo', 'idle'].map((volume) => fixture.placesOf(volume).length),
        leftBehind: ['db', 'solo', 'idle'].filter((volume) => fixture.placesOf(volume).includes('node-1')),
        isIntact: fixture.isIntact('db', 'solo', 'idle'),
        flags: fixture.flags(),
        autoEvicting: fixture.autoEvicting(),
        guarded: fixture.guarded(),
        wasDegraded: fixture.oracle.history.some(({ robustness }) => robustness === 'degraded'),
        violations: fixture.oracle.violations,
      },
    }
  } catch (error) {
    return { wasHit: true, outcome: { broke: (error as Error).message } }
  } finally {
    await fixture.close()
  }
}

const whole = {
  copies: [2, 1, 2],
  leftBehind: [],
  isIntact: true,
  flags: [],
  autoEvicting: [],
  guarded: ['node-1', 'node-2', 'node-3'],
  wasDegraded: false,
  violations: [],
}

describe('a drain comes to the same end', () => {
  it('when the operator is killed, after whichever write, and another comes ten seconds later', async () => {
    const differing: unknown[] = []
    let writes = 0
    for (; writes < 80; writes += 1) {
      const { wasHit, outcome } = await tell((operator) => operator.killAfter(writes), true)
      if (JSON.stringify(outcome) !== JSON.stringify(whole)) differing.push({ writes, outcome })
      if (!wasHit) break
    }
    expect(differing).toEqual([])
    expect(writes).toBeGreaterThan(10)
  }, 120_000)

  it('when the operator stands still for twenty seconds after whichever write, and then goes on with what it knew', async () => {
    const differing: unknown[] = []
    let writes = 0
    for (; writes < 80; writes += 1) {
      const { wasHit, outcome } = await tell((operator) => operator.freezeAfter(writes))
      if (JSON.stringify(outcome) !== JSON.stringify(whole)) differing.push({ writes, outcome })
      if (!wasHit) break
    }
    expect(differing).toEqual([])
    expect(writes).toBeGreaterThan(5)
  }, 120_000)
})
