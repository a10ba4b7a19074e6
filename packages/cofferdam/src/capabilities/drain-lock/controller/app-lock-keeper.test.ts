import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { budget, changedApi, inDefault } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
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
const stamp = async () =>
  (await fixture.api.get(podDisruptionBudgets, inDefault('web'))).metadata.annotations?.['cofferdam.io/locked-since']
const keep = (patch: KubeApi['patch'] = fixture.api.patch.bind(fixture.api)) => {
  const create: KubeApi['create'] = (type, object, options) => {
    const { type: kind, reason } = object as { type?: string; reason?: string }
    reported.push(`${kind} ${reason}`)
    return fixture.api.create(type, object, options)
  }
  return fixture.operate({ api: changedApi(fixture.api, { create, patch }), controllers: ['app-locks'] })
}

describe('the keeper of owners’ locks', () => {
  it('ends a lock that is prolonged by hand again and again, and tells so on the budget', async () => {
    keep()
    await fixture.seconds(1)
    for (let prolonged = 0; prolonged < 4; prolonged += 1) {
      await lockFor(4)
      await fixture.seconds(3 * 3_600)
    }
    await fixture.seconds(900)
    expect(await stamp()).toBe(rfc3339(began + 1_000))
    expect(reported).toEqual(['Normal AppLocked', 'Warning AppLockCapped', 'Normal AppLockEnded'])
  })

  it('another operator that takes over knows since when it was locked, and does not tell it again', async () => {
    keep()
    await fixture.seconds(1)
    await lockFor(2)
    await fixture.seconds(60)
    await fixture.stopOperators()
    keep()
    await fixture.seconds(60)
    expect(await stamp()).toBe(rfc3339(began + 1_000))
    expect(reported).toEqual(['Normal AppLocked'])
  })

  it('writes nothing while nothing changes, and takes its stamp away ten minutes after the lock has gone', async () => {
    let writes = 0
    keep((...asked) => {
      writes += 1
      return fixture.api.patch(...asked)
    })
    await fixture.seconds(1)
    await lockFor(2)
    await fixture.seconds(3_600)
    expect(writes).toBe(1)
    await annotate({ 'cofferdam.io/lock': null })
    await fixture.seconds(590)
    expect([await stamp(), writes]).toEqual([rfc3339(began + 1_000), 1])
    await fixture.seconds(20)
    expect([await stamp(), writes]).toEqual([undefined, 2])
    await fixture.seconds(3_600)
    expect(writes).toBe(2)
    expect(reported).toEqual(['Normal AppLocked', 'Normal AppLockEnded'])
  })

  it('overtaken by another writer, it looks again and tells once', async () => {
    let refusals = 2
    keep((...asked) => {
      if (refusals === 0) return fixture.api.patch(...asked)
      refusals -= 1
      return Promise.reject(new ApiError('Conflict', 'the object has been modified'))
    })
    await lockFor(2)
    await fixture.seconds(10)
    expect([(await stamp()) !== undefined, reported]).toEqual([true, ['Normal AppLocked']])
  })
})
