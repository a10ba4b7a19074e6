import type { Event } from '@cofferdam/kubernetes/api/core.ts'
import { events, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { startEventJanitor } from './event-janitor.ts'
import { createEventSink } from './event-recorder.ts'
import { barePod, node, openScenario } from './testing/scenario.ts'

async function openSink(keep?: 'warnings') {
  const scenario = openScenario()
  const { api, clock, random } = scenario
  const sink = createEventSink({ api, clock, random, ...(keep === undefined ? {} : { keep }) })
  const pod = await api.create(pods, barePod('a'))
  return { ...scenario, sink, pod, recorder: sink.recorder('kubelet', 'node-1') }
}

describe('the event recorder', () => {
  it('writes an event as kubectl describe shows it', async () => {
    const { api, recorder, pod, seconds } = await openSink()
    recorder.record(pod, 'Warning', 'Unhealthy', 'probe failed')
    await seconds(1)
    const [event] = (await api.list(events)).items as [Event]
    const { metadata, ...rest } = event
    expect([metadata.namespace, metadata.name]).toEqual(['default', expect.stringMatching(/^a\.[0-9a-f]{16}$/)])
    expect(rest).toEqual({
      apiVersion: 'v1',
      kind: 'Event',
      involvedObject: {
        apiVersion: 'v1',
        kind: 'Pod',
        namespace: 'default',
        name: 'a',
        uid: pod.metadata.uid,
        resourceVersion: pod.metadata.resourceVersion,
      },
      type: 'Warning',
      reason: 'Unhealthy',
      message: 'probe failed',
      source: { component: 'kubelet', host: 'node-1' },
      reportingComponent: 'kubelet',
      reportingInstance: 'node-1',
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      count: 1,
    })
  })

  it('counts the same news instead of writing it again, and begins anew when the event has gone', async () => {
    const { api, recorder, pod, seconds, list } = await openSink()
    for (let time = 0; time < 3; time += 1) {
      recorder.record(pod, 'Warning', 'Unhealthy', 'probe failed')
      await seconds(10)
    }
    const [event, ...others] = (await list(events)) as [Event]
    expect([event.count, event.firstTimestamp, event.lastTimestamp, others]).toEqual([
      3,
      '2026-01-01T00:00:00Z',
      '2026-01-01T00:00:20Z',
      [],
    ])
    await api.delete(events, { namespace: 'default', name: event.metadata.name })
    recorder.record(pod, 'Warning', 'Unhealthy', 'probe failed')
    await seconds(1)
    expect((await list(events)).map(({ count }) => count)).toEqual([1])
  })

  it('lets one chatty object have 25 events at once and then one in five minutes', async () => {
    const { recorder, pod, seconds, list } = await openSink()
    for (let time = 0; time < 100; time += 1) recorder.record(pod, 'Normal', 'Chat', `message ${time}`)
    await seconds(1)
    expect(await list(events)).toHaveLength(25)
    await seconds(300)
    for (let time = 0; time < 100; time += 1) recorder.record(pod, 'Normal', 'Chat', `later ${time}`)
    await seconds(1)
    expect(await list(events)).toHaveLength(26)
  })

  it('puts events about nodes into the default namespace and leaves out what is not kept', async () => {
    const { api, sink, seconds, list } = await openSink('warnings')
    const made = await api.create(nodes, node(1))
    sink.recorder('node-controller').record(made, 'Normal', 'NodeReady', 'fine')
    sink.recorder('node-controller').record(made, 'Warning', 'Rebooted', 'oh')
    await seconds(1)
    expect((await list(events)).map(({ metadata, reason }) => [metadata.namespace, reason])).toEqual([
      ['default', 'Rebooted'],
    ])
  })
})

describe('the event janitor', () => {
  it('takes away events an hour after they were last told', async () => {
    const scenario = await openSink()
    const janitor = startEventJanitor({ api: scenario.api, clock: scenario.clock, random: scenario.random })
    scenario.recorder.record(scenario.pod, 'Warning', 'Old', 'old')
    scenario.recorder.record(scenario.pod, 'Warning', 'Repeated', 'again')
    await scenario.seconds(1_800)
    scenario.recorder.record(scenario.pod, 'Warning', 'Repeated', 'again')
    await scenario.seconds(1_900)
    expect((await scenario.list(events)).map(({ reason }) => reason)).toEqual(['Repeated'])
    await scenario.seconds(1_800)
    expect(await scenario.list(events)).toEqual([])
    janitor.stop()
  })

  it('keeps the latest when there are too many', async () => {
    const scenario = await openSink()
    const { api, clock, random } = scenario
    const janitor = startEventJanitor({ api, clock, random, maxEvents: 2 })
    for (const reason of ['One', 'Two', 'Three', 'Four']) {
      scenario.recorder.record(scenario.pod, 'Warning', reason, reason)
      await scenario.seconds(5)
    }
    await scenario.seconds(60)
    expect((await scenario.list(events)).map(({ reason }) => reason ?? '').sort()).toEqual(['Four', 'Three'])
    janitor.stop()
  })
})
