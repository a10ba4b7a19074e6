import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import { leases } from '../api/resources.ts'
import { createLeaseStore } from './lease-store.ts'
import { seededRandom } from './random.ts'

const key = { namespace: 'default', name: 'leader' }
const record = {
  holder: 'one',
  durationSeconds: 15,
  acquireTime: '2026-01-01T00:00:00.000000Z',
  renewTime: '2026-01-01T00:00:00.000000Z',
  transitions: 0,
}
const { signal } = new AbortController()

function open(namespace = 'default') {
  const api = new ApiServer({ clock: new VirtualClock(), random: seededRandom(1) }).as(clusterAdmin)
  return { api, store: createLeaseStore(api, { ...key, namespace }) }
}

describe('a lease store', () => {
  it('keeps the record in a Lease that other tools can read', async () => {
    const { api, store } = open()
    expect(await store.read(signal)).toBeUndefined()
    expect(await store.write(record, undefined, signal)).toBe((await store.read(signal))?.version)
    expect((await store.read(signal))?.record).toEqual(record)
    expect((await api.get(leases, key)).spec).toEqual({
      holderIdentity: 'one',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    })
  })

  it('refuses whoever was slower: a second create, and a write over a version that has passed', async () => {
    const { store } = open()
    await store.write(record, undefined, signal)
    const seen = await store.read(signal)
    expect(await store.write({ ...record, holder: 'two' }, undefined, signal)).toBeUndefined()
    expect(await store.write({ ...record, transitions: 1 }, seen?.version, signal)).toMatch(/^\d+$/)
    expect(await store.write({ ...record, holder: 'two' }, seen?.version, signal)).toBeUndefined()
    expect((await store.read(signal))?.record.holder).toBe('one')
  })

  it('does not take a missing namespace for a rival: nobody would ever lead, and nobody would know why', async () => {
    await expect(open('nowhere').store.write(record, undefined, signal)).rejects.toMatchObject({ reason: 'NotFound' })
  })
})
