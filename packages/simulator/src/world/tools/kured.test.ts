import {
  daemonSets,
  deployments,
  namespaces,
  nodes,
  podDisruptionBudgets,
} from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { budget, deployment, openWorld } from '../testing/scenario.ts'
import { buildKuredDaemonSet, type KuredOptions, kuredInProgressAnnotation, startKured } from './kured.ts'
import { kuredLockAnnotation } from './kured-lock.ts'

let close = () => {}

afterEach(() => close())

const minute = 60
const key = { namespace: 'kube-system', name: 'kured' }

async function open(options: KuredOptions = {}) {
  const flags = { periodMs: 60_000, annotateNodes: true, ...options }
  const world = await openWorld({ nodeCount: 3, keepEvents: 'none' })
  const { api, clock, random, failures } = world
  const found = await api.get(namespaces, { name: 'kube-system' }).catch(() => undefined)
  if (found === undefined) {
    await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } })
  }
  await api.create(daemonSets, buildKuredDaemonSet(flags))
  const { kubelet, views } = world.world
  const kured = startKured(
    { api, clock, random, views, kubelet, onFailure: (failure) => failures.push(failure) },
    flags,
  )
  close = () => {
    kured.stop()
    world.stop()
  }
  const nodeNamed = (name: string) => api.get(nodes, { name })
  return {
    ...world,
    kured,
    lock: async () => (await api.get(daemonSets, key)).metadata.annotations?.[kuredLockAnnotation],
    setLock: (text: string) =>
      api.patch(daemonSets, key, {
        type: 'merge',
        body: { metadata: { annotations: { [kuredLockAnnotation]: text } } },
      }),
    isCordoned: async (name: string) => (await nodeNamed(name)).spec?.unschedulable === true,
    isAnnotated: async (name: string) =>
      (await nodeNamed(name)).metadata.annotations?.[kuredInProgressAnnotation] !== undefined,
  }
}

describe('kured', () => {
  it('reboots the nodes one after the other, and leaves neither lock nor cordon nor annotation behind', async () => {
    const { kured, seconds, lock, isCordoned, isAnnotated, failures } = await open({ downSeconds: 300 })
    for (const name of ['node-1', 'node-2', 'node-3']) kured.requireReboot(name)
    await seconds(5 * minute)
    expect(kured.rebooted).toHaveLength(1)
    await seconds(30 * minute)
    expect([...kured.rebooted].sort()).toEqual(['node-1', 'node-2', 'node-3'])
    expect([await lock(), await isCordoned('node-2'), await isAnnotated('node-2')]).toEqual([undefined, false, false])
    expect(failures).toEqual([])
  })

  it('with a concurrency of two has two nodes away at once, in the other form of its lock', async () => {
    const { kured, seconds, lock } = await open({ concurrency: 2, downSeconds: 300 })
    for (const name of ['node-1', 'node-2', 'node-3']) kured.requireReboot(name)
    await seconds(5 * minute)
    expect(kured.rebooted).toHaveLength(2)
    const { maxOwners, locks } = JSON.parse((await lock()) ?? '') as { maxOwners: number; locks: { nodeID: string }[] }
    expect([maxOwners, locks.map(({ nodeID }) => nodeID).sort()]).toEqual([2, [...kured.rebooted].sort()])
    await seconds(20 * minute)
    expect(kured.rebooted).toHaveLength(3)
    expect(await lock()).toBe('{"maxOwners":2,"locks":[]}')
  })

  it('waits for the lock of others until it lapses, but not for a lock of the other form when it has several places', async () => {
    const { kured, seconds, setLock, clock } = await open()
    await setLock(JSON.stringify({ nodeID: 'else', created: rfc3339(clock.now()), TTL: 600 * 1e9 }))
    kured.requireReboot('node-1')
    await seconds(9 * minute)
    expect(kured.rebooted).toEqual([])
    await seconds(5 * minute)
    expect(kured.rebooted).toEqual(['node-1'])
    close()
    const many = await open({ concurrency: 2 })
    await many.setLock(JSON.stringify({ nodeID: 'else', created: rfc3339(many.clock.now()), TTL: 0 }))
    many.kured.requireReboot('node-1')
    await many.seconds(5 * minute)
    expect(many.kured.rebooted).toEqual(['node-1'])
  })

  const stuck = async (options: KuredOptions) => {
    const opened = await open({ drainTimeoutMs: 60_000, ...options })
    await opened.api.create(deployments, deployment('web', { replicas: 3 }))
    await opened.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 0 }))
    await opened.seconds(10)
    const [pod] = await opened.podsOf('web')
    const nodeName = pod?.spec.nodeName ?? ''
    opened.kured.requireReboot(nodeName)
    await opened.seconds(6 * minute)
    return { ...opened, nodeName }
  }

  it('gives lock and cordon back when its drain takes too long, and tries again', async () => {
    const { kured, nodeName, isCordoned, isAnnotated, seconds, lock } = await stuck({})
    expect([kured.rebooted, await isAnnotated(nodeName)]).toEqual([[], true])
    const seen = new Set<string>()
    for (let second = 0; second < 150; second += 5) {
      await seconds(5)
      seen.add(`cordoned ${await isCordoned(nodeName)}, locked ${(await lock()) !== undefined}`)
    }
    expect([...seen].sort()).toEqual(['cordoned false, locked false', 'cordoned true, locked true'])
  })

  it('reboots past a budget when it is forced to', async () => {
    const { kured, nodeName } = await stuck({ forceReboot: true })
    expect(kured.rebooted).toEqual([nodeName])
  })

  it('whose pod is replaced before the reboot gives the node back, keeps its annotation and begins again', async () => {
    const { kured, nodeName, isCordoned, isAnnotated, seconds, lock } = await stuck({ drainTimeoutMs: 0 })
    expect([await isCordoned(nodeName), (await lock()) !== undefined]).toEqual([true, true])
    kured.restartPod(nodeName)
    await seconds(95)
    expect([await isAnnotated(nodeName), kured.rebooted]).toEqual([true, []])
    await seconds(3 * minute)
    expect(await isCordoned(nodeName)).toBe(true)
  })

  it('leaves out a pod whose eviction failed, and waits for the others without it until its own pod is restarted', async () => {
    const opened = await open({ drainTimeoutMs: 0 })
    const { api, kured, seconds, podsOf } = opened
    for (const name of ['web', 'twice']) await api.create(deployments, deployment(name, { replicas: 3 }))
    await api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 0 }))
    const second = budget('twice', { maxUnavailable: 1 })
    await api.create(podDisruptionBudgets, second)
    await api.create(podDisruptionBudgets, { ...second, metadata: { ...second.metadata, name: 'second' } })
    await seconds(10)
    const nodeName = (await podsOf('twice'))[0]?.spec.nodeName ?? ''
    kured.requireReboot(nodeName)
    await seconds(6 * minute)
    expect([await opened.isCordoned(nodeName), kured.hasGivenUpPods(nodeName)]).toEqual([true, true])
    const { namespace = '' } = second.metadata
    await api.delete(podDisruptionBudgets, { namespace, name: 'second' })
    const onNode = async () => (await podsOf('twice')).filter(({ spec }) => spec.nodeName === nodeName).length
    await seconds(10 * minute)
    expect(await onNode()).toBe(1)
    kured.restartPod(nodeName)
    await seconds(6 * minute)
    expect([await onNode(), kured.hasGivenUpPods(nodeName)]).toEqual([0, false])
  })
})
