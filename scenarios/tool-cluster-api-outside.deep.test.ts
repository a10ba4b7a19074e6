import { afterEach, expect, it } from 'vitest'
import { type OutsideCluster, openOutsideCluster } from './testing/outside-cluster.ts'

let cluster: OutsideCluster
afterEach(() => cluster.close())

it('without a drain timeout two machines that go at once wait for their budgets: one failure domain, then the other, though the operator dies', async () => {
  cluster = await openOutsideCluster()
  const operator = cluster.operate({ isReplaced: true })
  await cluster.seconds(30)
  cluster.deleteOutside(['storage-1', 'storage-2'])
  await cluster.seconds(2)
  operator.kill()
  const isAnyGone = () => ['storage-1', 'storage-2'].some((name) => !cluster.isThere(name))
  await cluster.until('one is gone', isAnyGone, 300)
  await cluster.seconds(300)
  expect(['storage-1', 'storage-2'].filter(cluster.isThere)).toHaveLength(1)
  await cluster.until('both are gone', () => !cluster.isThere('storage-1') && !cluster.isThere('storage-2'), 3600)
  expect(cluster.oracle.taken).toEqual([])
  expect(cluster.oracle.violations).toEqual([])
  expect((await cluster.toldAll()).filter((line) => line.startsWith('NodeGoneWithPods'))).toEqual([])
})
