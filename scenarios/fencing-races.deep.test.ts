import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { storageNodes } from './testing/fencing-cluster.ts'
import type { RemediatorStyle } from './testing/fencing-remediators.ts'
import { type FencingStage, type FencingStageOptions, openFencingStage } from './testing/fencing-stage.ts'

let stage: FencingStage
afterEach(() => stage.close())

const quick: FencingStageOptions = {
  notReadySeconds: 60,
  recoveryPgsPerSecond: 8,
  timings: { provisionSeconds: 20, terminateSeconds: 5, rebootSeconds: 30 },
}

async function openGuarded(options: FencingStageOptions = {}): Promise<void> {
  stage = await openFencingStage({ ...quick, ...options })
  stage.operate()
  await stage.until('one machine may go', stage.isOpen, 60)
}

const phase = () => stage.phaseOf('reboot')

/** Whoever asked for the node reboots it as soon as he may. */
async function rebootWhenDrained(node: string, withinSeconds = 600): Promise<void> {
  await stage.until('the request is granted', () => phase() === 'Drained', withinSeconds)
  stage.reboot(node, 20)
  await stage.until('the request is completed', () => phase() === 'Completed', 400)
}

describe('a drain and a fence meet', () => {
  it('the drain was first: the sick machine waits until the drained node is back and all data clean, then goes', async () => {
    await openGuarded()
    stage.sicken('storage-1')
    await stage.request('reboot', 'storage-2')
    await stage.until('the budget is closed', () => !stage.isOpen(), 60)
    await stage.seconds(90)
    expect({ phase: phase(), taken: stage.oracle.taken }).toEqual({ phase: 'Drained', taken: [] })
    await rebootWhenDrained('storage-2')
    await stage.until('the sick machine is taken', () => stage.oracle.taken.length === 1, 300)
    await stage.until('one machine may go again', stage.isOpen, 400)
    expect(await stage.storageKeys()).toEqual([])
    expect(stage.oracle.violations).toEqual([])
  })

  it('the fence was first: the drain waits until the machine is replaced and all data clean, then goes', async () => {
    await openGuarded()
    stage.sicken('storage-1')
    await stage.until('the sick machine is taken', () => stage.oracle.taken.length === 1, 90)
    await stage.request('reboot', 'storage-2')
    await stage.seconds(40)
    expect(phase()).not.toBe('Drained')
    await rebootWhenDrained('storage-2')
    await stage.until('one machine may go again', stage.isOpen, 400)
    expect(await stage.storageKeys()).toEqual([])
    expect(stage.oracle.violations).toEqual([])
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
      stage.sicken('storage-1')
      await stage.seconds(after)
      await stage.request('reboot', 'storage-2')
      const isDrained = () => phase() === 'Drained'
      const isTaken = () => stage.oracle.taken.length > 0
      await stage.until('one of them goes', () => isDrained() || isTaken(), 120)
      await stage.seconds(20)
      expect(isDrained() && isTaken()).toBe(false)
      await rebootWhenDrained('storage-2')
      await stage.until('the sick machine is taken', () => stage.oracle.taken.length === 1, 300)
      await stage.until('one machine may go again', stage.isOpen, 400)
      expect(await stage.storageKeys()).toEqual([])
      expect(stage.oracle.violations).toEqual([])
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
    stage = await openFencingStage({ ...quick, storage: 3, compute: 1, remediator, seed })
    stage.operate({ road: { lagMs: 3_000, conflictRate: 0.2, random: seededRandom(seed).stream('road') } })
    await stage.until('one machine may go', stage.isOpen, 180)
    stage.sicken(...storageNodes(3), 'compute-1')
    await stage.until('all were taken', () => stage.oracle.taken.length === 3, 1_200)
    await stage.until('one machine may go again', stage.isOpen, 400)
    expect(stage.oracle.violations).toEqual([])
  })
})
