import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { type ParsedUpdateSettings, parseUpdateSettings } from '../../capabilities/osd-update/domain/update-settings.ts'
import { observeCeph } from '../../ceph/observe-ceph.ts'
import type { PlanSource } from '../../ceph/saved/parse-ceph-answers.ts'
import { parseDisruptionSettings } from '../../safety/ceph-settings.ts'
import { countedMap, ignoredPoolProblems } from '../../safety/ignored-pools.ts'
import type { ObjectProblem } from '../../shared/object-problem.ts'
import type { GlobalFlags } from '../command.ts'
import type { ClusterLink, Connect } from '../connect.ts'
import type { CephFlags, CephLink } from '../operator/ceph-link.ts'

export interface PlanLinks {
  readonly connect: Connect
  /** The ways to Ceph; whoever opens them closes them. */
  readonly openCeph: (link: ClusterLink, flags: CephFlags) => CephLink
}

type LiveFlags = GlobalFlags & CephFlags & { readonly clusterName?: string }

/** Reads the map and the settings of one CephCluster as the operator does. */
export async function observePlanSource(
  { connect, openCeph }: PlanLinks,
  flags: LiveFlags,
  signal: AbortSignal,
): Promise<{
  readonly source: PlanSource
  readonly parsed: ParsedUpdateSettings
  readonly warnings: readonly ObjectProblem[]
}> {
  const link = await connect(flags)
  try {
    const cluster = await findCluster(link, flags, signal)
    const { namespace = '', name } = cluster.metadata
    const ceph = openCeph(link, flags)
    try {
      const commands = ceph.of({ namespace, name })
      const map = await observeCeph(commands, { ...ceph.parsers, signal })
      if (!map.known) {
        throw new CofferdamError(
          'CEPH_UNREACHABLE',
          `the map of CephCluster ${namespace}/${name} is not known: ${map.why}`,
          {
            hint: 'A running rook-ceph-tools pod in its namespace is needed, or --ceph-conf; or save the answers and use --from.',
          },
        )
      }
      const { ignoredPools } = parseDisruptionSettings(cluster)
      const counted = countedMap(map.value, ignoredPools)
      return {
        source: { map: counted, sites: counted.sites ?? [] },
        parsed: parseUpdateSettings(cluster),
        warnings: ignoredPoolProblems(ignoredPools, counted),
      }
    } finally {
      await ceph.close()
    }
  } finally {
    await link.close()
  }
}

async function findCluster({ api }: ClusterLink, flags: LiveFlags, signal: AbortSignal): Promise<CephCluster> {
  const { namespace, clusterName } = flags
  const where = namespace === undefined ? 'in the cluster' : `in namespace ${namespace}`
  const all = await list()
  const inside = all.filter(({ spec }) => spec?.external?.enable !== true)
  const fitting = inside.filter(({ metadata }) => clusterName === undefined || metadata.name === clusterName)
  const [only, another] = fitting
  if (only === undefined) {
    const wanted = clusterName === undefined ? 'no CephCluster' : `no CephCluster ${clusterName}`
    const external = all.length > inside.length ? '; those that are external have their OSDs elsewhere' : ''
    throw new CofferdamError('OBJECT_NOT_FOUND', `there is ${wanted} ${where}${external}`, {
      hint: inside.length > 0 ? `there is ${names(inside)}` : 'kubectl get cephclusters -A shows those there are',
    })
  }
  if (another !== undefined) {
    throw new CofferdamError('USAGE', `there are ${fitting.length} CephClusters ${where}: ${names(fitting)}`, {
      hint: 'choose one with -n NAMESPACE, or with --cluster-name NAME',
    })
  }
  return only

  async function list(): Promise<readonly CephCluster[]> {
    try {
      const { items } = await api.list(cephClusters, namespace === undefined ? { signal } : { namespace, signal })
      return items
    } catch (error) {
      // Without Rook there is no such kind.
      if (hasReason(error, 'NotFound')) return []
      throw error
    }
  }
}

function names(clusters: readonly CephCluster[]): string {
  return clusters.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).join(', ')
}
