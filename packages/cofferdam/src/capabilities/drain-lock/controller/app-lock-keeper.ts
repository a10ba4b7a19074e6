import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ViewChange, WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import { type AppLockPolicy, appLockAnnotation } from '../../../ledger/rules/app-lock.ts'
import { lockedSinceAnnotation } from '../../../ledger/rules/app-locks.ts'
import type { Permission } from '../../../shared/permission.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { type AppLockMemory, type AppLockStep, appLockRestMs, decideAppLocks } from '../domain/decide-app-locks.ts'
import type { HoldableBudget } from '../observe/objects.ts'

export const appLockKeeperPermissions: readonly Permission[] = [
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: ['list', 'watch', 'patch'] },
  { group: '', resource: 'events', verbs: ['create'] },
]

type LockedBudget = Pick<HoldableBudget, 'namespace' | 'name' | 'uid' | 'resourceVersion' | 'annotations'>

export interface AppLockKeeperPorts {
  readonly api: Pick<KubeApi, 'patch'>
  readonly clock: Clock
  readonly policy: AppLockPolicy
  /** Indexed by `namespace`. */
  readonly budgets: WatchView<LockedBudget>
  /** About budgets. */
  readonly events: EventRecorder<Reason>
}

/** Writes down since when owners have kept budgets locked, and tells what became of their locks. Keys are namespaces. */
export function createAppLockKeeper({ api, clock, policy, budgets, events }: AppLockKeeperPorts): Controller {
  const memories = new Map<string, Map<string, AppLockMemory>>()

  /** False when somebody else changed the budget since it was seen. */
  async function writeStamp(budget: LockedBudget, stamp: string | null, signal: AbortSignal): Promise<boolean> {
    const { namespace, name, resourceVersion } = budget
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

  async function take({ stamp, news }: AppLockStep, budget: LockedBudget, signal: AbortSignal): Promise<boolean> {
    if (stamp !== undefined && !(await writeStamp(budget, stamp, signal))) return false
    const { namespace, name, uid, resourceVersion } = budget
    const metadata = { namespace, name, uid, resourceVersion }
    const about = { apiVersion: apiVersionOf(podDisruptionBudgets), kind: podDisruptionBudgets.kind, metadata }
    for (const each of news) await events.record(about, each)
    return true
  }

  return {
    name: 'app-locks',

    async start(enqueue, signal) {
      const end = budgets.subscribe((change) => {
        if (isAboutLocks(change)) enqueue(lastOf(change).namespace)
      })
      signal.addEventListener('abort', end, { once: true })
      await budgets.whenSynced(signal)
      for (const namespace of new Set([...budgets.list()].map((budget) => budget.namespace))) enqueue(namespace)
    },

    async reconcile(namespace, signal) {
      const present = budgets.byIndex('namespace', namespace)
      if (present.length === 0) {
        memories.delete(namespace)
        return undefined
      }
      const memory = memories.get(namespace)
      const nowMs = clock.now()
      const seen = { nowMs, policy, restMs: appLockRestMs, budgets: present, memory }
      const { steps, recheckAfterMs } = decideAppLocks(seen)
      const next = new Map<string, AppLockMemory>()
      memories.set(namespace, next)
      for (const [uid, former] of memory ?? []) {
        if (steps.some((step) => step.uid === uid)) next.set(uid, former)
      }
      let isOvertaken = false
      for (const step of steps) {
        const budget = present.find(({ uid }) => uid === step.uid)
        if (budget === undefined) continue
        if (!(await take(step, budget, signal))) isOvertaken = true
        else if (step.memory === undefined) next.delete(step.uid)
        else next.set(step.uid, step.memory)
      }
      if (isOvertaken) return { recheckAfterSeconds: 1 }
      return recheckAfterMs === undefined ? undefined : { recheckAfterSeconds: Math.ceil(recheckAfterMs / 1_000) }
    },
  }
}

function lastOf(change: ViewChange<LockedBudget>): LockedBudget {
  return change.type === 'removed' ? change.previous : change.value
}

/** The counts in the status of budgets change all day. */
function isAboutLocks(change: ViewChange<LockedBudget>): boolean {
  const before = 'previous' in change ? change.previous.annotations : {}
  const after = 'value' in change ? change.value.annotations : {}
  return [appLockAnnotation, lockedSinceAnnotation].some((name) => before[name] !== after[name])
}
