import { type MachineDisruptionBudget, machineDisruptionBudgets } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { describe, expect, it } from 'vitest'
import type { Operator } from '../../../operator/operator.ts'
import { dyingAfter } from '../../../operator/testing/dying-after.ts'
import { disruptionLedgers, ledgerName } from '../../../shared/kinds/disruption-ledger.ts'
import { type FencingStage, openFencingStage } from '../testing/fencing-stage.ts'

const controllers = ['ceph-drain', 'fencing', 'disruption-ledger'] as const

/** Every moment at which a remediator may take a machine, with what it would find then. */
function watchOpenings(stage: FencingStage) {
  const found: string[] = []
  const stop = new AbortController()
  const watching = (async () => {
    for await (const event of stage.api.watch(machineDisruptionBudgets, { signal: stop.signal })) {
      if (event.type === 'BOOKMARK' || event.type === 'DELETED' || !isOpen(event.object)) continue
      const { metadata, status } = event.object
      const fences = metadata.annotations?.['cofferdam.io/fences'] ?? 'no fences'
      const gone = Object.keys(status?.disruptedMachines ?? {}).join(',')
      found.push(`${(await stage.labelled()).length} labelled, ${fences}${gone}`)
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

async function end(stage: FencingStage, operator: Operator): Promise<void> {
  const stopped = operator.stop()
  await stage.seconds(11)
  await stopped
}

async function storageEntries(stage: FencingStage): Promise<number> {
  const { status } = await stage.api.get(disruptionLedgers, { name: ledgerName })
  return (status?.entries ?? []).filter(({ requestId }) => requestId.startsWith('fencing/')).length
}

/** Tells the story with a process that dies after each number of writes, until it lives to the end. */
async function withEveryDeath(tell: (stage: FencingStage, mortal: () => Operator) => Promise<void>): Promise<number> {
  for (let writes = 0; writes < 60; writes += 1) {
    const stage = await openFencingStage()
    const line = dyingAfter(stage.api, writes)
    await tell(stage, () => stage.operate({ api: line.api, controllers }))
    expect(await stage.budgetLine()).toBe('1: 1 of 3, 3 healthy')
    expect((await stage.budget()).metadata.annotations).not.toHaveProperty('cofferdam.io/fences')
    expect(await storageEntries(stage)).toBe(0)
    await stage.close()
    if (!line.died()) return writes
  }
  throw new Error('it never lived')
}

describe('an operator that dies after any of its writes', () => {
  it('at its first look opens no budget over machines without labels, and the next one ends what it began', async () => {
    const writes = await withEveryDeath(async (stage, mortal) => {
      const openings = watchOpenings(stage)
      const first = mortal()
      await stage.seconds(20)
      await end(stage, first)
      stage.operate({ controllers })
      await stage.seconds(60)
      expect(await openings.stop()).toEqual(['3 labelled, no fences'])
    })
    expect(writes).toBeGreaterThan(6)
  }, 120_000)

  it('on the way of a fence opens no budget before it is over, and the next one ends it', async () => {
    const writes = await withEveryDeath(async (stage, mortal) => {
      const calm = stage.operate({ controllers })
      await stage.seconds(30)
      await end(stage, calm)
      expect(await stage.consume('workers-1')).toBe('taken')
      const openings = watchOpenings(stage)
      const first = mortal()
      await stage.seconds(5)
      stage.world.kubelet.reboot('node-x', 20)
      await stage.seconds(150)
      await end(stage, first)
      stage.operate({ controllers })
      await stage.seconds(700)
      expect(await openings.stop()).toEqual(['3 labelled, no fences'])
    })
    expect(writes).toBeGreaterThan(8)
  }, 120_000)
})
