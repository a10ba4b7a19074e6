import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { recordedStorage } from '../../capabilities/ceph-drain/view/recorded-storage.ts'
import type { CountedNode } from '../../capabilities/drain-lock/domain/maintenance-limits.ts'
import type { DisruptionSnapshot } from '../../capabilities/drain-lock/domain/snapshot.ts'
import { limitsSeen, parseCountedNode } from '../../capabilities/drain-lock/observe/limits.ts'
import { parseHoldableBudget } from '../../capabilities/drain-lock/observe/objects.ts'
import { observeDisruption } from '../../capabilities/drain-lock/observe/observe.ts'
import { createLeavingDecider } from '../../capabilities/longhorn-drain/domain/decide-leaving.ts'
import { indexLonghornStorage, unknownLonghornStorage } from '../../capabilities/longhorn-drain/domain/storage-facts.ts'
import type { LonghornView } from '../../capabilities/longhorn-drain/view/longhorn-view.ts'
import { createLedgerStore } from '../../ledger/store/ledger-store.ts'
import { noteDefaults, observeSettings } from '../../ledger/store/observe-settings.ts'
import { type DisruptionPolicy, disruptionPolicies, policyName } from '../../shared/kinds/disruption-policy.ts'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import { known } from '../../shared/observed.ts'

import type { StorageFacts } from '../../shared/storage-facts.ts'
import type { StorageView } from '../../shared/storage-view.ts'
import { listView } from '../status/list-view.ts'

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
  const [listed, settings, seen] = await Promise.all([
    budgets ?? api.list(podDisruptionBudgets, { signal }).then(({ items }) => items),
    observeSettings({ api, signal }),
    observeCounted({ api, signal }, notSeen),
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
      observeLimits: (nodeName) => limitsSeen(nodeName, known(seen.nodes), known(seen.policy)),
      observeStorage: async (about) =>
        'node' in about ? [...recordedStorage(storage, about.node), ...longhornFacts(longhorn, about.node)] : [],
    },
    request,
    { isFresh: true, signal },
  )
}

/** What limits on nodes in maintenance depend on. What may not be read is left to the operator, and named. */
async function observeCounted(
  { api, signal }: Pick<RehearsalQuestion, 'api' | 'signal'>,
  notSeen: string[],
): Promise<{ readonly nodes: readonly CountedNode[]; readonly policy: DisruptionPolicy | undefined }> {
  const [listed, policy] = await Promise.all([
    ifAllowed('nodes in maintenance', notSeen, () => api.list(nodes, { signal })),
    ifAllowed('disruptionpolicy/cluster', notSeen, () => getPolicy({ api, signal })),
  ])
  return { nodes: listed?.items.map(parseCountedNode) ?? [], policy }
}

async function getPolicy({
  api,
  signal,
}: Pick<RehearsalQuestion, 'api' | 'signal'>): Promise<DisruptionPolicy | undefined> {
  try {
    return await api.get(disruptionPolicies, { name: policyName }, { signal })
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

function longhornFacts(longhorn: LonghornView | undefined, node: string): StorageFacts[] {
  if (longhorn === undefined) return []
  const { snapshot, unknownWhy } = longhorn
  if (unknownWhy !== undefined) return [unknownLonghornStorage(node, unknownWhy)]
  const facts = indexLonghornStorage(snapshot, createLeavingDecider())(node)
  return facts === undefined ? [] : [facts]
}
