import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ViewChange, WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { AppLockPolicy } from '../../../ledger/rules/app-lock.ts'
import { type AppLockRecord, namespacesOfChangedLocks, recordsOf } from '../../../ledger/rules/app-lock-record.ts'
import { parseLedger } from '../../../ledger/rules/parse-ledger.ts'
import { type LedgerStore, ledgerPermissions } from '../../../ledger/store/ledger-store.ts'
import { observeLedger } from '../../../ledger/store/storage-ledger.ts'
import { appLockAnnotation, lockedSinceAnnotation } from '../../../shared/app-lock-annotation.ts'
import type { DisruptionLedger } from '../../../shared/kinds/disruption-ledger.ts'
import { known, type Observed } from '../../../shared/observed.ts'
import type { Permission } from '../../../shared/permission.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { performPass } from '../../interpreter.ts'
import { type AppLockPassMemory, appLockPerformers, type LockedBudget } from '../apply/app-locks.ts'
import { decideAppLockPass } from '../domain/app-lock-steps.ts'
import type { AppLockMemory } from '../domain/decide-app-locks.ts'

export const appLockKeeperPermissions: readonly Permission[] = [
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: ['list', 'watch', 'patch'] },
  { group: 'cofferdam.io', resource: 'disruptionledgers', verbs: ['list', 'watch'] },
  { group: '', resource: 'events', verbs: ['create'] },
  ...ledgerPermissions,
]

export interface AppLockKeeperPorts {
  readonly api: Pick<KubeApi, 'patch'>
  readonly clock: Clock
  readonly policy: AppLockPolicy
  /** Indexed by `namespace`. */
  readonly budgets: WatchView<LockedBudget>
  readonly ledgers: WatchView<DisruptionLedger>
  readonly store: Pick<LedgerStore, 'change'>
  /** About budgets. */
  readonly events: EventRecorder<Reason>
}

/** Records in the ledger since when owners have kept budgets locked, and reports what became of their locks. Keys are namespaces. */
export function createAppLockKeeper(ports: AppLockKeeperPorts): Controller {
  const { api, clock, policy, budgets, ledgers, store, events } = ports
  const memories = new Map<string, Map<string, AppLockMemory>>()
  const recordedMs = new Map<string, number>()

  function recordsSeen(): Observed<readonly AppLockRecord[]> {
    const ledger = observeLedger(ledgers)
    return ledger.known ? known(ledger.value.appLocks) : ledger
  }

  return {
    name: 'app-locks',

    async start(enqueue, signal) {
      const ends = [
        budgets.subscribe((change) => {
          if (isAboutLocks(change)) enqueue(lastOf(change).namespace)
        }),
        ledgers.subscribe((change) => {
          const [before, after] = recordsIn(change)
          for (const namespace of namespacesOfChangedLocks(before, after)) enqueue(namespace)
        }),
      ]
      for (const end of ends) signal.addEventListener('abort', end, { once: true })
      await Promise.all([budgets.whenSynced(signal), ledgers.whenSynced(signal)])
      const records = recordsSeen()
      const recorded = namespacesOfChangedLocks([], records.known ? records.value : [])
      const present = [...budgets.list()].map((budget) => budget.namespace)
      for (const namespace of new Set([...present, ...recorded])) enqueue(namespace)
    },

    async reconcile(namespace, signal) {
      const present = budgets.byIndex('namespace', namespace)
      const records = recordsSeen()
      const isRecorded = records.known && recordsOf(records.value, namespace).length > 0
      if (present.length === 0 && !isRecorded) {
        memories.delete(namespace)
        recordedMs.delete(namespace)
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
      const seen = {
        nowMs: clock.now(),
        policy,
        namespace,
        budgets: present,
        records,
        memory,
        recordedMs: recordedMs.get(namespace),
      }
      const onRecorded = () => recordedMs.set(namespace, clock.now())
      const { decision } = await performPass({
        observe: async () => ({ ...seen, settled: new Set(pass.settled), overtaken: new Set(pass.overtaken) }),
        decide: decideAppLockPass,
        perform: appLockPerformers({ api, store, events, onRecorded }, pass, signal),
        mostRounds: present.length + 2,
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

function recordsIn(change: ViewChange<DisruptionLedger>): [readonly AppLockRecord[], readonly AppLockRecord[]] {
  const recordsOfLedger = (object: DisruptionLedger | undefined) => {
    const ledger = parseLedger(object)
    return ledger.known ? ledger.value.appLocks : []
  }
  const before = 'previous' in change ? change.previous : undefined
  const after = 'value' in change ? change.value : undefined
  return [recordsOfLedger(before), recordsOfLedger(after)]
}

/** The counts in the status of budgets change all day. */
function isAboutLocks(change: ViewChange<LockedBudget>): boolean {
  const before = 'previous' in change ? change.previous.annotations : {}
  const after = 'value' in change ? change.value.annotations : {}
  return [appLockAnnotation, lockedSinceAnnotation].some((name) => before[name] !== after[name])
}
