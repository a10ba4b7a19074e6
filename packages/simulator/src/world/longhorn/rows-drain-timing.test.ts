import { longhornNamespace, longhornReplicas, longhornVolumes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { deployments, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { describe, expect, it } from 'vitest'
import { drainNode } from '../testing/drain.ts'
import { deployment } from '../testing/scenario.ts'
import { gibibyte } from './longhorn-description.ts'
import { type LonghornFixture, openLonghorn } from './testing/longhorn-fixture.ts'

const slow = { rebuildBytesPerSecond: gibibyte / 60 }
const triple = { name: 'db', numberOfReplicas: 3, placedOn: ['node-1', 'node-2', 'node-3'], filled: 1 }

/** One pod that has the volume attached wherever it runs: its user, or the server through which many use it. */
async function startUser({ api, volume, until }: LonghornFixture, name: string): Promise<void> {
  const annotations = { 'cofferdam.io/longhorn-volumes': 'db' }
  await api.create(deployments, deployment(name, { replicas: 1, annotations }))
  await until(async () => (await volume('db')).status?.robustness === 'healthy')
}

async function drain(fixture: LonghornFixture, node: string): Promise<void> {
  let isDone = false
  const done = drainNode(fixture, node).then(() => {
    isDone = true
  })
  await fixture.until(() => isDone)
  await done
}

describe('a drain in the middle of a rebuild', () => {
  const rows = {
    'the node of its user: it is attached elsewhere, degraded': 'user',
    'the node of the copy that is being rebuilt: that copy fails, its user sees nothing': 'copy',
  } as const
  it.each(Object.entries(rows))(
    '%s, and healthy with all of its data after the uncordon (row 43)',
    async (_name, which) => {
      const fixture = await openLonghorn({ csi: false, volumes: [triple], timings: slow }, { nodeCount: 3 })
      const { controls, volume, replicasOf, cordon, until, stop, failures } = fixture
      await startUser(fixture, 'app')
      const usedOn = (await volume('db')).status?.currentNodeID ?? ''
      const [broken] = (await replicasOf('db')).filter(({ spec }) => spec?.nodeID !== usedOn)
      controls.failReplica(broken?.metadata.name ?? '')
      await until(async () => (await volume('db')).status?.robustness === 'degraded')
      controls.writeData('db')
      const drained = which === 'user' ? usedOn : (broken?.spec?.nodeID ?? '')
      await drain(fixture, drained)
      await until(async () => {
        const { state, currentNodeID } = (await volume('db')).status ?? {}
        return state === 'attached' && currentNodeID !== drained
      })
      expect((await volume('db')).status?.robustness).toBe('degraded')
      controls.writeData('db')
      await cordon(drained, false)
      await until(async () => (await volume('db')).status?.robustness === 'healthy', 600)
      expect(controls.verify('db').healthy).toHaveLength(3)
      expect(controls.verify('db').isIntact).toBe(true)
      expect(failures).toEqual([])
      stop()
    },
  )

  it('the node of the server through which many use it, twice in a row: it follows the server each time (row 44)', async () => {
    const fixture = await openLonghorn({ csi: false, volumes: [{ ...triple, filled: 0.25 }] }, { nodeCount: 3 })
    const { controls, volume, cordon, until, stop } = fixture
    await startUser(fixture, 'share-manager-db')
    const seen: string[] = []
    for (let turn = 0; turn < 2; turn += 1) {
      const drained = (await volume('db')).status?.currentNodeID ?? ''
      seen.push(drained)
      await drain(fixture, drained)
      await until(async () => {
        const { state, currentNodeID } = (await volume('db')).status ?? {}
        return state === 'attached' && currentNodeID !== drained
      })
      controls.writeData('db')
      await cordon(drained, false)
      await until(async () => (await volume('db')).status?.robustness === 'healthy')
    }
    expect(new Set(seen).size).toBe(2)
    expect(controls.verify('db').healthy).toHaveLength(3)
    expect(controls.verify('db').isIntact).toBe(true)
    stop()
  })
})

describe('a drain that is given up', () => {
  it.each([1, 3, 5, 12])(
    'after %i s leaves no volume between two states and no flag behind (row 46)',
    async (after) => {
      const fixture = await openLonghorn({
        csi: false,
        ownDrainHandling: true,
        settings: { 'node-drain-policy': 'block-for-eviction' },
        volumes: [
          { ...triple, numberOfReplicas: 2, placedOn: ['node-1', 'node-2'] },
          { name: 'archive', numberOfReplicas: 2, placedOn: ['node-1', 'node-3'], filled: 1 },
        ],
        timings: { rebuildBytesPerSecond: gibibyte / 10 },
      })
      const { api, controls, cordon, list, seconds, stop, failures } = fixture
      await startUser(fixture, 'app')
      await cordon('node-1')
      const [user] = await fixture.podsOf('app')
      await evictPod(api, { namespace: 'default', name: user?.metadata.name ?? '' })
      await seconds(after)
      await cordon('node-1', false)
      await seconds(120)
      expect(
        (await list(longhornVolumes)).map(({ metadata, status }) => [metadata.name, status?.state, status?.robustness]),
      ).toEqual([
        ['archive', 'detached', 'unknown'],
        ['db', 'attached', 'healthy'],
      ])
      expect((await list(longhornReplicas)).filter(({ spec }) => spec?.evictionRequested)).toEqual([])
      for (const name of ['archive', 'db']) expect(controls.verify(name).isIntact).toBe(true)
      expect(failures).toEqual([])
      stop()
    },
  )
})

describe('the last healthy copy', () => {
  it('that is to go is never deleted, however often its replacement fails (row 41)', async () => {
    const fixture = await openLonghorn({
      csi: false,
      volumes: [{ ...triple, numberOfReplicas: 1, placedOn: ['node-1'] }],
      timings: slow,
    })
    const { controls, replicasOf, cordon, requestEviction, seconds, until, stop } = fixture
    await controls.attach('db', 'node-2')
    await seconds(5)
    const [last] = await replicasOf('db')
    await cordon('node-1')
    await requestEviction('node-1')
    for (let failure = 0; failure < 5; failure += 1) {
      await until(async () =>
        (await replicasOf('db')).some(
          ({ status, spec }) => spec?.healthyAt === '' && status?.currentState === 'running',
        ),
      )
      const [target] = (await replicasOf('db')).filter(({ spec }) => spec?.healthyAt === '')
      controls.failReplica(target?.metadata.name ?? '')
      await seconds(3)
      expect(controls.verify('db')).toMatchObject({ isIntact: true, healthy: [{ replica: last?.metadata.name }] })
    }
    await until(() => controls.verify('db').healthy.every(({ node }) => node !== 'node-1'))
    expect(controls.verify('db').isIntact).toBe(true)
    stop()
  })
})

describe('one node for everything', () => {
  it('always-allow lets it go once its user is gone; in use it is held, taken by force it faults, and comes back whole (row 49)', async () => {
    const fixture = await openLonghorn(
      {
        csi: false,
        ownDrainHandling: true,
        settings: { 'node-drain-policy': 'always-allow' },
        volumes: [{ ...triple, numberOfReplicas: 1, placedOn: ['node-1'], filled: 0.25 }],
      },
      { nodeCount: 1 },
    )
    const { api, controls, volume, cordon, list, evictInstanceManagers, seconds, until, stop } = fixture
    await startUser(fixture, 'app')
    controls.writeData('db')
    await cordon('node-1')
    await seconds(60)
    await expect(evictInstanceManagers('node-1')).rejects.toMatchObject({ code: 429 })
    const [manager] = (await list(pods)).filter(({ metadata }) => metadata.name.startsWith('instance-manager-'))
    await api.delete(pods, { namespace: longhornNamespace, name: manager?.metadata.name ?? '' })
    await until(async () => (await volume('db')).status?.robustness === 'faulted')
    await cordon('node-1', false)
    await until(async () => (await volume('db')).status?.robustness === 'healthy')
    expect(controls.verify('db')).toMatchObject({ isIntact: true, healthy: [{ node: 'node-1', mode: 'RW' }] })
    await api.delete(deployments, { namespace: 'default', name: 'app' })
    await until(async () => (await volume('db')).status?.state === 'detached')
    await cordon('node-1')
    await seconds(60)
    await evictInstanceManagers('node-1')
    stop()
  })
})
