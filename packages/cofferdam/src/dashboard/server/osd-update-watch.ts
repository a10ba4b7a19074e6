import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { ConfigMap, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { rookOperatorSelector } from '@cofferdam/kubernetes/api/kinds/rook-operator.ts'
import { conditionOf, type KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { configMaps, deployments, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { withoutManagedFields } from '@cofferdam/kubernetes/api/without-managed-fields.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { createOptionalCache } from '@cofferdam/kubernetes/informers/optional-cache.ts'
import { createWatchCache, type WatchCache } from '@cofferdam/kubernetes/informers/watch-cache.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import { parseOsdNode } from '../../capabilities/osd-update/domain/parse-update-objects.ts'
import { parseRestartRequest } from '../../capabilities/osd-update/domain/restart-request.ts'
import { updateModeOf } from '../../capabilities/osd-update/domain/update-mode.ts'
import { updateRecordName } from '../../capabilities/osd-update/domain/update-record.ts'
import { parseUpdateReport } from '../../capabilities/osd-update/domain/update-report.ts'
import { parseSettings, settingsAnnotation } from '../../ledger/rules/published-settings.ts'
import { doesCount, nameOf } from '../../shared/ceph-trust/named-clusters.ts'
import { doesRookRun } from '../../shared/ceph-trust/rook-runs.ts'
import { disruptionLedgers, ledgerName } from '../../shared/kinds/disruption-ledger.ts'
import { soleNode } from '../../shared/node-hostnames.ts'
import { buildUpdateParts, type UpdatePart } from './osd-update-overview.ts'
import { createOsdReader } from './placed-osds.ts'
import { createSettledWatch, type SettledWatch } from './settled-watch.ts'

interface Shared {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
}

const ofOsds = 'app=rook-ceph-osd'

/** Follows what is on record about updates of OSDs, and the OSDs. Where nothing was ever updated it is empty. */
export function createOsdUpdateWatch(shared: Shared): SettledWatch<UpdatePart> {
  const clusters = createOptionalCache<CephCluster>({ ...shared, type: cephClusters, project: withoutStatus })
  const records = followRecords(shared, clusters)
  const osds = createWatchCache<Deployment>({
    ...shared,
    type: deployments,
    labelSelector: ofOsds,
    project: withoutManagedFields,
    indexes: { namespace: inNamespace },
  })
  const osdPods = createWatchCache<Pod>({
    ...shared,
    type: pods,
    labelSelector: ofOsds,
    project: placeAndAge,
    indexes: { namespace: inNamespace },
  })
  const ledgers = createOptionalCache({
    ...shared,
    type: disruptionLedgers,
    project: (ledger) => ({ settings: ledger.metadata.annotations?.[settingsAnnotation] }),
  })
  const publishedTrust = () => {
    const settings = parseSettings(ledgers.get({ name: ledgerName })?.settings)
    return settings.known ? settings.value.trust : undefined
  }
  const operators = createWatchCache({
    ...shared,
    type: deployments,
    labelSelector: rookOperatorSelector,
    project: ({ metadata: { name, namespace = '' }, spec: { replicas = 1, selector, template } }) => ({
      metadata: { name, namespace },
      spec: { replicas, selector, template },
    }),
  })

  const machines = createWatchCache({
    ...shared,
    type: nodes,
    project: parseOsdNode,
    indexes: { hostname: ({ hostname }) => [hostname] },
  })
  const lookUp = () => (hostname: string) => soleNode(hostname, machines.byIndex('hostname', hostname))
  let nodeOf = lookUp()
  machines.subscribe(() => {
    nodeOf = lookUp()
  })
  const readers = new Map<string, ReturnType<typeof createOsdReader>>()

  const partsOf = (cluster: CephCluster): readonly UpdatePart[] => {
    const nowMs = shared.clock.now()
    if (!doesCount(publishedTrust(), nameOf(cluster))) return []
    const configMap = records.of(cluster)
    const report = configMap && parseUpdateReport(configMap, nowMs)
    if (report === undefined) return []
    const { namespace = '' } = cluster.metadata
    const of = keyText(keyOf(cluster))
    const readOsds = readers.get(of) ?? createOsdReader()
    readers.set(of, readOsds)
    const seen = readOsds({
      cluster,
      deployments: osds.byIndex('namespace', namespace),
      pods: osdPods.byIndex('namespace', namespace),
      mode: updateModeOf(cluster, {
        trust: publishedTrust(),
        rookRuns: doesRookRun(nameOf(cluster), operators.list(), () => osds.byIndex('namespace', namespace)),
      }).mode,
      restartAskedMs: parseRestartRequest(cluster, nowMs).dueMs,
      nodeOf,
    })
    return buildUpdateParts({ of, report, osds: seen })
  }
  const sources = [clusters, records, osds, osdPods, operators, machines, ledgers]
  return createSettledWatch({
    clock: shared.clock,
    sources,
    stop: () => Promise.all(sources.map((source) => source.stop())),
    observe() {
      const parts = [...clusters.list()].flatMap(partsOf)
      for (const key of readers.keys()) if (!parts.some(({ of }) => of === key)) readers.delete(key)
      return new Map(parts.map((part) => [part.id, part]))
    },
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
      project: withoutManagedFields,
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

/** Rook writes down now and then how a cluster is, which says nothing of what its OSDs should be. */
function withoutStatus(object: CephCluster): CephCluster {
  const { status: _, ...cluster } = object
  const { managedFields: __, resourceVersion: ___, ...metadata } = cluster.metadata
  return { ...cluster, metadata }
}

function placeAndAge(pod: Pod): Pod {
  const { apiVersion, kind, metadata, spec } = pod
  const { name, namespace, labels, creationTimestamp, deletionTimestamp } = metadata
  const ready = conditionOf(pod, 'Ready')
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
    ...(ready === undefined ? {} : { status: { conditions: [{ type: ready.type, status: ready.status }] } }),
  }
}
