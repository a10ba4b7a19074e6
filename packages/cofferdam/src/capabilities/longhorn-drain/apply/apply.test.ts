import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import { noLonghornObjects } from '../domain/parse-longhorn.ts'
import { drainPolicySetting } from '../domain/policy.ts'
import { type LonghornApplyPorts, longhornPerformers, newLonghornMemory } from './apply.ts'

const { signal } = new AbortController()

function open(api: Partial<KubeApi>) {
  const memory = newLonghornMemory()
  memory.objects = { ...noLonghornObjects, namespace: 'longhorn-system', nowMs: 0 }
  const ports = { api, clock: new VirtualClock(), views: {}, reports: {} } as unknown as LonghornApplyPorts
  return { memory, performers: longhornPerformers(ports, memory, signal) }
}

describe('what a step of a pass over Longhorn does', () => {
  it('an API server that does not answer makes what protects the copies unknown: a stale watch would open budgets', async () => {
    const error = new ApiError('ServiceUnavailable', 'apiserver is shutting down')
    const { memory, performers } = open({ list: () => Promise.reject(error) })
    expect(await performers.ask({ do: 'ask', from: 'server' })).toBe('learned')
    expect(memory.afresh).toEqual({ known: false, why: 'apiserver is shutting down' })
    expect(memory.failures).toEqual([error])
  })

  it('a setting is written over the very version that was seen: what an administrator chose since would be lost', async () => {
    const bodies: unknown[] = []
    const { memory, performers } = open({
      patch: (_type, _key, { body }) => {
        bodies.push(body)
        return Promise.reject(new ApiError('Conflict', 'the setting has been modified'))
      },
    })
    const change = {
      kind: 'setting' as const,
      name: drainPolicySetting,
      annotations: {},
      value: 'block-for-eviction',
      explanation: 'a drain begins',
      resourceVersion: '8',
    }
    await performers.write({ do: 'write', what: 'guidance', changes: [change] })
    expect(bodies).toEqual([{ metadata: { annotations: {}, resourceVersion: '8' }, value: 'block-for-eviction' }])
    expect(memory.failures).toHaveLength(1)
  })
})
