import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { rookOperatorSelector } from '@cofferdam/kubernetes/api/kinds/rook-operator.ts'
import { configMaps, deployments, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { observedName } from '../../capabilities/ceph-drain/apply/record.ts'
import { cephDrainPermissions } from '../../capabilities/ceph-drain/controller/controller.ts'
import { cephStaticBudgetsPermissions } from '../../capabilities/ceph-drain/controller/static-budgets.ts'
import type {
  HandOverDirection,
  HandOverSnapshot,
  HandOverWish,
} from '../../capabilities/ceph-drain/domain/hand-over.ts'
import { stateMapName } from '../../capabilities/ceph-drain/domain/state-map.ts'
import { osdUpdatePermissions } from '../../capabilities/osd-update/controller/controller.ts'
import { paceHoldOf } from '../../capabilities/osd-update/domain/pace-label.ts'
import { observeSettings } from '../../ledger/store/observe-settings.ts'
import { observeOperator } from '../../observe/observe-operator.ts'
import { doesRookRun } from '../../shared/ceph-trust/rook-runs.ts'
import { type Observed, unknown } from '../../shared/observed.ts'
import { findObject } from '../explain/find-object.ts'
import { reviewRights } from './review-rights.ts'

export interface HandOverQuestion {
  readonly api: KubeApi
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly leaseNamespace: string
  readonly direction: HandOverDirection
  readonly subject: { readonly namespace: string; readonly name: string }
  readonly wants: HandOverWish
  /** Where that was asked before. */
  readonly missingRights?: HandOverSnapshot['missingRights']
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
  const missingRights = question.missingRights ?? (await observeRights(question, operator.leader))
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
    versions: { rook: labelsOf(osds.items, 'rook-version'), ceph: labelsOf(osds.items, 'ceph-version') },
    missingRights,
    pacedOsds: osds.items.filter((osd) => paceHoldOf(osd) === 'ours').map(({ metadata }) => metadata.name),
    wants,
  }
}

/** The leader is called by its pod, and that says as whom it asks. */
async function observeRights(
  { api, signal, leaseNamespace, subject, direction, wants }: HandOverQuestion,
  leader: string | undefined,
): Promise<Observed<readonly string[]>> {
  const notSeen: string[] = []
  const pod =
    leader === undefined
      ? undefined
      : await ifAllowed('its pod', notSeen, () =>
          api.get(pods, { namespace: leaseNamespace, name: leader }, { signal }),
        )
  const name = pod?.spec.serviceAccountName
  if (name === undefined) return unknown(notSeen[0] ?? 'the operator that leads is not in a pod of this cluster')
  const isPaced = direction === 'adopt' && wants.updates === 'pace'
  return reviewRights({
    api,
    signal,
    account: { namespace: leaseNamespace, name },
    namespace: subject.namespace,
    rights: [...cephDrainPermissions, ...cephStaticBudgetsPermissions, ...(isPaced ? pacePermissions : [])],
  })
}

const pacePermissions = osdUpdatePermissions.filter(({ grantedBy }) => grantedBy === 'ceph-pace')

/** What the Deployments say in this label, each once. */
function labelsOf(osds: readonly Deployment[], label: string): readonly string[] {
  return [...new Set(osds.flatMap(({ metadata }) => metadata.labels?.[label] ?? []))].sort()
}
