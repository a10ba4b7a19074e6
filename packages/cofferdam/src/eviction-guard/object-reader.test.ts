import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import { createObjectReader } from './object-reader.ts'

const key = { namespace: 'shop', name: 'web-0' }
const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { ...key, uid: 'pod-1' }, spec: { containers: [] } }

describe('a pod that the guard does not know', () => {
  it('is asked for, and is there or is not', async () => {
    const clock = new VirtualClock()
    expect(await createObjectReader({ kind: 'pod', clock, read: async () => pod })(key)).toEqual({
      known: true,
      value: pod,
    })
    const read = () => Promise.reject(new ApiError('NotFound', 'no such pod'))
    expect(await createObjectReader({ kind: 'pod', clock, read })(key)).toEqual({ known: true, value: undefined })
  })

  it('is unknown when the server refuses, or takes too long', async () => {
    const clock = new VirtualClock()
    const refused = createObjectReader({
      kind: 'pod',
      clock,
      read: () => Promise.reject(new ApiError('Forbidden', 'no')),
    })
    expect(await refused(key)).toEqual({ known: false, why: 'the pod could not be read: no' })
    const late = createObjectReader({ kind: 'pod', clock, read: () => new Promise(() => {}) })(key)
    await clock.advance(1_000)
    expect(await late).toEqual({ known: false, why: 'the API server did not give the pod in time' })
  })

  it('is unknown while too many others are being looked up, and no more reads begin', async () => {
    const clock = new VirtualClock()
    let reads = 0
    const read = createObjectReader({
      kind: 'pod',
      clock,
      mostUnderWay: 2,
      read: () => {
        reads += 1
        return new Promise(() => {})
      },
    })
    const first = [read(key), read(key)]
    expect([await read(key), reads]).toEqual([{ known: false, why: 'too many pods are being read at the moment' }, 2])
    await clock.advance(1_000)
    await Promise.all(first)
    void read(key)
    expect(reads).toBe(3)
  })
})
