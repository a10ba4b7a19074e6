import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../api/api-error.ts'
import { configMaps, leases } from '../api/resources.ts'
import type { KubeApi } from '../client/kube-api.ts'
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
    expect((await store.read(signal)).lease).toBeUndefined()
    const version = await store.write(record, undefined, signal)
    expect((await store.read(signal)).lease).toEqual({ version, record })
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
    const { lease: seen } = await store.read(signal)
    expect(await store.write({ ...record, holder: 'two' }, undefined, signal)).toBeUndefined()
    expect(await store.write({ ...record, transitions: 1 }, seen?.version, signal)).toMatch(/^\d+$/)
    expect(await store.write({ ...record, holder: 'two' }, seen?.version, signal)).toBeUndefined()
    expect((await store.read(signal)).lease?.record.holder).toBe('one')
  })

  it('says how far the server has come while nobody writes the Lease, so that a restored one is known by it', async () => {
    const { api, store } = open()
    await store.write(record, undefined, signal)
    const before = await store.read(signal)
    const written = await api.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name: 'other' },
    })
    expect(await store.read(signal)).toEqual({ lease: before.lease, version: written.metadata.resourceVersion })
  })

  it('may only get the Lease, with the rights of an older installation: it reads that, and somebody leads', async () => {
    const { api } = open()
    const listed: string[] = []
    const older: Pick<KubeApi, 'get' | 'list' | 'create' | 'update'> = {
      get: (...asked) => api.get(...asked),
      create: (...asked) => api.create(...asked),
      update: (...asked) => api.update(...asked),
      async list() {
        listed.push('list')
        throw new ApiError('Forbidden', 'leases is forbidden')
      },
    }
    const store = createLeaseStore(older as KubeApi, key)
    expect(await store.read(signal)).toEqual({ lease: undefined, version: '' })
    const version = await store.write(record, undefined, signal)
    expect(await store.read(signal)).toEqual({ lease: { version, record }, version })
    expect(listed).toEqual(['list'])
  })

  it('does not take a missing namespace for a rival: nobody would ever lead, and nobody would know why', async () => {
    await expect(open('nowhere').store.write(record, undefined, signal)).rejects.toMatchObject({ reason: 'NotFound' })
  })
})
