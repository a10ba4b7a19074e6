import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { storageNodes } from './testing/fencing-cluster.ts'
import { type FencingFixture, type FencingFixtureOptions, openFencingFixture } from './testing/fencing-fixture.ts'
import type { RemediatorStyle } from './testing/fencing-remediators.ts'

let fixture: FencingFixture
afterEach(() => fixture.close())

const quick: FencingFixtureOptions = {
  notReadySeconds: 60,
  recoveryPgsPerSecond: 8,
  timings: { provisionSeconds: 20, terminateSeconds: 5, rebootSeconds: 30 },
}

async function openGuarded(options: FencingFixtureOptions = {}): Promise<void> {
  fixture = await openFencingFixture({ ...quick, ...options })
  fixture.operate()
  await fixture.until('one machine may go', fixture.isOpen, 60)
}

const phase = () => fixture.phaseOf('reboot')

/** Whoever asked for the node reboots it as soon as he may. */
async function rebootWhenDrained(node: string, withinSeconds = 600): Promise<void> {
  await fixture.until('the request is granted', () => phase() === 'Drained', withinSeconds)
  fixture.reboot(node, 20)
  await fixture.until('the request is completed', () => phase() === 'Completed', 400)
}

describe('a drain and a fence meet', () => {
  it('the drain was first: the sick machine waits until the drained node is back and all data clean, then goes', async () => {
    await openGuarded()
    fixture.sicken('storage-1')
    await fixture.request('reboot', 'storage-2')
    await fixture.until('the budget is closed', () => !fixture.isOpen(), 60)
    await fixture.seconds(90)
    expect({ phase: phase(), taken: fixture.oracle.taken }).toEqual({ phase: 'Drained', taken: [] })
    await rebootWhenDrained('storage-2')
    await fixture.until('the sick machine is taken', () => fixture.oracle.taken.length === 1, 300)
    await fixture.until('one machine may go again', fixture.isOpen, 400)
    expect(await fixture.storageKeys()).toEqual([])
    expect(fixture.oracle.violations).toEqual([])
  })

  it('the fence was first: the drain waits until the machine is replaced and all data clean, then goes', async () => {
    await openGuarded()
    fixture.sicken('storage-1')
    await fixture.until('the sick machine is taken', () => fixture.oracle.taken.length === 1, 90)
    await fixture.request('reboot', 'storage-2')
    await fixture.seconds(40)
    expect(phase()).not.toBe('Drained')
    await rebootWhenDrained('storage-2')
    await fixture.until('one machine may go again', fixture.isOpen, 400)
    expect(await fixture.storageKeys()).toEqual([])
    expect(fixture.oracle.violations).toEqual([])
  })

  it.each<[RemediatorStyle, number]>([
    ['budget', 56],
    ['budget', 59],
    ['budget', 59.9],
    ['budget', 60],
    ['medik8s', 59.9],
    ['medik8s', 60],
    ['cluster-api', 59.9],
  ])(
    'under %s the request comes %d seconds after the machine fell sick: one goes first, and both end',
    async (remediator, after) => {
      await openGuarded({ remediator })
      fixture.sicken('storage-1')
      await fixture.seconds(after)
      await fixture.request('reboot', 'storage-2')
      const isDrained = () => phase() === 'Drained'
      const isTaken = () => fixture.oracle.taken.length > 0
      await fixture.until('one of them goes', () => isDrained() || isTaken(), 120)
      await fixture.seconds(20)
      expect(isDrained() && isTaken()).toBe(false)
      await rebootWhenDrained('storage-2')
      await fixture.until('the sick machine is taken', () => fixture.oracle.taken.length === 1, 300)
      await fixture.until('one machine may go again', fixture.isOpen, 400)
      expect(await fixture.storageKeys()).toEqual([])
      expect(fixture.oracle.violations).toEqual([])
    },
  )
})

describe('an operator whose caches are seconds behind, and whose writes meet those of others', () => {
  it.each<[RemediatorStyle, number]>([
    ['budget', 1],
    ['openshift', 2],
    ['cluster-api', 3],
    ['medik8s', 4],
  ])('takes one at a time under %s', async (remediator, seed) => {
    fixture = await openFencingFixture({ ...quick, storage: 3, compute: 1, remediator, seed })
    fixture.operate({ road: { lagMs: 3_000, conflictRate: 0.2, random: seededRandom(seed).stream('road') } })
    await fixture.until('one machine may go', fixture.isOpen, 180)
    fixture.sicken(...storageNodes(3), 'compute-1')
    await fixture.until('all were taken', () => fixture.oracle.taken.length === 3, 1_200)
    await fixture.until('one machine may go again', fixture.isOpen, 400)
    expect(fixture.oracle.violations).toEqual([])
  })
})
