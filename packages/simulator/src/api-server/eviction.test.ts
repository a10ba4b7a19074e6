import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../harness/virtual-clock.ts'
import { decorated } from './testing/decorated-api.ts'
import {
  type EvictionFixtureOptions,
  evictionFixture,
  namespace,
  refusal,
  start,
  success,
} from './testing/eviction-fixture.ts'

const fixture = (options?: EvictionFixtureOptions) => evictionFixture(new VirtualClock(), options)

/** Lets the clock run until the call has ended; tells how long that took. */
async function timed<T>(clock: VirtualClock, call: Promise<T>): Promise<{ outcome: T | ApiError; tookMs: number }> {
  const begin = clock.now()
  let outcome: T | ApiError | undefined
  let ended = begin
  const settled = call.then(
    (value) => {
      outcome = value
      ended = clock.now()
    },
    (error: ApiError) => {
      outcome = error
      ended = clock.now()
    },
  )
  await clock.advanceUntil(() => outcome !== undefined, 60_000)
  await settled
  return { outcome: outcome as T | ApiError, tookMs: ended - begin }
}

describe('an eviction that a budget refuses', () => {
  it('is answered with 429, says what the budget needs and has, and leaves pod and budget as they are', async () => {
    const { run, guard, evict, read, budget } = fixture()
    const pod = await run('web-0')
    const before = await guard()
    const { code, reason, message, details } = await refusal(evict('web-0'))
    expect({ code, reason, message, details }).toEqual({
      code: 429,
      reason: 'TooManyRequests',
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: {
        causes: [
          { reason: 'DisruptionBudget', message: 'The disruption budget a needs 3 healthy pods and has 3 currently' },
        ],
      },
    })
    expect(await read('web-0')).toEqual(pod)
    expect(await budget()).toEqual(before)
  })
})

describe('an eviction that a budget grants', () => {
  it('takes one disruption, names the pod with the time, marks the pod, and ends it', async () => {
    const { run, guard, evict, read, budget, clock } = fixture()
    await run('web-0')
    await guard({ disruptionsAllowed: 2, currentHealthy: 5 })
    await clock.advance(5000)
    expect(await evict('web-0')).toEqual(success)
    expect((await budget()).status).toEqual({
      observedGeneration: 1,
      disruptionsAllowed: 1,
      currentHealthy: 5,
      desiredHealthy: 3,
      expectedPods: 3,
      disruptedPods: { 'web-0': '2026-01-01T00:00:05Z' },
    })
    const going = await read('web-0')
    expect(going.metadata.deletionTimestamp).toBe('2026-01-01T00:00:35Z')
    expect(conditionOf(going, 'DisruptionTarget')).toEqual({
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'EvictionByEvictionAPI',
      message: 'Eviction API: evicting',
      lastTransitionTime: '2026-01-01T00:00:05Z',
    })
  })

  it('says in the budget that the last disruption is used up', async () => {
    const { run, guard, evict, budget } = fixture()
    await run('web-0')
    await guard({ disruptionsAllowed: 1, currentHealthy: 4 })
    await evict('web-0')
    expect((await budget()).status?.conditions).toEqual([
      {
        type: 'DisruptionAllowed',
        status: 'False',
        reason: 'InsufficientPods',
        message: '',
        observedGeneration: 1,
        lastTransitionTime: start,
      },
    ])
  })

  it('of three pods at once with two disruptions left: 201, 201, 429', async () => {
    const { run, guard, evict, clock, budget } = fixture()
    const names = ['web-0', 'web-1', 'web-2']
    for (const name of names) await run(name)
    await guard({ disruptionsAllowed: 2, currentHealthy: 5 })
    const outcomes = await Promise.all(names.map((name) => timed(clock, evict(name))))
    const codes = outcomes.map(({ outcome }) => (outcome instanceof ApiError ? outcome.code : 201))
    expect(codes).toEqual([201, 201, 429])
    expect((await budget()).status).toMatchObject({ disruptionsAllowed: 0 })
    expect(Object.keys((await budget()).status?.disruptedPods ?? {})).toHaveLength(2)
  })

  it('tries again half a second later when somebody else wrote the budget meanwhile', async () => {
    let conflicts = 2
    const { run, guard, evict, clock, budget } = fixture({
      api: (api) =>
        decorated(api, {
          update: async (type, object, options) => {
            if (type.plural === 'poddisruptionbudgets' && conflicts-- > 0) throw new ApiError('Conflict', 'too late')
            return api.update(type, object, options)
          },
        }),
    })
    await run('web-0')
    await guard({ disruptionsAllowed: 1, currentHealthy: 4 })
    expect(await timed(clock, evict('web-0'))).toEqual({ outcome: success, tookMs: 1000 })
    expect((await budget()).status?.disruptionsAllowed).toBe(0)
  })

  it('gives up with 409 after twenty tries', async () => {
    let tries = 0
    const { run, guard, evict, clock, read } = fixture({
      api: (api) =>
        decorated(api, {
          update: async (type, object, options) => {
            if (type.plural !== 'poddisruptionbudgets') return api.update(type, object, options)
            tries += 1
            throw new ApiError('Conflict', 'too late')
          },
        }),
    })
    const pod = await run('web-0')
    await guard({ disruptionsAllowed: 1, currentHealthy: 4 })
    const { outcome, tookMs } = await timed(clock, evict('web-0'))
    expect(outcome).toMatchObject({ code: 409, message: 'too late' })
    expect({ tries, tookMs }).toEqual({ tries: 20, tookMs: 9500 })
    expect(await read('web-0')).toEqual(pod)
  })

  it('asks the budget anew before each try, and is refused when it has nothing left by then', async () => {
    let isFirst = true
    const { run, guard, evict, clock } = fixture({
      api: (api) =>
        decorated(api, {
          update: async (type, object, options) => {
            if (type.plural === 'poddisruptionbudgets' && isFirst) {
              isFirst = false
              const body = { status: { disruptionsAllowed: 0 } }
              const key = { namespace, name: 'a' }
              await api.patch(podDisruptionBudgets, key, { type: 'merge', body }, { subresource: 'status' })
            }
            return api.update(type, object, options)
          },
        }),
    })
    await run('web-0')
    await guard({ disruptionsAllowed: 1, currentHealthy: 4 })
    expect((await timed(clock, evict('web-0'))).outcome).toMatchObject({ code: 429 })
  })
})

describe('a pod that no budget guards in its state', () => {
  for (const phase of ['Succeeded', 'Failed'] as const) {
    it(`goes at once when it has ${phase.toLowerCase()}`, async () => {
      const { run, guard, evict, read, budget } = fixture()
      await run('web-0', { phase })
      const before = await guard()
      expect(await evict('web-0')).toEqual(success)
      expect(await refusal(read('web-0'))).toMatchObject({ code: 404 })
      expect(await budget()).toEqual(before)
    })
  }

  it('goes while it is pending, even when two budgets cover it', async () => {
    const { run, guard, evict, read } = fixture()
    await run('web-0', { phase: 'Pending', ready: false })
    await guard({}, {}, 'a')
    await guard({}, {}, 'b')
    expect(await evict('web-0')).toEqual(success)
    expect((await read('web-0')).metadata.deletionTimestamp).toBeDefined()
  })

  it('with the uid of another keeps the caller waiting until the pod is gone: then 404', async () => {
    const { run, evict, api, clock } = fixture()
    await run('web-0')
    const key = { namespace, name: 'web-0' }
    await api.delete(pods, key)
    clock.after(3000, () => void api.delete(pods, key, { gracePeriodSeconds: 0 }))
    const deleteOptions = { preconditions: { uid: '00000000-0000-4000-8000-000000000000' } }
    const { outcome, tookMs } = await timed(clock, evict('web-0', { deleteOptions }))
    expect(outcome).toMatchObject({ code: 404 })
    expect(tookMs).toBe(3000)
  })

  it('with the uid of another is refused with 409 in the end', async () => {
    const { run, evict, clock, read } = fixture()
    const pod = await run('web-0', { phase: 'Pending', ready: false })
    const deleteOptions = { preconditions: { uid: '00000000-0000-4000-8000-000000000000' } }
    const { outcome, tookMs } = await timed(clock, evict('web-0', { deleteOptions }))
    expect(outcome).toMatchObject({
      code: 409,
      message: `Operation cannot be fulfilled on Pod "web-0": the UID in the precondition (00000000-0000-4000-8000-000000000000) does not match the UID in record (${pod.metadata.uid}). The object might have been deleted and then recreated`,
    })
    expect(tookMs).toBe(9500)
    expect(await read('web-0')).toEqual(pod)
  })

  it('with a version of its own choosing is refused at once when that is stale', async () => {
    const { run, evict, clock } = fixture()
    await run('web-0', { phase: 'Pending', ready: false })
    const deleteOptions = { preconditions: { resourceVersion: '1' } }
    const { outcome, tookMs } = await timed(clock, evict('web-0', { deleteOptions }))
    expect(outcome).toMatchObject({ code: 409 })
    expect(tookMs).toBe(0)
  })

  it('is not covered by a budget without a selector', async () => {
    const { run, evict, api } = fixture()
    await run('web-0')
    await api.create(podDisruptionBudgets, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { namespace, name: 'nobody' },
      spec: { minAvailable: 1 },
    })
    expect(await evict('web-0')).toEqual(success)
  })
})

describe('an unready pod', () => {
  it('goes under the default policy when enough are healthy, even before the budget’s spec was observed', async () => {
    const { run, guard, evict, budget } = fixture()
    await run('web-0', { ready: false })
    const before = await guard({ observedGeneration: 0 })
    expect(await evict('web-0')).toEqual(success)
    expect(await budget()).toEqual(before)
  })

  it('goes under AlwaysAllow, and the budget is left alone', async () => {
    const { run, guard, evict, budget } = fixture()
    await run('web-0', { ready: false })
    const before = await guard({ currentHealthy: 0 }, { unhealthyPodEvictionPolicy: 'AlwaysAllow' })
    expect(await evict('web-0')).toEqual(success)
    expect(await budget()).toEqual(before)
  })

  it('that becomes ready between the judgement and the deletion stays: 429, wait 10 seconds', async () => {
    let hasRecovered = false
    const { run, guard, evict, read } = fixture({
      api: (api) =>
        decorated(api, {
          list: async (type, query) => {
            const list = await api.list(type, query)
            if (!hasRecovered) {
              hasRecovered = true
              const status = { conditions: [{ type: 'Ready', status: 'True' }] }
              const key = { namespace, name: 'web-0' }
              await api.patch(pods, key, { type: 'merge', body: { status } }, { subresource: 'status' })
            }
            return list
          },
        }),
    })
    await run('web-0', { ready: false })
    await guard({ currentHealthy: 0 }, { unhealthyPodEvictionPolicy: 'AlwaysAllow' })
    expect(await refusal(evict('web-0'))).toMatchObject({
      code: 429,
      details: {
        causes: [{ message: 'The disruption budget a is still being processed by the server.' }],
        retryAfterSeconds: 10,
      },
    })
    expect((await read('web-0')).metadata.deletionTimestamp).toBeUndefined()
  })
})
