import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../harness/virtual-clock.ts'
import { type EvictionFixtureOptions, evictionFixture, namespace, refusal } from './testing/eviction-fixture.ts'
import { clusterAdmin } from './user-info.ts'

const fixture = (options?: EvictionFixtureOptions) => evictionFixture(new VirtualClock(), options)

describe('what admission sees of an eviction', () => {
  it('is the Eviction alone, once, before any budget is asked', async () => {
    const { run, guard, evict, asked } = fixture()
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
    const { run, evict, asked } = fixture()
    await run('web-0')
    await evict('web-0', { apiVersion: 'policy/v1beta1' })
    expect(asked[0]).toMatchObject({ kind: { version: 'v1' }, object: { apiVersion: 'policy/v1' } })
  })

  it('says dry run when the query says so, not when only the body does', async () => {
    const { run, evict, asked, read } = fixture()
    const pod = await run('web-0')
    await evict('web-0', { deleteOptions: { gracePeriodSeconds: 1 } }, true)
    await evict('web-0', { deleteOptions: { dryRun: ['All'] } })
    expect(asked.map(({ dryRun }) => dryRun)).toEqual([true, false])
    expect(asked[0]?.object).toMatchObject({ deleteOptions: { gracePeriodSeconds: 1, dryRun: ['All'] } })
    expect(await read('web-0')).toEqual(pod)
  })

  it('a denial is passed on as it is, and nothing happens', async () => {
    const { run, evict, read } = fixture({
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
    const { evict, asked } = fixture()
    expect(await refusal(evict('web-0'))).toMatchObject({ code: 404, message: 'pods "web-0" not found' })
    expect(asked).toHaveLength(1)
  })
})

describe('an eviction that cannot be understood', () => {
  it('is refused before admission is asked, and nothing happens', async () => {
    const { run, evict, read, asked } = fixture()
    const pod = await run('web-0')
    expect(await refusal(evict('web-0', { metadata: { name: 'web-1' } }))).toMatchObject({ code: 400 })
    expect(asked).toEqual([])
    expect(await read('web-0')).toEqual(pod)
  })
})
