import {
  longhornNamespace,
  longhornReplicas,
  longhornSettings,
  longhornVolumeAttachments,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { describe, expect, it } from 'vitest'
import { parseMovingRecord } from '../domain/moving-record.ts'
import { type OperatedLonghorn, openOperatedLonghorn } from '../testing/longhorn-operator.ts'

const namespace = longhornNamespace
const pair = { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }
const settings = { 'node-drain-policy': 'block-for-eviction' }
const slowly = { rebuildBytesPerSecond: 16 * 1024 ** 2 }
const creeping = { rebuildBytesPerSecond: 64 * 1024 }

/** `cofferdam-eviction-db@node-2` */
async function ticketsOf({ api }: OperatedLonghorn, name: string): Promise<string[]> {
  const { spec } = await api.get(longhornVolumeAttachments, { namespace, name })
  return Object.entries(spec?.attachmentTickets ?? {}).map(([id, { nodeID }]) => `${id}@${nodeID}`)
}

describe('a detached volume with a replica that is to leave', () => {
  const description = { settings, volumes: [pair], timings: slowly, attachForEviction: 'nobody' } as const

  it('is attached where its other copy is, moves, and is detached again', async () => {
    const fixture = await openOperatedLonghorn(description)
    const { controls, cordon, evict, placesOf, seconds, until, volume, close } = fixture
    await cordon('node-1')
    await seconds(2)
    expect(await ticketsOf(fixture, 'db')).toEqual(['cofferdam-eviction-db@node-2'])
    await until(async () => (await placesOf('db')).join() === 'node-2,node-3')
    await until(async () => (await evict('node-1')) === 'going', 30)
    await until(async () => (await volume('db')).status?.state === 'detached', 30)
    expect(await ticketsOf(fixture, 'db')).toEqual([])
    expect(controls.verify('db').isIntact).toBe(true)
    expect(fixture.warned).toEqual([])
    await close()
  })

  it('is given to a workload that wants it, and moves while that uses it', async () => {
    const fixture = await openOperatedLonghorn(description)
    const { controls, cordon, placesOf, seconds, until, volume, close } = fixture
    await cordon('node-1')
    await seconds(5)
    await controls.attach('db', 'node-3')
    await seconds(5)
    expect(await ticketsOf(fixture, 'db')).toEqual(['csi-workload@node-3'])
    await until(async () => (await volume('db')).status?.currentNodeID === 'node-3', 30)
    await until(async () => (await placesOf('db')).join() === 'node-2,node-3')
    await close()
  })

  it('moves over to another node when the one it is attached to leaves as well', async () => {
    const fixture = await openOperatedLonghorn({ ...description, timings: creeping }, { nodeCount: 4 })
    await fixture.cordon('node-1')
    await fixture.seconds(5)
    expect(await ticketsOf(fixture, 'db')).toEqual(['cofferdam-eviction-db@node-2'])
    await fixture.cordon('node-2')
    await fixture.seconds(2)
    expect(await ticketsOf(fixture, 'db')).toEqual([expect.stringMatching(/^cofferdam-eviction-db@node-[34]$/)])
    await fixture.close()
  })

  it('is detached again when the node is uncordoned before the move ended', async () => {
    const fixture = await openOperatedLonghorn({ ...description, timings: creeping })
    await fixture.cordon('node-1')
    await fixture.seconds(20)
    expect((await fixture.volume('db')).status?.state).toBe('attached')
    await fixture.cordon('node-1', false)
    await fixture.until(async () => (await fixture.volume('db')).status?.state === 'detached', 30)
    await fixture.close()
  })

  it('stays detached where there is no place for another copy, and that is told about the volume', async () => {
    const fixture = await openOperatedLonghorn({ ...description, volumes: [{ ...pair, numberOfReplicas: 3 }] })
    await fixture.cordon('node-1')
    await fixture.seconds(600)
    expect((await fixture.volume('db')).status?.state).toBe('detached')
    expect(await fixture.told('db')).toEqual(['Warning EvictionFailed'])
    expect(await fixture.evict('node-1')).toBe('refused')
    await fixture.close()
  })
})

describe('the record of a move', () => {
  it('is written once on the node, with what there was to move, and removed when nothing moves any more', async () => {
    const fixture = await openOperatedLonghorn({ settings, volumes: [pair], timings: slowly })
    const { clock, controls, cordon, node, placesOf, seconds, until, written, close } = fixture
    const record = async () => (await node('node-1')).metadata.annotations?.['cofferdam.io/moving']
    await controls.attach('db', 'node-2')
    await seconds(5)
    await cordon('node-1')
    const sinceMs = Math.floor(clock.now() / 1_000) * 1_000
    await seconds(5)
    const first = await record()
    expect(parseMovingRecord(first)).toEqual({ sinceMs, bytes: 256 * 1024 ** 2 })
    await seconds(5)
    expect(await record()).toBe(first)
    await until(async () => (await placesOf('db')).join() === 'node-2,node-3')
    await seconds(5)
    expect(await record()).toBeUndefined()
    // The flag of the node and the record, on and off.
    expect(written.filter((write) => write === 'patch nodes/node-1')).toHaveLength(4)
    await close()
  })
})

describe('a replica that finds no place', () => {
  it('is told once, with the words of Longhorn, as a failure of its volume and as what holds the node', async () => {
    const fixture = await openOperatedLonghorn({ settings, volumes: [{ ...pair, numberOfReplicas: 3 }] })
    const { controls, cordon, eventsAbout, seconds, setting, until, placesOf, told, close } = fixture
    await controls.attach('db', 'node-2')
    await seconds(5)
    await cordon('node-1')
    await seconds(600)
    const failures = (await eventsAbout('db')).filter((event) => event.startsWith('Warning EvictionFailed'))
    expect(failures).toEqual([
      expect.stringMatching(/^Warning EvictionFailed x1: No node takes another copy: ReplicaSchedulingFailure: /),
    ])
    expect(await told('node-1')).toEqual(['Normal ReplicaMoving', 'Normal NoPlaceForReplica'])
    await setting('replica-soft-anti-affinity', 'true')
    await until(async () => !(await placesOf('db')).includes('node-1'))
    await close()
  })
})

describe('copies that a cancelled move left over', () => {
  async function cancelledMove(notes: Readonly<Record<string, string>>): Promise<OperatedLonghorn> {
    const fixture = await openOperatedLonghorn({ settings, volumes: [pair], timings: slowly }, { notes })
    await fixture.controls.attach('db', 'node-2')
    await fixture.seconds(5)
    await fixture.cordon('node-1')
    await fixture.seconds(8)
    await fixture.cordon('node-1', false)
    await fixture.seconds(120)
    return fixture
  }

  it('stay, as Longhorn leaves them', async () => {
    const fixture = await cancelledMove({})
    expect(await fixture.placesOf('db')).toEqual(['node-1', 'node-2', 'node-3'])
    await fixture.close()
  })

  it('are removed where the setting asks for it, the newest first, and the volume stays healthy', async () => {
    const fixture = await cancelledMove({ surplus: 'remove' })
    expect(await fixture.placesOf('db')).toEqual(['node-1', 'node-2'])
    expect(fixture.written.filter((write) => write.startsWith('delete replicas/'))).toHaveLength(1)
    expect((await fixture.volume('db')).status?.robustness).toBe('healthy')
    expect(fixture.controls.verify('db').isIntact).toBe(true)
    await fixture.close()
  })
})

describe('the setting node-drain-policy, deleted while we are in charge', () => {
  it('means what Longhorn makes of it, its default: last copies are held, the other nodes go, nothing moves, and nodes report it', async () => {
    const single = { name: 'solo', numberOfReplicas: 1, placedOn: ['node-3'], filled: 0.25 }
    const fixture = await openOperatedLonghorn({ settings, volumes: [pair, single] })
    const { api, cordon, controls, evict, guarded, list, seconds, told, eventsAbout, close } = fixture
    await controls.attach('db', 'node-2')
    await controls.attach('solo', 'node-2')
    await seconds(5)
    await api.delete(longhornSettings, { namespace, name: 'node-drain-policy' })
    await seconds(5)
    await cordon('node-3')
    await seconds(120)
    expect(await evict('node-3')).toBe('refused')
    expect(await guarded()).toEqual(['node-1', 'node-2', 'node-3'])
    expect((await list(longhornReplicas)).some(({ spec }) => spec?.evictionRequested === true)).toBe(false)
    expect(await told('node-3')).toEqual(['Warning ObjectsUnusable', 'Normal LastReplica'])
    expect((await eventsAbout('node-2')).filter((event) => event.includes('ObjectsUnusable'))).toEqual([
      expect.stringContaining('setting/node-drain-policy: it does not exist, so block-if-contains-last-replica counts'),
    ])
    await cordon('node-3', false)
    await cordon('node-1')
    await seconds(10)
    expect(await evict('node-1')).toBe('going')
    await close()
  })

  it('missing from the start, with no budget of ours, means that we only look', async () => {
    const fixture = await openOperatedLonghorn(
      { settings: { 'node-drain-policy': null }, volumes: [pair] },
      { isOurs: false },
    )
    await fixture.cordon('node-1')
    await fixture.seconds(120)
    expect(fixture.written).toEqual([])
    await fixture.close()
  })
})
