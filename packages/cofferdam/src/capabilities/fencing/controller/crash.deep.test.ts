import { type MachineDisruptionBudget, machineDisruptionBudgets } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { describe, expect, it } from 'vitest'
import { stepOf } from '../../../../../../test/property-runs.ts'
import type { Operator } from '../../../operator/operator.ts'
import { dyingAfter } from '../../../operator/testing/dying-after.ts'
import { disruptionLedgers, ledgerName } from '../../../shared/kinds/disruption-ledger.ts'
import { type FencingFixture, openFencingFixture } from '../testing/fencing-fixture.ts'

const controllers = ['ceph-drain', 'fencing', 'disruption-ledger'] as const

/** Every moment at which a remediator may take a machine, with what it would find then. */
function watchOpenings(fixture: FencingFixture) {
  const found: string[] = []
  const stop = new AbortController()
  const watching = (async () => {
    for await (const event of fixture.api.watch(machineDisruptionBudgets, { signal: stop.signal })) {
      if (event.type === 'BOOKMARK' || event.type === 'DELETED' || !isOpen(event.object)) continue
      const { metadata, status } = event.object
      const fences = metadata.annotations?.['cofferdam.io/fences'] ?? 'no fences'
      const gone = Object.keys(status?.disruptedMachines ?? {}).join(',')
      found.push(`${(await fixture.labelled()).length} labelled, ${fences}${gone}`)
    }
  })()
  return {
    async stop(): Promise<string[]> {
      stop.abort()
      await watching
      return [...new Set(found)]
    },
  }
}

function isOpen({ metadata, status }: MachineDisruptionBudget): boolean {
  return (status?.disruptionsAllowed ?? 0) > 0 && status?.observedGeneration === metadata.generation
}

async function end(fixture: FencingFixture, operator: Operator): Promise<void> {
  const stopped = operator.stop()
  await fixture.seconds(11)
  await stopped
}

async function storageEntries(fixture: FencingFixture): Promise<number> {
  const { status } = await fixture.api.get(disruptionLedgers, { name: ledgerName })
  return (status?.entries ?? []).filter(({ requestId }) => requestId.startsWith('fencing/')).length
}

/** Tells the story with a process that dies after so many writes, until it lives to the end: every second number, and each in `npm run test:every`. */
async function withEveryDeath(
  tell: (fixture: FencingFixture, mortal: () => Operator) => Promise<void>,
): Promise<number> {
  for (let writes = 0; writes < 80; writes += stepOf(2)) {
    const fixture = await openFencingFixture()
    const line = dyingAfter(fixture.api, writes)
    await tell(fixture, () => fixture.operate({ api: line.api, controllers }))
    expect(await fixture.budgetLine()).toBe('1: 1 of 3, 3 healthy')
    expect((await fixture.budget()).metadata.annotations).not.toHaveProperty('cofferdam.io/fences')
    expect(await storageEntries(fixture)).toBe(0)
    await fixture.close()
    if (!line.died()) return writes
  }
  throw new Error('it never lived')
}

describe('an operator that dies after any of its writes', () => {
  it('at its first look opens no budget over machines without labels, and the next one ends what it began', async () => {
    const writes = await withEveryDeath(async (fixture, mortal) => {
      const openings = watchOpenings(fixture)
      const first = mortal()
      await fixture.seconds(20)
      await end(fixture, first)
      fixture.operate({ controllers })
      await fixture.seconds(60)
      expect(await openings.stop()).toEqual(['3 labelled, no fences'])
    })
    expect(writes).toBeGreaterThan(6)
  })

  it('on the way of a fence opens no budget before it is over, and the next one ends it', async () => {
    const writes = await withEveryDeath(async (fixture, mortal) => {
      const calm = fixture.operate({ controllers })
      await fixture.seconds(30)
      await end(fixture, calm)
      expect(await fixture.consume('workers-1')).toBe('taken')
      const openings = watchOpenings(fixture)
      const first = mortal()
      await fixture.seconds(5)
      fixture.world.kubelet.reboot('node-x', 20)
      await fixture.seconds(150)
      await end(fixture, first)
      fixture.operate({ controllers })
      await fixture.seconds(700)
      expect(await openings.stop()).toEqual(['3 labelled, no fences'])
    })
    expect(writes).toBeGreaterThan(8)
  })
})
