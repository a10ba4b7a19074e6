import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { expect, it } from 'vitest'
import type { LockBudget } from '../domain/steps.ts'
import { type ApplyDisruptionPorts, disruptionPerformers } from './apply.ts'

it('a budget that is gone when it is to be locked is decided on again: pods would be evicted without what was to hold the rest', async () => {
  const get = () => Promise.reject(new ApiError('NotFound', 'there is none'))
  const ports = { api: { get } } as unknown as ApplyDisruptionPorts
  const memory = { seen: undefined, current: undefined, isFresh: true }
  const performers = disruptionPerformers(ports, memory, new AbortController().signal)
  const step = {
    do: 'write',
    what: 'lock',
    budget: { namespace: 'shop', name: 'web', uid: 'uid-1' },
    pods: ['web-0'],
    hold: { requestId: 'R1', epoch: 7, untilMs: 60_000 },
    mode: 'reserve',
  } as unknown as LockBudget
  expect(await performers.write(step)).toBe('learned')
})
