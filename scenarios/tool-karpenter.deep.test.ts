import { nodeClaims } from '@cofferdam/kubernetes/api/kinds/karpenter.ts'
import { afterEach, expect, it } from 'vitest'
import { askExplain, askStatus } from './testing/ask-commands.ts'
import { everyPodLeaves, openUnderKarpenter, type UnderKarpenter } from './testing/under-karpenter.ts'

let fixture: UnderKarpenter
afterEach(() => fixture.close())

const deleteClaim = () => fixture.api.delete(nodeClaims, { name: 'claim-node-2' })
const aTime = expect.stringMatching(/Z$/)

it('its own drain waits for the budget that a reboot elsewhere holds, and goes on when that is over', async () => {
  fixture = await openUnderKarpenter()
  fixture.operate()
  await fixture.request('reboot-1', { nodeName: 'node-1' })
  await fixture.reach('reboot-1', 'Drained')
  await deleteClaim()
  fixture.world.kubelet.powerOff('node-1')
  await fixture.seconds(300)
  expect([fixture.isGone(), fixture.karpenter.deleted(), fixture.oracle.violations]).toEqual([false, [], []])
  fixture.world.kubelet.powerOn('node-1')
  await fixture.until('it is gone', fixture.isGone, 120)
  expect(fixture.karpenter.deleted()).toEqual([])
})

it('a grace period that ends deletes the pod that a budget holds: Event, explain and status say when, before it does', async () => {
  fixture = await openUnderKarpenter({ terminationGracePeriod: '10m' })
  const { karpenter } = fixture
  fixture.operate()
  await fixture.request('reboot-1', { nodeName: 'node-1' })
  await fixture.reach('reboot-1', 'Drained')
  const before = await askExplain(fixture, 'node/node-2')
  expect(before.answer).toMatchObject({ autoscalers: { karpenter: { pool: 'general', gracePeriod: '10m' } } })
  await deleteClaim()
  await fixture.seconds(5)
  expect(await fixture.told('node-2')).toEqual(['ForcedEndAhead'])
  const ahead = { node: 'node-2', karpenter: { isLeaving: true, podsDeletedBy: aTime } }
  expect((await askExplain(fixture, 'node/node-2')).answer).toMatchObject({ autoscalers: ahead })
  const { autoscalers } = (await askStatus(fixture)) as unknown as { readonly autoscalers: readonly object[] }
  expect(autoscalers).toContainEqual(expect.objectContaining({ node: 'node-2' }))
  await fixture.seconds(500)
  expect(karpenter.deleted()).toEqual([])
  await fixture.until('the pod is deleted whatever its budget says', () => karpenter.deleted().length === 1, 120)
})

it('a node that expires goes in the middle of its reboot, marked or not: explain has said when', async () => {
  fixture = await openUnderKarpenter({ expireAfter: '10m' })
  fixture.operate()
  await fixture.request('reboot-1', everyPodLeaves)
  await fixture.reach('reboot-1', 'Drained')
  const { answer } = await askExplain(fixture, 'node/node-2')
  expect(answer).toMatchObject({ autoscalers: { missing: [], karpenter: { expires: aTime } } })
  await fixture.until('it has expired', fixture.isGone, 900)
})

it('a node that expires waits for a pod that stays: its budget is held until the reboot is over', async () => {
  fixture = await openUnderKarpenter({ expireAfter: '5m' })
  fixture.operate()
  await fixture.request('reboot-1', { nodeName: 'node-2' })
  await fixture.reach('reboot-1', 'Drained')
  await fixture.seconds(600)
  expect(fixture.isGone()).toBe(false)
  fixture.world.kubelet.reboot('node-2', 60)
  await fixture.until('it is gone after its reboot', fixture.isGone, 300)
})
