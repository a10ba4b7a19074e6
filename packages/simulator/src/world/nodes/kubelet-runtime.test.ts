import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { deployments, leases, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { isReady, isTerminating } from '../pod-facts.ts'
import { drainNode } from '../testing/drain.ts'
import { barePod, deployment, inDefault, openWorld, type Scenario } from '../testing/scenario.ts'
import {
  type Script,
  type ScriptedProcess,
  type ScriptedRuntime,
  scriptedRuntime,
} from '../testing/scripted-runtime.ts'

async function openBacked(script: Script = {}, nodeCount = 1) {
  const runtime = scriptedRuntime(() => scenario.clock, script)
  const scenario = await openWorld({ nodeCount, kubelet: { runtime } })
  return { ...scenario, runtime }
}

function pod(name: string, spec: Partial<Pod['spec']> = {}): Pod {
  return barePod(name, { nodeName: 'node-1', ...spec })
}

async function find(scenario: Scenario, name: string): Promise<Pod | undefined> {
  return (await scenario.list(pods)).find(({ metadata }) => metadata.name === name)
}

async function look(scenario: Scenario, name: string) {
  const found = await find(scenario, name)
  if (found === undefined) return 'gone'
  const [container] = found.status?.containerStatuses ?? []
  const state = Object.keys(container?.state ?? {})[0]
  const ready = isReady(found) ? 'ready' : 'not ready'
  const going = isTerminating(found) ? ', terminating' : ''
  return `${found.status?.phase}, ${state}, ${ready}, ${container?.restartCount} restarts${going}`
}

async function warningsAbout(scenario: Scenario, name: string): Promise<string[]> {
  return (await scenario.eventsAbout(name)).filter((line) => line.startsWith('Warning')).sort()
}

function only(runtime: ScriptedRuntime): ScriptedProcess {
  expect(runtime.processes).toHaveLength(1)
  return runtime.processes[0] as ScriptedProcess
}

describe('a pod with a process behind it', () => {
  it('is ready when its process is, however long that takes', async () => {
    const scenario = await openBacked()
    await scenario.api.create(pods, pod('a'))
    await scenario.seconds(60)
    expect(await look(scenario, 'a')).toBe('Running, running, not ready, 0 restarts')
    only(scenario.runtime).becomeReady()
    await scenario.seconds(1)
    expect(await look(scenario, 'a')).toBe('Running, running, ready, 0 restarts')
    expect((await find(scenario, 'a'))?.status?.podIP).toBe('10.64.0.2')
    scenario.stop()
  })

  it('stays in the API until its process is gone, so that a drain cannot end before the OSD has', async () => {
    const scenario = await openBacked({ readyAfterMs: 500, stopsAfterMs: 45_000 }, 1)
    const shape = { replicas: 1, pod: { terminationGracePeriodSeconds: 60 } }
    await scenario.api.create(deployments, deployment('osd', shape))
    await scenario.seconds(5)
    let drained = false
    void drainNode(scenario, 'node-1').then(() => {
      drained = true
    })
    await scenario.seconds(40)
    const [first] = scenario.runtime.processes as [ScriptedProcess]
    expect([drained, first.isRunning(), first.asked]).toEqual([false, true, ['stop 60']])
    expect(await look(scenario, first.pod)).toBe('Running, running, ready, 0 restarts, terminating')
    await scenario.seconds(20)
    expect([drained, first.isRunning(), await look(scenario, first.pod)]).toEqual([true, false, 'gone'])
    scenario.stop()
  })

  it('is killed when it outlives its grace period, and only then goes', async () => {
    const scenario = await openBacked({ readyAfterMs: 0, stopsAfterMs: 3_600_000 })
    await scenario.api.create(pods, pod('a', { terminationGracePeriodSeconds: 20 }))
    await scenario.seconds(2)
    await scenario.api.delete(pods, inDefault('a'))
    await scenario.seconds(19)
    expect([only(scenario.runtime).asked, isTerminating((await find(scenario, 'a')) as Pod)]).toEqual([
      ['stop 20'],
      true,
    ])
    await scenario.seconds(2)
    expect([only(scenario.runtime).asked, await look(scenario, 'a')]).toEqual([['stop 20', 'kill'], 'gone'])
    scenario.stop()
  })

  it('is killed sooner when somebody shortens its grace', async () => {
    const scenario = await openBacked({ readyAfterMs: 0, stopsAfterMs: 3_600_000, diesAfterMs: 300 })
    await scenario.api.create(pods, pod('a', { terminationGracePeriodSeconds: 7_200 }))
    await scenario.seconds(2)
    await scenario.api.delete(pods, inDefault('a'))
    await scenario.seconds(2)
    await scenario.api.delete(pods, inDefault('a'), { gracePeriodSeconds: 5 })
    await scenario.seconds(4)
    expect(only(scenario.runtime).isRunning()).toBe(true)
    await scenario.seconds(2)
    expect([only(scenario.runtime).isRunning(), await look(scenario, 'a')]).toEqual([false, 'gone'])
    scenario.stop()
  })

  it('that is deleted before it was ready is stopped all the same', async () => {
    const scenario = await openBacked({ stopsAfterMs: 3_000 })
    await scenario.api.create(pods, pod('a'))
    await scenario.seconds(2)
    await scenario.api.delete(pods, inDefault('a'))
    await scenario.seconds(2)
    expect(await look(scenario, 'a')).toBe('Running, running, not ready, 0 restarts, terminating')
    await scenario.seconds(2)
    expect([await look(scenario, 'a'), only(scenario.runtime).isRunning()]).toEqual(['gone', false])
    scenario.stop()
  })

  it('kept by a finalizer says how its process ended', async () => {
    const scenario = await openBacked({ readyAfterMs: 0, stopsAfterMs: 1_000 })
    const held = pod('a')
    await scenario.api.create(pods, { ...held, metadata: { ...held.metadata, finalizers: ['example.com/hold'] } })
    await scenario.seconds(2)
    await scenario.api.delete(pods, inDefault('a'))
    await scenario.seconds(3)
    expect(await look(scenario, 'a')).toBe('Failed, terminated, not ready, 0 restarts, terminating')
    expect((await find(scenario, 'a'))?.status?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(0)
    scenario.stop()
  })
})

describe('a process that ends unasked', () => {
  it('is started again soon and counted, and waits longer each time that it ends', async () => {
    const scenario = await openBacked({ readyAfterMs: 100 })
    await scenario.api.create(pods, pod('a'))
    await scenario.seconds(60)
    const last = () => scenario.runtime.processes.at(-1) as ScriptedProcess
    last().end(139)
    await scenario.seconds(0.5)
    expect(await look(scenario, 'a')).toBe('Running, waiting, not ready, 0 restarts')
    await scenario.seconds(2)
    expect(await look(scenario, 'a')).toBe('Running, running, ready, 1 restarts')
    expect((await find(scenario, 'a'))?.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode).toBe(139)
    const pauses: number[] = []
    for (let round = 0; round < 4; round += 1) {
      const count = scenario.runtime.processes.length
      const before = scenario.clock.now()
      last().end(1)
      await scenario.clock.advanceUntil(() => scenario.runtime.processes.length > count, 600_000)
      pauses.push(Math.round((scenario.clock.now() - before) / 1_000))
    }
    expect(pauses).toEqual([10, 20, 40, 80])
    expect(await warningsAbout(scenario, 'a')).toEqual(['Warning BackOff x5: Back-off restarting failed container'])
    scenario.stop()
  })

  it('after a long time of work is an accident again: no long wait for what failed an hour ago', async () => {
    const scenario = await openBacked({ readyAfterMs: 100 })
    await scenario.api.create(pods, pod('a'))
    for (let round = 1; round <= 3; round += 1) {
      await scenario.seconds(3_600)
      scenario.runtime.processes.at(-1)?.end(1)
      await scenario.seconds(3)
      expect(await look(scenario, 'a')).toBe(`Running, running, ready, ${round} restarts`)
    }
    scenario.stop()
  })

  it('is over where the pod says that it runs once', async () => {
    const scenario = await openBacked({ readyAfterMs: 0 })
    const policies = { good: 'Never', bad: 'Never', calm: 'OnFailure' } as const
    for (const [name, restartPolicy] of Object.entries(policies)) {
      await scenario.api.create(pods, pod(name, { restartPolicy }))
    }
    await scenario.seconds(2)
    for (const process of scenario.runtime.processes) process.end(process.pod === 'bad' ? 3 : 0)
    await scenario.seconds(600)
    expect(await Promise.all(['good', 'bad', 'calm'].map((name) => look(scenario, name)))).toEqual([
      'Succeeded, terminated, not ready, 0 restarts',
      'Failed, terminated, not ready, 0 restarts',
      'Succeeded, terminated, not ready, 0 restarts',
    ])
    expect((await find(scenario, 'bad'))?.status?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(3)
    expect(scenario.runtime.processes).toHaveLength(3)
    scenario.stop()
  })

  it('while its pod is terminating lets the pod go', async () => {
    const scenario = await openBacked({ readyAfterMs: 0, stopsAfterMs: 3_600_000 })
    await scenario.api.create(pods, pod('a', { terminationGracePeriodSeconds: 3_600 }))
    await scenario.seconds(2)
    await scenario.api.delete(pods, inDefault('a'))
    await scenario.seconds(2)
    only(scenario.runtime).end(0)
    await scenario.seconds(1)
    expect([await look(scenario, 'a'), scenario.runtime.processes.length]).toEqual(['gone', 1])
    scenario.stop()
  })
})

describe('a process that cannot be started', () => {
  it('shows as an event with the reason, and is tried again', async () => {
    const scenario = await openBacked({ readyAfterMs: 0, refusals: ['no such device', 'no such device'] })
    await scenario.api.create(pods, pod('a'))
    await scenario.seconds(0.5)
    expect(await look(scenario, 'a')).toBe('Running, waiting, not ready, 0 restarts')
    await scenario.seconds(20)
    expect(await look(scenario, 'a')).toBe('Running, running, ready, 2 restarts')
    expect(await warningsAbout(scenario, 'a')).toEqual([
      'Warning BackOff x2: Back-off restarting failed container',
      'Warning Failed x2: Error: no such device',
    ])
    scenario.stop()
  })

  it('and stays half alive is killed before it is tried again, so that never two are there', async () => {
    const scenario = await openBacked({ diesAfterMs: 5_000 })
    await scenario.api.create(pods, pod('a'))
    await scenario.seconds(2)
    only(scenario.runtime).failToStart('its admin socket never answered')
    await scenario.seconds(4)
    expect([only(scenario.runtime).asked, only(scenario.runtime).isRunning()]).toEqual([['kill'], true])
    await scenario.seconds(4)
    expect([scenario.runtime.processes.length, scenario.runtime.mostAtOnce()]).toEqual([2, 1])
    expect(await scenario.eventsAbout('a')).toContain('Warning Failed x1: Error: its admin socket never answered')
    expect(scenario.failures).toEqual([])
    scenario.stop()
  })
})

describe('a machine with processes', () => {
  it('that loses its power kills them at once and says nothing, and starts again those that stayed', async () => {
    const scenario = await openBacked({ readyAfterMs: 500 })
    await scenario.api.create(pods, pod('a'))
    await scenario.seconds(5)
    const before = await find(scenario, 'a')
    scenario.world.kubelet.powerOff('node-1')
    expect([only(scenario.runtime).asked, only(scenario.runtime).isRunning()]).toEqual([['kill'], false])
    await scenario.seconds(30)
    expect(await find(scenario, 'a')).toEqual(before)
    scenario.world.kubelet.powerOn('node-1')
    await scenario.seconds(3)
    expect([await look(scenario, 'a'), scenario.runtime.processes.length]).toEqual([
      'Running, running, ready, 1 restarts',
      2,
    ])
    scenario.stop()
  })

  it('that reboots faster than its processes die waits for them', async () => {
    const scenario = await openBacked({ readyAfterMs: 0, diesAfterMs: 10_000 })
    await scenario.api.create(pods, pod('a'))
    await scenario.seconds(2)
    scenario.world.kubelet.reboot('node-1', 1)
    await scenario.seconds(8)
    expect([await look(scenario, 'a'), scenario.runtime.processes.length]).toEqual([
      'Running, waiting, not ready, 1 restarts',
      1,
    ])
    await scenario.seconds(4)
    expect([await look(scenario, 'a'), scenario.runtime.mostAtOnce()]).toEqual([
      'Running, running, ready, 1 restarts',
      1,
    ])
    scenario.stop()
  })

  it('that is turned off by an annotation kills them too', async () => {
    const scenario = await openBacked({ readyAfterMs: 0 })
    await scenario.api.create(pods, pod('a'))
    await scenario.seconds(2)
    const annotations = { 'cofferdam.io/power': 'off' }
    await scenario.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { metadata: { annotations } } })
    await scenario.seconds(1)
    expect(only(scenario.runtime).isRunning()).toBe(false)
    scenario.stop()
  })

  it('that is cut off lets them run, even for pods that were given up, and kills those when it hears of it', async () => {
    const scenario = await openBacked({ readyAfterMs: 0 }, 2)
    await scenario.api.create(pods, pod('stays'))
    await scenario.api.create(pods, pod('replaced'))
    await scenario.seconds(2)
    scenario.world.kubelet.disconnect('node-1')
    await scenario.seconds(10)
    await scenario.api.delete(pods, inDefault('replaced'), { gracePeriodSeconds: 0 })
    await scenario.api.create(pods, pod('replaced', { nodeName: 'node-2' }))
    await scenario.seconds(10)
    const running = () => scenario.runtime.processes.map(({ pod: name, isRunning }) => [name, isRunning()])
    expect(running()).toEqual([
      ['stays', true],
      ['replaced', true],
      ['replaced', true],
    ])
    scenario.world.kubelet.reconnect('node-1')
    await scenario.seconds(5)
    expect(running()).toEqual([
      ['stays', true],
      ['replaced', false],
      ['replaced', true],
    ])
    expect(await look(scenario, 'stays')).toBe('Running, running, ready, 0 restarts')
    scenario.stop()
  })

  it('goes on telling of its node while a process hangs', async () => {
    const scenario = await openBacked({ stopsAfterMs: 3_600_000 })
    await scenario.api.create(pods, pod('a', { terminationGracePeriodSeconds: 7_200 }))
    await scenario.seconds(2)
    await scenario.api.delete(pods, inDefault('a'))
    await scenario.seconds(600)
    const { spec } = await scenario.api.get(leases, { namespace: 'kube-node-lease', name: 'node-1' })
    expect(scenario.clock.now() - Date.parse(spec?.renewTime ?? '')).toBeLessThanOrEqual(10_000)
    expect(conditionOf(await scenario.api.get(nodes, { name: 'node-1' }), 'Ready')?.status).toBe('True')
    scenario.stop()
  })
})

describe('a pod that vanishes from the API', () => {
  it('has its process killed, as nobody waits for it', async () => {
    const scenario = await openBacked({ readyAfterMs: 0, stopsAfterMs: 3_600_000 })
    await scenario.api.create(pods, pod('a', { terminationGracePeriodSeconds: 3_600 }))
    await scenario.seconds(2)
    await scenario.api.delete(pods, inDefault('a'))
    await scenario.seconds(2)
    await scenario.api.delete(pods, inDefault('a'), { gracePeriodSeconds: 0 })
    await scenario.seconds(1)
    expect([only(scenario.runtime).asked, only(scenario.runtime).isRunning()]).toEqual([['stop 3600', 'kill'], false])
    scenario.stop()
  })

  it('never runs beside a new one of its name: that one waits until the old process is gone', async () => {
    const scenario = await openBacked({ readyAfterMs: 0, diesAfterMs: 8_000 })
    await scenario.api.create(pods, pod('a'))
    await scenario.seconds(2)
    await scenario.api.delete(pods, inDefault('a'), { gracePeriodSeconds: 0 })
    await scenario.api.create(pods, pod('a'))
    await scenario.seconds(6)
    expect([await look(scenario, 'a'), scenario.runtime.processes.length]).toEqual([
      'Pending, waiting, not ready, 0 restarts',
      1,
    ])
    await scenario.seconds(4)
    expect(await look(scenario, 'a')).toBe('Running, running, ready, 0 restarts')
    expect([scenario.runtime.processes.length, scenario.runtime.mostAtOnce()]).toEqual([2, 1])
    scenario.stop()
  })

  it('or is called failed by somebody else has its process killed', async () => {
    const scenario = await openBacked({ readyAfterMs: 0 })
    await scenario.api.create(pods, pod('a'))
    await scenario.seconds(2)
    const body = { status: { phase: 'Failed', reason: 'Evicted' } }
    await scenario.api.patch(pods, inDefault('a'), { type: 'merge', body }, { subresource: 'status' })
    await scenario.seconds(1)
    expect([only(scenario.runtime).isRunning(), scenario.runtime.processes.length]).toEqual([false, 1])
    scenario.stop()
  })
})

it('pods without a process beside those with one run by the clock as ever', async () => {
  const scenario = await openBacked({ backs: ({ metadata }) => metadata.name === 'backed' })
  await scenario.api.create(pods, pod('backed'))
  await scenario.api.create(pods, pod('plain'))
  await scenario.seconds(5)
  expect([await look(scenario, 'backed'), await look(scenario, 'plain')]).toEqual([
    'Running, running, not ready, 0 restarts',
    'Running, running, ready, 0 restarts',
  ])
  expect(scenario.runtime.processes.map(({ pod: name }) => name)).toEqual(['backed'])
  scenario.stop()
})

it('kubelets that end leave the processes to whoever owns them', async () => {
  const scenario = await openBacked({ readyAfterMs: 0 })
  await scenario.api.create(pods, pod('a'))
  await scenario.seconds(2)
  scenario.stop()
  expect([only(scenario.runtime).asked, only(scenario.runtime).isRunning()]).toEqual([[], true])
})
