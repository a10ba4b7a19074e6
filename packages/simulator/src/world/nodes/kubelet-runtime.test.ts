import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { deployments, leases, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { isReady, isTerminating } from '../pod-facts.ts'
import { drainNode } from '../testing/drain.ts'
import {
  type Script,
  type ScriptedProcess,
  type ScriptedRuntime,
  scriptedRuntime,
} from '../testing/scripted-runtime.ts'
import { barePod, deployment, inDefault, openWorld, type Story } from '../testing/story.ts'

async function openBacked(script: Script = {}, nodeCount = 1) {
  const runtime = scriptedRuntime(() => story.clock, script)
  const story = await openWorld({ nodeCount, kubelet: { runtime } })
  return { ...story, runtime }
}

function pod(name: string, spec: Partial<Pod['spec']> = {}): Pod {
  return barePod(name, { nodeName: 'node-1', ...spec })
}

async function find(story: Story, name: string): Promise<Pod | undefined> {
  return (await story.list(pods)).find(({ metadata }) => metadata.name === name)
}

async function look(story: Story, name: string) {
  const found = await find(story, name)
  if (found === undefined) return 'gone'
  const [container] = found.status?.containerStatuses ?? []
  const state = Object.keys(container?.state ?? {})[0]
  const ready = isReady(found) ? 'ready' : 'not ready'
  const going = isTerminating(found) ? ', terminating' : ''
  return `${found.status?.phase}, ${state}, ${ready}, ${container?.restartCount} restarts${going}`
}

async function warningsAbout(story: Story, name: string): Promise<string[]> {
  return (await story.eventsAbout(name)).filter((line) => line.startsWith('Warning')).sort()
}

function only(runtime: ScriptedRuntime): ScriptedProcess {
  expect(runtime.processes).toHaveLength(1)
  return runtime.processes[0] as ScriptedProcess
}

describe('a pod with a process behind it', () => {
  it('is ready when its process is, however long that takes', async () => {
    const story = await openBacked()
    await story.api.create(pods, pod('a'))
    await story.seconds(60)
    expect(await look(story, 'a')).toBe('Running, running, not ready, 0 restarts')
    only(story.runtime).becomeReady()
    await story.seconds(1)
    expect(await look(story, 'a')).toBe('Running, running, ready, 0 restarts')
    expect((await find(story, 'a'))?.status?.podIP).toBe('10.64.0.2')
    story.stop()
  })

  it('stays in the API until its process is gone, so that a drain cannot end before the OSD has', async () => {
    const story = await openBacked({ readyAfterMs: 500, stopsAfterMs: 45_000 }, 1)
    const shape = { replicas: 1, pod: { terminationGracePeriodSeconds: 60 } }
    await story.api.create(deployments, deployment('osd', shape))
    await story.seconds(5)
    let drained = false
    void drainNode(story, 'node-1').then(() => {
      drained = true
    })
    await story.seconds(40)
    const [first] = story.runtime.processes as [ScriptedProcess]
    expect([drained, first.isRunning(), first.asked]).toEqual([false, true, ['stop 60']])
    expect(await look(story, first.pod)).toBe('Running, running, ready, 0 restarts, terminating')
    await story.seconds(20)
    expect([drained, first.isRunning(), await look(story, first.pod)]).toEqual([true, false, 'gone'])
    story.stop()
  })

  it('is killed when it outlives its grace period, and only then goes', async () => {
    const story = await openBacked({ readyAfterMs: 0, stopsAfterMs: 3_600_000 })
    await story.api.create(pods, pod('a', { terminationGracePeriodSeconds: 20 }))
    await story.seconds(2)
    await story.api.delete(pods, inDefault('a'))
    await story.seconds(19)
    expect([only(story.runtime).asked, isTerminating((await find(story, 'a')) as Pod)]).toEqual([['stop 20'], true])
    await story.seconds(2)
    expect([only(story.runtime).asked, await look(story, 'a')]).toEqual([['stop 20', 'kill'], 'gone'])
    story.stop()
  })

  it('is killed sooner when somebody shortens its grace', async () => {
    const story = await openBacked({ readyAfterMs: 0, stopsAfterMs: 3_600_000, diesAfterMs: 300 })
    await story.api.create(pods, pod('a', { terminationGracePeriodSeconds: 7_200 }))
    await story.seconds(2)
    await story.api.delete(pods, inDefault('a'))
    await story.seconds(2)
    await story.api.delete(pods, inDefault('a'), { gracePeriodSeconds: 5 })
    await story.seconds(4)
    expect(only(story.runtime).isRunning()).toBe(true)
    await story.seconds(2)
    expect([only(story.runtime).isRunning(), await look(story, 'a')]).toEqual([false, 'gone'])
    story.stop()
  })

  it('that is deleted before it was ready is stopped all the same', async () => {
    const story = await openBacked({ stopsAfterMs: 3_000 })
    await story.api.create(pods, pod('a'))
    await story.seconds(2)
    await story.api.delete(pods, inDefault('a'))
    await story.seconds(2)
    expect(await look(story, 'a')).toBe('Running, running, not ready, 0 restarts, terminating')
    await story.seconds(2)
    expect([await look(story, 'a'), only(story.runtime).isRunning()]).toEqual(['gone', false])
    story.stop()
  })

  it('kept by a finalizer says how its process ended', async () => {
    const story = await openBacked({ readyAfterMs: 0, stopsAfterMs: 1_000 })
    const held = pod('a')
    await story.api.create(pods, { ...held, metadata: { ...held.metadata, finalizers: ['example.com/hold'] } })
    await story.seconds(2)
    await story.api.delete(pods, inDefault('a'))
    await story.seconds(3)
    expect(await look(story, 'a')).toBe('Failed, terminated, not ready, 0 restarts, terminating')
    expect((await find(story, 'a'))?.status?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(0)
    story.stop()
  })
})

describe('a process that ends unasked', () => {
  it('is started again soon and counted, and waits longer each time that it ends', async () => {
    const story = await openBacked({ readyAfterMs: 100 })
    await story.api.create(pods, pod('a'))
    await story.seconds(60)
    const last = () => story.runtime.processes.at(-1) as ScriptedProcess
    last().end(139)
    await story.seconds(0.5)
    expect(await look(story, 'a')).toBe('Running, waiting, not ready, 0 restarts')
    await story.seconds(2)
    expect(await look(story, 'a')).toBe('Running, running, ready, 1 restarts')
    expect((await find(story, 'a'))?.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode).toBe(139)
    const pauses: number[] = []
    for (let round = 0; round < 4; round += 1) {
      const count = story.runtime.processes.length
      const before = story.clock.now()
      last().end(1)
      await story.clock.advanceUntil(() => story.runtime.processes.length > count, 600_000)
      pauses.push(Math.round((story.clock.now() - before) / 1_000))
    }
    expect(pauses).toEqual([10, 20, 40, 80])
    expect(await warningsAbout(story, 'a')).toEqual(['Warning BackOff x5: Back-off restarting failed container'])
    story.stop()
  })

  it('after a long time of work is an accident again: no long wait for what failed an hour ago', async () => {
    const story = await openBacked({ readyAfterMs: 100 })
    await story.api.create(pods, pod('a'))
    for (let round = 1; round <= 3; round += 1) {
      await story.seconds(3_600)
      story.runtime.processes.at(-1)?.end(1)
      await story.seconds(3)
      expect(await look(story, 'a')).toBe(`Running, running, ready, ${round} restarts`)
    }
    story.stop()
  })

  it('is over where the pod says that it runs once', async () => {
    const story = await openBacked({ readyAfterMs: 0 })
    const policies = { good: 'Never', bad: 'Never', calm: 'OnFailure' } as const
    for (const [name, restartPolicy] of Object.entries(policies)) {
      await story.api.create(pods, pod(name, { restartPolicy }))
    }
    await story.seconds(2)
    for (const process of story.runtime.processes) process.end(process.pod === 'bad' ? 3 : 0)
    await story.seconds(600)
    expect(await Promise.all(['good', 'bad', 'calm'].map((name) => look(story, name)))).toEqual([
      'Succeeded, terminated, not ready, 0 restarts',
      'Failed, terminated, not ready, 0 restarts',
      'Succeeded, terminated, not ready, 0 restarts',
    ])
    expect((await find(story, 'bad'))?.status?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(3)
    expect(story.runtime.processes).toHaveLength(3)
    story.stop()
  })

  it('while its pod is terminating lets the pod go', async () => {
    const story = await openBacked({ readyAfterMs: 0, stopsAfterMs: 3_600_000 })
    await story.api.create(pods, pod('a', { terminationGracePeriodSeconds: 3_600 }))
    await story.seconds(2)
    await story.api.delete(pods, inDefault('a'))
    await story.seconds(2)
    only(story.runtime).end(0)
    await story.seconds(1)
    expect([await look(story, 'a'), story.runtime.processes.length]).toEqual(['gone', 1])
    story.stop()
  })
})

describe('a process that cannot be started', () => {
  it('shows as an event with the reason, and is tried again', async () => {
    const story = await openBacked({ readyAfterMs: 0, refusals: ['no such device', 'no such device'] })
    await story.api.create(pods, pod('a'))
    await story.seconds(0.5)
    expect(await look(story, 'a')).toBe('Running, waiting, not ready, 0 restarts')
    await story.seconds(20)
    expect(await look(story, 'a')).toBe('Running, running, ready, 2 restarts')
    expect(await warningsAbout(story, 'a')).toEqual([
      'Warning BackOff x2: Back-off restarting failed container',
      'Warning Failed x2: Error: no such device',
    ])
    story.stop()
  })

  it('and stays half alive is killed before it is tried again, so that never two are there', async () => {
    const story = await openBacked({ diesAfterMs: 5_000 })
    await story.api.create(pods, pod('a'))
    await story.seconds(2)
    only(story.runtime).failToStart('its admin socket never answered')
    await story.seconds(4)
    expect([only(story.runtime).asked, only(story.runtime).isRunning()]).toEqual([['kill'], true])
    await story.seconds(4)
    expect([story.runtime.processes.length, story.runtime.mostAtOnce()]).toEqual([2, 1])
    expect(await story.eventsAbout('a')).toContain('Warning Failed x1: Error: its admin socket never answered')
    expect(story.failures).toEqual([])
    story.stop()
  })
})

describe('a machine with processes', () => {
  it('that loses its power kills them at once and says nothing, and starts again those that stayed', async () => {
    const story = await openBacked({ readyAfterMs: 500 })
    await story.api.create(pods, pod('a'))
    await story.seconds(5)
    const before = await find(story, 'a')
    story.world.kubelet.powerOff('node-1')
    expect([only(story.runtime).asked, only(story.runtime).isRunning()]).toEqual([['kill'], false])
    await story.seconds(30)
    expect(await find(story, 'a')).toEqual(before)
    story.world.kubelet.powerOn('node-1')
    await story.seconds(3)
    expect([await look(story, 'a'), story.runtime.processes.length]).toEqual(['Running, running, ready, 1 restarts', 2])
    story.stop()
  })

  it('that reboots faster than its processes die waits for them', async () => {
    const story = await openBacked({ readyAfterMs: 0, diesAfterMs: 10_000 })
    await story.api.create(pods, pod('a'))
    await story.seconds(2)
    story.world.kubelet.reboot('node-1', 1)
    await story.seconds(8)
    expect([await look(story, 'a'), story.runtime.processes.length]).toEqual([
      'Running, waiting, not ready, 1 restarts',
      1,
    ])
    await story.seconds(4)
    expect([await look(story, 'a'), story.runtime.mostAtOnce()]).toEqual(['Running, running, ready, 1 restarts', 1])
    story.stop()
  })

  it('that is turned off by an annotation kills them too', async () => {
    const story = await openBacked({ readyAfterMs: 0 })
    await story.api.create(pods, pod('a'))
    await story.seconds(2)
    const annotations = { 'cofferdam.io/power': 'off' }
    await story.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { metadata: { annotations } } })
    await story.seconds(1)
    expect(only(story.runtime).isRunning()).toBe(false)
    story.stop()
  })

  it('that is cut off lets them run, even for pods that were given up, and kills those when it hears of it', async () => {
    const story = await openBacked({ readyAfterMs: 0 }, 2)
    await story.api.create(pods, pod('stays'))
    await story.api.create(pods, pod('replaced'))
    await story.seconds(2)
    story.world.kubelet.disconnect('node-1')
    await story.seconds(10)
    await story.api.delete(pods, inDefault('replaced'), { gracePeriodSeconds: 0 })
    await story.api.create(pods, pod('replaced', { nodeName: 'node-2' }))
    await story.seconds(10)
    const running = () => story.runtime.processes.map(({ pod: name, isRunning }) => [name, isRunning()])
    expect(running()).toEqual([
      ['stays', true],
      ['replaced', true],
      ['replaced', true],
    ])
    story.world.kubelet.reconnect('node-1')
    await story.seconds(5)
    expect(running()).toEqual([
      ['stays', true],
      ['replaced', false],
      ['replaced', true],
    ])
    expect(await look(story, 'stays')).toBe('Running, running, ready, 0 restarts')
    story.stop()
  })

  it('goes on telling of its node while a process hangs', async () => {
    const story = await openBacked({ stopsAfterMs: 3_600_000 })
    await story.api.create(pods, pod('a', { terminationGracePeriodSeconds: 7_200 }))
    await story.seconds(2)
    await story.api.delete(pods, inDefault('a'))
    await story.seconds(600)
    const { spec } = await story.api.get(leases, { namespace: 'kube-node-lease', name: 'node-1' })
    expect(story.clock.now() - Date.parse(spec?.renewTime ?? '')).toBeLessThanOrEqual(10_000)
    expect(conditionOf(await story.api.get(nodes, { name: 'node-1' }), 'Ready')?.status).toBe('True')
    story.stop()
  })
})

describe('a pod that vanishes from the API', () => {
  it('has its process killed, as nobody waits for it', async () => {
    const story = await openBacked({ readyAfterMs: 0, stopsAfterMs: 3_600_000 })
    await story.api.create(pods, pod('a', { terminationGracePeriodSeconds: 3_600 }))
    await story.seconds(2)
    await story.api.delete(pods, inDefault('a'))
    await story.seconds(2)
    await story.api.delete(pods, inDefault('a'), { gracePeriodSeconds: 0 })
    await story.seconds(1)
    expect([only(story.runtime).asked, only(story.runtime).isRunning()]).toEqual([['stop 3600', 'kill'], false])
    story.stop()
  })

  it('never runs beside a new one of its name: that one waits until the old process is gone', async () => {
    const story = await openBacked({ readyAfterMs: 0, diesAfterMs: 8_000 })
    await story.api.create(pods, pod('a'))
    await story.seconds(2)
    await story.api.delete(pods, inDefault('a'), { gracePeriodSeconds: 0 })
    await story.api.create(pods, pod('a'))
    await story.seconds(6)
    expect([await look(story, 'a'), story.runtime.processes.length]).toEqual([
      'Pending, waiting, not ready, 0 restarts',
      1,
    ])
    await story.seconds(4)
    expect(await look(story, 'a')).toBe('Running, running, ready, 0 restarts')
    expect([story.runtime.processes.length, story.runtime.mostAtOnce()]).toEqual([2, 1])
    story.stop()
  })

  it('or is called failed by somebody else has its process killed', async () => {
    const story = await openBacked({ readyAfterMs: 0 })
    await story.api.create(pods, pod('a'))
    await story.seconds(2)
    const body = { status: { phase: 'Failed', reason: 'Evicted' } }
    await story.api.patch(pods, inDefault('a'), { type: 'merge', body }, { subresource: 'status' })
    await story.seconds(1)
    expect([only(story.runtime).isRunning(), story.runtime.processes.length]).toEqual([false, 1])
    story.stop()
  })
})

it('pods without a process beside those with one run by the clock as ever', async () => {
  const story = await openBacked({ backs: ({ metadata }) => metadata.name === 'backed' })
  await story.api.create(pods, pod('backed'))
  await story.api.create(pods, pod('plain'))
  await story.seconds(5)
  expect([await look(story, 'backed'), await look(story, 'plain')]).toEqual([
    'Running, running, not ready, 0 restarts',
    'Running, running, ready, 0 restarts',
  ])
  expect(story.runtime.processes.map(({ pod: name }) => name)).toEqual(['backed'])
  story.stop()
})

it('kubelets that end leave the processes to whoever owns them', async () => {
  const story = await openBacked({ readyAfterMs: 0 })
  await story.api.create(pods, pod('a'))
  await story.seconds(2)
  story.stop()
  expect([only(story.runtime).asked, only(story.runtime).isRunning()]).toEqual([[], true])
})
