import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import { changeAppLocks } from '../../../ledger/rules/app-lock-record.ts'
import type { LedgerStore } from '../../../ledger/store/ledger-store.ts'
import { lockedSinceAnnotation } from '../../../shared/app-lock-annotation.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { Performers } from '../../interpreter.ts'
import type { AppLockPassStep } from '../domain/app-lock-steps.ts'
import type { AppLockMemory } from '../domain/decide-app-locks.ts'
import type { HoldableBudget } from '../observe/objects.ts'

export type LockedBudget = Pick<
  HoldableBudget,
  'namespace' | 'name' | 'uid' | 'resourceVersion' | 'annotations' | 'lockWrittenMs'
>

/** The course of one pass over the budgets of a namespace. */
export interface AppLockPassMemory {
  /** As they were when the pass began. */
  readonly budgets: readonly LockedBudget[]
  /** What is remembered of them for the next pass, by uid. */
  readonly next: Map<string, AppLockMemory>
  /** By name. */
  readonly settled: Set<string>
  /** By name. */
  readonly overtaken: Set<string>
}

export interface AppLockPorts {
  readonly api: Pick<KubeApi, 'patch'>
  readonly store: Pick<LedgerStore, 'change'>
  readonly events: EventRecorder<Reason>
  /** Called when something was entered in the ledger. */
  readonly onRecorded: () => void
}

export function appLockPerformers(
  { api, store, events, onRecorded }: AppLockPorts,
  { budgets, next, settled, overtaken }: AppLockPassMemory,
  signal: AbortSignal,
): Performers<AppLockPassStep> {
  const budgetOf = (uid: string) => budgets.find((budget) => budget.uid === uid)
  return {
    async hold({ changes }) {
      const late = await store.change(
        'record since when owners have locked budgets',
        (ledger) => {
          const changed = changeAppLocks(ledger, changes)
          return { ledger: changed.ledger, value: changed.overtaken }
        },
        signal,
      )
      onRecorded()
      for (const { budget } of changes) {
        const name = budget.slice(budget.indexOf('/') + 1)
        if (late.includes(budget)) overtaken.add(name)
        else if (!budgets.some((each) => each.name === name)) settled.add(name)
      }
      return late.length === 0 ? 'done' : 'learned'
    },

    async write({ uid }) {
      const budget = budgetOf(uid)
      if (budget === undefined || (await removeStamp(api, budget, signal))) return 'done'
      overtaken.add(budget.name)
      return 'learned'
    },

    async report({ uid, changes, memory }) {
      const { namespace = '', name = '', resourceVersion = '' } = budgetOf(uid) ?? {}
      const metadata = { namespace, name, uid, resourceVersion }
      const about = { apiVersion: apiVersionOf(podDisruptionBudgets), kind: podDisruptionBudgets.kind, metadata }
      for (const each of changes) await events.record(about, each)
      if (memory === undefined) next.delete(uid)
      else next.set(uid, memory)
      settled.add(name)
      return 'done'
    },
  }
}

/** False when somebody else changed the budget since it was seen. */
async function removeStamp(
  api: Pick<KubeApi, 'patch'>,
  { namespace, name, resourceVersion }: LockedBudget,
  signal: AbortSignal,
): Promise<boolean> {
  const body = { metadata: { resourceVersion, annotations: { [lockedSinceAnnotation]: null } } }
  try {
    await api.patch(podDisruptionBudgets, { namespace, name }, { type: 'merge', body }, { signal })
    return true
  } catch (error) {
    if (hasReason(error, 'NotFound')) return true
    if (hasReason(error, 'Conflict')) return false
    throw error
  }
}
