import { leases } from '@cofferdam/kubernetes/api/resources.ts'
import { leaseHolder } from '@cofferdam/product/capabilities/fencing/domain/marks.ts'
import { describe, expect, it } from 'vitest'
import { stepOf } from '../test/property-runs.ts'
import { type FencingFixture, openFencingFixture } from './testing/fencing-fixture.ts'
import type { RemediatorStyle } from './testing/fencing-remediators.ts'
import type { StagedOperator } from './testing/lock-fixture.ts'

/** Two sick machines are fenced one after the other, and something befalls the operator after so many writes. */
async function tell(remediator: RemediatorStyle, befall: (operator: StagedOperator) => void) {
  const fixture = await openFencingFixture({
    storage: 3,
    notReadySeconds: 20,
    remediator,
    remedy: 'reboot',
    recoveryPgsPerSecond: 16,
    timings: { rebootSeconds: 25 },
    truthEvery: 4,
  })
  try {
    const operator = fixture.operate({ isReplaced: true })
    await fixture.until('one machine may go', fixture.isOpen, 60)
    befall(operator)
    let wasFrozen = false
    const reach = (what: string, holds: () => boolean | Promise<boolean>, seconds: number) =>
      fixture.until(
        what,
        async () => {
          if (operator.isFrozen()) {
            wasFrozen = true
            await fixture.seconds(10)
            operator.thaw()
          }
          return holds()
        },
        seconds,
      )
    fixture.sicken('storage-1', 'storage-2')
    await reach('both were rebooted', () => fixture.oracle.taken.length >= 2, 500)
    const isOver = async () => fixture.budget() === whole.budget && (await fixture.storageKeys()).length === 0
    await reach('all is as before', isOver, 300)
    await fixture.seconds(5)
    return { wasHit: operator.isDead() || wasFrozen, outcome: await outcomeOf(fixture) }
  } catch (error) {
    return { wasHit: true, outcome: { broke: (error as Error).message } }
  } finally {
    await fixture.close()
  }
}

async function outcomeOf(fixture: FencingFixture) {
  return {
    taken: [...fixture.oracle.taken].sort(),
    violations: fixture.oracle.violations,
    budget: fixture.budget(),
    annotations: Object.keys(fixture.budgetObject()?.metadata.annotations ?? {}).filter((key) =>
      key.includes('fences'),
    ),
    labelled: fixture.labelled(),
    keys: await fixture.storageKeys(),
    leases: [...fixture.views.of(leases).values()]
      .filter(({ spec }) => spec?.holderIdentity === leaseHolder)
      .map(({ metadata }) => metadata.name),
  }
}

const whole = {
  taken: ['storage-1', 'storage-2'],
  violations: [],
  budget: 'maxUnavailable 1: 1 allowed, 3 of 3 healthy, 2 wanted',
  annotations: [],
  labelled: [1, 2, 3].map((number) => `storage-${number} rook-ceph`),
  keys: [],
  leases: [],
}

/** After every sixteenth write, from another one on in each of the tests: all of them are `npm run test:every`. */
async function tellAll(
  style: RemediatorStyle,
  first: number,
  befall: (operator: StagedOperator, writes: number) => void,
) {
  const differing: unknown[] = []
  let writes = first
  for (; writes < 120; writes += stepOf(16)) {
    const { wasHit, outcome } = await tell(style, (operator) => befall(operator, writes))
    if (JSON.stringify(outcome) !== JSON.stringify(whole)) differing.push({ writes, outcome })
    if (!wasHit) break
  }
  return { differing, writes }
}

const styles: readonly [RemediatorStyle, number][] = [
  ['budget', 0],
  ['medik8s', 3],
]

describe.each(styles)('two fences of %s come to the same end', (style, first) => {
  it('when the operator is killed in between, and another comes ten seconds later', async () => {
    const { differing, writes } = await tellAll(style, first, (operator, count) => operator.killAfter(count))
    expect(differing).toEqual([])
    expect(writes).toBeGreaterThan(15)
  })

  it('when the operator stands still for ten seconds in between, and goes on with what it knew', async () => {
    const { differing, writes } = await tellAll(style, first + 5, (operator, count) => operator.freezeAfter(count))
    expect(differing).toEqual([])
    expect(writes).toBeGreaterThan(15)
  })
})
