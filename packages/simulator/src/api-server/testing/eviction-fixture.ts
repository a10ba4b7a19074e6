import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Pod, PodPhase } from '@cofferdam/kubernetes/api/core.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import type { Admission, AdmissionRequest } from '../admission/admission.ts'
import { ApiServer } from '../api-server.ts'
import type { EmbeddedApi } from '../embedded-api.ts'
import { createEvictionHandler } from '../eviction.ts'
import { clusterAdmin } from '../user-info.ts'

export const namespace = 'default'
const app = { app: 'web' }
export const start = '2026-01-01T00:00:00Z'
export const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }

export interface EvictionFixtureOptions {
  readonly admit?: (request: AdmissionRequest) => void
  /** What the handler gets in place of the API. */
  readonly api?: (api: EmbeddedApi) => EmbeddedApi
}

/** A server, and the eviction handler with an admission that keeps what it was asked. */
export function evictionFixture<C extends Clock>(clock: C, options: EvictionFixtureOptions = {}) {
  const server = new ApiServer({ clock, random: seededRandom(1) })
  const api = server.as(clusterAdmin)
  const asked: AdmissionRequest[] = []
  const admission: Admission = {
    mayMatch: () => true,
    admit: async (request) => {
      asked.push(request)
      options.admit?.(request)
      return []
    },
  }
  const handler = createEvictionHandler({ api: options.api?.(api) ?? api, clock, admission })
  const evict = (name: string, body: JsonObject = {}, dryRun = false) =>
    handler({
      key: { namespace, name },
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, ...body },
      user: clusterAdmin,
      dryRun,
    })

  return {
    clock,
    api,
    asked,
    evict,
    read: (name: string) => api.get(pods, { namespace, name }),
    budget: (name = 'a') => api.get(podDisruptionBudgets, { namespace, name }),

    run: async (name: string, state: { ready?: boolean; phase?: PodPhase } = {}): Promise<Pod> => {
      const { ready = true, phase = 'Running' } = state
      await api.create(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace, name, labels: app },
        spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.example/app:1' }] },
      })
      const status = { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] }
      return api.patch(pods, { namespace, name }, { type: 'merge', body: { status } }, { subresource: 'status' })
    },

    /** A budget as a disruption controller would have left it: by default it needs three and has three. */
    guard: async (
      status: Partial<NonNullable<PodDisruptionBudget['status']>> = {},
      spec: Partial<PodDisruptionBudget['spec']> = {},
      name = 'a',
    ): Promise<PodDisruptionBudget> => {
      const created = await api.create(podDisruptionBudgets, {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { namespace, name },
        spec: { selector: { matchLabels: app }, minAvailable: 3, ...spec },
      })
      const counted = { disruptionsAllowed: 0, currentHealthy: 3, desiredHealthy: 3, expectedPods: 3 }
      return api.update(
        podDisruptionBudgets,
        { ...created, status: { ...counted, observedGeneration: 1, ...status } },
        { subresource: 'status' },
      )
    },
  }
}

export async function refusal(call: Promise<unknown>): Promise<ApiError> {
  try {
    await call
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('the call was not refused')
}
