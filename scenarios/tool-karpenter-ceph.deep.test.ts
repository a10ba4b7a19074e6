import { readFileSync } from 'node:fs'
import { nodeClaims } from '@cofferdam/kubernetes/api/kinds/karpenter.ts'
import { type Karpenter, startKarpenter } from '@cofferdam/simulator/world/tools/karpenter.ts'
import { seedKarpenter } from '@cofferdam/simulator/world/tools/testing/seed-karpenter.ts'
import { afterEach, expect, it } from 'vitest'
import { type CephFixture, openCephFixture } from './testing/ceph-fixture.ts'

/** Three zones with a node each, and two OSDs on each node. */
const threeZones = readFileSync(new URL('../examples/clusters/ceph-zones.yaml', import.meta.url), 'utf8')

let fixture: CephFixture
let karpenter: Karpenter
afterEach(async () => {
  karpenter.stop()
  const stopped = fixture.stopOperator()
  // Without a quorum Ceph does not answer what it was asked last.
  await fixture.clock.advance(120_000)
  await stopped
  await fixture.close()
})

async function open(terminationGracePeriod?: string): Promise<void> {
  fixture = await openCephFixture(threeZones)
  const { api, clock, views, machines } = fixture
  const seed = { nodes: ['node-a', 'node-b'], consolidateAfter: 'Never' }
  await seedKarpenter(api, { ...seed, ...(terminationGracePeriod === undefined ? {} : { terminationGracePeriod }) })
  karpenter = startKarpenter({ api, clock, views, kubelet: machines })
  fixture.startOperator()
  await fixture.until('the default budget is there', () => fixture.osdBudgets().join() === 'rook-ceph-osd', 30)
  for (const name of ['claim-node-a', 'claim-node-b']) await api.delete(nodeClaims, { name })
}

const withOsds = () => ['node-a', 'node-b', 'node-c'].filter((node) => fixture.osdsOn(node).length === 2)

it('two nodes in different zones are deleted at once: one is emptied of its OSDs, the other keeps all of them', async () => {
  await open()
  await fixture.seconds(300)
  expect(withOsds()).toHaveLength(2)
  expect(karpenter.deleted()).toEqual([])
  expect(fixture.oracle.violations).toEqual([])
})

it('with a grace period both lose their OSDs when it ends, budgets or not: leave it out for storage', async () => {
  await open('5m')
  await fixture.seconds(200)
  expect(withOsds()).toHaveLength(2)
  await fixture.seconds(130)
  expect(withOsds()).toEqual(['node-c'])
  expect(karpenter.deleted()).not.toEqual([])
})
