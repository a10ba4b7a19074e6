import {
  longhornNamespace,
  longhornNodes,
  longhornVolumeAttachments,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { describe, expect, it } from 'vitest'
import { gibibyte } from './longhorn-description.ts'
import { type LonghornFixture, openLonghorn } from './testing/longhorn-fixture.ts'

const namespace = longhornNamespace

async function namesOf({ replicasOf }: LonghornFixture, volume: string): Promise<string[]> {
  return (await replicasOf(volume)).map(({ metadata }) => metadata.name).sort()
}

async function scheduled({ volume }: LonghornFixture, name: string): Promise<string> {
  const condition = conditionOf(await volume(name), 'Scheduled')
  return [condition?.status, condition?.reason, condition?.message].filter(Boolean).join(' ')
}

async function askDisk({ api }: LonghornFixture, node: string, disk: string): Promise<void> {
  const body = { spec: { disks: { [disk]: { evictionRequested: true, allowScheduling: false } } } }
  await api.patch(longhornNodes, { namespace, name: node }, { type: 'merge', body })
}

describe('evictions of attached volumes', () => {
  it('ten evictions to and fro leave as many copies as before and all of the data (row 27)', async () => {
    const fixture = await openLonghorn({
      volumes: [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }],
    })
    const { controls, placesOf, requestEviction, replicasOf, cordon, seconds, until, stop, failures } = fixture
    await controls.attach('db', 'node-3')
    await seconds(5)
    for (let round = 0; round < 10; round += 1) {
      const leaving = round % 2 === 0 ? 'node-1' : 'node-3'
      controls.writeData('db')
      await cordon(leaving)
      await requestEviction(leaving)
      const seen = new Set<number>()
      await until(async () => {
        seen.add((await replicasOf('db')).length)
        return !(await placesOf('db')).includes(leaving)
      })
      expect([...seen]).toContain(3)
      expect(await placesOf('db')).toHaveLength(2)
      expect(controls.verify('db')).toMatchObject({ isIntact: true })
      await cordon(leaving, false)
      await seconds(2)
    }
    expect(failures).toEqual([])
    stop()
  })

  it('without a place for another copy nothing is made and nothing lost, and the condition says why, until anti-affinity is softened (rows 28 and 29)', async () => {
    const fixture = await openLonghorn({ volumes: [{ name: 'db', numberOfReplicas: 3, filled: 0.25 }] })
    const { controls, volume, placesOf, replicasOf, requestEviction, cordon, seconds, setting, until, stop } = fixture
    await controls.attach('db', 'node-2')
    await seconds(5)
    const toldBefore = await fixture.eventsAbout('db')
    const before = await namesOf(fixture, 'db')
    await cordon('node-1')
    await requestEviction('node-1')
    await seconds(600)
    expect(await namesOf(fixture, 'db')).toEqual(before)
    expect(await scheduled(fixture, 'db')).toMatch(/^False ReplicaSchedulingFailure /)
    expect((await volume('db')).status).toMatchObject({ state: 'attached', robustness: 'healthy' })
    expect(await fixture.eventsAbout('db')).toEqual(toldBefore)

    await requestEviction('node-1', false)
    await cordon('node-1', false)
    await seconds(40)
    expect(await namesOf(fixture, 'db')).toEqual(before)
    expect(await scheduled(fixture, 'db')).toBe('True')
    expect((await replicasOf('db')).map(({ spec }) => spec?.evictionRequested)).toEqual([false, false, false])

    await cordon('node-1')
    await requestEviction('node-1')
    await setting('replica-soft-anti-affinity', 'true')
    await until(async () => !(await placesOf('db')).includes('node-1'))
    expect(await placesOf('db')).toHaveLength(3)
    expect(controls.verify('db').isIntact).toBe(true)
    stop()
  })

  it('two copies on one node end on the two other nodes when that node is to be empty (row 30)', async () => {
    const fixture = await openLonghorn({
      settings: { 'replica-soft-anti-affinity': 'true' },
      volumes: [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-1'], filled: 0.25 }],
    })
    const { controls, placesOf, requestEviction, setting, cordon, seconds, until, stop } = fixture
    expect(await placesOf('db')).toEqual(['node-1', 'node-1'])
    await controls.attach('db', 'node-2')
    await seconds(5)
    await setting('replica-soft-anti-affinity', 'false')
    await cordon('node-1')
    await requestEviction('node-1')
    await until(async () => (await placesOf('db')).join() === 'node-2,node-3')
    expect(controls.verify('db').isIntact).toBe(true)
    stop()
  })

  it('from one disk it may go to the other disk of the same node under hard anti-affinity (row 33)', async () => {
    const disks = ['fast', 'slow'].map((name) => ({ name, maximumBytes: 100 * gibibyte }))
    const fixture = await openLonghorn({ disks, volumes: [{ name: 'db', numberOfReplicas: 3, filled: 0.25 }] })
    const { controls, api, node, placesOf, replicasOf, seconds, until, requestEviction, stop } = fixture
    await controls.attach('db', 'node-2')
    await seconds(5)
    const [replica] = (await replicasOf('db')).filter(({ spec }) => spec?.nodeID === 'node-1')
    const statuses = (await node('node-1')).status?.diskStatus ?? {}
    const disk = Object.keys(statuses).find((name) => statuses[name]?.diskUUID === replica?.spec?.diskID) as string
    await askDisk(fixture, 'node-1', disk)
    await requestEviction('node-1')
    await until(async () => !(await namesOf(fixture, 'db')).includes(replica?.metadata.name ?? ''))
    expect(await placesOf('db')).toEqual(['node-1', 'node-2', 'node-3'])
    const moved = (await replicasOf('db')).find(({ spec }) => spec?.nodeID === 'node-1')
    expect(moved?.spec?.diskID).not.toBe(replica?.spec?.diskID)
    expect(controls.verify('db').isIntact).toBe(true)
    expect((await api.get(longhornNodes, { namespace, name: 'node-1' })).spec?.disks?.[disk]?.allowScheduling).toBe(
      false,
    )
    stop()
  })

  it('a copy that is the only one stays until another is whole, and a half-built one stays when the wish is taken back', async () => {
    const fixture = await openLonghorn({
      volumes: [{ name: 'db', numberOfReplicas: 1, placedOn: ['node-1'], filled: 1 }],
      timings: { rebuildBytesPerSecond: gibibyte / 60 },
    })
    const { controls, volume, placesOf, cordon, requestEviction, seconds, until, stop } = fixture
    await controls.attach('db', 'node-2')
    await seconds(5)
    await cordon('node-1')
    await requestEviction('node-1')
    await seconds(30)
    expect(await placesOf('db')).toHaveLength(2)
    expect(controls.verify('db').healthy.map(({ node }) => node)).toEqual(['node-1'])
    await requestEviction('node-1', false)
    await until(() => controls.verify('db').healthy.length === 2)
    await seconds(60)
    expect(await placesOf('db')).toHaveLength(2)
    expect((await volume('db')).status?.robustness).toBe('healthy')
    expect(controls.verify('db').isIntact).toBe(true)
    stop()
  })

  it('a strict-local copy never leaves: flagged, unplaced, healthy, and unharmed when the wish is taken back (row 35)', async () => {
    const fixture = await openLonghorn({
      volumes: [{ name: 'db', numberOfReplicas: 1, dataLocality: 'strict-local', placedOn: ['node-1'], filled: 0.25 }],
    })
    const { controls, volume, replicasOf, cordon, requestEviction, seconds, stop } = fixture
    await controls.attach('db', 'node-1')
    await seconds(5)
    const before = await namesOf(fixture, 'db')
    await cordon('node-1')
    await requestEviction('node-1')
    await seconds(90)
    expect(await namesOf(fixture, 'db')).toEqual(before)
    expect(await scheduled(fixture, 'db')).toBe('False ReplicaSchedulingFailure hard affinity cannot be satisfied')
    await requestEviction('node-1', false)
    await cordon('node-1', false)
    await seconds(40)
    expect((await replicasOf('db')).map(({ spec }) => [spec?.hardNodeAffinity, spec?.evictionRequested])).toEqual([
      ['node-1', false],
    ])
    expect((await volume('db')).status?.robustness).toBe('healthy')
    expect(controls.verify('db').isIntact).toBe(true)
    stop()
  })
})

describe('evictions of detached volumes', () => {
  it('they are attached to move and detached again, with the data verified (row 31)', async () => {
    const volumes = ['a', 'b'].map((name) => ({
      name,
      numberOfReplicas: 2,
      placedOn: ['node-1', 'node-2'],
      filled: 0.5,
    }))
    const fixture = await openLonghorn({ volumes })
    const { controls, volume, placesOf, cordon, requestEviction, seconds, until, stop, failures } = fixture
    for (const name of ['a', 'b']) await controls.attach(name, 'node-3')
    await seconds(5)
    for (const name of ['a', 'b']) await controls.detach(name)
    await seconds(5)
    await cordon('node-1')
    await requestEviction('node-1')
    const states = new Set<string | undefined>()
    await until(async () => {
      const found = await Promise.all(['a', 'b'].map(volume))
      for (const { status } of found) states.add(status?.state)
      const places = await Promise.all(['a', 'b'].map(placesOf))
      return (
        places.every((nodes) => nodes.join() === 'node-2,node-3') &&
        found.every(({ status }) => status?.state === 'detached')
      )
    })
    expect(states).toContain('attached')
    for (const name of ['a', 'b']) expect(controls.verify(name).isIntact).toBe(true)
    expect(failures).toEqual([])
    stop()
  })

  it('one that has no place to go is not attached at all (row 32)', async () => {
    const fixture = await openLonghorn({ volumes: [{ name: 'db', numberOfReplicas: 3, filled: 0.5 }] })
    const { api, volume, cordon, requestEviction, seconds, stop } = fixture
    await cordon('node-1')
    await requestEviction('node-1')
    for (let look = 0; look < 10; look += 1) {
      await seconds(10)
      expect((await volume('db')).status?.state).toBe('detached')
    }
    expect((await api.get(longhornVolumeAttachments, { namespace, name: 'db' })).spec?.attachmentTickets).toEqual({})
    stop()
  })

  it('those for which there is no room, no disk or no node with their tag elsewhere are not attached either, and stay as they are', async () => {
    const disk = { name: 'default-disk', maximumBytes: 100 * gibibyte }
    const one = { numberOfReplicas: 1, placedOn: ['node-1'], filled: 0.1 }
    const fixture = await openLonghorn({
      nodes: {
        'node-1': { tags: ['gold'], disks: [{ ...disk, tags: ['ssd'] }] },
        'node-2': { disks: [{ ...disk, reservedBytes: 45 * gibibyte }] },
      },
      volumes: [
        { ...one, name: 'big', sizeBytes: 60 * gibibyte },
        { ...one, name: 'fast', diskSelector: ['ssd'] },
        { ...one, name: 'gold', nodeSelector: ['gold'] },
        { ...one, name: 'plain' },
      ],
    })
    const { api, volume, cordon, placesOf, requestEviction, seconds, until, stop } = fixture
    const stuck = ['big', 'fast', 'gold']
    const before = await Promise.all(stuck.map((name) => namesOf(fixture, name)))
    await cordon('node-1')
    await requestEviction('node-1')
    await until(async () => (await placesOf('plain')).join() === 'node-2')
    await seconds(65)
    expect(await Promise.all(stuck.map((name) => namesOf(fixture, name)))).toEqual(before)
    for (const name of stuck) {
      expect((await volume(name)).status?.state).toBe('detached')
      expect((await api.get(longhornVolumeAttachments, { namespace, name })).spec?.attachmentTickets).toEqual({})
    }
    stop()
  })

  it.each([
    ['owner', 'stays attached, as with every released Longhorn, until the wish is taken back', 'attached'],
    ['healthy', 'is detached again', 'detached'],
  ] as const)('%s: one whose place is gone before its copy was made %s', async (attachForEviction, _what, state) => {
    const fixture = await openLonghorn({
      attachForEviction,
      settings: { 'concurrent-replica-rebuild-per-node-limit': '0' },
      volumes: [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.5 }],
    })
    const { api, volume, requestEviction, seconds, until, stop } = fixture
    await requestEviction('node-1')
    await until(async () => (await volume('db')).status?.state === 'attached')
    const body = { spec: { allowScheduling: false } }
    for (const name of ['node-1', 'node-3'])
      await api.patch(longhornNodes, { namespace, name }, { type: 'merge', body })
    await seconds(65)
    expect((await volume('db')).status?.state).toBe(state)
    await requestEviction('node-1', false)
    await until(async () => (await volume('db')).status?.state === 'detached')
    expect((await api.get(longhornVolumeAttachments, { namespace, name: 'db' })).spec?.attachmentTickets).toEqual({})
    stop()
  })

  it('with rebuilds switched off it waits attached, and detaches when the wish is taken back (row 42)', async () => {
    const fixture = await openLonghorn({
      settings: { 'concurrent-replica-rebuild-per-node-limit': '0' },
      volumes: [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.5 }],
    })
    const { volume, placesOf, requestEviction, cordon, seconds, until, stop } = fixture
    await cordon('node-1')
    await requestEviction('node-1')
    await until(async () => (await volume('db')).status?.state === 'attached')
    await seconds(120)
    expect(await placesOf('db')).toEqual(['node-1', 'node-2'])
    await requestEviction('node-1', false)
    await until(async () => (await volume('db')).status?.state === 'detached')
    stop()
  })

  it('a workload that comes takes the volume over from the move, which goes on where the workload is', async () => {
    const fixture = await openLonghorn({
      volumes: [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 1 }],
      timings: { rebuildBytesPerSecond: gibibyte / 30 },
    })
    const { controls, volume, placesOf, requestEviction, cordon, seconds, until, stop } = fixture
    await controls.attach('db', 'node-2')
    await seconds(5)
    await controls.detach('db')
    await seconds(5)
    await cordon('node-1')
    await requestEviction('node-1')
    await until(async () => (await volume('db')).status?.state === 'attached')
    const owner = (await volume('db')).status?.currentNodeID
    const other = ['node-2', 'node-3'].find((node) => node !== owner) as string
    await controls.attach('db', other)
    await until(async () => (await volume('db')).status?.currentNodeID === other)
    await until(async () => (await placesOf('db')).join() === 'node-2,node-3')
    expect(controls.verify('db').isIntact).toBe(true)
    expect((await volume('db')).status?.state).toBe('attached')
    stop()
  })
})
