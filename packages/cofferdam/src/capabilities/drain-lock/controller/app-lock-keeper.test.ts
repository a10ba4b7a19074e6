import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { budget, changedApi, inDefault } from '@cofferdam/simulator/world/testing/story.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type DisruptionStage, openDisruptionStage } from '../testing/disruption-stage.ts'

let stage: DisruptionStage
let began: number
/** Events are gone after an hour. */
let told: string[]
beforeEach(async () => {
  stage = await openDisruptionStage({ nodeCount: 1 })
  await stage.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 1 }))
  began = stage.clock.now()
  told = []
})
afterEach(() => stage.close())

const hour = 3_600_000
const annotate = (annotations: Record<string, string | null>) =>
  stage.api.patch(podDisruptionBudgets, inDefault('web'), { type: 'merge', body: { metadata: { annotations } } })
const lockFor = (hours: number) => {
  const now = stage.clock.now()
  const text = { holder: 'ann', reason: 'backup', since: rfc3339(now), until: rfc3339(now + hours * hour) }
  return annotate({ 'cofferdam.io/lock': JSON.stringify(text) })
}
const stamp = async () =>
  (await stage.api.get(podDisruptionBudgets, inDefault('web'))).metadata.annotations?.['cofferdam.io/locked-since']
const keep = (patch: KubeApi['patch'] = stage.api.patch.bind(stage.api)) => {
  const create: KubeApi['create'] = (type, object, options) => {
    const { type: kind, reason } = object as { type?: string; reason?: string }
    told.push(`${kind} ${reason}`)
    return stage.api.create(type, object, options)
  }
  return stage.operate({ api: changedApi(stage.api, { create, patch }), controllers: ['app-locks'] })
}

describe('the keeper of owners’ locks', () => {
  it('ends a lock that is prolonged by hand again and again, and tells so on the budget', async () => {
    keep()
    await stage.seconds(1)
    for (let prolonged = 0; prolonged < 4; prolonged += 1) {
      await lockFor(4)
      await stage.seconds(3 * 3_600)
    }
    await stage.seconds(900)
    expect(await stamp()).toBe(rfc3339(began + 1_000))
    expect(told).toEqual(['Normal AppLocked', 'Warning AppLockCapped', 'Normal AppLockEnded'])
  })

  it('another operator that takes over knows since when it was locked, and does not tell it again', async () => {
    keep()
    await stage.seconds(1)
    await lockFor(2)
    await stage.seconds(60)
    await stage.stopOperators()
    keep()
    await stage.seconds(60)
    expect(await stamp()).toBe(rfc3339(began + 1_000))
    expect(told).toEqual(['Normal AppLocked'])
  })

  it('writes nothing while nothing changes, and takes its stamp away ten minutes after the lock has gone', async () => {
    let writes = 0
    keep((...asked) => {
      writes += 1
      return stage.api.patch(...asked)
    })
    await stage.seconds(1)
    await lockFor(2)
    await stage.seconds(3_600)
    expect(writes).toBe(1)
    await annotate({ 'cofferdam.io/lock': null })
    await stage.seconds(590)
    expect([await stamp(), writes]).toEqual([rfc3339(began + 1_000), 1])
    await stage.seconds(20)
    expect([await stamp(), writes]).toEqual([undefined, 2])
    await stage.seconds(3_600)
    expect(writes).toBe(2)
    expect(told).toEqual(['Normal AppLocked', 'Normal AppLockEnded'])
  })

  it('overtaken by another writer, it looks again and tells once', async () => {
    let refusals = 2
    keep((...asked) => {
      if (refusals === 0) return stage.api.patch(...asked)
      refusals -= 1
      return Promise.reject(new ApiError('Conflict', 'the object has been modified'))
    })
    await lockFor(2)
    await stage.seconds(10)
    expect([(await stamp()) !== undefined, told]).toEqual([true, ['Normal AppLocked']])
  })
})
