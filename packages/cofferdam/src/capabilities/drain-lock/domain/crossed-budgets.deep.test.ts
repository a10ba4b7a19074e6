import { describe, expect, it } from 'vitest'
import { type AppPlan, SmallCluster } from './testing/small-cluster.ts'

const app = (stays: AppPlan['stays']): AppPlan => ({ stays, replicas: 3, maxUnavailable: 1 })

/** Every order in which two drainers can take `length` turns. */
function orders(length: number): number[][] {
  return [...Array(2 ** length).keys()].map((bits) => [...Array(length).keys()].map((turn) => (bits >> turn) & 1))
}

describe.each<[string, AppPlan[]]>([
  ['both applications stay on both nodes', [app('all'), app('all')]],
  ['each node keeps what the other one evicts', [app('even'), app('odd')]],
])('two nodes are drained at once, and %s', (_sentence, apps) => {
  it('in whatever order they take their first turns, both reboot and no application loses more than it may', () => {
    for (const order of orders(9)) {
      const cluster = new SmallCluster(3, apps, [0, 1])
      for (const turn of order) cluster.look(turn)
      for (let round = 0; round < 40; round += 1) {
        cluster.look(0)
        cluster.look(1)
        cluster.count()
        cluster.replacePods()
        cluster.reboot(round)
        expect(cluster.harmed()).toEqual([])
        if (round % 3 === 2) cluster.boot()
        cluster.startPods()
        cluster.nowMs += 5000
      }
      expect(cluster.requests.map(({ record }) => [record.phase, record.hasFallenBack])).toEqual([
        ['Completed', false],
        ['Completed', false],
      ])
    }
  })
})
