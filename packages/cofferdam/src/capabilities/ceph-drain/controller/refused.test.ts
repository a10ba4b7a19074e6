import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/story.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type CephStage, namespace, openCephStage } from '../testing/ceph-stage.ts'

let stage: CephStage
afterEach(() => stage.close())

/** An API that answers every read or write of the record with this. */
function without(verb: 'get' | 'update', error: Error, isOn: () => boolean) {
  const { api } = stage
  const isRecord = (plural: string, name: string) =>
    isOn() && plural === 'configmaps' && name === 'rook-ceph-pdbstatemap'
  return changedApi(api, {
    [verb]: (type: never, object: { metadata?: { name: string }; name?: string }, options: never) =>
      isRecord((type as { plural: string }).plural, object.metadata?.name ?? object.name ?? '')
        ? Promise.reject(error)
        : (api[verb] as (...request: unknown[]) => unknown)(type, object, options),
  })
}

const lost = async () => {
  const { items } = await stage.api.list(podDisruptionBudgets, { namespace })
  for (const { metadata } of items) await stage.api.delete(podDisruptionBudgets, { namespace, name: metadata.name })
}

describe('a record that is answered with an error never leaves OSDs without a budget', () => {
  it.each([
    ['update', new ApiError('Conflict', 'the object has been modified')],
    ['update', new ApiError('Forbidden', 'configmaps is forbidden')],
    ['update', new ApiError('Invalid', 'metadata.annotations: Too long')],
    ['update', new ApiError('InternalError', 'a webhook does not answer')],
    ['update', new Error('the connection was cut')],
    ['get', new ApiError('Forbidden', 'configmaps is forbidden')],
    ['get', new Error('the connection was cut')],
  ] as const)('%s: %s', async (verb, error) => {
    stage = await openCephStage()
    let isOn = false
    stage.operate({ api: without(verb, error, () => isOn) })
    await stage.seconds(90)
    expect(await stage.budgets()).toEqual(['rook-ceph-osd: 1 of all'])
    isOn = true
    await stage.cordon('node-x')
    expect(await stage.evictOsd(0)).toBe('going')
    await stage.seconds(2)
    await lost()
    await stage.seconds(5)
    expect(await stage.evictOsd(2).catch(() => 'refused')).toBe('refused')
    expect(await stage.evictOsd(4).catch(() => 'refused')).toBe('refused')
    await stage.seconds(60)
    expect(await stage.evictOsd(2).catch(() => 'refused')).toBe('refused')
    expect(stage.asked.filter((prefix) => prefix === 'osd set-group')).toEqual([])
    expect((await stage.told()).filter((news) => news === 'Warning RecordRefused')).toHaveLength(1)
    expect((await stage.observed()).metadata.annotations?.['cofferdam.io/reason']).toBe('RecordRefused')

    isOn = false
    await stage.seconds(60)
    expect((await stage.record()).data).toMatchObject({ 'draining-failure-domain': 'x', 'cofferdam.io_own-noout': 'x' })
    expect(await stage.evictOsd(1)).toBe('going')
    await expect(stage.observed()).rejects.toMatchObject({ reason: 'NotFound' })
  })

  it('a cluster that is handed back is handed back all the same: nothing of ours stays for want of a note', async () => {
    stage = await openCephStage()
    let isOn = false
    stage.operate({ api: without('update', new ApiError('Invalid', 'Too long'), () => isOn) })
    await stage.seconds(90)
    isOn = true
    await stage.patchCluster({ spec: { disruptionManagement: { managePodBudgets: false } } })
    await stage.seconds(10)
    expect(await stage.budgets()).toEqual([])
  })
})
