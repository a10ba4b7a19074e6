import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { afterEach, describe, it } from 'vitest'
import { openThreeRacks, type RunningDrains, scattered, type ThreeRacks, upTo } from './testing/three-racks.ts'

let racks: ThreeRacks
afterEach(() => racks.fixture.close())

it.each([0, 2, 4, 6, 8])(
  'an operator that is killed after %i more writes, in the middle of two drains, leaves them so that both end',
  async (writes) => {
    racks = await openThreeRacks(writes + 1)
    const random = seededRandom(300 + writes)
    racks.fixture.killOperatorAfter(writes)
    const drains: RunningDrains = new Map([
      ['node-left', racks.fixture.drain('node-left', scattered(random.stream('node-left')))],
      ['node-middle', racks.fixture.drain('node-middle', scattered(random.stream('node-middle')))],
    ])
    await racks.fixture.seconds(20)
    await racks.fixture.stopOperator()
    racks.fixture.startOperator()
    await racks.fixture.seconds(10)
    // Kubectl gives up on a pod under two budgets, and a killed operator may leave one so: that drain is begun anew.
    for (const [node, drain] of drains) {
      if (drain.isOver() && racks.daemonsOn(node).length > 0)
        drains.set(node, racks.fixture.drain(node, scattered(random.stream(node))))
    }
    await racks.untilAllEnd(drains)
  },
)

describe('drains of several racks at the same moment, in any order of their evictions, all end', () => {
  it.each([1, 2, 3, 4, 5, 6])('two of them, order %i', async (seed) => {
    racks = await openThreeRacks(seed)
    const random = seededRandom(seed)
    const drains = new Map([['node-left', racks.fixture.drain('node-left', scattered(random.stream('node-left')))]])
    await racks.fixture.clock.advance(upTo(random, 60))
    drains.set('node-middle', racks.fixture.drain('node-middle', scattered(random.stream('node-middle'))))
    await racks.untilAllEnd(drains)
  })

  it.each([1, 2, 3, 4])('three of them, so that no node is left for a mgr, order %i', async (seed) => {
    racks = await openThreeRacks(seed)
    const random = seededRandom(100 + seed)
    const drains = new Map([['node-right', racks.fixture.drain('node-right', scattered(random.stream('node-right')))]])
    await racks.fixture.clock.advance(upTo(random, 200))
    drains.set('node-left', racks.fixture.drain('node-left', scattered(random.stream('node-left'))))
    await racks.fixture.clock.advance(upTo(random, 200))
    drains.set('node-middle', racks.fixture.drain('node-middle', scattered(random.stream('node-middle'))))
    await racks.untilAllEnd(drains)
  })

  it.each([1, 2, 3])('one by kubectl, one by a request of ours and one more by kubectl, order %i', async (seed) => {
    racks = await openThreeRacks(seed)
    const random = seededRandom(200 + seed)
    const name = 'reboot-left'
    await racks.fixture.api.create(nodeDisruptions, {
      apiVersion: 'cofferdam.io/v1alpha1',
      kind: 'NodeDisruption',
      metadata: { name },
      spec: { nodeName: 'node-left', intent: 'Reboot', honourSkipDrain: false },
    })
    const phase = async () => (await racks.fixture.api.get(nodeDisruptions, { name })).status?.phase
    const drains: RunningDrains = new Map([['node-left', { isOver: async () => (await phase()) === 'Drained' }]])
    await racks.fixture.clock.advance(upTo(random, 500))
    drains.set('node-middle', racks.fixture.drain('node-middle', scattered(random.stream('node-middle'))))
    await racks.fixture.clock.advance(upTo(random, 500))
    drains.set('node-right', racks.fixture.drain('node-right', scattered(random.stream('node-right'))))
    await racks.untilAllEnd(drains)
    await racks.fixture.until('the request is over', async () => (await phase()) === 'Completed')
  })
})
