import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { ClusterAutoscaler } from '@cofferdam/simulator/world/tools/cluster-autoscaler.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { askExplain } from './testing/ask-commands.ts'
import type { LockFixture } from './testing/lock-fixture.ts'
import { marksOn } from './testing/scale-down-marks.ts'
import { autoscale, openBusyNodes } from './testing/under-cluster-autoscaler.ts'

let fixture: LockFixture
let autoscaler: ClusterAutoscaler
beforeEach(async () => {
  fixture = await openBusyNodes()
  autoscaler = autoscale(fixture, { threshold: 0.2 })
})
afterEach(async () => {
  autoscaler.stop()
  await fixture.close()
})

it('without its marks a node that was drained for a reboot is scaled down, and its disks are gone', async () => {
  fixture.operate({ without: ['autoscalers'] })
  await fixture.request('reboot-1', { nodeName: 'node-2' })
  await fixture.reach('reboot-1', 'Drained')
  await fixture.until('it is scaled down', () => autoscaler.removed().includes('node-2'), 200)
  expect(fixture.views.of(nodes).get('node-2')).toBeUndefined()
})

it('a node that was drained for a reboot stays however long it is empty, and is an ordinary node when it is back', async () => {
  fixture.operate()
  await fixture.request('reboot-1', { nodeName: 'node-2' })
  await fixture.reach('reboot-1', 'Drained')
  expect(fixture.podsOn('node-2')).toEqual([])
  expect(await marksOn(fixture, 'node-2')).toEqual([
    'cluster-autoscaler.kubernetes.io/scale-down-disabled',
    'cofferdam.io/kept-from-scale-down',
    'karpenter.sh/do-not-disrupt',
  ])
  await fixture.seconds(300)
  const { answer } = await askExplain(fixture, 'node/node-2')
  expect(answer).toMatchObject({ autoscalers: { keptFor: ['nodedisruption/reboot-1'], missing: [] } })

  fixture.world.kubelet.reboot('node-2', 60)
  await fixture.reach('reboot-1', 'Completed')
  await fixture.seconds(2)
  expect(await marksOn(fixture, 'node-2')).toEqual([])
  expect(autoscaler.removed()).toEqual([])
  await fixture.until('it is still without use', () => autoscaler.removed().includes('node-2'), 200)
})

it('a mark that the administrator had set is there after the reboot', async () => {
  const annotations = { 'cluster-autoscaler.kubernetes.io/scale-down-disabled': 'true' }
  await fixture.api.patch(nodes, { name: 'node-2' }, { type: 'merge', body: { metadata: { annotations } } })
  fixture.operate()
  fixture.rebootForSeconds(30)
  await fixture.request('reboot-1', { nodeName: 'node-2' })
  await fixture.reach('reboot-1', 'Completed')
  await fixture.seconds(2)
  expect(await marksOn(fixture, 'node-2')).toEqual(['cluster-autoscaler.kubernetes.io/scale-down-disabled'])
})
