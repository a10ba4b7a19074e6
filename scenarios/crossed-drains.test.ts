import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { EvictionPace } from '@cofferdam/simulator/world/tools/kubectl-drain.ts'
import { afterEach, expect, it } from 'vitest'
import { daemonName } from './testing/drainer.ts'
import { openThreeRacks, type RunningDrains, type ThreeRacks } from './testing/three-racks.ts'

let racks: ThreeRacks
afterEach(() => racks.fixture.close())

const first =
  (kind: string): EvictionPace =>
  (pod) =>
    daemonName(pod).startsWith(kind) ? 0 : 50

it('a mon leaves one node and an OSD another at the same instant: one drain takes all, and the other loses nothing and follows', async () => {
  racks = await openThreeRacks(1)
  const underTwo = racks.watchForTwoBudgets()
  const drains: RunningDrains = new Map([
    ['node-left', racks.fixture.drain('node-left', first('mon'))],
    ['node-middle', racks.fixture.drain('node-middle', first('osd'))],
  ])
  const drained = await racks.untilFirstIsDrained(drains)
  const [second = ''] = drains.keys()
  expect(racks.daemonsOn(second).filter((name) => /^(osd|mon)/.test(name))).toHaveLength(3)
  expect([...underTwo]).toEqual([])
  await racks.fixture.uncordon(drained)
  await racks.untilAllEnd(drains)
})

it('a mon was deleted from a cordoned node: that node is the first to be emptied, and the other drain loses nothing meanwhile', async () => {
  racks = await openThreeRacks(1)
  await racks.fixture.cordon('node-left')
  const [mon] = [...racks.fixture.views.of(pods).values()].filter(
    (pod) => pod.spec.nodeName === 'node-left' && pod.metadata.labels?.['app'] === 'rook-ceph-mon',
  )
  await racks.fixture.api.delete(pods, { namespace: 'rook-ceph', name: mon?.metadata.name ?? '' })
  await racks.fixture.until('the other racks are held', () => racks.fixture.osdBudgets().length === 2, 30)
  const drains = new Map([['node-middle', racks.fixture.drain('node-middle')]])
  await racks.fixture.seconds(30)
  expect(racks.daemonsOn('node-middle').filter((name) => /^(osd|mon)/.test(name))).toHaveLength(3)
  drains.set('node-left', racks.fixture.drain('node-left'))
  await racks.untilAllEnd(drains)
})

/**
 * Between the end of an OSD pod and its replacement Kubernetes expects one OSD less, and a budget by `maxUnavailable` has room again: a slow
 * ReplicaSet controller can let an OSD of a second rack go. PGs on both are short of copies then, and no budget can undo it.
 */
it('Kubernetes lets an OSD of each of two racks go: one node is emptied all the same, the other loses nothing more and follows', async () => {
  racks = await openThreeRacks(1)
  await racks.fixture.cordon('node-left')
  await racks.fixture.cordon('node-middle')
  const osds = [...racks.fixture.views.of(pods).values()].filter((pod) => daemonName(pod).startsWith('osd'))
  for (const node of ['node-left', 'node-middle']) {
    const name = osds.find((pod) => pod.spec.nodeName === node)?.metadata.name ?? ''
    await racks.fixture.api.delete(pods, { namespace: 'rook-ceph', name })
  }
  const drains: RunningDrains = new Map([
    ['node-left', racks.fixture.drain('node-left')],
    ['node-middle', racks.fixture.drain('node-middle')],
  ])
  const drained = await racks.untilFirstIsDrained(drains)
  const [second = ''] = drains.keys()
  expect(racks.daemonsOn(second).filter((name) => /^(osd|mon)/.test(name))).toHaveLength(2)
  await racks.fixture.uncordon(drained)
  expect(await racks.untilFirstIsDrained(drains)).toBe(second)
  await racks.fixture.uncordon(second)
  await racks.fixture.until('the default budget is back', racks.isCalm)
})
