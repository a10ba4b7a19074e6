import { configMaps, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { parseDomainRecord } from '@cofferdam/product/capabilities/ceph-drain/domain/domain-record.ts'
import { observeCeph } from '@cofferdam/product/ceph/observe-ceph.ts'
import { createExplainCommand } from '@cofferdam/product/cli/explain/explain.ts'
import { createStatusCommand } from '@cofferdam/product/cli/status/status.ts'
import { inProcess, runCommand } from '@cofferdam/product/cli/testing/run-command.ts'
import { type NodeDisruption, nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type CephFixture, openCephFixture } from './testing/ceph-fixture.ts'
import { type DamagedGroup, damageGroup } from './testing/damaged-group.ts'

/** Six zones with a node each, and two OSDs on each node: three of them have a copy of 1.f, three have none. */
const sixZones = `
pace: { readyAfterSeconds: 3, terminationSeconds: 2 }
zones: [{ name: a }, { name: b }, { name: c }, { name: d }, { name: e }, { name: f }]
nodes: [{ name: "node-{zone}", roles: [worker] }]
ceph:
  osds: { perNode: 2 }
  pools: [{ name: data, failureDomain: zone, pgs: 16 }]
  pace: { recoveryPgsPerSecond: 2, outAfterSeconds: 600 }
`
const group = '1.f'

let fixture: CephFixture
let damaged: DamagedGroup
let touched: string[]
let free: string[]

beforeEach(async () => {
  fixture = await openCephFixture(sixZones)
  const map = await observeCeph(fixture.ceph.commands)
  if (!map.known) throw new Error(map.why)
  const { pgs } = map.value
  const at =
    [...pgs.pgNumbers.keys()].find((pg) => `${pgs.poolIds[pg]}.${pgs.pgNumbers[pg]?.toString(16)}` === group) ?? 0
  const zoneOf = (osd: number) => ['a', 'b', 'c', 'd', 'e', 'f'][Math.floor(osd / 2)] as string
  touched = Array.from(pgs.acting.slice(pgs.offsets[at], pgs.offsets[at + 1]), zoneOf).sort()
  free = ['a', 'b', 'c', 'd', 'e', 'f'].filter((zone) => !touched.includes(zone))
  fixture.startOperator()
  await fixture.until('the default budget is there', () => fixture.osdBudgets().join() === 'rook-ceph-osd', 30)
  await fixture.seconds(5)
  damaged = damageGroup(fixture.ceph.commands, group)
  await fixture.until('the zones of the damaged group are held', isHeld, 90)
})
afterEach(() => fixture.close())

const heldBudgets = () => touched.map((zone) => `rook-ceph-osd-zone-${zone}`)
const isHeld = () => fixture.osdBudgets().join() === ['rook-ceph-osd', ...heldBudgets()].join()

const statusText = async () => {
  const { connect } = inProcess(fixture.api)
  return (await runCommand(createStatusCommand({ connect, clock: fixture.clock }), 'status', '-o', 'wide')).out
}
const explainText = async (what: string) => {
  const { connect } = inProcess(fixture.api)
  return (await runCommand(createExplainCommand({ connect, clock: fixture.clock }), 'explain', what)).out
}
const request = async (name: string, nodeName: string) => {
  const spec = { nodeName, intent: 'Reboot' as const, honourSkipDrain: true }
  const object: NodeDisruption = {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name },
    spec,
  }
  await fixture.api.create(nodeDisruptions, object)
}
const statusOf = async (name: string) => (await fixture.api.get(nodeDisruptions, { name })).status
const isCordoned = async (name: string) => (await fixture.api.get(nodes, { name })).spec?.unschedulable === true
const why = `placement group ${group} of pool data is active+clean+inconsistent; to do: ceph pg repair ${group}`

it('one damaged placement group holds the zones that it is on: the others are drained one after the other, and it is named', async () => {
  expect(touched).toHaveLength(3)
  const held = `node-${touched.at(-1)}`
  const waiting = fixture.drain(held)
  for (const zone of free.slice(0, 2)) {
    const drain = fixture.drain(`node-${zone}`)
    await fixture.until(`node-${zone} is drained`, drain.isOver)
    await drain.ended
    expect(fixture.osdsOn(`node-${zone}`)).toEqual([])
    await fixture.uncordon(`node-${zone}`)
    await fixture.until('only what the damaged group is on is held', isHeld)
  }
  expect(waiting.isOver()).toBe(false)
  expect(fixture.osdsOn(held)).toHaveLength(2)
  expect(await fixture.nooutBuckets()).toEqual([])
  expect(await statusText()).toContain(why)
  const explained = await explainText(`node/${held}`)
  expect(explained).toContain(why)
  expect(explained).toContain('the placement group repaired')

  damaged.repair()
  await fixture.until('the drain that waited goes on by itself', waiting.isOver)
  await waiting.ended
  expect(fixture.oracle.violations).toEqual([])
})

it('what is on record agrees with what the budgets let through', async () => {
  const { metadata } = await fixture.api.get(configMaps, { namespace: 'rook-ceph', name: 'rook-ceph-pdbstatemap' })
  const recorded = parseDomainRecord(metadata.annotations?.['cofferdam.io/domains'] ?? '')
  if (!recorded.known) throw new Error(recorded.why)
  const may = recorded.value.answers.filter(({ mayDrain }) => mayDrain).map(({ domain }) => domain)
  expect(may).toEqual(free)
  expect(fixture.budgetText('rook-ceph-osd')).toMatch(/^maxUnavailable 1/)
  for (const name of heldBudgets()) expect(fixture.budgetText(name)).toBe('maxUnavailable 0')
})

it('a request for a node that it is on waits with its name, and takes nothing; one for another node goes to its end', async () => {
  const held = `node-${touched[0]}`
  const open = `node-${free[0]}`
  await request('held', held)
  await fixture.seconds(60)
  const waiting = await statusOf('held')
  expect(waiting?.phase).toBe('Waiting')
  expect(JSON.stringify(waiting?.blockedBy)).toContain(group)
  expect(await isCordoned(held)).toBe(false)

  await request('open', open)
  await fixture.until('the other node is drained', async () => (await statusOf('open'))?.phase === 'Drained')
  expect(fixture.osdsOn(open)).toEqual([])
  await fixture.uncordon(open)
  await fixture.until('the request is over', async () => (await statusOf('open'))?.phase === 'Completed')
  await fixture.until('only what the damaged group is on is held', isHeld)
  expect((await statusOf('held'))?.phase).toBe('Waiting')

  damaged.repair()
  await fixture.until('the request that waited is granted', async () => (await statusOf('held'))?.phase === 'Drained')
  expect(fixture.oracle.violations).toEqual([])
})

/** How often the operator asked Ceph this. */
async function questions(question: 'status' | 'map'): Promise<number> {
  const text = await fixture.metrics.registry.metrics()
  const counts = [...text.matchAll(/^cofferdam_ceph_questions_total\{([^}]*)\} (\d+)$/gm)]
  return counts
    .filter(([, labels]) => labels?.includes(`question="${question}"`))
    .reduce((sum, [, , count]) => sum + Number(count), 0)
}

it('while it lasts Ceph is asked no more often than in calm times', async () => {
  const inTenMinutes = async () => {
    await fixture.seconds(120)
    const before = (await questions('status')) + (await questions('map'))
    await fixture.seconds(600)
    return (await questions('status')) + (await questions('map')) - before
  }
  const inDoubt = await inTenMinutes()
  damaged.repair()
  const calm = await inTenMinutes()
  expect(inDoubt).toBeGreaterThan(5)
  expect(inDoubt).toBeLessThanOrEqual(calm + 3)
})
