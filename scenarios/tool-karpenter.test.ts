import { afterEach, expect, it } from 'vitest'
import { marksOn } from './testing/scale-down-marks.ts'
import { everyPodLeaves, openUnderKarpenter, type UnderKarpenter } from './testing/under-karpenter.ts'

let fixture: UnderKarpenter
afterEach(() => fixture.close())

it('without its marks a node that was drained for a reboot is consolidated within a minute', async () => {
  fixture = await openUnderKarpenter()
  fixture.operate({ without: ['autoscalers'] })
  await fixture.request('reboot-1', everyPodLeaves)
  await fixture.reach('reboot-1', 'Drained')
  await fixture.until('it is consolidated', fixture.isGone, 60)
})

it('a node that was drained for a reboot stays although Karpenter takes empty nodes at once: it is marked before it is empty', async () => {
  fixture = await openUnderKarpenter()
  fixture.operate()
  await fixture.request('reboot-1', everyPodLeaves)
  await fixture.until('it is being drained', () => fixture.phaseOf('reboot-1') === 'Draining')
  expect(await marksOn(fixture, 'node-2')).toContain('karpenter.sh/do-not-disrupt')
  await fixture.reach('reboot-1', 'Drained')
  expect(fixture.podsOn('node-2')).toEqual([])
  await fixture.seconds(200)
  fixture.world.kubelet.reboot('node-2', 60)
  await fixture.reach('reboot-1', 'Completed')
  expect([fixture.karpenter.removed(), fixture.oracle.violations]).toEqual([[], []])
  await fixture.seconds(2)
  expect(await marksOn(fixture, 'node-2')).toEqual([])
})

it('a node that is removed for good is not marked: Karpenter may have it', async () => {
  fixture = await openUnderKarpenter()
  fixture.operate()
  await fixture.request('removal-1', { nodeName: 'node-2', intent: 'Remove' })
  await fixture.until('Karpenter has removed it', fixture.isGone, 120)
  await fixture.reach('removal-1', 'Completed')
})
