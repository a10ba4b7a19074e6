import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { longhornNodes, longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { machineDisruptionBudgets } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { rookOperatorSelector } from '@cofferdam/kubernetes/api/kinds/rook-operator.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { keyOf, keyText, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { configMaps, deployments, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { isManagedByUs } from '../../capabilities/ceph-drain/domain/budget-mark.ts'
import { ownPartOf, parseDrainState, stateMapName } from '../../capabilities/ceph-drain/domain/state-map.ts'
import { isOver } from '../../capabilities/drain-lock/apply/record.ts'
import { summarizeLocks } from '../../capabilities/drain-lock/view/summarize-locks.ts'
import { gateTraces } from '../../capabilities/fencing/traces.ts'
import { hasOwnLabel } from '../../capabilities/longhorn-drain/domain/budget-object.ts'
import { parseDrainSettings } from '../../capabilities/longhorn-drain/domain/drain-settings.ts'
import { parseGuidanceMarks } from '../../capabilities/longhorn-drain/domain/guidance-marks.ts'
import { observeSettings } from '../../ledger/store/observe-settings.ts'
import { observeHolds } from '../../observe/observe-holds.ts'
import { observeOperator } from '../../observe/observe-operator.ts'
import { decideOwnership, hasRooksBudgets } from '../../safety/ceph-ownership.ts'
import { doesRookRun } from '../../shared/ceph-trust/rook-runs.ts'
import { disruptionPolicies } from '../../shared/kinds/disruption-policy.ts'
import { nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { known } from '../../shared/observed.ts'
import type { Trace } from '../../shared/trace.ts'
import type { ManagedCeph, ManagedLonghorn, UninstallSnapshot, UninstallWish } from '../../uninstall/snapshot.ts'
import { findTraces, type Removed, type SweepPorts } from './sweep.ts'

export interface UninstallQuestion {
  readonly api: KubeApi
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly leaseNamespace: string
  readonly traces: readonly Trace[]
  readonly wants: UninstallWish
}

export interface ObservedUninstall {
  readonly snapshot: UninstallSnapshot
  /** For what is taken off, as it is once storage is handed back. */
  readonly sweep: SweepPorts
  /** What is there to be taken off. */
  readonly traces: readonly Removed[]
}

export async function observeUninstall(question: UninstallQuestion): Promise<ObservedUninstall> {
  const { api, clock, signal, leaseNamespace, wants } = question
  const notSeen: string[] = []
  const list = async <T extends KubeObject>(type: ResourceType<T>) =>
    (await ifAllowed(`${type.plural}.${type.group}`, notSeen, () => api.list(type, { signal })))?.items ?? []
  const [operator, budgets, clusters, machineBudgets, policies, requests] = await Promise.all([
    observeOperator({ api, leaseNamespace, now: timestamp(clock), signal }, notSeen),
    list(podDisruptionBudgets),
    list(cephClusters),
    list(machineDisruptionBudgets),
    list(disruptionPolicies),
    list(nodeDisruptions),
  ])
  // Rights on its kinds are asked with the traces; a cluster without a ledger holds nothing.
  const holds = await observeHolds(question, budgets, [])
  const ceph = (await Promise.all(clusters.map((cluster) => observeCeph(question, cluster, budgets)))).flat()
  const released = ceph.filter(({ rookRuns }) => rookRuns).map(({ namespace }) => namespace)
  const rooks = clusters.filter(hasRooksBudgets).flatMap(({ metadata }) => metadata.namespace ?? [])
  const sweep: SweepPorts = {
    api,
    signal,
    cephNamespaces: [...new Set(clusters.flatMap(({ metadata }) => metadata.namespace ?? []))],
    around: { rooksNamespaces: new Set([...released, ...rooks]) },
  }
  const gates = await findTraces(sweep, gateTraces, notSeen)
  const traces = await findTraces(sweep, question.traces, notSeen)
  const isOurBudget = ({ metadata }: KubeObject) => metadata.labels?.['app.kubernetes.io/managed-by'] === 'cofferdam'
  const snapshot: UninstallSnapshot = {
    isOperatorRunning: operator.isRunning,
    ceph,
    longhorn: await observeLonghorn(question, budgets, notSeen),
    requests: requests
      .map(({ metadata, spec, status }) => ({
        id: metadata.uid ?? '',
        name: metadata.name,
        node: spec.nodeName,
        phase: status?.phase ?? 'Pending',
      }))
      .filter(({ phase }) => !isOver(phase)),
    holds: holds.ledger.known ? known(holds.ledger.value.entries) : holds.ledger,
    locks: summarizeLocks(holds, new Map()).flatMap(({ key, state, holder, until = '' }) =>
      state === 'AppLock' ? [{ budget: key.replace(/^pdb\//, ''), holder, until }] : [],
    ),
    keptFromRemediation: [...new Set(gates.map(({ object }) => object))],
    machineBudgets: machineBudgets.filter(isOurBudget).map((budget) => keyText(keyOf(budget))),
    hasPolicy: policies.length > 0,
    notSeen: [...new Set(notSeen)],
    wants,
  }
  return { snapshot, sweep, traces }
}

/** Nothing for a cluster that Cofferdam has only observed. */
async function observeCeph(
  { api, signal }: UninstallQuestion,
  cluster: CephCluster,
  budgets: readonly PodDisruptionBudget[],
): Promise<ManagedCeph[]> {
  const { namespace = '', name } = cluster.metadata
  const [{ trust }, rooks, osds, map] = await Promise.all([
    observeSettings({ api, signal }),
    api.list(deployments, { labelSelector: rookOperatorSelector, signal }),
    api.list(deployments, { namespace, labelSelector: 'app=rook-ceph-osd', signal }),
    ifAllowed('', [], () => api.get<ConfigMap>(configMaps, { namespace, name: stateMapName }, { signal })),
  ])
  const rookRuns = doesRookRun({ namespace, name }, rooks.items, () => osds.items)
  const own = ownPartOf(map)
  const isOwned = trust !== undefined && decideOwnership({ cluster, trust, rookRuns }).budgets !== 'observe'
  const isMarked = budgets.some((budget) => budget.metadata.namespace === namespace && isManagedByUs(budget))
  if (!isOwned && !isMarked && !own.isThere) return []
  const openDomains = isOwned || own.isThere ? parseDrainState(map?.data).openDomains : []
  return [{ namespace, name, rookRuns, openDomains, noout: own.noout }]
}

/** Nothing for one that Cofferdam has only observed. */
async function observeLonghorn(
  { api, clock, signal }: UninstallQuestion,
  budgets: readonly PodDisruptionBudget[],
  notSeen: string[],
): Promise<ManagedLonghorn[]> {
  const [settings, nodes] = await Promise.all([
    ifAllowed('settings.longhorn.io', notSeen, () => api.list(longhornSettings, { signal })),
    ifAllowed('nodes.longhorn.io', notSeen, () => api.list(longhornNodes, { signal })),
  ])
  const within = <T extends KubeObject>(objects: readonly T[] | undefined, namespace: string) =>
    (objects ?? []).filter(({ metadata }) => metadata.namespace === namespace)
  const places = [...new Set((settings?.items ?? []).flatMap(({ metadata }) => metadata.namespace ?? []))]
  return places.flatMap((namespace) => {
    const own = within(settings?.items, namespace)
    const beside = { budgets: within(budgets, namespace), manager: known(undefined), nowMs: clock.now() }
    const { mode } = parseDrainSettings(own, beside)
    const marks = parseGuidanceMarks({ settings: own, nodes: within(nodes?.items, namespace) })
    const changed = [
      ...(marks.setting?.restores === undefined ? [] : [`the setting node-drain-policy is ${marks.setting.value}`]),
      ...[...marks.nodes].flatMap(([name, { asked }]) => (asked === undefined ? [] : [`node ${name} is emptied`])),
    ]
    const isHeld = beside.budgets.some(hasOwnLabel)
    return mode === 'observe' && changed.length === 0 && !isHeld ? [] : [{ namespace, changed }]
  })
}
