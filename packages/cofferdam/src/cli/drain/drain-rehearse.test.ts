import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { expect, it } from 'vitest'
import type { DisruptionPlan } from '../../capabilities/drain-lock/view/plan-disruption.ts'
import { askServer } from './drain-rehearse.ts'
import type { AskedDrain } from './drain-request.ts'

it('a rehearsal has the server store nothing of what it asks: the pods of a node that is only asked about would be evicted', async () => {
  const asked: unknown[] = []
  const note = async (...request: readonly unknown[]) => void asked.push(request.at(-1))
  const api = { create: note, createSubresource: note } as unknown as KubeApi
  const wanted = { nodeName: 'node-1', intent: 'Reboot', accepts: [], nowMs: 0, gracePeriodSeconds: 5 } as unknown
  const plan = { leaves: ['shop/web-0'] } as unknown as DisruptionPlan
  const { signal } = new AbortController()
  await askServer({ wanted } as AskedDrain, plan, { api, signal })
  expect(asked).toEqual([expect.objectContaining({ dryRun: true }), expect.objectContaining({ dryRun: true })])
})
