import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { rookOperatorSelector } from '@cofferdam/kubernetes/api/kinds/rook-operator.ts'
import { configMaps, deployments, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { observedName } from '../../capabilities/ceph-drain/apply/record.ts'
import type {
  HandOverDirection,
  HandOverSnapshot,
  HandOverWish,
} from '../../capabilities/ceph-drain/domain/hand-over.ts'
import { stateMapName } from '../../capabilities/ceph-drain/domain/state-map.ts'
import { observeSettings } from '../../ledger/store/observe-settings.ts'
import { observeOperator } from '../../observe/observe-operator.ts'
import { doesRookRun } from '../../shared/ceph-trust/rook-runs.ts'
import { findObject } from '../explain/find-object.ts'

export interface HandOverQuestion {
  readonly api: KubeApi
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly leaseNamespace: string
  readonly direction: HandOverDirection
  readonly subject: { readonly namespace: string; readonly name: string }
  readonly wants: HandOverWish
}

export async function observeHandOver(question: HandOverQuestion): Promise<HandOverSnapshot> {
  const { api, clock, signal, leaseNamespace, direction, subject, wants } = question
  const { namespace } = subject
  const map = (name: string) =>
    ifAllowed(`configmap ${namespace}/${name}`, [], () =>
      api.get<ConfigMap>(configMaps, { namespace, name }, { signal }),
    )
  const [cluster, settings, operator, rooks, osds, stateMap, observed, budgets, osdPods] = await Promise.all([
    findObject(cephClusters, subject, { api, signal }),
    observeSettings({ api, signal }),
    observeOperator({ api, leaseNamespace, now: timestamp(clock), signal }, []),
    api.list(deployments, { labelSelector: rookOperatorSelector, signal }),
    api.list(deployments, { namespace, labelSelector: 'app=rook-ceph-osd', signal }),
    map(stateMapName),
    map(observedName),
    api.list(podDisruptionBudgets, { namespace, signal }),
    api.list(pods, { namespace, labelSelector: 'app=rook-ceph-osd', signal }),
  ])
  return {
    direction,
    cluster,
    trust: settings.trust,
    isOperatorRunning: operator.isRunning,
    rookRuns: doesRookRun(subject, rooks.items, () => osds.items),
    stateMap,
    observed,
    budgets: budgets.items,
    osdPods: osdPods.items,
    wants,
  }
}
