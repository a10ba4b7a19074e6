import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { rookOperatorSelector } from '@cofferdam/kubernetes/api/kinds/rook-operator.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { configMaps, deployments, jobs, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumeClaims } from '@cofferdam/kubernetes/api/storage.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { observeSettings } from '../../../ledger/store/observe-settings.ts'
import { type CephTrust, doesCount, isRooksAsPublished, nameOf } from '../../../shared/ceph-trust/named-clusters.ts'
import { doesRookRun } from '../../../shared/ceph-trust/rook-runs.ts'
import { nodesByHostname } from '../../../shared/node-hostnames.ts'
import type { OperatorStatus } from '../../../shared/operator-status.ts'
import { decideGrowth, type GrowthDecision } from '../domain/decide-growth.ts'
import { claimLabels } from '../domain/growth-places.ts'
import { growthMode, growthSnapshotOf, prepareApp } from '../domain/growth-snapshot.ts'
import { parseOsdNode, parseUpdateObjects } from '../domain/parse-update-objects.ts'
import { parseRestartRequest } from '../domain/restart-request.ts'
import type { UpdatableOsd, UpdatedCluster } from '../domain/snapshot.ts'
import { updateModeOf } from '../domain/update-mode.ts'
import { updateRecordName } from '../domain/update-record.ts'
import { parseUpdateReport } from '../domain/update-report.ts'
import type { SeenUpdate } from '../view/summarize-update.ts'

export interface UpdateQuestion {
  readonly api: Pick<KubeApi, 'get' | 'list'>
  readonly clock: Clock
  readonly operator: (notSeen: string[]) => Promise<OperatorStatus>
  /** Of the clusters that are asked about; undefined: all. */
  readonly namespace?: string
  readonly signal: AbortSignal
}

const osdSelector = 'app=rook-ceph-osd'

/** What is on record about the updates of Ceph clusters, and what their OSDs say. Missing rights are told, not fatal. */
export async function observeUpdates(question: UpdateQuestion, notSeen: string[]): Promise<readonly SeenUpdate[]> {
  const { namespace } = question
  const read = readerOf(question, notSeen)
  const clusters = (await read(cephClusters, namespace === undefined ? {} : { namespace })) ?? []
  const owned = clusters.filter(({ spec }) => spec?.external?.enable !== true)
  if (owned.length === 0) return []
  const [operator, { trust }, rook, machines] = await Promise.all([
    question.operator(notSeen),
    observeSettings(question),
    read(deployments, { labelSelector: rookOperatorSelector }),
    read(nodes),
  ])
  return Promise.all(
    owned.map((cluster) => {
      const isNamed = doesCount(trust, nameOf(cluster))
      const place = { cluster, isNamed, machines, trust, rook, isAttended: operator.isRunning }
      return observeUpdate(place, question, notSeen)
    }),
  )
}

interface Place extends Pick<SeenUpdate, 'cluster' | 'isNamed' | 'isAttended'> {
  readonly trust: CephTrust | undefined
  /** Rook's own operators; undefined where they may not be read. */
  readonly rook: readonly Deployment[] | undefined
  readonly machines: readonly Node[] | undefined
}

async function observeUpdate(place: Place, question: UpdateQuestion, notSeen: string[]): Promise<SeenUpdate> {
  const { api, clock, signal } = question
  const { cluster, isNamed, isAttended } = place
  const { namespace = '', name } = cluster.metadata
  const key = { namespace, name: updateRecordName({ name }) }
  const read = readerOf(question, notSeen)
  const restartAskedMs = parseRestartRequest(cluster, clock.now()).dueMs
  const [record, osds, osdPods] = await Promise.all([
    ifAllowed(`configmap ${namespace}/${key.name}`, notSeen, () => api.get(configMaps, key, { signal })),
    read(deployments, { namespace, labelSelector: osdSelector }),
    restartAskedMs === undefined ? [] : read(pods, { namespace, labelSelector: osdSelector }),
  ])
  const mode = modeOf(place, osds)
  const nodeOf = place.machines && nodesByHostname(place.machines.map(parseOsdNode))
  const parse = (mode: UpdatedCluster['mode'], own: readonly Deployment[]): readonly UpdatableOsd[] =>
    parseUpdateObjects({
      deployments: own,
      pods: osdPods ?? [],
      cluster,
      restartAskedMs,
      isBesideRook: mode === 'beside-rook',
      ...(nodeOf !== undefined && { nodeOf }),
    }).osds
  return {
    cluster,
    mode,
    isNamed,
    report: record && parseUpdateReport(record, clock.now()),
    osds: mode === undefined || osds === undefined || osdPods === undefined ? undefined : parse(mode, osds),
    growth: mode === 'own' && osds !== undefined ? await observeGrowth(place, osds, read) : undefined,
    isAttended,
  }
}

function modeOf(
  { cluster, isNamed, trust, rook }: Place,
  osds: readonly Deployment[] | undefined,
): UpdatedCluster['mode'] | undefined {
  if (!isNamed) return 'off'
  if (rook === undefined) return undefined
  const id = nameOf(cluster)
  const rookRuns = doesRookRun(id, rook, () => (trust === undefined ? undefined : osds))
  return updateModeOf(cluster, { besideRook: isRooksAsPublished(trust, id, { rookRuns }) })
}

/** Undefined where OSDs are not added by us, or where something that counts may not be read. */
async function observeGrowth(
  { cluster, machines, trust }: Place,
  osds: readonly Deployment[],
  read: Read,
): Promise<GrowthDecision | undefined> {
  if (trust === undefined || !growthMode(cluster, { trust, rookRuns: false }).isOn) return undefined
  const { namespace = '' } = cluster.metadata
  const hasSets = (cluster.spec?.storage?.storageClassDeviceSets ?? []).length > 0
  const [prepareJobs, statuses, claims] = await Promise.all([
    read(jobs, { namespace, labelSelector: `app=${prepareApp}` }),
    read(configMaps, { namespace, labelSelector: osdSelector }),
    hasSets ? read(persistentVolumeClaims, { namespace, labelSelector: claimLabels.set }) : [],
  ])
  if (machines === undefined || prepareJobs === undefined || statuses === undefined || claims === undefined)
    return undefined
  const objects = { nodes: machines, jobs: prepareJobs, configMaps: statuses, claims }
  return decideGrowth(growthSnapshotOf({ cluster, deployments: osds, ...objects }))
}

type Read = <T extends KubeObject>(
  type: ResourceType<T>,
  query?: { readonly namespace?: string; readonly labelSelector?: string },
) => Promise<readonly T[] | undefined>

function readerOf({ api, signal }: UpdateQuestion, notSeen: string[]): Read {
  return async (type, query = {}) => {
    // Each list listens to its signal, and Node.js warns of more than ten on one.
    const options = { ...query, signal: AbortSignal.any([signal]) }
    const what = type.group === '' ? type.plural : `${type.plural}.${type.group}`
    return (await ifAllowed(what, notSeen, () => api.list(type, options)))?.items
  }
}
