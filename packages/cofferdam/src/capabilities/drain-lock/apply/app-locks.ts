import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import { lockedSinceAnnotation } from '../../../ledger/rules/app-locks.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { Performers } from '../../interpreter.ts'
import type { AppLockPassStep } from '../domain/app-lock-steps.ts'
import type { AppLockMemory } from '../domain/decide-app-locks.ts'
import type { HoldableBudget } from '../observe/objects.ts'

export type LockedBudget = Pick<HoldableBudget, 'namespace' | 'name' | 'uid' | 'resourceVersion' | 'annotations'>

/** The course of one pass over the budgets of a namespace. */
export interface AppLockPassMemory {
  /** As they were when the pass began. */
  readonly budgets: readonly LockedBudget[]
  /** What is remembered of them for the next pass, by uid. */
  readonly next: Map<string, AppLockMemory>
  readonly settled: Set<string>
  readonly overtaken: Set<string>
}

export function appLockPerformers(
  { api, events }: { readonly api: Pick<KubeApi, 'patch'>; readonly events: EventRecorder<Reason> },
  { budgets, next, settled, overtaken }: AppLockPassMemory,
  signal: AbortSignal,
): Performers<AppLockPassStep> {
  const budgetOf = (uid: string) => budgets.find((budget) => budget.uid === uid)
  return {
    async write({ uid, stamp }) {
      const budget = budgetOf(uid)
      if (budget === undefined || (await writeStamp(api, budget, stamp, signal))) return 'done'
      overtaken.add(uid)
      return 'learned'
    },

    async report({ uid, changes, memory }) {
      const { namespace = '', name = '', resourceVersion = '' } = budgetOf(uid) ?? {}
      const metadata = { namespace, name, uid, resourceVersion }
      const about = { apiVersion: apiVersionOf(podDisruptionBudgets), kind: podDisruptionBudgets.kind, metadata }
      for (const each of changes) await events.record(about, each)
      if (memory === undefined) next.delete(uid)
      else next.set(uid, memory)
      settled.add(uid)
      return 'done'
    },
  }
}

/** False when somebody else changed the budget since it was seen. */
async function writeStamp(
  api: Pick<KubeApi, 'patch'>,
  { namespace, name, resourceVersion }: LockedBudget,
  stamp: string | null,
  signal: AbortSignal,
): Promise<boolean> {
  const body = { metadata: { resourceVersion, annotations: { [lockedSinceAnnotation]: stamp } } }
  try {
    await api.patch(podDisruptionBudgets, { namespace, name }, { type: 'merge', body }, { signal })
    return true
  } catch (error) {
    if (hasReason(error, 'NotFound')) return true
    if (hasReason(error, 'Conflict')) return false
    throw error
  }
}
