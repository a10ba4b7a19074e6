import type { Job } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { jobs, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { container, inDefault, openWorld, type Story } from '../testing/story.ts'
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

async function outcome(story: Story) {
  const { status } = await story.api.get(jobs, inDefault('task'))
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
    const story = await openWorld()
    await story.api.create(jobs, job({ completions: 5, parallelism: 2 }, { 'cofferdam.io/run-seconds': '5' }))
    let most = 0
    for (let step = 0; step < 60; step += 1) {
      await story.seconds(1)
      most = Math.max(most, (await story.podsOf('task')).filter(({ status }) => status?.phase === 'Running').length)
    }
    expect(most).toBe(2)
    expect(await outcome(story)).toEqual({ succeeded: 5, failed: 0, active: 0, ends: ['Complete CompletionsReached'] })
    const { status } = await story.api.get(jobs, inDefault('task'))
    expect(status?.completionTime).toBeDefined()
    expect((await story.podsOf('task')).map(({ metadata }) => metadata.finalizers ?? [])).toEqual(Array(5).fill([]))
    story.stop()
  })

  it('fails when more pods have failed than its backoff limit allows', async () => {
    const story = await openWorld()
    const annotations = { 'cofferdam.io/run-seconds': '1', 'cofferdam.io/exit-code': '3' }
    await story.api.create(jobs, job({ backoffLimit: 2 }, annotations))
    await story.seconds(300)
    expect(await outcome(story)).toEqual({ succeeded: 0, failed: 3, active: 0, ends: ['Failed BackoffLimitExceeded'] })
    expect(await story.eventsAbout('task')).toContain(
      'Warning BackoffLimitExceeded x1: Job has reached the specified backoff limit',
    )
    story.stop()
  })

  it('counts a pod that was deleted while it ran as failed, once, and runs another', async () => {
    const story = await openWorld()
    await story.api.create(jobs, job({ completions: 1 }, { 'cofferdam.io/run-seconds': '20' }))
    await story.seconds(5)
    const [pod] = (await story.podsOf('task')) as [Pod]
    await story.api.delete(pods, inDefault(pod.metadata.name))
    await story.seconds(120)
    expect(await outcome(story)).toEqual({ succeeded: 1, failed: 1, active: 0, ends: ['Complete CompletionsReached'] })
    expect(await story.podsOf('task')).toHaveLength(1)
    story.stop()
  })

  it('does not forget a success although somebody removed the finished pod', async () => {
    const story = await openWorld()
    await story.api.create(jobs, job({ completions: 2, parallelism: 1 }, { 'cofferdam.io/run-seconds': '5' }))
    await story.clock.advanceUntil(() => story.world.views.of(pods).size === 2, 60_000)
    const finished = (await story.podsOf('task')).find(({ status }) => status?.phase === 'Succeeded') as Pod
    await story.api.delete(pods, inDefault(finished.metadata.name))
    await story.seconds(60)
    expect(await outcome(story)).toEqual({ succeeded: 2, failed: 0, active: 0, ends: ['Complete CompletionsReached'] })
    story.stop()
  })

  it('restarts a container in place where the pod says OnFailure', async () => {
    const story = await openWorld()
    const annotations = { 'cofferdam.io/run-seconds': '1', 'cofferdam.io/exit-code': '1' }
    const template = job({}, annotations).spec.template
    const onFailure = { ...template, spec: { ...template.spec, restartPolicy: 'OnFailure' as const } }
    await story.api.create(jobs, job({ template: onFailure, backoffLimit: 3 }))
    await story.seconds(20)
    const [pod, ...others] = (await story.podsOf('task')) as [Pod]
    expect([pod.status?.containerStatuses?.[0]?.restartCount, others]).toEqual([1, []])
    await story.seconds(300)
    expect((await outcome(story)).ends).toEqual(['Failed BackoffLimitExceeded'])
    story.stop()
  })

  it('gives each index one success when it is Indexed', async () => {
    const story = await openWorld()
    const indexed = { completions: 3, parallelism: 3, completionMode: 'Indexed' } as Partial<Job['spec']>
    await story.api.create(jobs, job(indexed, { 'cofferdam.io/run-seconds': '2' }))
    await story.seconds(30)
    const { status } = await story.api.get(jobs, inDefault('task'))
    expect((status as { completedIndexes?: string }).completedIndexes).toBe('0-2')
    expect((await story.podsOf('task')).map(({ spec }) => spec.hostname ?? '').sort()).toEqual([
      'task-0',
      'task-1',
      'task-2',
    ])
    story.stop()
  })

  it('stops its pods while it is suspended and goes on when it is resumed', async () => {
    const story = await openWorld()
    await story.api.create(jobs, job({ completions: 1, suspend: true }, { 'cofferdam.io/run-seconds': '5' }))
    await story.seconds(20)
    expect(await outcome(story)).toEqual({ succeeded: 0, failed: 0, active: 0, ends: ['Suspended JobSuspended'] })
    await story.api.patch(jobs, inDefault('task'), { type: 'merge', body: { spec: { suspend: false } } })
    await story.seconds(20)
    expect(await outcome(story)).toEqual({ succeeded: 1, failed: 0, active: 0, ends: ['Complete CompletionsReached'] })
    story.stop()
  })

  it('goes some time after it has finished when it says so, with its pods', async () => {
    const story = await openWorld()
    await story.api.create(jobs, job({ ttlSecondsAfterFinished: 30 }, { 'cofferdam.io/run-seconds': '1' }))
    await story.seconds(15)
    expect((await outcome(story)).succeeded).toBe(1)
    await story.seconds(40)
    expect([await story.list(jobs), await story.podsOf('task')]).toEqual([[], []])
    story.stop()
  })

  it('leaves no pod behind that hangs on the finalizer of a job that has gone', async () => {
    const story = await openWorld()
    await story.api.create(jobs, job({}, { 'cofferdam.io/run-seconds': '100' }))
    await story.seconds(5)
    await story.api.delete(jobs, inDefault('task'), { propagationPolicy: 'Background' })
    await story.seconds(20)
    expect(await story.podsOf('task')).toEqual([])
    story.stop()
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
