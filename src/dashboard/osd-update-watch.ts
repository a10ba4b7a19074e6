import type { Deployment } from '../api/apps.ts'
import type { ConfigMap, Pod } from '../api/core.ts'
import type { KubeObject } from '../api/kube-object.ts'
import { keyOf, keyText } from '../api/resource-type.ts'
import { configMaps, deployments, pods } from '../api/resources.ts'
import { type CephCluster, cephClusters } from '../api/rook.ts'
import { rookOperatorSelector } from '../api/rook-operator.ts'
import { parseUpdateObjects } from '../domain/osd-update/parse-update-objects.ts'
import { parseUpdateRecord, updateRecordName } from '../domain/osd-update/update-record.ts'
import { parseUpdateReport } from '../domain/osd-update/update-report.ts'
import type { KubeApi } from '../kube/kube-api.ts'
import { createOptionalCache } from '../kube/optional-cache.ts'
import { createWatchCache, type WatchCache } from '../kube/watch-cache.ts'
import type { WatchView } from '../kube/watch-view.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Random } from '../runtime/random.ts'
import { buildUpdatePieces, type UpdatePiece } from './osd-update-board.ts'
import { createSettledWatch, type SettledWatch } from './settled-watch.ts'

interface Shared {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
}

const ofOsds = 'app=rook-ceph-osd'

/** Follows what is on record about updates of OSDs, and the OSDs. Where nothing was ever updated it is empty. */
export function createOsdUpdateWatch(shared: Shared): SettledWatch<UpdatePiece> {
  const clusters = createOptionalCache<CephCluster>({ ...shared, type: cephClusters, project: withoutNoise })
  const records = followRecords(shared, clusters)
  const osds = createWatchCache<Deployment>({
    ...shared,
    type: deployments,
    labelSelector: ofOsds,
    project: withoutNoise,
    indexes: { namespace: inNamespace },
  })
  const osdPods = createWatchCache<Pod>({
    ...shared,
    type: pods,
    labelSelector: ofOsds,
    project: placeAndAge,
    indexes: { namespace: inNamespace },
  })
  const operators = createWatchCache({
    ...shared,
    type: deployments,
    labelSelector: rookOperatorSelector,
    project: ({ spec }) => ({ replicas: spec.replicas ?? 1 }),
  })

  const lookAt = (cluster: CephCluster): readonly UpdatePiece[] => {
    const configMap = records.of(cluster)
    const report = configMap && parseUpdateReport(configMap, shared.clock.now())
    if (configMap === undefined || report === undefined) return []
    const parsed = parseUpdateRecord(configMap.data ?? {}, 0)
    const record = 'record' in parsed ? parsed.record : undefined
    const { namespace = '' } = cluster.metadata
    const own = { deployments: osds.byIndex('namespace', namespace), pods: osdPods.byIndex('namespace', namespace) }
    const isBesideRook = operators.list().some(({ replicas }) => replicas > 0)
    return buildUpdatePieces({
      ...own,
      of: keyText(keyOf(cluster)),
      report,
      osds: parseUpdateObjects({
        ...own,
        cluster,
        // Beside Rook an update is a restart, and its record bears the time that was asked for.
        ...(isBesideRook && { besideRook: { restartAskedMs: record?.generation } }),
      }).osds,
    })
  }
  return createSettledWatch({
    clock: shared.clock,
    sources: [clusters, records, osds, osdPods, operators],
    look: () => new Map([...clusters.list()].flatMap(lookAt).map((piece) => [piece.id, piece])),
  })
}

interface Records extends Pick<WatchView<ConfigMap>, 'synced' | 'subscribe'> {
  of(cluster: CephCluster): ConfigMap | undefined
  stop(): Promise<void>
}

/** The ConfigMap of each cluster by its name, for a cluster may be full of others. */
function followRecords(
  shared: Shared,
  clusters: Pick<WatchView<CephCluster>, 'synced' | 'list' | 'subscribe'>,
): Records {
  const caches = new Map<string, WatchCache<ConfigMap>>()
  const listeners = new Set<Parameters<Records['subscribe']>[0]>()
  const stopped: Promise<void>[] = []
  const unsubscribe = clusters.subscribe((change) => {
    const { key } = change
    if (change.type === 'removed') {
      const cache = caches.get(key)
      caches.delete(key)
      if (cache !== undefined) stopped.push(cache.stop())
    } else if (!caches.has(key)) caches.set(key, follow(change.value))
  })
  const follow = ({ metadata }: CephCluster) =>
    createWatchCache<ConfigMap>({
      ...shared,
      type: configMaps,
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      fieldSelector: `metadata.name=${updateRecordName(metadata)}`,
      project: withoutNoise,
      onChange: (change) => {
        for (const listener of listeners) listener(change)
      },
    })
  return {
    get synced() {
      return clusters.synced && [...caches.values()].every(({ synced }) => synced)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    of: (cluster) => caches.get(keyText(keyOf(cluster)))?.list()[0],
    async stop() {
      unsubscribe()
      await Promise.all([...stopped, ...[...caches.values()].map((cache) => cache.stop())])
    },
  }
}

function inNamespace({ metadata }: KubeObject): readonly string[] {
  return [metadata.namespace ?? '']
}

/** Counts of pods change all the time, and nothing here rests on them. */
function withoutNoise<T extends KubeObject & { readonly status?: unknown }>({ status: _, ...object }: T): T {
  const { managedFields: __, resourceVersion: ___, ...metadata } = object.metadata
  return { ...object, metadata } as unknown as T
}

function placeAndAge({ apiVersion, kind, metadata, spec }: Pod): Pod {
  const { name, namespace, labels, creationTimestamp, deletionTimestamp } = metadata
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec: { containers: [], ...(spec.nodeName === undefined ? {} : { nodeName: spec.nodeName }) },
  }
}
