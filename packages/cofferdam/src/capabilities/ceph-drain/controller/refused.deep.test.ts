import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type CephFixture, namespace, openCephFixture } from '../testing/ceph-fixture.ts'

let fixture: CephFixture
afterEach(() => fixture.close())

/** An API that answers every read or write of the record with this. */
function without(verb: 'get' | 'update', error: Error, isOn: () => boolean) {
  const { api } = fixture
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
  const { items } = await fixture.api.list(podDisruptionBudgets, { namespace })
  for (const { metadata } of items) await fixture.api.delete(podDisruptionBudgets, { namespace, name: metadata.name })
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
    fixture = await openCephFixture()
    let isOn = false
    fixture.operate({ api: without(verb, error, () => isOn) })
    await fixture.seconds(90)
    expect(await fixture.budgets()).toEqual(['rook-ceph-osd: 1 of all'])
    isOn = true
    await fixture.cordon('node-x')
    expect(await fixture.evictOsd(0)).toBe('going')
    await fixture.seconds(2)
    await lost()
    await fixture.seconds(5)
    expect(await fixture.evictOsd(2).catch(() => 'refused')).toBe('refused')
    expect(await fixture.evictOsd(4).catch(() => 'refused')).toBe('refused')
    await fixture.seconds(60)
    expect(await fixture.evictOsd(2).catch(() => 'refused')).toBe('refused')
    expect(fixture.asked.filter((prefix) => prefix === 'osd set-group')).toEqual([])
    expect((await fixture.told()).filter((news) => news === 'Warning RecordRefused')).toHaveLength(1)
    expect((await fixture.observed()).metadata.annotations?.['cofferdam.io/reason']).toBe('RecordRefused')

    isOn = false
    await fixture.seconds(60)
    expect((await fixture.record()).data).toMatchObject({
      'draining-failure-domain': 'x',
      'cofferdam.io_own-noout': 'x',
    })
    expect(await fixture.evictOsd(1)).toBe('going')
    await expect(fixture.observed()).rejects.toMatchObject({ reason: 'NotFound' })
  })

  it('a cluster that is handed back is handed back all the same: nothing of ours stays for want of a note', async () => {
    fixture = await openCephFixture()
    let isOn = false
    fixture.operate({ api: without('update', new ApiError('Invalid', 'Too long'), () => isOn) })
    await fixture.seconds(90)
    isOn = true
    await fixture.patchCluster({ spec: { disruptionManagement: { managePodBudgets: false } } })
    await fixture.seconds(10)
    expect(await fixture.budgets()).toEqual([])
  })
})
