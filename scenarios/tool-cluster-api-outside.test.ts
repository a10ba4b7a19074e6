import { afterEach, expect, it } from 'vitest'
import { type OutsideCluster, openOutsideCluster } from './testing/outside-cluster.ts'

let cluster: OutsideCluster
afterEach(() => cluster.close())

it('a drain timeout bypasses every budget: the second machine goes with its OSD, and an event on the Node says so', async () => {
  cluster = await openOutsideCluster()
  cluster.operate()
  await cluster.seconds(30)
  cluster.deleteOutside(['storage-1', 'storage-2'], { drainTimeoutSeconds: 300 })
  await cluster.until('both are gone', () => !cluster.isThere('storage-1') && !cluster.isThere('storage-2'), 600)
  await cluster.seconds(30)
  const [taken] = cluster.oracle.taken
  expect(cluster.oracle.violations.join()).toContain(`fell below its floor when ${taken} was taken`)
  const told = (await cluster.toldAll()).filter((line) => line.startsWith('NodeGoneWithPods'))
  expect(told).toEqual([
    expect.stringContaining(`${taken} was deleted with pods on it that were not drained: rook-ceph/`),
  ])
})
