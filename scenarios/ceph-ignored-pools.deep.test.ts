import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { deployments, events } from '@cofferdam/kubernetes/api/resources.ts'
import { createExplainCommand } from '@cofferdam/product/cli/explain/explain.ts'
import { createStatusCommand } from '@cofferdam/product/cli/status/status.ts'
import { inProcess, runCommand } from '@cofferdam/product/cli/testing/run-command.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type CephFixture, openCephFixture } from './testing/ceph-fixture.ts'

/** The scratch pool has one copy of everything, on every OSD something. */
const withScratch = `
pace: { readyAfterSeconds: 3, terminationSeconds: 2 }
zones: [{ name: a }, { name: b }, { name: c }]
nodes: [{ name: "node-{zone}", roles: [worker] }]
ceph:
  osds: { perNode: 2 }
  pools:
    - { name: data, failureDomain: zone, pgs: 16 }
    - { name: scratch, failureDomain: zone, pgs: 32, replicated: { size: 1, minSize: 1 } }
  pace: { recoveryPgsPerSecond: 4, outAfterSeconds: 600 }
`
const namespace = 'rook-ceph'
const reason = 'build cache of CI'

let fixture: CephFixture

beforeEach(async () => {
  fixture = await openCephFixture(withScratch, { ignoredPools: ['scratch'] })
  fixture.startOperator()
  await fixture.seconds(60)
})
afterEach(() => fixture.close())

const ignore = (pools: object) =>
  fixture.api.patch(
    cephClusters,
    { namespace, name: 'rook-ceph' },
    { type: 'merge', body: { metadata: { annotations: { 'cofferdam.io/ignore-pools': JSON.stringify(pools) } } } },
  )
const statusText = async () => {
  const { connect } = inProcess(fixture.api)
  return (await runCommand(createStatusCommand({ connect, clock: fixture.clock }), 'status', '-o', 'wide')).out
}
const explain = (what: string) => {
  const { connect } = inProcess(fixture.api)
  return runCommand(createExplainCommand({ connect, clock: fixture.clock }), 'explain', what)
}
const explainCode = async (what: string) => (await explain(what)).code
const warnings = async () => {
  const { items } = await fixture.api.list(events, { namespace })
  return items.filter((event) => event.reason === 'PoolsIgnored').map(({ count = 1 }) => count)
}
const ignoredPools = async () =>
  (await fixture.metrics.registry.getSingleMetric('cofferdam_ceph_ignored_pools')?.get())?.values.map(
    ({ value }) => value,
  )

it('a scratch pool with one copy holds every drain until the administrator gives a reason why it need not', async () => {
  const drain = fixture.drain('node-a')
  await fixture.seconds(120)
  expect(fixture.osdsOn('node-a')).toEqual(['osd.0', 'osd.1'])
  expect(await explainCode('node/node-a')).toBe(3)

  await ignore({ scratch: '', sratch: reason })
  await fixture.seconds(90)
  expect(fixture.osdsOn('node-a')).toEqual(['osd.0', 'osd.1'])
  const refused = await statusText()
  expect(refused).toContain('gives no reason for pool "scratch", that pool counts')
  expect(refused).toContain('pool/sratch: annotation cofferdam.io/ignore-pools names it, and Ceph has no such pool')

  await ignore({ scratch: reason })
  await fixture.until('node-a is drained', drain.isOver, 120)
  expect(fixture.osdsOn('node-a')).toEqual([])
  expect(await statusText()).toContain(
    `problem: pool/scratch: is ignored by annotation cofferdam.io/ignore-pools ("${reason}")`,
  )
  expect((await explain('cephcluster/rook-ceph/rook-ceph')).out).toMatch(/problem +pool\/scratch: is ignored/)
  expect(await ignoredPools()).toEqual([1])
  expect(await explainCode('node/node-b')).toBe(3)

  await fixture.uncordon('node-a')
  await fixture.until('the next node may go', async () => (await explainCode('node/node-b')) === 0, 300)
  expect(await warnings()).toEqual([1])
  expect(fixture.oracle.violations).toEqual([])
})

it('an OSD update waits for a scratch pool with one copy, and goes on as soon as the pool is ignored', async () => {
  const image = 'registry.example/ceph/ceph:v19.2.4'
  const updated = async () => {
    const { items } = await fixture.api.list(deployments, { namespace, labelSelector: 'app=rook-ceph-osd' })
    return items.filter(({ spec }) => spec.template.spec.containers[0]?.image === image).length
  }
  const key = { namespace, name: 'rook-ceph' }
  const metadata = { annotations: { 'cofferdam.io/update-mons-first': 'false' } }
  await fixture.api.patch(cephClusters, key, { type: 'merge', body: { metadata, spec: { cephVersion: { image } } } })
  await fixture.seconds(180)
  expect(await updated()).toBe(0)
  await ignore({ scratch: reason })
  await fixture.until('all OSDs are updated', async () => (await updated()) === 6, 1_800)
  expect(fixture.oracle.violations).toEqual([])
})
