import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ObjectKey, ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { daemonSets, leases, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { isReady, isTerminating } from '../pod-facts.ts'
import { barePod, daemonSet, inDefault, node, openWorld, type Scenario } from '../testing/scenario.ts'

const onFirst = { nodeName: 'node-1' }

function pod(name: string, annotations: Record<string, string> = {}): Pod {
  const bare = barePod(name, onFirst)
  return { ...bare, metadata: { ...bare.metadata, annotations } }
}

function get(scenario: Scenario, name: string): Promise<Pod> {
  return scenario.api.get(pods, inDefault(name))
}

function bootId(scenario: Scenario): Promise<string | undefined> {
  return scenario.api.get(nodes, { name: 'node-1' }).then(({ status }) => status?.nodeInfo?.bootID)
}

describe('the kubelet', () => {
  it('registers the nodes it is given, posts their status and renews their leases', async () => {
    const scenario = await openWorld({ nodeCount: 0, kubelet: { register: [node(1)] } })
    await scenario.seconds(15)
    const { status } = await scenario.api.get(nodes, { name: 'node-1' })
    expect(status?.conditions?.map(({ type, status: is }) => `${type} ${is}`)).toEqual([
      'MemoryPressure False',
      'DiskPressure False',
      'PIDPressure False',
      'Ready True',
    ])
    const renewed = async () =>
      (await scenario.api.get(leases, { namespace: 'kube-node-lease', name: 'node-1' })).spec?.renewTime ?? ''
    const first = await renewed()
    await scenario.seconds(10)
    expect(Date.parse(await renewed()) - Date.parse(first)).toBe(10_000)
    scenario.stop()
  })

  it('starts a pod: first creating, then after its own delay running and ready with an address', async () => {
    const scenario = await openWorld({ nodeCount: 1 })
    await scenario.api.create(pods, pod('a', { 'cofferdam.io/ready-after-seconds': '10' }))
    await scenario.seconds(5)
    const early = await get(scenario, 'a')
    expect([early.status?.phase, early.status?.containerStatuses?.[0]?.state, early.status?.hostIP]).toEqual([
      'Pending',
      { waiting: { reason: 'ContainerCreating' } },
      '172.20.0.1',
    ])
    await scenario.seconds(6)
    const late = await get(scenario, 'a')
    expect([late.status?.phase, isReady(late), late.status?.podIP, late.status?.qosClass]).toEqual([
      'Running',
      true,
      '10.64.0.2',
      'BestEffort',
    ])
    scenario.stop()
  })

  it('ends a deleted pod after its grace period, and no later than it waits at most', async () => {
    const scenario = await openWorld({ nodeCount: 1, kubelet: { terminationSeconds: 8 } })
    await scenario.api.create(pods, pod('short'))
    await scenario.api.create(pods, pod('long'))
    await scenario.seconds(5)
    await scenario.api.delete(pods, inDefault('short'), { gracePeriodSeconds: 3 })
    await scenario.api.delete(pods, inDefault('long'), { gracePeriodSeconds: 600 })
    const names = async () => (await scenario.list(pods)).map(({ metadata }) => metadata.name)
    await scenario.seconds(2)
    expect(await names()).toEqual(['long', 'short'])
    await scenario.seconds(2)
    expect(await names()).toEqual(['long'])
    await scenario.seconds(5)
    expect(await names()).toEqual([])
    scenario.stop()
  })

  it('gives addresses of pods that have gone to new ones', async () => {
    const scenario = await openWorld({ nodeCount: 1 })
    for (const name of ['a', 'b'])
      await scenario.api.create(pods, pod(name, { 'cofferdam.io/ready-after-seconds': '1' }))
    await scenario.seconds(3)
    await scenario.api.delete(pods, inDefault('a'), { gracePeriodSeconds: 0 })
    await scenario.api.create(pods, pod('c'))
    await scenario.seconds(5)
    expect((await scenario.list(pods)).map(({ status }) => status?.podIP)).toEqual(['10.64.0.3', '10.64.0.2'])
    scenario.stop()
  })

  it('finishes a pod that runs for a time, with success or with failure', async () => {
    const scenario = await openWorld({ nodeCount: 1 })
    const run = (name: string, annotations: Record<string, string>): Pod => {
      const base = pod(name, { 'cofferdam.io/run-seconds': '5', ...annotations })
      return { ...base, spec: { ...base.spec, restartPolicy: 'Never' } }
    }
    await scenario.api.create(pods, run('good', {}))
    await scenario.api.create(pods, run('bad', { 'cofferdam.io/exit-code': '3' }))
    await scenario.seconds(15)
    const ends = (await scenario.list(pods)).map(({ metadata, status }) => [
      metadata.name,
      status?.phase,
      status?.containerStatuses?.[0]?.state?.terminated?.exitCode,
    ])
    expect(ends).toEqual([
      ['bad', 'Failed', 3],
      ['good', 'Succeeded', 0],
    ])
    scenario.stop()
  })

  it('a machine without power does nothing: its deleted pods stay, its lease grows old', async () => {
    const scenario = await openWorld({ nodeCount: 1 })
    await scenario.api.create(pods, pod('a'))
    await scenario.seconds(5)
    scenario.world.kubelet.powerOff('node-1')
    const { spec } = await scenario.api.get(leases, { namespace: 'kube-node-lease', name: 'node-1' })
    await scenario.api.delete(pods, inDefault('a'))
    await scenario.seconds(3_600)
    expect(isTerminating(await get(scenario, 'a'))).toBe(true)
    expect((await scenario.api.get(leases, { namespace: 'kube-node-lease', name: 'node-1' })).spec).toEqual(spec)
    scenario.world.kubelet.powerOn('node-1')
    await scenario.seconds(10)
    expect(await scenario.list(pods)).toEqual([])
    scenario.stop()
  })

  it('a reboot gives a new boot id and starts pods that stayed once more', async () => {
    const scenario = await openWorld({ nodeCount: 1 })
    await scenario.api.create(daemonSets, daemonSet('agent'))
    await scenario.seconds(5)
    const [before] = (await scenario.podsOf('agent')) as [Pod]
    const firstBoot = await bootId(scenario)
    scenario.world.kubelet.reboot('node-1', 90)
    await scenario.seconds(80)
    expect([scenario.world.kubelet.isOn('node-1'), await bootId(scenario)]).toEqual([false, firstBoot])
    expect(isReady((await scenario.podsOf('agent'))[0] as Pod)).toBe(false)
    await scenario.seconds(20)
    const [after] = (await scenario.podsOf('agent')) as [Pod]
    expect([after.metadata.uid, isReady(after), after.status?.containerStatuses?.[0]?.restartCount]).toEqual([
      before.metadata.uid,
      true,
      1,
    ])
    expect(await bootId(scenario)).not.toBe(firstBoot)
    expect((await scenario.eventsAbout('node-1')).map((line) => line.split(':')[0])).toContain('Warning Rebooted x1')
    scenario.stop()
  })

  it('a short reboot that nobody noticed still shows: pods are not ready for a while', async () => {
    const scenario = await openWorld({ nodeCount: 1 })
    await scenario.api.create(pods, pod('a', { 'cofferdam.io/ready-after-seconds': '5' }))
    await scenario.seconds(10)
    scenario.world.kubelet.reboot('node-1', 5)
    await scenario.seconds(7)
    expect(isReady(await get(scenario, 'a'))).toBe(false)
    await scenario.seconds(10)
    expect(isReady(await get(scenario, 'a'))).toBe(true)
    scenario.stop()
  })

  it('a node that is cut off comes back with the boot it had and pods that never restarted', async () => {
    const scenario = await openWorld({ nodeCount: 1 })
    await scenario.api.create(pods, pod('a'))
    await scenario.seconds(5)
    const firstBoot = await bootId(scenario)
    scenario.world.kubelet.disconnect('node-1')
    await scenario.seconds(120)
    expect(isReady(await get(scenario, 'a'))).toBe(false)
    scenario.world.kubelet.reconnect('node-1')
    await scenario.seconds(5)
    const back = await get(scenario, 'a')
    expect([isReady(back), back.status?.containerStatuses?.[0]?.restartCount, await bootId(scenario)]).toEqual([
      true,
      0,
      firstBoot,
    ])
    scenario.stop()
  })

  it('obeys annotations, so that a user of kubectl can make a pod unready and cut the power of a node', async () => {
    const scenario = await openWorld({ nodeCount: 1 })
    await scenario.api.create(pods, pod('a'))
    await scenario.seconds(5)
    const firstBoot = await bootId(scenario)
    const annotate = (type: typeof nodes | typeof pods, key: ObjectKey, annotations: Record<string, string | null>) =>
      scenario.api.patch(type as ResourceType, key, { type: 'merge', body: { metadata: { annotations } } })
    await annotate(pods, inDefault('a'), { 'cofferdam.io/ready': 'false' })
    await scenario.seconds(1)
    expect(isReady(await get(scenario, 'a'))).toBe(false)
    await annotate(pods, inDefault('a'), { 'cofferdam.io/ready': null })
    await scenario.seconds(1)
    expect(isReady(await get(scenario, 'a'))).toBe(true)
    await annotate(nodes, { name: 'node-1' }, { 'cofferdam.io/power': 'off' })
    await scenario.seconds(1)
    expect(scenario.world.kubelet.isOn('node-1')).toBe(false)
    await annotate(nodes, { name: 'node-1' }, { 'cofferdam.io/power': null })
    await scenario.seconds(5)
    expect([scenario.world.kubelet.isOn('node-1'), (await bootId(scenario)) === firstBoot]).toEqual([true, false])
    scenario.stop()
  })

  it('says that its node or one pod is not ready when it is told so', async () => {
    const scenario = await openWorld({ nodeCount: 1 })
    await scenario.api.create(pods, pod('a'))
    await scenario.seconds(5)
    scenario.world.kubelet.setPodReady({ namespace: 'default', name: 'a' }, false)
    await scenario.seconds(1)
    const sick = await get(scenario, 'a')
    expect([sick.status?.phase, isReady(sick)]).toEqual(['Running', false])
    scenario.world.kubelet.setPodReady({ namespace: 'default', name: 'a' }, true)
    scenario.world.kubelet.setReady('node-1', false, 'PLEG is not healthy')
    await scenario.seconds(1)
    const ready = conditionOf(await scenario.api.get(nodes, { name: 'node-1' }), 'Ready')
    expect([ready?.status, ready?.reason, ready?.message]).toEqual(['False', 'KubeletNotReady', 'PLEG is not healthy'])
    scenario.stop()
  })
})
