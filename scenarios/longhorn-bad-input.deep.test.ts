import {
  longhornNamespace,
  longhornReplicas,
  longhornSettings,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { drainPolicyLabel, drainPolicySetting } from '@cofferdam/product/capabilities/longhorn-drain/domain/policy.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type LonghornFixture, openLonghornFixture } from './testing/longhorn-fixture.ts'

let fixture: LonghornFixture
afterEach(() => fixture.close())

const mib = 1024 ** 2
const data = { filled: 0.25, sizeBytes: 256 * mib }
const db = { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], ...data }
const other = { name: 'other', numberOfReplicas: 2, placedOn: ['node-3', 'node-4'], ...data }
const solo = { name: 'solo', numberOfReplicas: 1, placedOn: ['node-1'], ...data }

async function open(policy = 'block-for-eviction'): Promise<void> {
  fixture = await openLonghornFixture(
    { volumes: [db, other, solo], timings: { rebuildBytesPerSecond: 8 * mib } },
    { nodeCount: 4, policy },
  )
  fixture.operate({ isGuard: true })
  await fixture.use('db', 'node-2')
  await fixture.use('other', 'node-4')
  await fixture.use('solo', 'node-2')
  await fixture.seconds(5)
}

/** Another node, with replicas of its own, goes and comes back as if nothing were wrong. */
async function nothingElseIsDisturbed(node = 'node-3'): Promise<void> {
  await fixture.drained(node, 120)
  await fixture.cordon(node, false)
  await fixture.seconds(30)
}

function expectNothingLost(): void {
  expect(fixture.oracle.violations).toEqual([])
  expect(fixture.isIntact('db', 'other', 'solo')).toBe(true)
}

describe('the policy', () => {
  it('becomes a word that nobody knows in the middle of a drain: that is told, the node is held, and the drain ends when it is corrected', async () => {
    await open()
    const drain = fixture.drain('node-1')
    await fixture.seconds(3)
    expect(fixture.flags()).toEqual(['db on node-1', 'solo on node-1'])
    await fixture.setPolicy('block-everything')
    await fixture.seconds(2)
    expect((await fixture.notes(drainPolicySetting)).join(' ')).toMatch(
      /"block-everything" is none of .*block-for-eviction/,
    )
    await fixture.seconds(60)
    expect([drain.isOver(), fixture.guarded().includes('node-1')]).toEqual([false, true])
    expectNothingLost()
    await fixture.setPolicy('block-for-eviction')
    await fixture.until('the drain is over', drain.isOver, 120)
    await nothingElseIsDisturbed()
    expectNothingLost()
  })

  it('is deleted in the middle of a drain: we stay in charge of what we hold, no last copy goes, and it goes on when it is back', async () => {
    await open()
    const drain = fixture.drain('node-1')
    await fixture.seconds(3)
    const key = { namespace: longhornNamespace, name: drainPolicySetting }
    const { metadata, ...setting } = await fixture.api.get(longhornSettings, key)
    await fixture.api.delete(longhornSettings, key)
    await fixture.cordon('node-2')
    await fixture.seconds(60)
    expect(fixture.guarded()).toEqual(expect.arrayContaining(['node-2', 'node-3', 'node-4']))
    expectNothingLost()
    const { name, namespace, annotations = {} } = metadata
    await fixture.api.create(longhornSettings, {
      ...setting,
      metadata: { name, annotations, ...(namespace === undefined ? {} : { namespace }) },
    })
    await fixture.until('the drain is over', drain.isOver, 120)
    await fixture.cordon('node-2', false)
    await nothingElseIsDisturbed()
    expectNothingLost()
  })

  it('of one volume is a word that nobody knows: its node is held though the setting lets it go, the volume is named, and all others go', async () => {
    await open('block-if-contains-last-replica')
    const key = { namespace: longhornNamespace, name: 'db' }
    const label = (policy: string) => ({ metadata: { labels: { [drainPolicyLabel]: policy } } })
    await fixture.api.patch(longhornVolumes, key, { type: 'merge', body: label('whatever') })
    await fixture.seconds(5)
    expect(fixture.held()).toEqual(['node-1', 'node-2'])
    const drain = fixture.drain('node-1')
    await fixture.seconds(60)
    expect([drain.isOver(), fixture.placesOf('db')]).toEqual([false, ['node-1', 'node-2']])
    expect((await fixture.told('node-1')).at(-1)).toBe('DrainPolicyUnknown')
    expect((await fixture.notes(drainPolicySetting)).join()).toMatch(/db.*whatever/)
    await nothingElseIsDisturbed('node-4')
    expectNothingLost()
  })
})

describe('objects', () => {
  it('a replica without a node holds nobody, protects nobody, and disturbs nobody', async () => {
    await open('block-if-contains-last-replica')
    await fixture.api.create(longhornReplicas, {
      apiVersion: 'longhorn.io/v1beta2',
      kind: 'Replica',
      metadata: { name: 'solo-r-nowhere', namespace: longhornNamespace, labels: { longhornvolume: 'solo' } },
      spec: {
        volumeName: 'solo',
        nodeID: '',
        diskID: '',
        active: true,
        healthyAt: '2026-01-01T00:00:00Z',
        failedAt: '',
      },
    })
    const drain = fixture.drain('node-1')
    await fixture.seconds(60)
    expect([drain.isOver(), (await fixture.told('node-1')).at(-1)]).toEqual([false, 'LastReplica'])
    await nothingElseIsDisturbed()
    expectNothingLost()
  })

  it('the Kubernetes node of a copy is gone: the copy protects nothing, and the other nodes are decided about as ever', async () => {
    await open('block-if-contains-last-replica')
    fixture.world.kubelet.powerOff('node-1')
    await fixture.api.delete(nodes, { name: 'node-1' })
    await fixture.seconds(60)
    const held = fixture.drain('node-2')
    await fixture.seconds(60)
    expect([held.isOver(), fixture.placesOf('db').includes('node-2')]).toEqual([false, true])
    await nothingElseIsDisturbed('node-3')
    expect(fixture.oracle.violations).toEqual([])
    expect(fixture.isIntact('db', 'other')).toBe(true)
  })
})
