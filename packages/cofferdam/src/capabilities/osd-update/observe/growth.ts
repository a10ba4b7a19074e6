import type { Deployment, Job } from '@cofferdam/kubernetes/api/apps.ts'
import type { ConfigMap, Node } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { PersistentVolumeClaim } from '@cofferdam/kubernetes/api/storage.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import { closingFieldsOf } from '../../../shared/closed-node.ts'
import type { GrowthSnapshot } from '../domain/decide-growth.ts'
import type { ObservedGrowth } from '../domain/decide-growth-pass.ts'
import { disksAnnotation, prepareAgainAnnotation } from '../domain/growth-places.ts'
import { growthSnapshotOf } from '../domain/growth-snapshot.ts'

/** All but nodes are indexed by `namespace`. */
export interface GrowthViews {
  readonly clusters: WatchView<CephCluster>
  readonly nodes: WatchView<Node>
  /** Prepare Jobs only. */
  readonly jobs: WatchView<Job>
  /** ConfigMaps with the label `app=rook-ceph-osd`, whole but for managed fields, for they are written back. */
  readonly statuses: WatchView<ConfigMap>
  readonly osdDeployments: WatchView<Deployment>
  /** Claims of device sets. */
  readonly claims: WatchView<PersistentVolumeClaim>
}

/** One snapshot of a cluster. Nothing is asked: everything comes from views, and from what Ceph said if that was asked before. */
export function observeGrowth(views: GrowthViews, cluster: CephCluster, ceph?: GrowthSnapshot['ceph']): ObservedGrowth {
  const { namespace = '' } = cluster.metadata
  const nodes = [...views.nodes.list()]
  const jobs = views.jobs.byIndex('namespace', namespace)
  const configMaps = views.statuses.byIndex('namespace', namespace)
  return {
    snapshot: growthSnapshotOf({
      cluster,
      nodes,
      jobs,
      configMaps,
      deployments: views.osdDeployments.byIndex('namespace', namespace),
      claims: views.claims.byIndex('namespace', namespace),
      ...(ceph !== undefined && { ceph }),
    }),
    nodes,
    jobs: byName(jobs),
    statuses: byName(configMaps),
  }
}

/** What a decision about growth rests on in the cluster itself; where it differs the decision is void. */
export function wishOf({ metadata }: CephCluster): string {
  const { uid, generation, deletionTimestamp, annotations = {} } = metadata
  return JSON.stringify([uid, generation, deletionTimestamp, annotations[prepareAgainAnnotation]])
}

/** What growth reads of a node; a kubelet's status reports are no relevant change. */
export function slimGrowthNode({ apiVersion, kind, metadata, spec = {}, status }: Node): Node {
  const { name, labels, annotations = {}, deletionTimestamp } = metadata
  const disks = annotations[disksAnnotation]
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(labels !== undefined && { labels }),
      ...(disks !== undefined && { annotations: { [disksAnnotation]: disks } }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
    spec: closingFieldsOf({ spec }),
    status: { conditions: ready === undefined ? [] : [{ type: 'Ready', status: ready.status }] },
  }
}

function byName<T extends { readonly metadata: { readonly name: string } }>(
  objects: readonly T[],
): ReadonlyMap<string, T> {
  return new Map(objects.map((object) => [object.metadata.name, object]))
}
