import { leases } from '@cofferdam/kubernetes/api/resources.ts'
import { leaseHolder } from '@cofferdam/product/capabilities/fencing/domain/marks.ts'
import { describe, expect, it } from 'vitest'
import type { RemediatorStyle } from './testing/fencing-remediators.ts'
import { type FencingStage, openFencingStage } from './testing/fencing-stage.ts'
import type { StagedOperator } from './testing/lock-stage.ts'

/** Two sick machines are fenced one after the other, and something befalls the operator after so many writes. */
async function tell(remediator: RemediatorStyle, befall: (operator: StagedOperator) => void) {
  const stage = await openFencingStage({
    storage: 3,
    notReadySeconds: 20,
    remediator,
    remedy: 'reboot',
    recoveryPgsPerSecond: 16,
    timings: { rebootSeconds: 25 },
    truthEvery: 4,
  })
  try {
    const operator = stage.operate({ isReplaced: true })
    await stage.until('one machine may go', stage.isOpen, 60)
    befall(operator)
    let wasFrozen = false
    const reach = (what: string, holds: () => boolean | Promise<boolean>, seconds: number) =>
      stage.until(
        what,
        async () => {
          if (operator.isFrozen()) {
            wasFrozen = true
            await stage.seconds(10)
            operator.thaw()
          }
          return holds()
        },
        seconds,
      )
    stage.sicken('storage-1', 'storage-2')
    await reach('both were rebooted', () => stage.oracle.taken.length >= 2, 500)
    const isOver = async () => stage.budget() === whole.budget && (await stage.storageKeys()).length === 0
    await reach('all is as before', isOver, 300)
    await stage.seconds(5)
    return { wasHit: operator.isDead() || wasFrozen, outcome: await outcomeOf(stage) }
  } catch (error) {
    return { wasHit: true, outcome: { broke: (error as Error).message } }
  } finally {
    await stage.close()
  }
}

async function outcomeOf(stage: FencingStage) {
  return {
    taken: [...stage.oracle.taken].sort(),
    violations: stage.oracle.violations,
    budget: stage.budget(),
    annotations: Object.keys(stage.budgetObject()?.metadata.annotations ?? {}).filter((key) => key.includes('fences')),
    labelled: stage.labelled(),
    keys: await stage.storageKeys(),
    leases: [...stage.views.of(leases).values()]
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

/** After every sixteenth write, from another one on in each of the tests: all of them would take minutes. */
async function tellAll(
  style: RemediatorStyle,
  first: number,
  befall: (operator: StagedOperator, writes: number) => void,
) {
  const differing: unknown[] = []
  let writes = first
  for (; writes < 120; writes += 16) {
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
  }, 120_000)

  it('when the operator stands still for ten seconds in between, and goes on with what it knew', async () => {
    const { differing, writes } = await tellAll(style, first + 5, (operator, count) => operator.freezeAfter(count))
    expect(differing).toEqual([])
    expect(writes).toBeGreaterThan(15)
  }, 120_000)
})
