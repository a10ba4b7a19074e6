import { longhornNamespace, longhornVolumes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { describe, expect, it } from 'vitest'
import { gibibyte } from './longhorn-description.ts'
import { type LonghornFixture, openLonghorn } from './testing/longhorn-fixture.ts'

async function namesOf({ replicasOf }: LonghornFixture, volume: string): Promise<string[]> {
  return (await replicasOf(volume)).map(({ metadata }) => metadata.name).sort()
}

describe('a copy beside its user', () => {
  const local = { name: 'db', numberOfReplicas: 2, dataLocality: 'best-effort' as const, filled: 0.25 }

  it('is made where the volume is attached, one of the others goes, and then nothing moves any more', async () => {
    const fixture = await openLonghorn({ volumes: [{ ...local, placedOn: ['node-1', 'node-2'] }] })
    const { controls, placesOf, seconds, until, stop } = fixture
    await controls.attach('db', 'node-3')
    await until(async () => (await placesOf('db')).length === 2 && (await placesOf('db')).includes('node-3'))
    const settled = await namesOf(fixture, 'db')
    await seconds(300)
    expect(await namesOf(fixture, 'db')).toEqual(settled)
    expect(controls.verify('db').isIntact).toBe(true)
    stop()
  })

  it('comes first when another copy has to leave its node', async () => {
    const fixture = await openLonghorn(
      { volumes: [{ ...local, placedOn: ['node-1', 'node-2'] }], settings: { 'replica-soft-anti-affinity': 'true' } },
      { nodeCount: 5 },
    )
    const { controls, placesOf, cordon, requestEviction, until, stop } = fixture
    await cordon('node-1')
    await requestEviction('node-1')
    await controls.attach('db', 'node-4')
    await until(async () => (await placesOf('db')).join() === 'node-2,node-4')
    stop()
  })

  it('that cannot be made is no fault: the volume stays healthy and placed', async () => {
    const fixture = await openLonghorn({ volumes: [{ ...local, placedOn: ['node-1', 'node-2'] }] })
    const { controls, volume, placesOf, cordon, seconds, stop } = fixture
    await cordon('node-3')
    await controls.attach('db', 'node-3')
    await seconds(60)
    expect(await placesOf('db')).toEqual(['node-1', 'node-2'])
    expect((await volume('db')).status).toMatchObject({
      robustness: 'healthy',
      conditions: [{ type: 'Scheduled', status: 'True' }],
    })
    stop()
  })
})

describe('balance', () => {
  const triple = { name: 'db', numberOfReplicas: 3, placedOn: ['node-1', 'node-2', 'node-3'], filled: 0.25 }

  it.each([
    ['disabled', 'stays where it went', ['node-2', 'node-2', 'node-3'], ['node-2', 'node-3', 'node-3']],
    ['least-effort', 'comes back', ['node-1', 'node-2', 'node-3'], ['node-1', 'node-2', 'node-3']],
    ['best-effort', 'comes back', ['node-1', 'node-2', 'node-3'], ['node-1', 'node-2', 'node-3']],
  ])(
    '%s: what left a cordoned node %s after the uncordon, and then nothing moves any more',
    async (mode, _what, ...ends) => {
      const fixture = await openLonghorn({
        volumes: [triple],
        settings: { 'replica-auto-balance': mode, 'replica-soft-anti-affinity': 'true' },
      })
      const { controls, placesOf, cordon, requestEviction, seconds, until, stop } = fixture
      await controls.attach('db', 'node-2')
      await seconds(5)
      await cordon('node-1')
      await requestEviction('node-1')
      await until(async () => !(await placesOf('db')).includes('node-1') && (await placesOf('db')).length === 3)
      await cordon('node-1', false)
      await seconds(90)
      expect(ends).toContainEqual(await placesOf('db'))
      const settled = await namesOf(fixture, 'db')
      await seconds(120)
      expect(await namesOf(fixture, 'db')).toEqual(settled)
      expect(controls.verify('db').isIntact).toBe(true)
      stop()
    },
  )

  it('takes away the surplus that a cancelled eviction left, which stays for ever without it', async () => {
    const fixture = await openLonghorn({
      volumes: [{ name: 'db', numberOfReplicas: 1, placedOn: ['node-1'], filled: 1 }],
      timings: { rebuildBytesPerSecond: gibibyte / 20 },
    })
    const { controls, placesOf, cordon, requestEviction, setting, seconds, until, stop } = fixture
    await controls.attach('db', 'node-2')
    await seconds(5)
    await cordon('node-1')
    await requestEviction('node-1')
    await seconds(10)
    await requestEviction('node-1', false)
    await cordon('node-1', false)
    await seconds(600)
    expect(await placesOf('db')).toHaveLength(2)
    await setting('replica-auto-balance', 'least-effort')
    await until(async () => (await placesOf('db')).length === 1)
    expect(controls.verify('db').isIntact).toBe(true)
    stop()
  })
})

describe('a volume that migrates', () => {
  it('gets no new copy and loses none until the migration is over', async () => {
    const fixture = await openLonghorn({
      volumes: [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }],
    })
    const { api, controls, placesOf, cordon, requestEviction, seconds, until, stop } = fixture
    const migrateTo = (migrationNodeID: string) =>
      api.patch(
        longhornVolumes,
        { namespace: longhornNamespace, name: 'db' },
        { type: 'merge', body: { spec: { migrationNodeID } } },
      )
    await controls.attach('db', 'node-2')
    await seconds(5)
    await migrateTo('node-3')
    await cordon('node-1')
    await requestEviction('node-1')
    await seconds(120)
    expect(await placesOf('db')).toEqual(['node-1', 'node-2'])
    await migrateTo('')
    await until(async () => (await placesOf('db')).length === 3)
    await migrateTo('node-3')
    await seconds(120)
    expect(await placesOf('db')).toEqual(['node-1', 'node-2', 'node-3'])
    await migrateTo('')
    await until(async () => (await placesOf('db')).join() === 'node-2,node-3')
    expect(controls.verify('db').isIntact).toBe(true)
    stop()
  })
})

describe('rebuilds that are tried again', () => {
  const pair = { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 1 }

  it('rest longer after each failure; after the fifth the copy is given up for a new one', async () => {
    const fixture = await openLonghorn({ volumes: [pair], timings: { rebuildBytesPerSecond: gibibyte / 600 } })
    const { clock, controls, replicasOf, seconds, until, stop } = fixture
    await controls.attach('db', 'node-3')
    await seconds(5)
    const failing = (await replicasOf('db')).find(({ spec }) => spec?.nodeID === 'node-1')?.metadata.name ?? ''
    const find = async () => (await replicasOf('db')).find(({ metadata }) => metadata.name === failing)
    const restsMs: number[] = []
    for (let failure = 0; failure <= 5; failure += 1) {
      const before = (await find())?.spec?.lastFailedAt
      controls.failReplica(failing)
      await until(async () => (await find())?.spec?.lastFailedAt !== before)
      const failedAtMs = clock.now()
      if (failure === 5) break
      await until(async () => (await find())?.status?.currentState === 'running', 600)
      restsMs.push(Math.round((clock.now() - failedAtMs) / 10_000))
      expect((await find())?.spec?.rebuildRetryCount).toBe(failure)
    }
    expect(restsMs).toEqual([...restsMs].sort((a, b) => a - b))
    expect(restsMs.at(-1)).toBeGreaterThanOrEqual(8)
    controls.setRate(gibibyte)
    await until(async () => (await find()) === undefined)
    await until(() => controls.verify('db').healthy.length === 2)
    expect(controls.verify('db').isIntact).toBe(true)
    stop()
  })

  it('a failed copy goes after the time that its volume gives it, once another is whole in its place', async () => {
    const fixture = await openLonghorn({
      volumes: [{ ...pair, filled: 0.25, staleReplicaTimeout: 5 }],
      settings: { 'replica-replenishment-wait-interval': '60' },
    })
    const { controls, replicasOf, cordon, evictInstanceManagers, seconds, until, stop } = fixture
    await controls.attach('db', 'node-3')
    await seconds(5)
    const [lost] = (await replicasOf('db')).filter(({ spec }) => spec?.nodeID === 'node-1')
    await cordon('node-1')
    await evictInstanceManagers('node-1')
    await until(async () => (await namesOf(fixture, 'db')).length === 3, 90)
    expect(
      await until(async () => !(await namesOf(fixture, 'db')).includes(lost?.metadata.name ?? '')),
    ).toBeGreaterThan(200)
    expect(controls.verify('db').healthy).toHaveLength(2)
    stop()
  })
})
