import { changedApi, openScenario, type Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../api/api-error.ts'
import type { BudgetWrite } from '../api/budget-write.ts'
import type { PodDisruptionBudget } from '../api/policy.ts'
import { namespaces, podDisruptionBudgets } from '../api/resources.ts'
import { applyBudgets } from './apply-budgets.ts'
import type { KubeApi } from './kube-api.ts'

const namespace = 'guarded'
const signal = new AbortController().signal

const wanted = (name: string, maxUnavailable: number, metadata = {}): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { namespace, name, ...metadata },
  spec: { maxUnavailable, selector: { matchLabels: { app: name } } },
})

async function withScenario(tell: (scenario: Scenario) => Promise<void>): Promise<void> {
  const scenario = openScenario()
  await scenario.api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  try {
    await tell(scenario)
  } finally {
    scenario.stop()
  }
}

async function present(api: KubeApi): Promise<Record<string, unknown>> {
  const { items } = await api.list(podDisruptionBudgets, { namespace })
  return Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name, spec.maxUnavailable]))
}

describe('writing budgets', () => {
  it('creates, replaces and deletes in the given order, and tells the version of the last write', () =>
    withScenario(async ({ api }) => {
      const old = await api.create(podDisruptionBudgets, wanted('old', 1))
      const kept = await api.create(podDisruptionBudgets, wanted('kept', 1))
      const order: string[] = []
      const noted = changedApi(api, {
        create: (type, object, options) => {
          order.push(`create ${object.metadata.name}`)
          return api.create(type, object, options)
        },
        update: (type, object, options) => {
          order.push(`update ${object.metadata.name}`)
          return api.update(type, object, options)
        },
        delete: (type, key, options) => {
          order.push(`delete ${key.name}`)
          return api.delete(type, key, options)
        },
      })
      const version = await applyBudgets(
        noted,
        [
          { verb: 'create', budget: wanted('new', 0) },
          { verb: 'delete', seen: old },
          { verb: 'replace', seen: kept, budget: wanted('kept', 0) },
        ],
        signal,
      )
      expect(order).toEqual(['create new', 'delete old', 'update kept'])
      expect(await present(api)).toEqual({ kept: 0, new: 0 })
      const { metadata } = await api.get(podDisruptionBudgets, { namespace, name: 'kept' })
      expect(version).toBe(metadata.resourceVersion)
    }))

  it('nothing to write is no version to wait for', () =>
    withScenario(async ({ api }) => {
      expect(await applyBudgets(api, [], signal)).toBeUndefined()
    }))

  it('stops at the first refusal, so that what relies on it does not happen', () =>
    withScenario(async ({ api }) => {
      const old = await api.create(podDisruptionBudgets, wanted('old', 1))
      const refusing = changedApi(api, {
        create: () => Promise.reject(new ApiError('Forbidden', 'no')),
      })
      const writes: BudgetWrite[] = [
        { verb: 'create', budget: wanted('new', 0) },
        { verb: 'delete', seen: old },
      ]
      await expect(applyBudgets(refusing, writes, signal)).rejects.toMatchObject({ reason: 'Forbidden' })
      expect(await present(api)).toEqual({ old: 1 })
    }))

  it('a budget that was changed meanwhile is not deleted: it may be all that is left of what stood for it (short seed 32822)', () =>
    withScenario(async ({ api }) => {
      const seen = await api.create(podDisruptionBudgets, wanted('old', 1))
      await api.update(podDisruptionBudgets, { ...seen, spec: { ...seen.spec, maxUnavailable: 0 } })
      const writes: BudgetWrite[] = [{ verb: 'delete', seen }]
      await expect(applyBudgets(api, writes, signal)).rejects.toMatchObject({ reason: 'Conflict' })
      expect(await present(api)).toEqual({ old: 0 })
    }))

  it('a budget that somebody changed meanwhile is not overwritten', () =>
    withScenario(async ({ api }) => {
      const seen = await api.create(podDisruptionBudgets, wanted('kept', 1))
      await api.update(podDisruptionBudgets, { ...seen, spec: { ...seen.spec, maxUnavailable: 5 } })
      const write: BudgetWrite = { verb: 'replace', seen, budget: wanted('kept', 0) }
      await expect(applyBudgets(api, [write], signal)).rejects.toMatchObject({ reason: 'Conflict' })
      expect(await present(api)).toEqual({ kept: 5 })
    }))

  it('a budget of the same name that somebody made anew is not deleted in place of the old one', () =>
    withScenario(async ({ api }) => {
      const seen = await api.create(podDisruptionBudgets, wanted('old', 1))
      await api.delete(podDisruptionBudgets, { namespace, name: 'old' })
      await api.create(podDisruptionBudgets, wanted('old', 7))
      await expect(applyBudgets(api, [{ verb: 'delete', seen }], signal)).rejects.toMatchObject({ reason: 'Conflict' })
      expect(await present(api)).toEqual({ old: 7 })
    }))

  it('a budget that is gone already counts as deleted', () =>
    withScenario(async ({ api }) => {
      const seen = await api.create(podDisruptionBudgets, wanted('old', 1))
      await api.delete(podDisruptionBudgets, { namespace, name: 'old' })
      const writes: BudgetWrite[] = [
        { verb: 'delete', seen },
        { verb: 'create', budget: wanted('new', 0) },
      ]
      expect(await applyBudgets(api, writes, signal)).toBeDefined()
      expect(await present(api)).toEqual({ new: 0 })
    }))

  it('labels and annotations that others put there stay, and ours are added', () =>
    withScenario(async ({ api }) => {
      const theirs = { labels: { team: 'storage', role: 'old' }, annotations: { note: 'call us' } }
      const seen = await api.create(podDisruptionBudgets, wanted('kept', 1, theirs))
      const ownerReferences = [{ apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster', name: 'rook-ceph', uid: 'u1' }]
      const budget = wanted('kept', 0, { labels: { role: 'guard' }, ownerReferences })
      await applyBudgets(api, [{ verb: 'replace', seen, budget }], signal)
      const { metadata, spec } = await api.get(podDisruptionBudgets, { namespace, name: 'kept' })
      expect({ ...metadata, spec }).toMatchObject({
        labels: { team: 'storage', role: 'guard' },
        annotations: { note: 'call us' },
        ownerReferences,
        spec: budget.spec,
      })
    }))
})
