import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { medik8sLeaseNamespace } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import type { FencingObjects } from '../../capabilities/fencing/domain/parse-fencing.ts'
import { readFencing } from '../../capabilities/fencing/observe/read-fencing.ts'
import type { FencingView } from '../../capabilities/fencing/view/fencing-view.ts'
import type { Ledger } from '../../ledger/rules/ledger.ts'
import { openReader } from '../../observe/reader.ts'
import type { Attendance } from '../../shared/attendance.ts'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import type { Observed } from '../../shared/observed.ts'
import type { StorageView } from '../../shared/storage-view.ts'

/** What is in the cluster, and what is on record of it. */
export interface FencingSeen extends Omit<FencingObjects, 'clusters' | 'reboots'> {
  readonly requests?: readonly NodeDisruption[]
  readonly cephClusters: readonly CephCluster[]
  readonly osdDeployments: readonly Deployment[]
  readonly osdPods: readonly Pod[]
  readonly storage: readonly StorageView[]
  readonly ledger: Observed<Ledger>
  readonly attendance: Attendance
}

/** As a command reads and decides it from a cluster that has just these objects. */
export async function viewListedFencing(seen: FencingSeen): Promise<FencingView | undefined> {
  const { storage, ledger, attendance } = seen
  const listed: Readonly<Record<string, readonly KubeObject[] | undefined>> = {
    'machines.machine.openshift.io': seen.openshiftMachines,
    'machines.cluster.x-k8s.io': seen.clusterApiMachines,
    'machinehealthchecks.machine.openshift.io': seen.openshiftHealthChecks,
    'machinehealthchecks.cluster.x-k8s.io': seen.clusterApiHealthChecks,
    'nodehealthchecks.remediation.medik8s.io': seen.nodeHealthChecks,
    'machinedisruptionbudgets.healthchecking.openshift.io': seen.budgets,
    'cephclusters.ceph.rook.io': seen.cephClusters,
    'nodedisruptions.cofferdam.io': seen.requests,
    'leases.coordination.k8s.io': seen.leases,
    'nodes.': seen.nodes,
    'namespaces.':
      seen.leases === undefined
        ? []
        : [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: medik8sLeaseNamespace } }],
    'deployments.apps app=rook-ceph-osd': seen.osdDeployments,
    'pods. app=rook-ceph-osd': seen.osdPods,
  }
  const absent = () => Promise.reject(new ApiError('NotFound', 'not here'))
  const api = {
    get: absent,
    list: async (...[type, query]: Parameters<KubeApi['list']>) => {
      const isDaemon = type.plural === 'deployments' || type.plural === 'pods'
      const items = listed[[`${type.plural}.${type.group}`, ...(isDaemon ? [query?.labelSelector] : [])].join(' ')]
      if (items === undefined && !isDaemon) return absent()
      const isThere = ({ metadata }: KubeObject) =>
        query?.namespace === undefined || metadata.namespace === query.namespace
      return { items: (items ?? []).filter(isThere) }
    },
  } as unknown as KubeApi
  const read = await openReader({
    api,
    clock: new VirtualClock(seen.nowMs),
    leaseNamespace: '',
    signal: new AbortController().signal,
  })
  const { isAttended, unattendedSince } = attendance
  const operator = {
    ...(isAttended !== undefined && { isRunning: isAttended }),
    ...(unattendedSince !== undefined && { renewedAt: unattendedSince }),
  }
  return readFencing({ ...read, operator: async () => operator }, { storage, ledger })
}
