import {
  longhornNamespace,
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

async function ticketsOf({ api }: OperatedLonghorn, name: string): Promise<string[]> {
  const { spec } = await api.get(longhornVolumeAttachments, { namespace, name })
  return Object.keys(spec?.attachmentTickets ?? {})
}

describe('a detached volume with a replica that is to leave', () => {
  const description = { settings, volumes: [pair], timings: slowly } as const

  it('is attached by Longhorn, moves, and is detached again', async () => {
    const fixture = await openOperatedLonghorn(description)
    const { controls, cordon, evict, placesOf, until, volume, close } = fixture
    await cordon('node-1')
    await until(async () => (await placesOf('db')).join() === 'node-2,node-3')
    await until(async () => (await evict('node-1')) === 'going', 60)
    await until(async () => (await volume('db')).status?.state === 'detached', 60)
    expect(await ticketsOf(fixture, 'db')).toEqual([])
    expect(controls.verify('db').isIntact).toBe(true)
    expect(fixture.warned).toEqual([])
    await close()
  })

  it('is not kept attached by a ticket of an earlier version: it would be for ever, since Longhorn takes none of ours away', async () => {
    const fixture = await openOperatedLonghorn({ volumes: [pair] }, { isOurs: false })
    const { api, annotate, seconds, until, volume, close } = fixture
    const id = 'cofferdam-eviction-db'
    const ticket = { id, type: 'volume-eviction-controller', nodeID: 'node-2', parameters: {} }
    const body = { spec: { attachmentTickets: { [id]: ticket } } }
    await api.patch(longhornVolumeAttachments, { namespace, name: 'db' }, { type: 'merge', body: body as never })
    await annotate('hold')
    await seconds(5)
    expect(await ticketsOf(fixture, 'db')).toEqual([])
    await until(async () => (await volume('db')).status?.state === 'detached', 30)
    await close()
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
    const cordonedMs = clock.now()
    await seconds(5)
    const first = await record()
    const { sinceMs = 0, bytes } = parseMovingRecord(first) ?? {}
    expect([bytes, Math.abs(sinceMs - cordonedMs) < 5_000]).toEqual([256 * 1024 ** 2, true])
    await seconds(5)
    expect(await record()).toBe(first)
    await until(async () => (await placesOf('db')).join() === 'node-2,node-3')
    await seconds(5)
    expect(await record()).toBeUndefined()
    expect(written.filter((write) => write === 'patch nodes/node-1')).toHaveLength(2)
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
    expect(await told('node-1')).toEqual(['Normal ReplicaMustLeave', 'Normal NoPlaceForReplica'])
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

describe('the setting node-drain-policy, deleted while a budget of ours holds a node', () => {
  it('leaves it held: what was wanted is not known any more, so no node with replicas is let go, and nodes tell of it', async () => {
    const notes = { 'wanted-policy': 'block-for-eviction' }
    const fixture = await openOperatedLonghorn({ volumes: [pair] }, { notes })
    const { api, cordon, controls, evict, held, seconds, eventsAbout, close } = fixture
    await controls.attach('db', 'node-3')
    await seconds(5)
    await api.delete(longhornSettings, { namespace, name: 'node-drain-policy' })
    await seconds(5)
    await cordon('node-1')
    await seconds(120)
    expect(await evict('node-1')).toBe('refused')
    expect(await held()).toEqual(['node-1', 'node-2'])
    expect((await eventsAbout('node-2')).filter((event) => event.includes('ObjectsUnusable'))).toEqual([
      expect.stringContaining('setting/node-drain-policy: '),
    ])
    await close()
  })

  it('missing from the start, with no budget of ours, means that we only observe', async () => {
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
