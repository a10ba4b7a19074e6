import {
  longhornEngines,
  longhornInstanceManagers,
  longhornReplicas,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { instanceManagerName } from './instance-manager-name.ts'
import { defaultImage, gibibyte } from './longhorn-description.ts'
import { type LonghornFixture, openLonghorn } from './testing/longhorn-fixture.ts'

async function managerOn({ list }: LonghornFixture, node: string) {
  const found = (await list(longhornInstanceManagers)).filter(({ spec }) => spec?.nodeID === node)
  return found.map(({ status }) => status?.currentState)
}

async function namesOf({ replicasOf }: LonghornFixture, volume: string): Promise<string[]> {
  return (await replicasOf(volume)).map(({ metadata }) => metadata.name).sort()
}

describe('instance managers', () => {
  it('have the name and the labels that their budgets select', async () => {
    const { list, stop } = await openLonghorn()
    const [pod] = (await list(pods)).filter(
      ({ metadata, spec }) => spec.nodeName === 'node-1' && metadata.name.startsWith('instance-manager-'),
    )
    expect(pod?.metadata).toMatchObject({
      name: instanceManagerName({ node: 'node-1', image: defaultImage, dataEngine: 'v1' }),
      labels: {
        'longhorn.io/managed-by': 'longhorn-manager',
        'longhorn.io/component': 'instance-manager',
        'longhorn.io/instance-manager-type': 'aio',
        'longhorn.io/node': 'node-1',
        'longhorn.io/data-engine': 'v1',
      },
    })
    expect(pod?.metadata.name).toMatch(/^instance-manager-[0-9a-f]{32}$/)
    expect(pod?.metadata.labels?.['longhorn.io/instance-manager-image']).toMatch(/^imi-[0-9a-f]{8}$/)
    stop()
  })

  it('one that was evicted is not made again while its node is cordoned, and is after (row 50)', async () => {
    const fixture = await openLonghorn()
    const { cordon, evictInstanceManagers, seconds, stop } = fixture
    await cordon('node-1')
    await evictInstanceManagers('node-1')
    await seconds(300)
    expect(await managerOn(fixture, 'node-1')).toEqual(['stopped'])
    await cordon('node-1', false)
    await seconds(30)
    expect(await managerOn(fixture, 'node-1')).toEqual(['running'])
    stop()
  })

  it('of an old image stays while something runs in it, and goes when the last process has moved', async () => {
    const fixture = await openLonghorn({ volumes: [{ name: 'db', numberOfReplicas: 1, placedOn: ['node-1'] }] })
    const { controls, seconds, stop } = fixture
    await controls.attach('db', 'node-1')
    await seconds(5)
    await controls.setImage('longhornio/longhorn-instance-manager:next')
    await seconds(60)
    expect(await managerOn(fixture, 'node-1')).toEqual(['running', 'running'])
    expect(await managerOn(fixture, 'node-2')).toEqual(['running'])
    await controls.detach('db')
    await seconds(60)
    expect(await managerOn(fixture, 'node-1')).toEqual(['running'])
    stop()
  })
})

describe('a node goes and comes back', () => {
  it('the copy on a drained node fails, waits, and is used again under its own name when the node is back', async () => {
    const fixture = await openLonghorn(
      { volumes: [{ name: 'db', numberOfReplicas: 3, filled: 0.5 }] },
      { nodeCount: 4 },
    )
    const { controls, volume, replicasOf, cordon, evictInstanceManagers, seconds, until, stop, failures } = fixture
    await controls.attach('db', 'node-4')
    await seconds(5)
    const before = await namesOf(fixture, 'db')
    const [away] = await replicasOf('db')
    const node = away?.spec?.nodeID as string
    await cordon(node)
    await evictInstanceManagers(node)
    await until(async () => (await volume('db')).status?.robustness === 'degraded')
    controls.writeData('db', { blocks: 20 })
    await seconds(300)
    expect(await namesOf(fixture, 'db')).toEqual(before)
    const [failed] = (await replicasOf('db')).filter(({ metadata }) => metadata.name === away?.metadata.name)
    expect(failed?.spec?.failedAt).not.toBe('')
    expect(controls.verify('db').healthy).toHaveLength(2)

    await cordon(node, false)
    await until(async () => (await volume('db')).status?.robustness === 'healthy')
    expect(await namesOf(fixture, 'db')).toEqual(before)
    expect(controls.verify('db').healthy).toHaveLength(3)
    expect(controls.verify('db').isIntact).toBe(true)
    expect(failures).toEqual([])
    stop()
  })

  it('after the time to wait a new copy is made elsewhere', async () => {
    const fixture = await openLonghorn(
      { volumes: [{ name: 'db', numberOfReplicas: 3, filled: 0.25 }] },
      { nodeCount: 4 },
    )
    const { controls, volume, replicasOf, placesOf, cordon, evictInstanceManagers, seconds, until, stop } = fixture
    await controls.attach('db', 'node-4')
    await seconds(5)
    const node = (await replicasOf('db'))
      .map(({ spec }) => spec?.nodeID as string)
      .find((name) => name !== 'node-4') as string
    await cordon(node)
    await evictInstanceManagers(node)
    await until(async () => (await volume('db')).status?.robustness === 'degraded')
    const seconds_ = await until(async () => (await volume('db')).status?.robustness === 'healthy', 700)
    expect(seconds_).toBeGreaterThanOrEqual(598)
    expect(await placesOf('db')).toHaveLength(4)
    expect(controls.verify('db').healthy).toHaveLength(3)
    stop()
  })

  it('the power of a node with engine and copy goes: the volume starts again where it is wanted next, from the other copy', async () => {
    const fixture = await openLonghorn({
      volumes: [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }],
    })
    const { controls, world, node, volume, seconds, until, stop } = fixture
    await controls.attach('db', 'node-1')
    await seconds(5)
    controls.writeData('db')
    world.kubelet.powerOff('node-1')
    await seconds(90)
    expect(conditionOf(await node('node-1'), 'Ready')).toMatchObject({
      status: 'False',
      reason: 'KubernetesNodeNotReady',
    })
    expect(await managerOn(fixture, 'node-1')).toEqual(['unknown'])
    expect(() => controls.writeData('db')).toThrow('not attached')
    await controls.attach('db', 'node-3')
    await until(async () => (await volume('db')).status?.state === 'attached')
    expect((await volume('db')).status).toMatchObject({ robustness: 'degraded', currentNodeID: 'node-3' })
    controls.writeData('db')
    expect(controls.verify('db')).toMatchObject({ isIntact: true, healthy: [{ node: 'node-2' }] })
    world.kubelet.powerOn('node-1')
    await until(async () => (await volume('db')).status?.robustness === 'healthy')
    expect(controls.verify('db').healthy).toHaveLength(2)
    expect(controls.verify('db').isIntact).toBe(true)
    stop()
  })

  it('a copy that cannot run when its volume starts is marked as failed before it misses a write, and is rebuilt later', async () => {
    const fixture = await openLonghorn({
      volumes: [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }],
    })
    const { controls, cordon, evictInstanceManagers, replicasOf, volume, seconds, until, stop } = fixture
    await controls.attach('db', 'node-3')
    await seconds(5)
    await controls.detach('db')
    await seconds(5)
    await cordon('node-1')
    await evictInstanceManagers('node-1')
    await seconds(30)
    expect((await replicasOf('db')).map(({ spec }) => spec?.failedAt)).toEqual(['', ''])
    await controls.attach('db', 'node-3')
    await until(async () => (await volume('db')).status?.state === 'attached')
    const failed = (await replicasOf('db')).filter(({ spec }) => spec?.failedAt !== '').map(({ spec }) => spec?.nodeID)
    expect(failed).toEqual(['node-1'])
    controls.writeData('db')
    await cordon('node-1', false)
    await until(async () => (await volume('db')).status?.robustness === 'healthy')
    expect(controls.verify('db')).toMatchObject({ isIntact: true, healthy: [{ mode: 'RW' }, { mode: 'RW' }] })
    stop()
  })

  it('a stumble of the kubelet shorter than the grace changes nothing (row 51)', async () => {
    const { node, world, seconds, stop } = await openLonghorn()
    world.kubelet.setReady('node-1', false)
    for (let second = 0; second < 12; second += 1) {
      await seconds(1)
      expect(conditionOf(await node('node-1'), 'Ready')?.status).toBe('True')
    }
    world.kubelet.setReady('node-1', true)
    await seconds(40)
    expect(conditionOf(await node('node-1'), 'Ready')?.status).toBe('True')
    world.kubelet.setReady('node-1', false)
    await seconds(25)
    expect(conditionOf(await node('node-1'), 'Ready')?.status).toBe('False')
    stop()
  })

  it('on a single node the volume faults with its instance manager, and is salvaged with all it had when that is back (row 49)', async () => {
    const fixture = await openLonghorn(
      { volumes: [{ name: 'db', numberOfReplicas: 1, filled: 0.25 }] },
      { nodeCount: 1 },
    )
    const { controls, volume, cordon, evictInstanceManagers, seconds, until, stop } = fixture
    await controls.attach('db', 'node-1')
    await seconds(5)
    controls.writeData('db')
    await cordon('node-1')
    await evictInstanceManagers('node-1')
    await seconds(30)
    expect((await volume('db')).status?.robustness).toBe('faulted')
    await seconds(300)
    expect((await volume('db')).status?.robustness).toBe('faulted')
    await cordon('node-1', false)
    await until(async () => (await volume('db')).status?.robustness === 'healthy')
    expect(controls.verify('db')).toMatchObject({ isIntact: true, healthy: [{ node: 'node-1', mode: 'RW' }] })
    stop()
  })

  it('a copy on a disk that dies is replaced from the others', async () => {
    const fixture = await openLonghorn({ volumes: [{ name: 'db', numberOfReplicas: 2, filled: 0.25 }] })
    const { controls, volume, replicasOf, seconds, until, stop } = fixture
    await controls.attach('db', 'node-1')
    await seconds(5)
    const [lost] = await replicasOf('db')
    controls.failDisk(lost?.spec?.diskID ?? '')
    await until(async () => (await volume('db')).status?.robustness === 'degraded')
    await until(async () => (await volume('db')).status?.robustness === 'healthy', 700)
    expect(controls.verify('db').healthy.map(({ replica }) => replica)).not.toContain(lost?.metadata.name)
    expect(controls.verify('db').isIntact).toBe(true)
    stop()
  })
})

describe('rebuilds that fail', () => {
  const slow = { rebuildBytesPerSecond: gibibyte / 60 }

  it('a target that dies is thrown away, and another is made, with the volume healthy all the time', async () => {
    const fixture = await openLonghorn(
      { volumes: [{ name: 'db', numberOfReplicas: 1, placedOn: ['node-1'], filled: 1 }], timings: slow },
      { nodeCount: 3 },
    )
    const { controls, volume, replicasOf, placesOf, cordon, requestEviction, seconds, until, stop, failures } = fixture
    await controls.attach('db', 'node-2')
    await seconds(5)
    await cordon('node-1')
    await requestEviction('node-1')
    await seconds(20)
    const [target] = (await replicasOf('db')).filter(({ spec }) => spec?.healthyAt === '')
    controls.failReplica(target?.metadata.name ?? '')
    await until(async () => {
      expect((await volume('db')).status?.robustness).toBe('healthy')
      return (await placesOf('db')).length === 1 && !(await placesOf('db')).includes('node-1')
    })
    expect(await namesOf(fixture, 'db')).not.toContain(target?.metadata.name)
    expect(controls.verify('db').isIntact).toBe(true)
    expect(failures).toEqual([])
    stop()
  })

  it('a half-made copy that somebody deletes is gone with its rebuild, and a new one takes its place', async () => {
    const fixture = await openLonghorn({
      volumes: [{ name: 'db', numberOfReplicas: 1, placedOn: ['node-1'], filled: 1 }],
      timings: slow,
    })
    const { api, list, controls, replicasOf, placesOf, cordon, requestEviction, seconds, until, stop } = fixture
    await controls.attach('db', 'node-1')
    await seconds(5)
    await cordon('node-1')
    await requestEviction('node-1')
    await seconds(32)
    const [target] = (await replicasOf('db')).filter(({ spec }) => spec?.healthyAt === '')
    const { name = '', namespace = '' } = target?.metadata ?? {}
    const [engine] = await list(longhornEngines)
    expect(engine?.status).toMatchObject({
      replicaModeMap: { [name]: 'WO' },
      rebuildStatus: { [name]: { isRebuilding: true, progress: expect.closeTo(50, -1) } },
    })
    await api.delete(longhornReplicas, { namespace, name })
    await until(async () => (await placesOf('db')).join() !== 'node-1' && (await placesOf('db')).length === 1, 200)
    expect(await namesOf(fixture, 'db')).not.toContain(name)
    expect(controls.verify('db').isIntact).toBe(true)
    stop()
  })

  it('when the source dies the copy goes on from another one, and misses no write', async () => {
    const fixture = await openLonghorn(
      { volumes: [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 1 }], timings: slow },
      { nodeCount: 4 },
    )
    const { controls, replicasOf, cordon, requestEviction, seconds, until, stop } = fixture
    await controls.attach('db', 'node-4')
    await seconds(5)
    await cordon('node-1')
    await requestEviction('node-1')
    await seconds(20)
    controls.writeData('db', { blocks: 8 })
    const sources = (await replicasOf('db')).filter(({ spec }) => spec?.healthyAt !== '')
    controls.failReplica(sources[0]?.metadata.name ?? '')
    controls.writeData('db', { blocks: 8 })
    await until(() => controls.verify('db').healthy.length === 2)
    expect(controls.verify('db').isIntact).toBe(true)
    stop()
  })

  it('when the last source dies the half-made copy is not taken for a whole one, and the volume comes back from the old', async () => {
    const fixture = await openLonghorn(
      { volumes: [{ name: 'db', numberOfReplicas: 1, placedOn: ['node-1'], filled: 1 }], timings: slow },
      { nodeCount: 3 },
    )
    const { controls, volume, replicasOf, requestEviction, seconds, until, stop } = fixture
    await controls.attach('db', 'node-2')
    await seconds(5)
    await requestEviction('node-1')
    await seconds(20)
    const [source] = (await replicasOf('db')).filter(({ spec }) => spec?.healthyAt !== '')
    controls.failReplica(source?.metadata.name ?? '')
    await until(async () => (await volume('db')).status?.robustness === 'faulted')
    await until(async () => (await volume('db')).status?.robustness === 'healthy')
    expect(controls.verify('db').isIntact).toBe(true)
    stop()
  })
})

describe('the second data engine', () => {
  it('runs in instance managers of its own, on block disks, beside the first', async () => {
    const fixture = await openLonghorn({
      dataEngines: ['v1', 'v2'],
      disks: [{ name: 'files' }, { name: 'blocks', diskType: 'block' }],
      volumes: [{ name: 'db', numberOfReplicas: 2, dataEngine: 'v2', filled: 0.25 }],
    })
    const { controls, list, volume, seconds, stop } = fixture
    await controls.attach('db', 'node-1')
    await seconds(5)
    expect((await volume('db')).status?.robustness).toBe('healthy')
    const managers = await list(longhornInstanceManagers)
    expect(
      managers
        .map(({ spec, status }) => [
          spec?.nodeID,
          spec?.dataEngine,
          status?.currentState,
          Object.keys(status?.instanceEngines ?? {}).length,
        ])
        .sort(),
    ).toEqual([
      ['node-1', 'v1', 'running', 0],
      ['node-1', 'v2', 'running', 1],
      ['node-2', 'v1', 'running', 0],
      ['node-2', 'v2', 'running', 0],
      ['node-3', 'v1', 'running', 0],
      ['node-3', 'v2', 'running', 0],
    ])
    expect(controls.verify('db')).toMatchObject({ isIntact: true, healthy: [{ mode: 'RW' }, { mode: 'RW' }] })
    stop()
  })
})

describe('rebuilds take their time', () => {
  it('as long as the data takes at the given rate, and no longer', async () => {
    const fixture = await openLonghorn({
      volumes: [
        { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.5, sizeBytes: 2 * gibibyte },
      ],
      timings: { rebuildBytesPerSecond: gibibyte / 100 },
    })
    const { controls, cordon, requestEviction, seconds, until, stop } = fixture
    await controls.attach('db', 'node-2')
    await seconds(5)
    await cordon('node-1')
    await requestEviction('node-1')
    expect(await until(() => controls.verify('db').healthy.some(({ node }) => node === 'node-3'))).toBe(101)
    stop()
  })

  it('a node takes in no more at a time than the setting allows', async () => {
    const volumes = ['a', 'b', 'c'].map((name) => ({ name, numberOfReplicas: 1, placedOn: ['node-1'], filled: 1 }))
    const fixture = await openLonghorn(
      {
        volumes,
        settings: { 'concurrent-replica-rebuild-per-node-limit': '2' },
        timings: { rebuildBytesPerSecond: gibibyte / 20 },
      },
      { nodeCount: 2 },
    )
    const { controls, cordon, requestEviction, seconds, until, stop } = fixture
    for (const { name } of volumes) await controls.attach(name, 'node-2')
    await seconds(5)
    await cordon('node-1')
    await requestEviction('node-1')
    const whole = () =>
      volumes.filter(({ name }) => controls.verify(name).healthy.some(({ node }) => node === 'node-2')).length
    await until(() => whole() > 0)
    expect(whole()).toBe(2)
    await until(() => whole() === 3)
    stop()
  })
})
