import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { budget, changedApi, inDefault, openScenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { describe, expect, it } from 'vitest'
import type { DrainLockSettings } from '../../../ledger/rules/drain-lock-settings.ts'
import { holdAnnotation } from '../domain/budget-hold.ts'
import { lockBudget, unlockBudget } from './budgets.ts'

const { signal } = new AbortController()

async function openShelf(spec: PodDisruptionBudget['spec'] = { maxUnavailable: 1 }) {
  const { api, clock } = openScenario()
  const made = await api.create(podDisruptionBudgets, budget('db', spec))
  const write = async (change: Partial<NonNullable<PodDisruptionBudget['status']>>) => {
    const present = await api.get(podDisruptionBudgets, inDefault('db'))
    const status = { ...present.status, ...change } as NonNullable<PodDisruptionBudget['status']>
    await api.update(podDisruptionBudgets, { ...present, status }, { subresource: 'status' })
  }
  const observedGeneration = made.metadata.generation ?? 1
  await write({ observedGeneration, disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3 })
  const reference = { namespace: 'default', name: 'db', uid: made.metadata.uid ?? '' }
  const nowMs = clock.now()
  const untilMs = nowMs + 600_000
  return {
    api,
    nowMs,
    untilMs,
    reference,
    write,
    read: () => api.get(podDisruptionBudgets, inDefault('db')),
    lock: (
      options: { epoch?: number; requestId?: string; mode?: DrainLockSettings['mode']; pods?: readonly string[] } = {},
    ) => {
      const { epoch = 3, requestId = 'R1', mode = 'reserve', pods = ['db-0'] } = options
      const hold = { requestId, request: 'nodedisruption/a', epoch, untilMs, reason: 'kernel' }
      return lockBudget(api, { budget: reference, pods, hold, mode }, signal)
    },
    unlock: ({ epoch = 3, requestId = 'R1', uid = reference.uid } = {}) =>
      unlockBudget(api, { budget: { ...reference, uid }, requestId, epoch, nowMs }, signal),
  }
}

describe('a lock on a budget', () => {
  it('says who holds it and takes the disruption of the pod, dated ahead; taken twice it costs once', async () => {
    const { lock, read, untilMs } = await openShelf()
    expect([await lock(), await lock()]).toEqual([true, true])
    const { metadata, status } = await read()
    expect(JSON.parse(metadata.annotations?.[holdAnnotation] ?? '')).toEqual({
      requestId: 'R1',
      request: 'nodedisruption/a',
      epoch: 3,
      until: rfc3339(untilMs),
      reason: 'kernel',
    })
    expect(status).toMatchObject({ disruptionsAllowed: 0, disruptedPods: { 'db-0': rfc3339(untilMs - 120_000) } })
  })

  it('that the budget cannot spare, or has not been counted for, is not had', async () => {
    const { lock, write, read } = await openShelf()
    expect(await lock({ pods: ['db-0', 'db-1'] })).toBe(false)
    await write({ observedGeneration: 0 })
    expect(await lock()).toBe(false)
    expect((await read()).status?.disruptedPods).toBeUndefined()
  })

  it('by a process that was replaced since changes nothing', async () => {
    const { lock, unlock, read } = await openShelf()
    await lock({ epoch: 4 })
    const held = await read()
    expect(await lock({ epoch: 3 })).toBe(false)
    await unlock({ epoch: 3 })
    expect(await read()).toEqual(held)
  })

  it('is taken although somebody writes the budget at the same moment', async () => {
    const { api, reference, untilMs, write, read } = await openShelf()
    let disturbances = 2
    const busy = changedApi(api, {
      async patch(...request) {
        if (disturbances > 0) {
          disturbances -= 1
          await write({ currentHealthy: 3 + disturbances })
        }
        return api.patch(...request)
      },
    })
    const hold = { requestId: 'R1', request: 'nodedisruption/a', epoch: 3, untilMs, reason: '' }
    expect(await lockBudget(busy, { budget: reference, pods: ['db-0'], hold, mode: 'reserve' }, signal)).toBe(true)
    expect((await read()).status).toMatchObject({ disruptionsAllowed: 0, currentHealthy: 3 })
  })
})

describe('an unlock', () => {
  it('takes our reservation and our mark away, and leaves what is really being evicted counted', async () => {
    const { lock, unlock, write, read, nowMs } = await openShelf()
    await lock()
    const { disruptedPods = {} } = (await read()).status ?? {}
    await write({ disruptedPods: { ...disruptedPods, 'db-2': rfc3339(nowMs) } })
    await unlock()
    const { metadata, status } = await read()
    expect([metadata.annotations ?? {}, status?.disruptedPods]).toEqual([{}, { 'db-2': rfc3339(nowMs) }])
  })

  it('leaves the lock of another request, and a budget that was made anew, as they are', async () => {
    const { lock, unlock, read } = await openShelf()
    await lock()
    const held = await read()
    await unlock({ requestId: 'R2' })
    await unlock({ uid: 'another' })
    expect(await read()).toEqual(held)
  })

  it('takes away what a mark says that nobody can read', async () => {
    const { api, lock, unlock, read } = await openShelf()
    await lock()
    const body = { metadata: { annotations: { [holdAnnotation]: '{' } } }
    await api.patch(podDisruptionBudgets, inDefault('db'), { type: 'merge', body })
    await unlock()
    const { metadata, status } = await read()
    expect([metadata.annotations ?? {}, status?.disruptedPods ?? {}]).toEqual([{}, {}])
  })

  it.each([
    ['what may be missing', { maxUnavailable: 1 }],
    ['what must be there', { minAvailable: '50%' }],
  ])('after a lock by spec gives back %s, though the mode was changed meanwhile', async (_, spec) => {
    const { lock, unlock, read } = await openShelf(spec)
    const before = (await read()).spec
    await lock({ mode: 'spec' })
    expect((await read()).spec).toEqual({ selector: before.selector, maxUnavailable: 0 })
    await lock({ mode: 'settle', epoch: 4 })
    await unlock({ epoch: 4 })
    const { spec: after, metadata } = await read()
    expect([after, metadata.annotations ?? {}]).toEqual([before, {}])
  })

  it('of a budget that is gone is done', async () => {
    const { api, unlock } = await openShelf()
    await api.delete(podDisruptionBudgets, inDefault('db'))
    expect(await unlock()).toBeUndefined()
  })
})
