import type { NodeDisruption } from '../api/node-disruption.ts'
import type { PodDisruptionBudget } from '../api/policy.ts'
import { podDisruptionBudgets } from '../api/resources.ts'
import { createLedgerStore } from '../controllers/ledger-store.ts'
import { parseHoldableBudget } from '../controllers/node-disruption-objects.ts'
import { observeDisruption } from '../controllers/node-disruption-observe.ts'
import type { DisruptionSnapshot, StorageFacts } from '../domain/drain-lock/snapshot.ts'
import type { LonghornView } from '../domain/explain/longhorn-view.ts'
import { recordedStorage } from '../domain/explain/recorded-storage.ts'
import type { StorageView } from '../domain/explain/storage-view.ts'
import { decideLonghornDrain } from '../domain/longhorn-drain/decide.ts'
import { hasLonghornData, longhornStorageFacts } from '../domain/longhorn-drain/storage-facts.ts'
import type { KubeApi } from '../kube/kube-api.ts'
import type { Clock } from '../runtime/clock.ts'
import { listView } from './list-view.ts'
import { noteDefaults, observeSettings } from './observe-settings.ts'

export interface RehearsalQuestion {
  readonly api: KubeApi
  readonly clock: Clock
  readonly signal: AbortSignal
  /** What is on record of Ceph. */
  readonly storage: readonly StorageView[]
  readonly budgets?: readonly PodDisruptionBudget[]
  readonly longhorn?: LonghornView
}

/** What the operator would see if this request were made now. Nothing is written. */
export async function observeRehearsal(
  request: NodeDisruption,
  { api, clock, signal, storage, budgets, longhorn }: RehearsalQuestion,
  notSeen: string[],
): Promise<DisruptionSnapshot> {
  const [listed, settings] = await Promise.all([
    budgets ?? api.list(podDisruptionBudgets, { signal }).then(({ items }) => items),
    observeSettings({ api, signal }),
  ])
  noteDefaults(settings, notSeen)
  return observeDisruption(
    {
      api,
      clock,
      store: createLedgerStore({ api, clock }),
      settings: settings.drainLock,
      appLocks: settings.appLocks,
      identity: 'cofferdam',
      views: {
        pods: listView([], {}),
        budgets: listView(listed.map(parseHoldableBudget), { namespace: ({ namespace }) => namespace }),
      },
      observeStorage: async (about) =>
        'node' in about ? [...recordedStorage(storage, about.node), ...longhornFacts(longhorn, about.node)] : [],
    },
    request,
    { isFresh: true, signal },
  )
}

function longhornFacts(longhorn: LonghornView | undefined, node: string): StorageFacts[] {
  if (longhorn === undefined || !hasLonghornData(longhorn.snapshot, node)) return []
  const { snapshot } = longhorn
  return [longhornStorageFacts({ snapshot, node, heldSinceMs: undefined, decide: decideLonghornDrain })]
}
