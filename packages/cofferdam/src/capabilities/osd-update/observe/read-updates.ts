import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { configMaps } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import { ifReadable } from '@cofferdam/kubernetes/informers/if-readable.ts'
import { doesCount, nameOf } from '../../../shared/ceph-trust/named-clusters.ts'
import { doesRookRun } from '../../../shared/ceph-trust/rook-runs.ts'
import { soleNode } from '../../../shared/node-hostnames.ts'
import { indexOfOsd } from '../../../shared/parse-osd.ts'
import type { ReadPorts } from '../../ports.ts'
import { decideGrowth, type GrowthDecision } from '../domain/decide-growth.ts'
import { growthMode } from '../domain/growth-snapshot.ts'
import { osdPaceOf, pacedOsd } from '../domain/pace-osds.ts'
import type { PaceState } from '../domain/pace-state.ts'
import { parseUpdateObjects } from '../domain/parse-update-objects.ts'
import { parseRestartRequest } from '../domain/restart-request.ts'
import type { UpdatableOsd, UpdatedCluster } from '../domain/snapshot.ts'
import { isBesideRook, updateModeOf } from '../domain/update-mode.ts'
import { updateRecordName } from '../domain/update-record.ts'
import { parseUpdateReport } from '../domain/update-report.ts'
import type { SeenUpdate } from '../view/summarize-update.ts'
import { type GrowthViews, observeGrowth } from './growth.ts'
import type { OsdUpdateViews } from './observe.ts'
import { openGrowthViews, openUpdateViews, type UpdateViewPorts } from './views.ts'

export interface UpdateReadPorts extends ReadPorts, Pick<UpdateViewPorts, 'views'> {}

interface Opened {
  readonly update: OsdUpdateViews
  readonly growth: GrowthViews
}

/**
 * What is on record about the updates of Ceph clusters, and what their OSDs say. Missing rights are noted, not fatal.
 *
 * `namespace` is that of the clusters that are asked about; undefined: all.
 */
export async function readUpdates(read: UpdateReadPorts, namespace?: string): Promise<readonly SeenUpdate[]> {
  const { informers, cephViews } = read
  const clusters = cephViews.all.clusters()
  await informers.settled()
  const owned = [...clusters.list()].filter(
    ({ metadata, spec }) =>
      spec?.external?.enable !== true && (namespace === undefined || metadata.namespace === namespace),
  )
  if (owned.length === 0) return []
  const opened = { update: openUpdateViews(read), growth: openGrowthViews(read) }
  const { operators } = cephViews.rook()
  await informers.settled()
  const { isRunning } = await read.operator()
  return Promise.all(
    owned.map(async (cluster): Promise<SeenUpdate> => {
      const isNamed = doesCount(read.settings.trust, nameOf(cluster))
      const { namespace: place = '' } = cluster.metadata
      const osds = isNamed ? ifReadable(() => opened.update.osdDeployments.byIndex('namespace', place)) : undefined
      const mode = isNamed ? modeOf(cluster, osds, operators.synced ? [...operators.list()] : undefined, read) : 'off'
      const report = await readReport(cluster, read)
      return {
        cluster,
        mode,
        isNamed,
        report,
        osds:
          mode === undefined || osds === undefined
            ? undefined
            : osdsOf(cluster, osds, { mode, opened, read, pace: report?.pace }),
        growth: mode === 'own' && osds !== undefined ? growthOf(cluster, opened.growth, read) : undefined,
        isAttended: isRunning,
      }
    }),
  )
}

async function readReport(cluster: CephCluster, { api, clock, notSeen, signal }: ReadPorts) {
  const { namespace = '', name } = cluster.metadata
  const key = { namespace, name: updateRecordName({ name }) }
  const record = await ifAllowed(`configmap ${namespace}/${key.name}`, notSeen, () =>
    api.get(configMaps, key, { signal }),
  )
  return record && parseUpdateReport(record, clock.now())
}

function modeOf(
  cluster: CephCluster,
  osds: readonly Deployment[] | undefined,
  rook: readonly Deployment[] | undefined,
  { settings: { trust } }: ReadPorts,
): UpdatedCluster['mode'] | undefined {
  if (rook === undefined) return undefined
  const id = nameOf(cluster)
  const rookRuns = doesRookRun(id, rook, () => (trust === undefined ? undefined : osds))
  return updateModeOf(cluster, { trust, rookRuns }).mode
}

function osdsOf(
  cluster: CephCluster,
  deployments: readonly Deployment[],
  {
    mode,
    opened: { update },
    read,
    pace,
  }: {
    readonly mode: UpdatedCluster['mode']
    readonly opened: Opened
    readonly read: ReadPorts
    readonly pace: PaceState | undefined
  },
): readonly UpdatableOsd[] | undefined {
  const restartAskedMs = parseRestartRequest(cluster, read.clock.now()).dueMs
  if (restartAskedMs !== undefined && !update.osdPods.synced) return undefined
  const { osds } = parseUpdateObjects({
    deployments,
    pods: deployments.flatMap((deployment) => update.osdPods.byIndex('osd', indexOfOsd(deployment)[0] ?? '')),
    cluster,
    restartAskedMs,
    isBesideRook: isBesideRook(mode),
    ...(update.nodes.synced && {
      nodeOf: (hostname: string) => soleNode(hostname, update.nodes.byIndex('hostname', hostname)),
    }),
  })
  if (mode !== 'pace' || pace === undefined) return osds
  const byName = new Map(deployments.map((deployment) => [deployment.metadata.name, deployment]))
  return osds.map((osd) => {
    const deployment = byName.get(osd.deployment)
    if (deployment === undefined) return osd
    const seen = { ...osd, pace: osdPaceOf(deployment, cluster) }
    const paced = pacedOsd(seen, { pace, noteMs: undefined, nowMs: read.clock.now() })
    return { ...paced, needsUpdate: paced.needsUpdate || osd.needsUpdate }
  })
}

/** Undefined where OSDs are not added by the operator, or where something that counts may not be read. */
function growthOf(
  cluster: CephCluster,
  views: GrowthViews,
  { settings: { trust } }: ReadPorts,
): GrowthDecision | undefined {
  if (trust === undefined || !growthMode(cluster, { trust, rookRuns: false }).isOn || !views.nodes.synced) {
    return undefined
  }
  return ifReadable(() => decideGrowth(observeGrowth(views, cluster).snapshot))
}
