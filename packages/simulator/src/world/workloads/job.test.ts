import type { Job } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { jobs, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { container, inDefault, openWorld, type Scenario } from '../testing/scenario.ts'
import { indexesText, parseIndexes } from './job-pods.ts'

function job(spec: Partial<Job['spec']>, annotations: Record<string, string> = {}): Job {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'task', namespace: 'default' },
    spec: {
      template: {
        metadata: { labels: { app: 'task' }, annotations },
        spec: { containers: [container], restartPolicy: 'Never' },
      },
      ...spec,
    },
  }
}

async function outcome(scenario: Scenario) {
  const { status } = await scenario.api.get(jobs, inDefault('task'))
  const ends = status?.conditions
    ?.filter(({ type, status: is }) => is === 'True' && /^(Complete|Failed|Suspended)$/.test(type))
    .map(({ type, reason }) => `${type} ${reason}`)
  return {
    succeeded: status?.succeeded ?? 0,
    failed: status?.failed ?? 0,
    active: status?.active ?? 0,
    ends: ends ?? [],
  }
}

describe('a Job', () => {
  it('runs as many pods at a time as it may, until enough have succeeded', async () => {
    const scenario = await openWorld()
    await scenario.api.create(jobs, job({ completions: 5, parallelism: 2 }, { 'cofferdam.io/run-seconds': '5' }))
    let most = 0
    for (let step = 0; step < 60; step += 1) {
      await scenario.seconds(1)
      most = Math.max(most, (await scenario.podsOf('task')).filter(({ status }) => status?.phase === 'Running').length)
    }
    expect(most).toBe(2)
    expect(await outcome(scenario)).toEqual({
      succeeded: 5,
      failed: 0,
      active: 0,
      ends: ['Complete CompletionsReached'],
    })
    const { status } = await scenario.api.get(jobs, inDefault('task'))
    expect(status?.completionTime).toBeDefined()
    expect((await scenario.podsOf('task')).map(({ metadata }) => metadata.finalizers ?? [])).toEqual(Array(5).fill([]))
    scenario.stop()
  })

  it('fails when more pods have failed than its backoff limit allows', async () => {
    const scenario = await openWorld()
    const annotations = { 'cofferdam.io/run-seconds': '1', 'cofferdam.io/exit-code': '3' }
    await scenario.api.create(jobs, job({ backoffLimit: 2 }, annotations))
    await scenario.seconds(300)
    expect(await outcome(scenario)).toEqual({
      succeeded: 0,
      failed: 3,
      active: 0,
      ends: ['Failed BackoffLimitExceeded'],
    })
    expect(await scenario.eventsAbout('task')).toContain(
      'Warning BackoffLimitExceeded x1: Job has reached the specified backoff limit',
    )
    scenario.stop()
  })

  it('counts a pod that was deleted while it ran as failed, once, and runs another', async () => {
    const scenario = await openWorld()
    await scenario.api.create(jobs, job({ completions: 1 }, { 'cofferdam.io/run-seconds': '20' }))
    await scenario.seconds(5)
    const [pod] = (await scenario.podsOf('task')) as [Pod]
    await scenario.api.delete(pods, inDefault(pod.metadata.name))
    await scenario.seconds(120)
    expect(await outcome(scenario)).toEqual({
      succeeded: 1,
      failed: 1,
      active: 0,
      ends: ['Complete CompletionsReached'],
    })
    expect(await scenario.podsOf('task')).toHaveLength(1)
    scenario.stop()
  })

  it('does not forget a success although somebody removed the finished pod', async () => {
    const scenario = await openWorld()
    await scenario.api.create(jobs, job({ completions: 2, parallelism: 1 }, { 'cofferdam.io/run-seconds': '5' }))
    await scenario.clock.advanceUntil(() => scenario.world.views.of(pods).size === 2, 60_000)
    const finished = (await scenario.podsOf('task')).find(({ status }) => status?.phase === 'Succeeded') as Pod
    await scenario.api.delete(pods, inDefault(finished.metadata.name))
    await scenario.seconds(60)
    expect(await outcome(scenario)).toEqual({
      succeeded: 2,
      failed: 0,
      active: 0,
      ends: ['Complete CompletionsReached'],
    })
    scenario.stop()
  })

  it('restarts a container in place where the pod says OnFailure', async () => {
    const scenario = await openWorld()
    const annotations = { 'cofferdam.io/run-seconds': '1', 'cofferdam.io/exit-code': '1' }
    const template = job({}, annotations).spec.template
    const onFailure = { ...template, spec: { ...template.spec, restartPolicy: 'OnFailure' as const } }
    await scenario.api.create(jobs, job({ template: onFailure, backoffLimit: 3 }))
    await scenario.seconds(20)
    const [pod, ...others] = (await scenario.podsOf('task')) as [Pod]
    expect([pod.status?.containerStatuses?.[0]?.restartCount, others]).toEqual([1, []])
    await scenario.seconds(300)
    expect((await outcome(scenario)).ends).toEqual(['Failed BackoffLimitExceeded'])
    scenario.stop()
  })

  it('gives each index one success when it is Indexed', async () => {
    const scenario = await openWorld()
    const indexed = { completions: 3, parallelism: 3, completionMode: 'Indexed' } as Partial<Job['spec']>
    await scenario.api.create(jobs, job(indexed, { 'cofferdam.io/run-seconds': '2' }))
    await scenario.seconds(30)
    const { status } = await scenario.api.get(jobs, inDefault('task'))
    expect((status as { completedIndexes?: string }).completedIndexes).toBe('0-2')
    expect((await scenario.podsOf('task')).map(({ spec }) => spec.hostname ?? '').sort()).toEqual([
      'task-0',
      'task-1',
      'task-2',
    ])
    scenario.stop()
  })

  it('stops its pods while it is suspended and goes on when it is resumed', async () => {
    const scenario = await openWorld()
    await scenario.api.create(jobs, job({ completions: 1, suspend: true }, { 'cofferdam.io/run-seconds': '5' }))
    await scenario.seconds(20)
    expect(await outcome(scenario)).toEqual({ succeeded: 0, failed: 0, active: 0, ends: ['Suspended JobSuspended'] })
    await scenario.api.patch(jobs, inDefault('task'), { type: 'merge', body: { spec: { suspend: false } } })
    await scenario.seconds(20)
    expect(await outcome(scenario)).toEqual({
      succeeded: 1,
      failed: 0,
      active: 0,
      ends: ['Complete CompletionsReached'],
    })
    scenario.stop()
  })

  it('goes some time after it has finished when it says so, with its pods', async () => {
    const scenario = await openWorld()
    await scenario.api.create(jobs, job({ ttlSecondsAfterFinished: 30 }, { 'cofferdam.io/run-seconds': '1' }))
    await scenario.seconds(15)
    expect((await outcome(scenario)).succeeded).toBe(1)
    await scenario.seconds(40)
    expect([await scenario.list(jobs), await scenario.podsOf('task')]).toEqual([[], []])
    scenario.stop()
  })

  it('leaves no pod behind that hangs on the finalizer of a job that has gone', async () => {
    const scenario = await openWorld()
    await scenario.api.create(jobs, job({}, { 'cofferdam.io/run-seconds': '100' }))
    await scenario.seconds(5)
    await scenario.api.delete(jobs, inDefault('task'), { propagationPolicy: 'Background' })
    await scenario.seconds(20)
    expect(await scenario.podsOf('task')).toEqual([])
    scenario.stop()
  })
})

describe('indexes as text', () => {
  it.each([
    ['', []],
    ['0', [0]],
    ['1,2', [1, 2]],
    ['0-2,5,7,8', [0, 1, 2, 5, 7, 8]],
  ])('%j stands for %j and back', (text, indexes) => {
    expect([parseIndexes(text), indexesText(indexes)]).toEqual([indexes, text])
  })
})
