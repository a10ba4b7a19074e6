import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { isOverInstanceManager } from '../capabilities/longhorn-drain/domain/budget-object.ts'
import type { LonghornView } from '../capabilities/longhorn-drain/view/longhorn-view.ts'
import type { ExplainStorage } from '../eviction-guard/eviction-guard.ts'
import type { GuardedPod } from '../eviction-guard/guarded-objects.ts'
import { judgePods } from '../explain/judge-pods.ts'
import { refusalOfStorage } from '../explain/storage-refusal.ts'
import type { StorageView } from '../shared/storage-view.ts'

export interface StorageExplainerPorts {
  readonly api: Pick<KubeApi, 'get'>
  readonly clock: Clock
  /** The guard's own copy, indexed by `ceph`: by the namespace of what belongs to Ceph. */
  readonly pods: Pick<WatchView<GuardedPod>, 'byIndex'>
  /** What is on record of the Ceph clusters in a namespace; left out where Ceph is not managed here. */
  readonly storageIn?: (
    namespace: string,
    budgets: readonly PodDisruptionBudget[],
    signal: AbortSignal,
  ) => Promise<readonly StorageView[]>
  /** Left out where Longhorn is not managed here. */
  readonly longhorn?: (signal: AbortSignal) => Promise<LonghornView | undefined>
  readonly onError: (error: unknown) => void
  /** How long one answer may take. Default 1 s: the API server waits for the guard no longer than three. */
  readonly patienceMs?: number
  /** How many are explained at once; beyond that the API server asks the budgets without a word. Default 16. */
  readonly mostUnderWay?: number
}

/**
 * Says why budgets refuse a pod for the sake of storage, as `explain pod` does: the same judgement of the same records.
 *
 * Guarantees: nothing is listed for it, and it refuses only what the budget refuses by itself, as the API server has both at this moment.
 * Fails open: without an answer in time the eviction goes on to its budget.
 */
export function createStorageExplainer(ports: StorageExplainerPorts): ExplainStorage {
  const { clock, patienceMs = 1_000, mostUnderWay = 16, onError } = ports
  let underWay = 0
  return async (asked) => {
    if (underWay >= mostUnderWay) return undefined
    underWay += 1
    const ended = new AbortController()
    try {
      const late = sleep(clock, patienceMs, ended.signal).then(() => undefined)
      return await Promise.race([explain(asked, ports, ended.signal), late])
    } catch (error) {
      onError(error)
      return undefined
    } finally {
      underWay -= 1
      ended.abort()
    }
  }
}

async function explain(
  { namespace, name, budgets: names }: Parameters<ExplainStorage>[0],
  ports: StorageExplainerPorts,
  signal: AbortSignal,
): Promise<Awaited<ReturnType<ExplainStorage>>> {
  const { api } = ports
  const [pod, ...budgets] = await Promise.all([
    api.get(pods, { namespace, name }, { signal }),
    ...names.map((budget) => api.get(podDisruptionBudgets, { namespace, name: budget }, { signal })),
  ])
  const ofLonghorn = budgets.some(isOverInstanceManager)
  const [storage = [], longhorn] = await Promise.all([
    ofLonghorn ? undefined : ports.storageIn?.(namespace, budgets, signal),
    ofLonghorn ? ports.longhorn?.(signal) : undefined,
  ])
  // Without it there would be other words than those of `explain`.
  if (ofLonghorn ? longhorn === undefined : storage.length === 0) return undefined
  const peers = ports.pods.byIndex('ceph', namespace).filter((each) => each.name !== name)
  const seen = { budgets, pods: [pod, ...peers.map(asPod)], storage, ...(longhorn && { longhorn }) }
  const [judged] = judgePods([pod], seen)
  return judged && refusalOfStorage(pod, judged)
}

/** As much of a pod as its health needs. */
function asPod({ namespace, name, nodeName, labels, isReady, isLeaving }: GuardedPod): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels, ...(isLeaving ? { deletionTimestamp: '' } : {}) },
    spec: { containers: [], ...(nodeName === '' ? {} : { nodeName }) },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  }
}
