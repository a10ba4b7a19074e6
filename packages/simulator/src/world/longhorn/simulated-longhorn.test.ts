import { longhornInstanceManagers } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { describe, expect, it } from 'vitest'
import { openLonghorn } from './testing/longhorn-fixture.ts'

describe('a volume lives', () => {
  it('is placed on different nodes, attaches for a workload and is healthy with what was written on every copy', async () => {
    const fixture = await openLonghorn({ volumes: [{ name: 'db', numberOfReplicas: 3 }] })
    const { controls, volume, replicasOf, placesOf, list, seconds, stop, failures } = fixture
    expect((await volume('db')).status).toMatchObject({ state: 'detached', robustness: 'unknown' })
    expect(await placesOf('db')).toEqual(['node-1', 'node-2', 'node-3'])
    expect((await replicasOf('db')).map(({ spec }) => [spec?.healthyAt, spec?.failedAt])).toEqual(
      Array(3).fill(['', '']),
    )

    await controls.attach('db', 'node-2')
    await seconds(5)
    expect((await volume('db')).status).toMatchObject({
      state: 'attached',
      robustness: 'healthy',
      currentNodeID: 'node-2',
    })
    controls.writeData('db', { blocks: 10 })
    expect(controls.verify('db')).toMatchObject({ isIntact: true })
    expect(controls.verify('db').healthy.map(({ mode }) => mode)).toEqual(['RW', 'RW', 'RW'])
    await seconds(1)
    const managers = await list(longhornInstanceManagers)
    expect(
      managers
        .map(({ spec, status }) => [
          spec?.nodeID,
          status?.currentState,
          Object.keys(status?.instanceEngines ?? {}),
          Object.keys(status?.instanceReplicas ?? {}).length,
        ])
        .sort(),
    ).toEqual([
      ['node-1', 'running', [], 1],
      ['node-2', 'running', ['db-e-0'], 1],
      ['node-3', 'running', [], 1],
    ])

    await controls.detach('db')
    await seconds(5)
    expect((await volume('db')).status).toMatchObject({ state: 'detached', robustness: 'unknown', currentNodeID: '' })
    expect(controls.verify('db')).toMatchObject({ isIntact: true })
    expect(() => controls.writeData('db')).toThrow('volume "db" is not attached')
    expect(failures).toEqual([])
    stop()
  })

  it('what is written on a copy says what became of it: used, stopped, failed, and whole again', async () => {
    const fixture = await openLonghorn({
      volumes: [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }],
      settings: { 'replica-replenishment-wait-interval': '30' },
    })
    const { clock, controls, volume, replicasOf, cordon, evictInstanceManagers, seconds, until, stop } = fixture
    const first = async () => (await replicasOf('db')).find(({ spec }) => spec?.nodeID === 'node-1')
    await controls.attach('db', 'node-2')
    await seconds(5)
    expect(await first()).toMatchObject({ spec: { desireState: 'running' }, status: { currentState: 'running' } })
    await controls.detach('db')
    await seconds(5)
    expect(await first()).toMatchObject({
      spec: { desireState: 'stopped', failedAt: '', healthyAt: expect.stringMatching(/Z$/) },
      status: { currentState: 'stopped', instanceManagerName: '' },
    })
    await controls.attach('db', 'node-2')
    await seconds(5)
    await cordon('node-1')
    await evictInstanceManagers('node-1')
    await until(async () => (await volume('db')).status?.robustness === 'degraded')
    const failedAt = (await first())?.spec?.failedAt
    expect(clock.now() - Date.parse(failedAt ?? '')).toBeLessThan(3_000)
    expect((await first())?.spec).toMatchObject({ desireState: 'stopped', lastFailedAt: failedAt })
    expect((await volume('db')).status?.lastDegradedAt).toBe(failedAt)
    await until(async () => (await replicasOf('db')).length === 3)
    const made = async () => (await replicasOf('db')).find(({ spec }) => spec?.nodeID === 'node-3')?.spec
    expect(await made()).toMatchObject({ healthyAt: '', rebuildRetryCount: 5 })
    await until(async () => (await volume('db')).status?.robustness === 'healthy')
    expect(await made()).toMatchObject({ healthyAt: expect.stringMatching(/Z$/), rebuildRetryCount: 0 })
    expect((await volume('db')).status?.lastDegradedAt).toBe('')
    stop()
  })

  it('one with data was used before, so its copies hold their nodes though nobody attached it yet; an empty one has no past', async () => {
    const { controls, volume, replicasOf, seconds, stop } = await openLonghorn({
      volumes: [
        { name: 'full', numberOfReplicas: 2, filled: 0.5 },
        { name: 'empty', numberOfReplicas: 2 },
      ],
    })
    const healthyAt = expect.stringMatching(/^\d{4}-.*Z$/) as string
    const past = async (name: string) =>
      (await replicasOf(name)).map(({ spec }) => [spec?.healthyAt, spec?.lastHealthyAt, spec?.failedAt])
    expect(await past('full')).toEqual(Array(2).fill([healthyAt, healthyAt, '']))
    expect(await past('empty')).toEqual(Array(2).fill(['', '', '']))
    expect((await volume('full')).status).toMatchObject({ state: 'detached', actualSize: 512 * 1024 ** 2 })
    expect(controls.verify('full')).toMatchObject({
      isIntact: true,
      healthy: [{ mode: 'stopped' }, { mode: 'stopped' }],
    })
    await controls.attach('full', 'node-1')
    await seconds(5)
    expect((await volume('full')).status).toMatchObject({ state: 'attached', robustness: 'healthy' })
    expect(controls.verify('full').isIntact).toBe(true)
    stop()
  })

  it('a corrupted block is found by verifying, so that verifying proves something', async () => {
    const { controls, replicasOf, seconds, stop } = await openLonghorn({ volumes: [{ name: 'db', filled: 0.5 }] })
    await controls.attach('db', 'node-1')
    await seconds(5)
    const [first] = await replicasOf('db')
    controls.corruptBlock(first?.metadata.name ?? '', 3)
    expect(controls.verify('db')).toMatchObject({ isIntact: false, healthy: [{ wrongBlocks: [3] }, {}, {}] })
    stop()
  })
})

describe('a replica is to go', () => {
  it('moves to a free node: three copies, then two, never degraded, with the data verified (row 26)', async () => {
    const fixture = await openLonghorn({
      volumes: [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 1 }],
    })
    const { controls, volume, replicasOf, placesOf, cordon, requestEviction, seconds, stop, failures } = fixture
    await controls.attach('db', 'node-2')
    await seconds(5)
    controls.writeData('db')
    await cordon('node-1')
    await requestEviction('node-1')
    const counts: number[] = []
    const robustness = new Set<string | undefined>()
    for (let second = 0; second < 40; second += 1) {
      await seconds(1)
      const count = (await replicasOf('db')).length
      if (count !== counts.at(-1)) counts.push(count)
      robustness.add((await volume('db')).status?.robustness)
      controls.writeData('db', { blocks: 1 })
      expect(controls.verify('db').isIntact).toBe(true)
    }
    expect(counts).toEqual([3, 2])
    expect([...robustness]).toEqual(['healthy'])
    expect(await placesOf('db')).toEqual(['node-2', 'node-3'])
    expect(failures).toEqual([])
    stop()
  })
})
