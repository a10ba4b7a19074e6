import { namespaces, nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { disruptionLedgers } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { afterEach, expect, it } from 'vitest'
import { type CephFixture, openCephFixture } from './testing/ceph-fixture.ts'

/** Three racks with a node each, and two OSDs on each node. */
const threeRacks = `
pace: { readyAfterSeconds: 3, terminationSeconds: 2 }
zones: [{ name: hall, racks: [left, middle, right] }]
nodes: [{ name: node-left, rack: left }, { name: node-middle, rack: middle }, { name: node-right, rack: right }]
ceph:
  osds: { perNode: 2 }
  pools: [{ name: replicapool, failureDomain: rack }, { name: .mgr, failureDomain: rack, pgs: 1 }]
  pace: { recoveryPgsPerSecond: 2, outAfterSeconds: 300 }
`

let fixture: CephFixture
afterEach(() => fixture.close())

const calm = ['rook-ceph-osd']
const isCalm = () => fixture.osdBudgets().join() === calm.join()

async function openGuarded(): Promise<void> {
  fixture = await openCephFixture(threeRacks)
  fixture.startOperator()
  await fixture.until('the default budget is there', isCalm, 30)
  await fixture.seconds(5)
}

async function request(name: string, nodeName: string): Promise<void> {
  await fixture.api.create(nodeDisruptions, {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name },
    spec: { nodeName, intent: 'Reboot', honourSkipDrain: true },
  })
}

const statusOf = async (name: string) => (await fixture.api.get(nodeDisruptions, { name })).status ?? {}

async function reach(name: string, phase: string, withinSeconds = 300): Promise<void> {
  await fixture.until(`${name} is ${phase}`, async () => (await statusOf(name)).phase === phase, withinSeconds)
}

async function reboot(nodeName: string, downSeconds: number): Promise<void> {
  const power = (wish: string | null) =>
    ({ type: 'merge', body: { metadata: { annotations: { 'cofferdam.io/power': wish } } } }) as const
  await fixture.api.patch(nodes, { name: nodeName }, power('off'))
  await fixture.seconds(downSeconds)
  await fixture.api.patch(nodes, { name: nodeName }, power(null))
}

/** `storage/rook-ceph/rook-ceph for left`. */
async function storageKeys(): Promise<string[]> {
  const { status } = await fixture.api.get(disruptionLedgers, { name: 'cluster' })
  const keys = (status?.entries ?? []).filter(({ key }) => key.startsWith('storage/'))
  return [...new Set(keys.map(({ key, scope }) => `${key} for ${scope}`))]
}

const left = 'storage/rook-ceph/rook-ceph for left'

it('two nodes of two racks go one after the other: the first holds the storage until all data is clean', async () => {
  await openGuarded()
  await request('reboot-left', 'node-left')
  await request('reboot-right', 'node-right')
  await reach('reboot-left', 'Drained')
  expect(fixture.osdsOn('node-left')).toEqual([])
  await reboot('node-left', 60)
  expect((await statusOf('reboot-right')).blockedBy?.map(({ object }) => object)).toContain(
    'storage/rook-ceph/rook-ceph',
  )
  expect(await storageKeys()).toEqual([left])
  expect(fixture.osdsOn('node-right')).toHaveLength(2)

  await reach('reboot-left', 'Completed')
  expect(fixture.runningOsds()).toEqual([0, 1, 2, 3, 4, 5])
  await reach('reboot-right', 'Drained')
  await reboot('node-right', 60)
  await reach('reboot-right', 'Completed')
  await fixture.until('the default budget is back', isCalm)
  expect([await storageKeys(), await fixture.nooutBuckets()]).toEqual([[], []])
  expect(fixture.oracle.violations).toEqual([])
})

it('a drain of another tool in one rack holds up a reboot in another, and the other way round', async () => {
  await openGuarded()
  const drain = fixture.drain('node-left')
  await fixture.until('the drain is over', drain.isOver)
  await drain.ended
  await request('reboot-right', 'node-right')
  await fixture.seconds(60)
  expect(await statusOf('reboot-right')).toMatchObject({ phase: 'Waiting' })
  expect(fixture.osdsOn('node-right')).toHaveLength(2)
  await fixture.uncordon('node-left')
  await reach('reboot-right', 'Drained')

  const second = fixture.drain('node-left')
  await fixture.seconds(60)
  expect(second.isOver()).toBe(false)
  expect(fixture.osdsOn('node-left')).toHaveLength(2)
  await reboot('node-right', 60)
  await reach('reboot-right', 'Completed')
  await fixture.until('the other drain is over', second.isOver)
  await second.ended
  await fixture.uncordon('node-left')
  await fixture.until('the default budget is back', isCalm)
  expect([await storageKeys(), await fixture.nooutBuckets()]).toEqual([[], []])
  expect(fixture.oracle.violations).toEqual([])
})

it('a tenant whose budget allows nothing keeps no OSD away: Ceph serves from the node until the pod may leave, and then goes', async () => {
  await openGuarded()
  const { api } = fixture
  const at = { namespace: 'team' }
  const labels = { app: 'stubborn' }
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: at.namespace } })
  await api.create(podDisruptionBudgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { ...at, name: 'never' },
    spec: { maxUnavailable: 0, selector: { matchLabels: labels } },
  })
  await api.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...at, name: 'stubborn', labels },
    spec: { nodeName: 'node-left', containers: [{ name: 'app', image: 'registry.example/app:1' }] },
  })
  await fixture.seconds(10)
  await api.create(nodeDisruptions, {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: 'left' },
    spec: { nodeName: 'node-left', intent: 'Reboot', honourSkipDrain: true, force: true },
  })
  await reach('left', 'Draining')
  await fixture.seconds(600)

  const running = [...fixture.views.of(pods).values()].filter(
    ({ metadata, spec }) => metadata.labels?.['app'] === 'rook-ceph-osd' && spec.nodeName === 'node-left',
  )
  expect(running).toHaveLength(2)
  const { blockedBy = [] } = await statusOf('left')
  const last = blockedBy.filter(({ reason }) => reason === 'CephLeavesLast')
  expect(last.map(({ object }) => object)).toEqual(['pdb/team/never'])
  expect(last[0]?.pods?.filter((pod) => pod.includes('rook-ceph-osd'))).toHaveLength(2)

  await api.delete(podDisruptionBudgets, { ...at, name: 'never' })
  await reach('left', 'Drained')
  await reboot('node-left', 60)
  await reach('left', 'Completed')
  expect(fixture.oracle.violations).toEqual([])
})
