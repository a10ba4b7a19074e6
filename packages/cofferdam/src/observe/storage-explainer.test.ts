import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import { osdBudget, osdPod, pod, storageView } from '../explain/testing/sample-objects.ts'
import { createStorageExplainer, type StorageExplainerPorts } from './storage-explainer.ts'

const osd = osdPod(2, { zone: 'zone-y', node: 'node-b' })
const asked = { namespace: 'rook-ceph', name: osd.metadata.name, budgets: ['rook-ceph-osd-zone-zone-y'] }

/** As the API server has both at this moment. */
function apiWith(seen: { readonly pod?: Pod; readonly budget?: PodDisruptionBudget }): Pick<KubeApi, 'get'> {
  const get = async ({ plural }: { readonly plural: string }) =>
    plural === 'pods' ? (seen.pod ?? osd) : (seen.budget ?? osdBudget('zone-y'))
  return { get: get as unknown as KubeApi['get'] }
}

function explainerOn(change: Partial<StorageExplainerPorts> = {}) {
  const clock = new VirtualClock()
  const errors: unknown[] = []
  const explain = createStorageExplainer({
    api: apiWith({}),
    clock,
    pods: { byIndex: () => [] },
    storageIn: async () => [storageView({ reason: 'DomainReleased' })],
    onError: (error) => errors.push(error),
    ...change,
  })
  return { explain, clock, errors }
}

describe('what a budget of storage is about to refuse', () => {
  it('is refused with a sentence, where the API server has the budget used up', async () => {
    const refusal = await explainerOn().explain(asked)
    expect(refusal).toMatchObject({ allowed: false, cause: 'pdb/rook-ceph/rook-ceph-osd-zone-zone-y' })
    expect(refusal?.message).toMatch(/^Pod rook-ceph\/rook-ceph-osd-2 must stay: .*; it waits for .*\.$/)
  })

  const passed: Record<string, Partial<StorageExplainerPorts>> = {
    'a budget that allows one by now, though our copy did not: nobody is refused for the sake of words': {
      api: apiWith({ budget: osdBudget('zone-y', { disruptionsAllowed: 1, currentHealthy: 3 }) }),
    },
    'a pod that is leaving by now': {
      api: apiWith({ pod: { ...osd, metadata: { ...osd.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } } }),
    },
    'a pod that is not ready by now, and that the budget does not count on': {
      api: apiWith({
        pod: pod(osd.metadata.name, { namespace: 'rook-ceph', isReady: false, labels: osd.metadata.labels ?? {} }),
      }),
    },
    'what a newer version has recorded with a reason that this one does not know': {
      storageIn: async () => [storageView({ reason: 'OfTomorrow' })],
    },
    'a cluster that nothing is recorded of': { storageIn: async () => [] },
  }
  it.each(Object.entries(passed))('is left to the API server: %s', async (_sentence, change) => {
    expect(await explainerOn(change).explain(asked)).toBeUndefined()
  })

  it('is left to the API server when the budget cannot be read, and that is reported', async () => {
    const api = { get: () => Promise.reject(new Error('connection refused')) }
    const { explain, errors } = explainerOn({ api })
    expect(await explain(asked)).toBeUndefined()
    expect(errors).toEqual([new Error('connection refused')])
  })

  it('is left to the API server when the answer takes too long, or too many are asked at once', async () => {
    const { explain, clock } = explainerOn({ storageIn: () => new Promise(() => {}), mostUnderWay: 1 })
    const late = explain(asked)
    expect(await explain(asked)).toBeUndefined()
    await clock.advance(1_000)
    expect(await late).toBeUndefined()
  })
})
