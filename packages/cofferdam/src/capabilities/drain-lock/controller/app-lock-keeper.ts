import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ViewChange, WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import { type AppLockPolicy, appLockAnnotation } from '../../../ledger/rules/app-lock.ts'
import { lockedSinceAnnotation } from '../../../ledger/rules/app-locks.ts'
import type { Permission } from '../../../shared/permission.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { performPass } from '../../interpreter.ts'
import { type AppLockPassMemory, appLockPerformers, type LockedBudget } from '../apply/app-locks.ts'
import { decideAppLockPass } from '../domain/app-lock-steps.ts'
import { type AppLockMemory, appLockRestMs } from '../domain/decide-app-locks.ts'

export const appLockKeeperPermissions: readonly Permission[] = [
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: ['list', 'watch', 'patch'] },
  { group: '', resource: 'events', verbs: ['create'] },
]

export interface AppLockKeeperPorts {
  readonly api: Pick<KubeApi, 'patch'>
  readonly clock: Clock
  readonly policy: AppLockPolicy
  /** Indexed by `namespace`. */
  readonly budgets: WatchView<LockedBudget>
  /** About budgets. */
  readonly events: EventRecorder<Reason>
}

/** Writes down since when owners have kept budgets locked, and reports what became of their locks. Keys are namespaces. */
export function createAppLockKeeper({ api, clock, policy, budgets, events }: AppLockKeeperPorts): Controller {
  const memories = new Map<string, Map<string, AppLockMemory>>()

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
      // What a pass does not come to is remembered as it was.
      const pass: AppLockPassMemory = {
        budgets: present,
        next: new Map(memory),
        settled: new Set(),
        overtaken: new Set(),
      }
      memories.set(namespace, pass.next)
      const seen = { nowMs: clock.now(), policy, restMs: appLockRestMs, budgets: present, memory }
      const { decision } = await performPass({
        observe: async () => ({ ...seen, settled: new Set(pass.settled), overtaken: new Set(pass.overtaken) }),
        decide: decideAppLockPass,
        perform: appLockPerformers({ api, events }, pass, signal),
        mostRounds: present.length + 1,
        signal,
      })
      const { concerned, recheckAfterMs } = decision
      for (const uid of pass.next.keys()) if (!concerned.has(uid)) pass.next.delete(uid)
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
