import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { budget, changedApi, inDefault } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { disruptionLedgers } from '../../../shared/kinds/disruption-ledger.ts'
import { type DisruptionFixture, openDisruptionFixture } from '../testing/disruption-fixture.ts'

let fixture: DisruptionFixture
let began: number
/** Events are gone after an hour. */
let reported: string[]
beforeEach(async () => {
  fixture = await openDisruptionFixture({ nodeCount: 1 })
  await fixture.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 1 }))
  began = fixture.clock.now()
  reported = []
})
afterEach(() => fixture.close())

const hour = 3_600_000
const annotate = (annotations: Record<string, string | null>) =>
  fixture.api.patch(podDisruptionBudgets, inDefault('web'), { type: 'merge', body: { metadata: { annotations } } })
const lockFor = (hours: number) => {
  const now = fixture.clock.now()
  const text = { holder: 'ann', reason: 'backup', since: rfc3339(now), until: rfc3339(now + hours * hour) }
  return annotate({ 'cofferdam.io/lock': JSON.stringify(text) })
}
const recordOfWeb = async () => {
  const { items } = await fixture.api.list(disruptionLedgers)
  return items[0]?.status?.appLocks?.find(({ budget: key }) => key === 'default/web')
}
const since = async () => (await recordOfWeb())?.since
const keep = (update: KubeApi['update'] = fixture.api.update.bind(fixture.api)) => {
  const create: KubeApi['create'] = (type, object, options) => {
    const { type: kind, reason } = object as { type?: string; reason?: string }
    if (reason !== undefined) reported.push(`${kind} ${reason}`)
    return fixture.api.create(type, object, options)
  }
  return fixture.operate({ api: changedApi(fixture.api, { create, update }), controllers: ['app-locks'] })
}

describe('the keeper of owners’ locks', () => {
  it('ends a lock that is prolonged by hand again and again, and reports so on the budget', async () => {
    keep()
    await fixture.seconds(1)
    for (let prolonged = 0; prolonged < 4; prolonged += 1) {
      await lockFor(4)
      await fixture.seconds(3 * 3_600)
    }
    await fixture.seconds(900)
    expect(await recordOfWeb()).toMatchObject({
      since: rfc3339(began + 1_000),
      until: rfc3339(began + 1_000 + 12 * hour),
    })
    expect(reported).toEqual(['Normal AppLocked', 'Warning AppLockCapped', 'Normal AppLockEnded'])
  })

  it('another operator that takes over knows since when it was locked, and does not report it again', async () => {
    keep()
    await fixture.seconds(1)
    await lockFor(2)
    await fixture.seconds(60)
    await fixture.stopOperators()
    keep()
    await fixture.seconds(60)
    expect(await since()).toBe(rfc3339(began + 1_000))
    expect(reported).toEqual(['Normal AppLocked'])
  })

  it('deleted and created again while operators take over from one another, a budget is locked no longer for it', async () => {
    keep()
    await fixture.seconds(1)
    for (let turn = 0; turn < 4; turn += 1) {
      await lockFor(4)
      await fixture.seconds(3 * 3_600)
      await fixture.stopOperators()
      await fixture.api.delete(podDisruptionBudgets, inDefault('web'))
      await fixture.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 1 }))
      await lockFor(4)
      keep()
      await fixture.seconds(2)
    }
    expect(await recordOfWeb()).toMatchObject({
      since: rfc3339(began + 1_000),
      until: rfc3339(began + 1_000 + 12 * hour),
    })
  })

  it('what an owner writes into the managed fields does not put the end off', async () => {
    keep()
    await annotate({ 'cofferdam.io/lock': '{"until":"2099-01-01T00:00:00Z","holder":"ann","reason":"x"}' })
    await fixture.seconds(1)
    for (let turn = 0; turn < 5; turn += 1) {
      await fixture.seconds(3_600)
      const { metadata, ...web } = await fixture.api.get(podDisruptionBudgets, inDefault('web'))
      const managedFields = (metadata.managedFields ?? []).map((entry) => ({ ...entry, time: '2099-01-01T00:00:00Z' }))
      await fixture.api.update(podDisruptionBudgets, { ...web, metadata: { ...metadata, managedFields } })
    }
    expect(await recordOfWeb()).toMatchObject({ written: rfc3339(began), until: rfc3339(began + 4 * hour) })
    expect(reported).toEqual(['Normal AppLocked', 'Warning AppLockCapped', 'Normal AppLockEnded'])
  })

  it('writes nothing while nothing changes, and forgets the lock ten minutes after it has gone', async () => {
    let writes = 0
    keep((...asked) => {
      writes += 1
      return fixture.api.update(...asked)
    })
    await fixture.seconds(1)
    await lockFor(2)
    await fixture.seconds(3_600)
    expect(writes).toBe(1)
    await annotate({ 'cofferdam.io/lock': null })
    await fixture.seconds(590)
    expect([await since(), writes]).toEqual([rfc3339(began + 1_000), 2])
    await fixture.seconds(20)
    expect([await since(), writes]).toEqual([undefined, 3])
    await fixture.seconds(3_600)
    expect(writes).toBe(3)
    expect(reported).toEqual(['Normal AppLocked', 'Normal AppLockEnded'])
  })

  it('forgets the lock of a budget that was deleted with its namespace empty, also under another leader', async () => {
    keep()
    await lockFor(2)
    await fixture.seconds(5)
    await fixture.api.delete(podDisruptionBudgets, inDefault('web'))
    await fixture.seconds(5)
    await fixture.stopOperators()
    keep()
    await fixture.seconds(650)
    expect(await recordOfWeb()).toBeUndefined()
  })

  it('takes over what an earlier version wrote on the budget, and removes it', async () => {
    await annotate({ 'cofferdam.io/locked-since': rfc3339(began - 11 * hour) })
    await lockFor(4)
    keep()
    await fixture.seconds(5)
    const { metadata } = await fixture.api.get(podDisruptionBudgets, inDefault('web'))
    expect(Object.keys(metadata.annotations ?? {})).toEqual(['cofferdam.io/lock'])
    expect(await recordOfWeb()).toMatchObject({ since: rfc3339(began - 11 * hour), until: rfc3339(began + hour) })
  })

  it('overtaken by another writer, it tries again and reports once', async () => {
    let refusals = 2
    keep((...asked) => {
      if (refusals === 0) return fixture.api.update(...asked)
      refusals -= 1
      return Promise.reject(new ApiError('Conflict', 'the object has been modified'))
    })
    await lockFor(2)
    await fixture.seconds(10)
    expect([(await since()) !== undefined, reported]).toEqual([true, ['Normal AppLocked']])
  })
})
