import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startGuardFixture } from '../../eviction-guard/testing/guard-fixture.ts'
import { known, unknown } from '../../shared/observed.ts'
import { tryGuard } from './try-guard.ts'

const { signal } = new AbortController()
let fixture: Awaited<ReturnType<typeof startGuardFixture>>
beforeAll(async () => {
  fixture = await startGuardFixture()
})
afterAll(() => fixture.stop())

const trial = (changes: Partial<Parameters<typeof tryGuard>[0]> = {}) =>
  tryGuard({ api: fixture.admin, namespace: 'cofferdam-system', word: 'once', signal, ...changes })

it('the guard hears of an eviction that is only tried, also of a locked pod, and none is evicted; one that is out of reach does not', async () => {
  expect(await trial()).toEqual(unknown('there is no pod outside of its namespace'))
  await fixture.seed({ namespace: 'shop', podNames: ['web-0'] })
  await fixture.until('the guard hears', async () => {
    const heard = await trial()
    return heard.known && heard.value.isHeard
  })
  await fixture.lock('shop', { until: new Date(Date.now() + 3_600_000).toISOString(), holder: 'shop', reason: 'x' })
  await fixture.until('the namespace is marked', () => fixture.markOf('shop') === 'true')
  expect(await trial({ word: 'twice' })).toEqual(known({ isHeard: true }))
  const { metadata } = await fixture.admin.get(pods, { namespace: 'shop', name: 'web-0' })
  expect(metadata.deletionTimestamp).toBeUndefined()

  await fixture.guard().stop()
  const silent = await trial()
  expect(silent).toMatchObject(known({ isHeard: false }))
  expect(JSON.stringify(silent)).toContain('failed calling webhook')
  await fixture.lock('shop', undefined)
})

it('without a lock an API server that does not reach the guard asks the budgets alone, and says nothing: that is told', async () => {
  await fixture.admin.delete(pods, { namespace: 'shop', name: 'web-0' }, { gracePeriodSeconds: 0 })
  await fixture.seed({ namespace: 'free', podNames: ['web-0'] })
  expect(await trial()).toEqual(known({ isHeard: false, says: 'the API server let it pass without asking it' }))
})

it('who may not evict learns nothing of the guard', async () => {
  const api = {
    list: fixture.admin.list.bind(fixture.admin),
    createSubresource: () => Promise.reject(new ApiError('Forbidden', 'pods/eviction is forbidden')),
  }
  expect(await trial({ api })).toEqual(unknown('you may not evict pods'))
})
