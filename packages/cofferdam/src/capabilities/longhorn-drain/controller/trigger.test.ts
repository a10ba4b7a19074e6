import { longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { describe, expect, it } from 'vitest'
import { nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import { type OperatedLonghorn, openOperatedLonghorn } from '../testing/longhorn-operator.ts'

const pair = { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }
/** Longhorn knows only cordons: its own setting is mild, and what is wanted comes with the drain. */
const wanted = { 'wanted-policy': 'block-for-eviction' }
const strict = { 'node-drain-policy': 'block-for-eviction' }
const single = { name: 'solo', numberOfReplicas: 1, placedOn: ['node-1'], filled: 0.25 }
const creeping = { rebuildBytesPerSecond: 64 * 1024 }

async function openTriggered(): Promise<OperatedLonghorn> {
  const fixture = await openOperatedLonghorn(
    { volumes: [pair], timings: creeping },
    { notes: { trigger: 'drain', ...wanted }, controllers: ['longhorn-drain', 'drain-detection'] },
  )
  await fixture.controls.attach('db', 'node-2')
  await fixture.seconds(5)
  return fixture
}

async function leaving({ list }: OperatedLonghorn): Promise<string[]> {
  const flagged = (await list(longhornReplicas)).filter(({ spec }) => spec?.evictionRequested === true)
  return flagged.map(({ spec }) => `${spec?.volumeName} from ${spec?.nodeID}`).sort()
}

async function disrupt({ api }: OperatedLonghorn, intent: 'Reboot' | 'Remove'): Promise<void> {
  await api.create(nodeDisruptions, {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: 'maintenance' },
    spec: { nodeName: 'node-1', intent },
  } as never)
}

describe('longhorn-drain that waits for a drain', () => {
  it('lets a cordon alone move nothing and costs no write, and holds the node', async () => {
    const fixture = await openTriggered()
    const before = [...fixture.written]
    await fixture.cordon('node-1')
    await fixture.seconds(3_600)
    expect(fixture.written).toEqual(before)
    expect(await leaving(fixture)).toEqual([])
    expect(await fixture.evict('node-1')).toBe('refused')
    expect(await fixture.told('node-1')).toEqual(['Normal ReplicaMustLeave'])
    await fixture.close()
  })

  it('begins when somebody evicts, goes on when he has given up, and is taken back when the node is uncordoned', async () => {
    const fixture = await openTriggered()
    const { attempt, cordon, seconds, close } = fixture
    await cordon('node-1')
    await seconds(60)
    await attempt('node-1')
    await seconds(2)
    expect(await leaving(fixture)).toEqual(['db from node-1'])
    await seconds(1_800)
    expect(await leaving(fixture)).toEqual(['db from node-1'])
    await cordon('node-1', false)
    await seconds(2)
    expect(await leaving(fixture)).toEqual([])
    await close()
  })

  it('begins when a NodeDisruption asks for the node', async () => {
    const fixture = await openTriggered()
    await fixture.cordon('node-1')
    await fixture.seconds(60)
    await disrupt(fixture, 'Remove')
    await fixture.seconds(2)
    expect(await leaving(fixture)).toEqual(['db from node-1'])
    await fixture.close()
  })
})

describe('longhorn-drain and a node that only reboots', () => {
  const notes = { 'reboot-policy': 'block-for-eviction-if-contains-last-replica' }

  it('empties it as the policy says: it was let go with its replicas, and they were missing while it was away', async () => {
    const fixture = await openOperatedLonghorn({ settings: strict, volumes: [pair], timings: creeping })
    await fixture.controls.attach('db', 'node-2')
    await fixture.seconds(5)
    await disrupt(fixture, 'Reboot')
    await fixture.cordon('node-1')
    await fixture.seconds(5)
    expect(await leaving(fixture)).toEqual(['db from node-1'])
    expect(await fixture.evict('node-1')).toBe('refused')
    await fixture.close()
  })

  it('by a policy for reboots leaves replicas where they are that have a protected copy elsewhere, and moves last copies', async () => {
    const fixture = await openOperatedLonghorn(
      { volumes: [pair, single], timings: creeping },
      { notes: { ...wanted, ...notes } },
    )
    const { controls, cordon, seconds, close } = fixture
    await controls.attach('db', 'node-2')
    await controls.attach('solo', 'node-3')
    await seconds(5)
    await disrupt(fixture, 'Reboot')
    await cordon('node-1')
    await seconds(5)
    expect(await leaving(fixture)).toEqual(['solo from node-1'])
    await close()
  })

  it('by that policy lets it go at once where nothing rests on it alone', async () => {
    const fixture = await openOperatedLonghorn(
      { volumes: [pair], timings: creeping },
      { notes: { ...wanted, ...notes } },
    )
    await fixture.controls.attach('db', 'node-2')
    await fixture.seconds(5)
    await disrupt(fixture, 'Reboot')
    await fixture.cordon('node-1')
    await fixture.seconds(2)
    expect(await leaving(fixture)).toEqual([])
    expect(await fixture.evict('node-1')).toBe('going')
    await fixture.close()
  })
})

describe('longhorn-drain that goes by the cordon', () => {
  it('puts what is wanted in force in the reconcile that the cordon wakes, with few writes, and Longhorn moves', async () => {
    const fixture = await openOperatedLonghorn({ volumes: [pair], timings: creeping }, { notes: wanted })
    await fixture.controls.attach('db', 'node-2')
    await fixture.seconds(60)
    const before = fixture.written.length
    await fixture.cordon('node-1')
    await fixture.clock.advance(100)
    expect(fixture.written.slice(before)[0]).toBe('patch settings/node-drain-policy')
    expect(fixture.written.length - before).toBeLessThan(5)
    await fixture.seconds(60)
    expect(await leaving(fixture)).toEqual(['db from node-1'])
    await fixture.close()
  })
})
