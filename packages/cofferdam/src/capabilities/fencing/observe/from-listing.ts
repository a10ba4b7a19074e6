import { closestName } from '@cofferdam/kubernetes/api/closest-name.ts'
import {
  clusterApiHealthChecks,
  clusterApiMachines,
  machineDisruptionBudgets,
  medik8sLeaseNamespace,
  nodeHealthChecks,
  olderClusterApiVersion,
  openshiftHealthChecks,
  openshiftMachines,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { deployments, leases, namespaces, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import { observeSettings } from '../../../ledger/store/observe-settings.ts'
import { doesCount, nameOf } from '../../../shared/ceph-trust/named-clusters.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { OperatorStatus } from '../../../shared/operator-status.ts'
import type { StorageView } from '../../../shared/storage-view.ts'
import { isGuardedBefore } from '../domain/guarded-before.ts'
import type { MachineView } from '../domain/snapshot.ts'
import { type FencingView, viewFencing } from '../view/fencing-view.ts'

export interface FencingQuestion {
  readonly api: Pick<KubeApi, 'get' | 'list'>
  readonly clock: Clock
  /** Asked only where there are Machines. */
  readonly operator: (notSeen: string[]) => Promise<OperatorStatus>
  readonly storage: readonly StorageView[]
  readonly ledger: Observed<Ledger>
  readonly signal: AbortSignal
}

type ListAll = <T extends KubeObject>(
  type: ResourceType<T>,
  query?: { readonly namespace?: string; readonly labelSelector?: string },
) => Promise<readonly T[] | undefined>

const osdSelector = 'app=rook-ceph-osd'

/**
 * Machines, budgets and remediators, and what the operator's decision makes of them. Undefined where the API server knows no
 * kind of Machine.
 *
 * Fails closed: without the clusters, nodes, OSDs or budgets there is no answer, rather than one that is too kind; what could
 * not be read is told.
 */
export async function observeFencing(
  { api, clock, operator, storage, ledger, signal }: FencingQuestion,
  notSeen: string[],
): Promise<FencingView | undefined> {
  const all: ListAll = async (type, query = {}) => {
    // So many lists at once would each listen to the one signal, and Node.js warns of more than ten.
    const options = { ...query, signal: AbortSignal.any([signal]) }
    const what = type.group === '' ? type.plural : `${type.plural}.${type.group}`
    return (await ifAllowed(what, notSeen, () => api.list(type, options)))?.items
  }
  const ofClusterApi = async <T extends KubeObject>(type: ResourceType<T>) =>
    (await all(type)) ?? (await all({ ...type, version: olderClusterApiVersion }))
  const [openshift, clusterApi] = await Promise.all([all(openshiftMachines), ofClusterApi(clusterApiMachines)])
  if (openshift === undefined && clusterApi === undefined) return undefined
  const refusedBefore = notSeen.length
  const [clusters, kubeNodes, osdDeployments, osdPods, budgets] = await Promise.all([
    all(cephClusters),
    all(nodes),
    all(deployments, { labelSelector: osdSelector }),
    all(pods, { labelSelector: osdSelector }),
    all(machineDisruptionBudgets),
  ])
  if (notSeen.length > refusedBefore) return undefined
  const { trust } = await observeSettings({ api, signal })
  const areLeasesUsed =
    (await ifAllowed(`namespace ${medik8sLeaseNamespace}`, notSeen, () =>
      api.get(namespaces, { name: medik8sLeaseNamespace }, { signal }),
    )) !== undefined
  const [openshiftChecks, clusterApiChecks, nodeChecks, nodeLeases, { isRunning, renewedAt }] = await Promise.all([
    openshift === undefined ? [] : all(openshiftHealthChecks),
    clusterApi === undefined ? [] : ofClusterApi(clusterApiHealthChecks),
    all(nodeHealthChecks),
    areLeasesUsed ? all(leases, { namespace: medik8sLeaseNamespace }) : undefined,
    operator(notSeen),
  ])
  return viewFencing({
    nowMs: clock.now(),
    openshiftMachines: openshift,
    clusterApiMachines: clusterApi,
    nodes: kubeNodes ?? [],
    budgets: budgets ?? [],
    openshiftHealthChecks: openshiftChecks ?? [],
    clusterApiHealthChecks: clusterApiChecks ?? [],
    nodeHealthChecks: nodeChecks ?? [],
    leases: nodeLeases,
    cephClusters: (clusters ?? []).filter(
      (cluster) => doesCount(trust, nameOf(cluster)) || isGuardedBefore(cluster, budgets ?? []),
    ),
    osdDeployments: osdDeployments ?? [],
    osdPods: osdPods ?? [],
    storage,
    ledger,
    attendance: {
      ...(isRunning === undefined ? {} : { isAttended: isRunning }),
      ...(isRunning === false && renewedAt !== undefined ? { unattendedSince: renewedAt } : {}),
    },
  })
}

/**
 * A machine by its name, of whichever API.
 *
 * @throws CofferdamError OBJECT_NOT_FOUND whose hint is the closest name there is, or why none can be seen
 */
export function findMachine(
  view: FencingView | undefined,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  notSeen: readonly string[],
): { readonly view: FencingView; readonly machine: MachineView } {
  const here = (view?.snapshot.machines ?? []).filter((each) => each.namespace === namespace)
  const machine = here.find((each) => each.name === name)
  if (view !== undefined && machine !== undefined) return { view, machine }
  const closest = closestName(
    name,
    here.map((each) => each.name),
  )
  const object = `${namespace}/${name}`
  const refused = notSeen.length === 0 ? 'the API server knows no kind of Machine' : `not seen: ${notSeen.join('; ')}`
  const known =
    closest === undefined ? `kubectl -n ${namespace} get machines shows those there are` : `did you mean ${closest}?`
  throw new CofferdamError('OBJECT_NOT_FOUND', `there is no Machine ${object}`, {
    facts: { kind: 'Machine', object },
    hint: view === undefined ? refused : known,
  })
}
