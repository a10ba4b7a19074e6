import { describe, expect, it } from 'vitest'
import { hasReason } from '../../api/api-error.ts'
import type { Pod, PodPhase } from '../../api/core.ts'
import type { JsonObject } from '../../api/json.ts'
import { conditionOf } from '../../api/kube-object.ts'
import type { PodDisruptionBudget } from '../../api/policy.ts'
import { podDisruptionBudgets, pods } from '../../api/resources.ts'
import type { WriteOptions } from '../kube-api.ts'
import { type ContractFixture, pod, refusal } from './fixture.contract.ts'

const app = { app: 'web' }
const budgetRefusal = "Cannot evict pod as it would violate the pod's disruption budget."

const notCounted = {
  code: 429,
  reason: 'TooManyRequests',
  message: budgetRefusal,
  details: {
    causes: [
      { reason: 'DisruptionBudget', message: 'The disruption budget budget is still being processed by the server.' },
    ],
    retryAfterSeconds: 10,
  },
}

function budgetOf(namespace: string, spec: PodDisruptionBudget['spec'], name = 'budget'): PodDisruptionBudget {
  return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { namespace, name }, spec }
}

type Counts = Pick<
  NonNullable<PodDisruptionBudget['status']>,
  'disruptionsAllowed' | 'currentHealthy' | 'desiredHealthy' | 'expectedPods'
>

/** Asking pods to go, within their budgets. */
export function describeEviction(fixture: ContractFixture): void {
  function evict(
    namespace: string,
    name: string,
    body: JsonObject = {},
    options: WriteOptions = {},
  ): Promise<JsonObject> {
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, ...body }
    return fixture.api.createSubresource(pods, { namespace, name }, 'eviction', eviction, options)
  }

  const read = (namespace: string, name: string) => fixture.api.get(pods, { namespace, name })

  /** A pod on a node, in the state a kubelet would have reported. */
  async function run(namespace: string, name: string, state: { ready?: boolean; phase?: PodPhase } = {}): Promise<Pod> {
    const { ready = true, phase = 'Running' } = state
    await fixture.api.create(pods, pod(namespace, name, { labels: app, nodeName: 'contract-node' }))
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }]
    const body = { status: { phase, conditions } }
    return fixture.api.patch(pods, { namespace, name }, { type: 'strategic', body }, { subresource: 'status' })
  }

  /** A budget, counted for. */
  async function guard(
    namespace: string,
    spec: PodDisruptionBudget['spec'],
    counts: Counts,
    name = 'budget',
  ): Promise<PodDisruptionBudget> {
    await fixture.api.create(podDisruptionBudgets, budgetOf(namespace, spec, name))
    return count({ namespace, name }, counts)
  }

  /**
   * Writes the status that a disruption controller computes for the given pods. Where one is at work it comes to the
   * same numbers, so it does not matter which of the two writes them.
   */
  async function count(key: { namespace: string; name: string }, counts: Counts): Promise<PodDisruptionBudget> {
    for (;;) {
      const budget = await fixture.api.get(podDisruptionBudgets, key)
      const status = { ...budget.status, ...counts, observedGeneration: budget.metadata.generation ?? 0 }
      try {
        return await fixture.api.update(podDisruptionBudgets, { ...budget, status }, { subresource: 'status' })
      } catch (error) {
        if (!hasReason(error, 'Conflict')) throw error
      }
    }
  }

  async function whileNobodyCounts(scenario: () => Promise<void>): Promise<void> {
    const resume = await fixture.subject.holdDisruptionController?.()
    try {
      await scenario()
    } finally {
      resume?.()
    }
  }

  const selector = { matchLabels: app }
  const twoOfTwo: Counts = { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2, expectedPods: 2 }
  const guardTwo = (namespace: string) => guard(namespace, { selector, minAvailable: 2 }, twoOfTwo)

  async function expectGoing(namespace: string, name: string): Promise<void> {
    const going = await read(namespace, name)
    expect(going.metadata.deletionTimestamp).toBeDefined()
    expect(conditionOf(going, 'DisruptionTarget')).toMatchObject({
      status: 'True',
      reason: 'EvictionByEvictionAPI',
      message: 'Eviction API: evicting',
    })
  }

  async function expectStaying(namespace: string, name: string): Promise<void> {
    const staying = await read(namespace, name)
    expect(staying.metadata.deletionTimestamp).toBeUndefined()
    expect(conditionOf(staying, 'DisruptionTarget')).toBeUndefined()
  }

  describe('eviction', () => {
    it('without a budget marks the pod as disrupted and ends it with its grace period', async () => {
      const namespace = await fixture.namespace()
      await run(namespace, 'a')
      expect(await evict(namespace, 'a')).toMatchObject({ kind: 'Status', status: 'Success', code: 201 })
      await expectGoing(namespace, 'a')
      expect((await read(namespace, 'a')).metadata.deletionGracePeriodSeconds).toBe(30)
    })

    it('passes the wanted grace period on', async () => {
      const namespace = await fixture.namespace()
      await run(namespace, 'a')
      await evict(namespace, 'a', { deleteOptions: { gracePeriodSeconds: 5 } })
      expect((await read(namespace, 'a')).metadata.deletionGracePeriodSeconds).toBe(5)
    })

    it('is refused with 429 and the reason while the budget allows none, and the pod stays', async () => {
      const namespace = await fixture.namespace()
      await run(namespace, 'a')
      await run(namespace, 'b')
      await guardTwo(namespace)
      const refused = await refusal(evict(namespace, 'a'))
      expect(refused).toMatchObject({ code: 429, reason: 'TooManyRequests', message: budgetRefusal })
      expect(refused.details?.causes).toEqual([
        {
          reason: 'DisruptionBudget',
          message: 'The disruption budget budget needs 2 healthy pods and has 2 currently',
        },
      ])
      expect(refused.details?.retryAfterSeconds ?? 0).toBe(0)
      await expectStaying(namespace, 'a')
    })

    it('is refused with 429 and a time to wait while nobody has counted for the budget yet', async () => {
      const namespace = await fixture.namespace()
      await run(namespace, 'a')
      await whileNobodyCounts(async () => {
        await fixture.api.create(podDisruptionBudgets, budgetOf(namespace, { selector, minAvailable: 1 }))
        expect(await refusal(evict(namespace, 'a'))).toMatchObject(notCounted)
      })
      await expectStaying(namespace, 'a')
    })

    it('waits until somebody has counted for the relaxed budget', async () => {
      const namespace = await fixture.namespace()
      await run(namespace, 'a')
      await run(namespace, 'b')
      await guardTwo(namespace)
      const key = { namespace, name: 'budget' }
      await whileNobodyCounts(async () => {
        const body = { spec: { minAvailable: 1 } }
        const relaxed = await fixture.api.patch(podDisruptionBudgets, key, { type: 'merge', body })
        // Else what follows says nothing: another has counted, or the pod counts as unhealthy and may go in any case.
        expect(relaxed.status?.observedGeneration).toBeLessThan(relaxed.metadata.generation ?? 0)
        expect(conditionOf(await read(namespace, 'a'), 'Ready')?.status).toBe('True')
        expect(await refusal(evict(namespace, 'a'))).toMatchObject(notCounted)
      })
      await count(key, { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 })
      await evict(namespace, 'a')
      await expectGoing(namespace, 'a')
    })

    it('is granted as soon as the budget is deleted', async () => {
      const namespace = await fixture.namespace()
      await run(namespace, 'a')
      await run(namespace, 'b')
      await guardTwo(namespace)
      expect(await refusal(evict(namespace, 'a'))).toMatchObject({ code: 429 })
      await fixture.api.delete(podDisruptionBudgets, { namespace, name: 'budget' })
      await evict(namespace, 'a')
      await expectGoing(namespace, 'a')
    })

    it('takes one disruption from the budget, and the next is refused', async () => {
      const namespace = await fixture.namespace()
      await run(namespace, 'a')
      await run(namespace, 'b')
      await guard(
        namespace,
        { selector, minAvailable: 1 },
        { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 },
      )
      await evict(namespace, 'a')
      await expectGoing(namespace, 'a')
      expect(
        (await fixture.api.get(podDisruptionBudgets, { namespace, name: 'budget' })).status?.disruptionsAllowed,
      ).toBe(0)
      expect(await refusal(evict(namespace, 'b'))).toMatchObject({ code: 429 })
    })

    it('of many pods at once takes no more than the budget allows', async () => {
      const namespace = await fixture.namespace()
      for (const name of ['a', 'b', 'c']) await run(namespace, name)
      await guard(
        namespace,
        { selector, minAvailable: 1 },
        { disruptionsAllowed: 2, currentHealthy: 3, desiredHealthy: 1, expectedPods: 3 },
      )
      const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((name) => evict(namespace, name)))
      const codes = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 201 : (outcome.reason.code as number)))
      expect(codes.toSorted((one, other) => one - other)).toEqual([201, 201, 429])
    })

    it('of a pod that two budgets cover is refused with 500', async () => {
      const namespace = await fixture.namespace()
      await run(namespace, 'a')
      const counts: Counts = { disruptionsAllowed: 1, currentHealthy: 1, desiredHealthy: 0, expectedPods: 1 }
      for (const name of ['one', 'two']) await guard(namespace, { selector, minAvailable: 0 }, counts, name)
      expect(await refusal(evict(namespace, 'a'))).toMatchObject({
        code: 500,
        message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      })
      await expectStaying(namespace, 'a')
    })

    it('is held by a budget that selects everything, not by one that selects others', async () => {
      const namespace = await fixture.namespace()
      await run(namespace, 'a')
      await guard(
        namespace,
        { selector: { matchLabels: { app: 'other' } }, minAvailable: 1 },
        { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 1, expectedPods: 0 },
        'other',
      )
      await evict(namespace, 'a', {}, { dryRun: true })
      await guard(
        namespace,
        { selector: {}, minAvailable: 1 },
        { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
        'all',
      )
      expect(await refusal(evict(namespace, 'a'))).toMatchObject({ code: 429 })
    })

    it('asks no budget for a pod that does not run yet, or no longer', async () => {
      const namespace = await fixture.namespace()
      await run(namespace, 'ready-1')
      await run(namespace, 'ready-2')
      await run(namespace, 'pending', { phase: 'Pending', ready: false })
      await run(namespace, 'failed', { phase: 'Failed', ready: false })
      await run(namespace, 'succeeded', { phase: 'Succeeded', ready: false })
      await guardTwo(namespace)
      await evict(namespace, 'pending')
      await expectGoing(namespace, 'pending')
      for (const name of ['failed', 'succeeded']) {
        await evict(namespace, name)
        expect(await refusal(read(namespace, name))).toMatchObject({ code: 404 })
      }
    })

    it('of a pod that is going already is granted again', async () => {
      const namespace = await fixture.namespace()
      await run(namespace, 'a')
      await run(namespace, 'b')
      await fixture.api.delete(pods, { namespace, name: 'a' })
      await guard(
        namespace,
        { selector, minAvailable: 1 },
        { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
      )
      expect(await evict(namespace, 'a')).toMatchObject({ status: 'Success' })
    })

    it('of an unready pod is refused while too few others are healthy', async () => {
      const namespace = await fixture.namespace()
      await run(namespace, 'ready')
      await run(namespace, 'sick', { ready: false })
      await guard(
        namespace,
        { selector, minAvailable: 2 },
        { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 2, expectedPods: 2 },
      )
      expect(await refusal(evict(namespace, 'sick'))).toMatchObject({ code: 429 })
    })

    it('of an unready pod is granted when the healthy ones suffice, and is not counted', async () => {
      const namespace = await fixture.namespace()
      await run(namespace, 'ready-1')
      await run(namespace, 'ready-2')
      await run(namespace, 'sick', { ready: false })
      await guard(
        namespace,
        { selector, minAvailable: 2 },
        { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2, expectedPods: 3 },
      )
      await evict(namespace, 'sick')
      await expectGoing(namespace, 'sick')
    })

    it('of an unready pod is granted when the budget always allows it', async () => {
      const namespace = await fixture.namespace()
      await run(namespace, 'ready')
      await run(namespace, 'sick', { ready: false })
      await guard(
        namespace,
        { selector, minAvailable: 2, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
        { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 2, expectedPods: 2 },
      )
      expect(await refusal(evict(namespace, 'ready'))).toMatchObject({ code: 429 })
      await evict(namespace, 'sick')
      await expectGoing(namespace, 'sick')
    })

    it('in a dry run, asked for in the query or in the body, is judged and changes nothing', async () => {
      const namespace = await fixture.namespace()
      await run(namespace, 'a')
      await run(namespace, 'b')
      const counts: Counts = { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 }
      await guard(namespace, { selector, minAvailable: 1 }, counts)
      for (const name of ['a', 'b']) {
        await evict(namespace, name, {}, { dryRun: true })
        await evict(namespace, name, { deleteOptions: { dryRun: ['All'] } })
        await expectStaying(namespace, name)
      }
      const { status } = await fixture.api.get(podDisruptionBudgets, { namespace, name: 'budget' })
      expect(status).toMatchObject(counts)
      expect(status?.disruptedPods ?? {}).toEqual({})
    })

    it('of an absent pod is answered with 404', async () => {
      const namespace = await fixture.namespace()
      expect(await refusal(evict(namespace, 'a'))).toMatchObject({
        code: 404,
        reason: 'NotFound',
        message: 'pods "a" not found',
      })
    })

    it('with a body for another pod is refused with 400', async () => {
      const namespace = await fixture.namespace()
      await run(namespace, 'a')
      expect(await refusal(evict(namespace, 'a', { metadata: { name: 'b', namespace } }))).toMatchObject({
        code: 400,
        reason: 'BadRequest',
        message: 'name in URL does not match name in Eviction object',
      })
      await expectStaying(namespace, 'a')
    })

    it('in the old version policy/v1beta1 is accepted, other kinds are refused with 400', async () => {
      const namespace = await fixture.namespace()
      await run(namespace, 'a')
      expect(await refusal(evict(namespace, 'a', { apiVersion: 'v1', kind: 'Pod' }))).toMatchObject({ code: 400 })
      await evict(namespace, 'a', { apiVersion: 'policy/v1beta1' })
      await expectGoing(namespace, 'a')
    })

    it('of a running pod with the uid or version of another is refused with 409', async () => {
      const namespace = await fixture.namespace()
      await run(namespace, 'a')
      for (const preconditions of [{ uid: '00000000-0000-4000-8000-000000000000' }, { resourceVersion: '1' }]) {
        expect(await refusal(evict(namespace, 'a', { deleteOptions: { preconditions } }))).toMatchObject({
          code: 409,
          reason: 'Conflict',
        })
      }
      await expectStaying(namespace, 'a')
    })
  })
}
