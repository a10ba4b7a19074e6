import { configMaps, deployments } from '../api/resources.ts'
import { type CephCluster, cephClusters } from '../api/rook.ts'
import { rookOperatorSelector } from '../api/rook-operator.ts'
import type { SeenUpdate } from '../domain/explain/summarize-update.ts'
import { parseUpdateObjects } from '../domain/osd-update/parse-update-objects.ts'
import { updateModeOf } from '../domain/osd-update/update-mode.ts'
import { updateRecordName } from '../domain/osd-update/update-record.ts'
import { parseUpdateReport } from '../domain/osd-update/update-report.ts'
import type { KubeApi } from '../kube/kube-api.ts'
import type { Clock } from '../runtime/clock.ts'
import { ifAllowed } from './if-allowed.ts'
import type { OperatorStatus } from './observe-operator.ts'

export interface UpdateQuestion {
  readonly api: Pick<KubeApi, 'get' | 'list'>
  readonly clock: Clock
  readonly operator: OperatorStatus
  readonly signal: AbortSignal
}

/** What is on record about the updates of every Ceph cluster, and what its OSDs say. Missing rights are told, not fatal. */
export async function observeUpdates(question: UpdateQuestion, notSeen: string[]): Promise<readonly SeenUpdate[]> {
  const { api, signal } = question
  const clusters = await ifAllowed('cephclusters.ceph.rook.io', notSeen, () => api.list(cephClusters, { signal }))
  const owned = (clusters?.items ?? []).filter(({ spec }) => spec?.external?.enable !== true)
  if (owned.length === 0) return []
  const rook = await ifAllowed('deployments.apps', notSeen, () =>
    api.list(deployments, { labelSelector: rookOperatorSelector, signal }),
  )
  const besideRook = rook?.items.some(({ spec }) => (spec.replicas ?? 1) > 0)
  return Promise.all(owned.map((cluster) => observeUpdate({ cluster, besideRook }, question, notSeen)))
}

async function observeUpdate(
  { cluster, besideRook }: { readonly cluster: CephCluster; readonly besideRook: boolean | undefined },
  { api, clock, operator, signal }: UpdateQuestion,
  notSeen: string[],
): Promise<SeenUpdate> {
  const { namespace = '', name } = cluster.metadata
  const key = { namespace, name: updateRecordName({ name }) }
  const [record, osds] = await Promise.all([
    ifAllowed(`configmap ${namespace}/${key.name}`, notSeen, () => api.get(configMaps, key, { signal })),
    ifAllowed(`deployments.apps of ${namespace}`, notSeen, () =>
      api.list(deployments, { namespace, labelSelector: 'app=rook-ceph-osd', signal }),
    ),
  ])
  return {
    cluster,
    mode: besideRook === undefined ? undefined : updateModeOf(cluster, { besideRook }),
    report: record && parseUpdateReport(record, clock.now()),
    osds: osds && parseUpdateObjects({ deployments: osds.items, pods: [], cluster }).osds,
    growth: undefined,
    isAttended: operator.isRunning,
  }
}
