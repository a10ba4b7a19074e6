import { describe, expect, it } from 'vitest'
import { ApiError } from '../api/api-error.ts'
import type { Pod, PodPhase } from '../api/core.ts'
import type { JsonObject } from '../api/json.ts'
import { conditionOf } from '../api/kube-object.ts'
import type { PodDisruptionBudget } from '../api/policy.ts'
import { podDisruptionBudgets, pods } from '../api/resources.ts'
import { seededRandom } from '../runtime/random.ts'
import { VirtualClock } from '../runtime/virtual-clock.ts'
import type { Admission, AdmissionRequest } from './admission/admission.ts'
import { ApiServer } from './api-server.ts'
import type { EmbeddedApi } from './embedded-api.ts'
import { createEvictionHandler } from './eviction.ts'
import { clusterAdmin } from './user-info.ts'

const namespace = 'default'
const app = { app: 'web' }
const start = '2026-01-01T00:00:00Z'
const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }

/** A server on a clock that stands still, and the eviction handler with an admission that keeps what it was asked. */
function stage(options: { admit?: (request: AdmissionRequest) => void; api?: (api: EmbeddedApi) => EmbeddedApi } = {}) {
  const clock = new VirtualClock()
  const server = new ApiServer({ clock, random: seededRandom(1) })
  const api = server.as(clusterAdmin)
  const asked: AdmissionRequest[] = []
  const admission: Admission = {
    mayMatch: () => true,
    admit: async (request) => {
      asked.push(request)
      options.admit?.(request)
      return []
    },
  }
  const handler = createEvictionHandler({ api: options.api?.(api) ?? api, clock, admission })
  const evict = (name: string, body: JsonObject = {}, dryRun = false) =>
    handler({
      key: { namespace, name },
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, ...body },
      user: clusterAdmin,
      dryRun,
    })

  return {
    clock,
    api,
    asked,
    evict,
    read: (name: string) => api.get(pods, { namespace, name }),
    budget: (name = 'a') => api.get(podDisruptionBudgets, { namespace, name }),

    async run(name: string, state: { ready?: boolean; phase?: PodPhase } = {}): Promise<Pod> {
      const { ready = true, phase = 'Running' } = state
      await api.create(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace, name, labels: app },
        spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.example/app:1' }] },
      })
      const status = { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] }
      return api.patch(pods, { namespace, name }, { type: 'merge', body: { status } }, { subresource: 'status' })
    },

    /** A budget as a disruption controller would have left it: by default it needs three and has three. */
    async guard(
      status: Partial<NonNullable<PodDisruptionBudget['status']>> = {},
      spec: Partial<PodDisruptionBudget['spec']> = {},
      name = 'a',
    ): Promise<PodDisruptionBudget> {
      const created = await api.create(podDisruptionBudgets, {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { namespace, name },
        spec: { selector: { matchLabels: app }, minAvailable: 3, ...spec },
      })
      const counted = { disruptionsAllowed: 0, currentHealthy: 3, desiredHealthy: 3, expectedPods: 3 }
      return api.update(
        podDisruptionBudgets,
        { ...created, status: { ...counted, observedGeneration: 1, ...status } },
        { subresource: 'status' },
      )
    },
  }
}

async function refusal(call: Promise<unknown>): Promise<ApiError> {
  try {
    await call
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('the call was not refused')
}

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
    const { run, guard, evict, read, budget } = stage()
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

  it('is answered with 500 when two budgets cover the pod, whatever they allow', async () => {
    const { run, guard, evict, read } = stage()
    const pod = await run('web-0')
    await guard({ disruptionsAllowed: 5 }, {}, 'a')
    await guard({ disruptionsAllowed: 5 }, {}, 'b')
    expect(await refusal(evict('web-0'))).toMatchObject({
      code: 500,
      message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    })
    expect(await read('web-0')).toEqual(pod)
  })

  it('is granted as soon as the budget is deleted', async () => {
    const { run, guard, evict, api } = stage()
    await run('web-0')
    await guard()
    expect(await refusal(evict('web-0'))).toMatchObject({ code: 429 })
    await api.delete(podDisruptionBudgets, { namespace, name: 'a' })
    expect(await evict('web-0')).toEqual(success)
  })
})

describe('an eviction that a budget grants', () => {
  it('takes one disruption, names the pod with the time, marks the pod, and ends it', async () => {
    const { run, guard, evict, read, budget, clock } = stage()
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
    const { run, guard, evict, budget } = stage()
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
    const { run, guard, evict, clock, budget } = stage()
    const names = ['web-0', 'web-1', 'web-2']
    for (const name of names) await run(name)
    await guard({ disruptionsAllowed: 2, currentHealthy: 5 })
    const outcomes = await Promise.all(names.map((name) => timed(clock, evict(name))))
    expect(
      outcomes.map(({ outcome }) => (outcome instanceof ApiError ? outcome.code : outcome['code'])).toSorted(),
    ).toEqual([201, 201, 429])
    expect((await budget()).status).toMatchObject({ disruptionsAllowed: 0 })
    expect(Object.keys((await budget()).status?.disruptedPods ?? {})).toHaveLength(2)
  })

  it('tries again half a second later when somebody else wrote the budget meanwhile', async () => {
    let conflicts = 2
    const { run, guard, evict, clock, budget } = stage({
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
    const { run, guard, evict, clock, read } = stage({
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
    const { run, guard, evict, clock } = stage({
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
      const { run, guard, evict, read, budget } = stage()
      await run('web-0', { phase })
      const before = await guard()
      expect(await evict('web-0')).toEqual(success)
      expect(await refusal(read('web-0'))).toMatchObject({ code: 404 })
      expect(await budget()).toEqual(before)
    })
  }

  it('goes while it is pending, even when two budgets cover it', async () => {
    const { run, guard, evict, read } = stage()
    await run('web-0', { phase: 'Pending', ready: false })
    await guard({}, {}, 'a')
    await guard({}, {}, 'b')
    expect(await evict('web-0')).toEqual(success)
    expect((await read('web-0')).metadata.deletionTimestamp).toBeDefined()
  })

  it('that is terminating already is granted again', async () => {
    const { run, guard, evict, api } = stage()
    await run('web-0')
    await guard()
    await api.delete(pods, { namespace, name: 'web-0' })
    expect(await evict('web-0')).toEqual(success)
  })

  it('with the uid of another keeps the caller waiting until the pod is gone: then 404', async () => {
    const { run, evict, api, clock } = stage()
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
    const { run, evict, clock, read } = stage()
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
    const { run, evict, clock } = stage()
    await run('web-0', { phase: 'Pending', ready: false })
    const deleteOptions = { preconditions: { resourceVersion: '1' } }
    const { outcome, tookMs } = await timed(clock, evict('web-0', { deleteOptions }))
    expect(outcome).toMatchObject({ code: 409 })
    expect(tookMs).toBe(0)
  })

  it('is not covered by a budget without a selector', async () => {
    const { run, evict, api } = stage()
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
    const { run, guard, evict, budget } = stage()
    await run('web-0', { ready: false })
    const before = await guard({ observedGeneration: 0 })
    expect(await evict('web-0')).toEqual(success)
    expect(await budget()).toEqual(before)
  })

  it('goes under AlwaysAllow, and the budget is left alone', async () => {
    const { run, guard, evict, budget } = stage()
    await run('web-0', { ready: false })
    const before = await guard({ currentHealthy: 0 }, { unhealthyPodEvictionPolicy: 'AlwaysAllow' })
    expect(await evict('web-0')).toEqual(success)
    expect(await budget()).toEqual(before)
  })

  it('that becomes ready between the judgement and the deletion stays: 429, wait 10 seconds', async () => {
    let hasRecovered = false
    const { run, guard, evict, read } = stage({
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

describe('what admission sees of an eviction', () => {
  it('is the Eviction alone, once, before any budget is asked', async () => {
    const { run, guard, evict, asked } = stage()
    await run('web-0')
    await guard()
    await refusal(evict('web-0'))
    expect(asked).toEqual([
      {
        operation: 'CREATE',
        type: pods,
        subresource: 'eviction',
        key: { namespace, name: 'web-0' },
        kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
        object: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web-0', namespace } },
        options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
        user: clusterAdmin,
        dryRun: false,
      },
    ])
  })

  it('is policy/v1 even when policy/v1beta1 was sent', async () => {
    const { run, evict, asked } = stage()
    await run('web-0')
    await evict('web-0', { apiVersion: 'policy/v1beta1' })
    expect(asked[0]).toMatchObject({ kind: { version: 'v1' }, object: { apiVersion: 'policy/v1' } })
  })

  it('says dry run when the query says so, not when only the body does', async () => {
    const { run, evict, asked, read } = stage()
    const pod = await run('web-0')
    await evict('web-0', { deleteOptions: { gracePeriodSeconds: 1 } }, true)
    await evict('web-0', { deleteOptions: { dryRun: ['All'] } })
    expect(asked.map(({ dryRun }) => dryRun)).toEqual([true, false])
    expect(asked[0]?.object).toMatchObject({ deleteOptions: { gracePeriodSeconds: 1, dryRun: ['All'] } })
    expect(await read('web-0')).toEqual(pod)
  })

  it('a denial is passed on as it is, and nothing happens', async () => {
    const { run, evict, read } = stage({
      admit: () => {
        throw new ApiError('TooManyRequests', 'admission webhook "guard" denied the request: wait for node-2')
      },
    })
    const pod = await run('web-0')
    expect(await refusal(evict('web-0'))).toMatchObject({
      code: 429,
      message: 'admission webhook "guard" denied the request: wait for node-2',
    })
    expect(await read('web-0')).toEqual(pod)
  })

  it('is asked even for a pod that is not there, and then 404 is answered', async () => {
    const { evict, asked } = stage()
    expect(await refusal(evict('web-0'))).toMatchObject({ code: 404, message: 'pods "web-0" not found' })
    expect(asked).toHaveLength(1)
  })
})

describe('an eviction that cannot be understood', () => {
  it('is refused before admission is asked, and nothing happens', async () => {
    const { run, evict, read, asked } = stage()
    const pod = await run('web-0')
    expect(await refusal(evict('web-0', { metadata: { name: 'web-1' } }))).toMatchObject({ code: 400 })
    expect(asked).toEqual([])
    expect(await read('web-0')).toEqual(pod)
  })
})

/** The API with some of its calls replaced. */
function decorated(api: EmbeddedApi, replaced: Partial<EmbeddedApi>): EmbeddedApi {
  return {
    get: api.get.bind(api),
    list: api.list.bind(api),
    watch: api.watch.bind(api),
    create: api.create.bind(api),
    createSubresource: api.createSubresource.bind(api),
    update: api.update.bind(api),
    patch: api.patch.bind(api),
    delete: api.delete.bind(api),
    deleteCollection: api.deleteCollection.bind(api),
    ...replaced,
  }
}
