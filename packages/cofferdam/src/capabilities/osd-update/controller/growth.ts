import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { ViewChange } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import { followClusters, splitKey } from '../../../ceph/reader/follow-clusters.ts'
import type { RookPresence } from '../../../ceph/reader/rook-presence.ts'
import type { CephTrust } from '../../../shared/ceph-trust/named-clusters.ts'
import type { Permission } from '../../../shared/permission.ts'
import { performPass } from '../../interpreter.ts'
import { type PerformGrowthPorts, performGrowth } from '../apply/perform-growth.ts'
import { decideGrowthPass } from '../domain/decide-growth-pass.ts'
import { growthMode } from '../domain/growth-snapshot.ts'
import { isRightMissing } from '../domain/start-outcome.ts'
import type { GrowthViews } from '../observe/growth.ts'
import { GrowthPass } from '../observe/growth-pass.ts'
import { type GrowthReports, OsdGrowthReporter } from '../report/growth.ts'

export const osdGrowthPermissions: readonly Permission[] = [
  { group: 'ceph.rook.io', resource: 'cephclusters', verbs: ['list', 'watch'] },
  { group: '', resource: 'nodes', verbs: ['list', 'watch'] },
  { group: 'batch', resource: 'jobs', grantedBy: 'ceph-grow-osds', verbs: ['list', 'watch', 'create', 'delete'] },
  {
    group: '',
    resource: 'configmaps',
    grantedBy: 'ceph-grow-osds',
    verbs: ['list', 'watch', 'create', 'update', 'delete'],
  },
  {
    group: '',
    resource: 'persistentvolumeclaims',
    grantedBy: 'ceph-grow-osds',
    verbs: ['list', 'watch', 'create'],
  },
  { group: 'apps', resource: 'deployments', grantedBy: 'ceph', verbs: ['list', 'watch'] },
  { group: 'apps', resource: 'deployments', grantedBy: 'ceph-grow-osds', verbs: ['create'] },
  { group: '', resource: 'events', verbs: ['create'] },
]

export interface OsdGrowthPorts extends PerformGrowthPorts {
  readonly views: GrowthViews
  readonly rook: RookPresence
  readonly reports: GrowthReports
  /** Where OSDs are added at all, and with which image. */
  readonly trust: CephTrust
}

/**
 * Adds OSDs: has every place that a CephCluster names inspected by a prepare Job, and makes the OSDs that come out. Keys are
 * `namespace/name` of CephClusters.
 *
 * Guarantees: it knows nothing of updates, so none can hold it up. Ceph is asked only while a result waits to be used. Every reconcile is one snapshot, one decision and
 * its writes; a failed place is recorded and the others go on. While nothing is to do nothing is written.
 */
export function createOsdGrowth(ports: OsdGrowthPorts): Controller {
  const { views, rook, reports } = ports
  const reporter = new OsdGrowthReporter(reports)
  const needed = [...Object.values(views), rook.operators] as const

  return {
    name: 'osd-growth',

    async start(enqueue, signal) {
      const { clusters, nodes, jobs, statuses, osdDeployments, claims } = views
      const follower = followClusters(clusters, signal)
      follower.followSelf(enqueue)
      for (const view of [jobs, statuses, claims]) follower.follow(view, enqueue)
      follower.follow(osdDeployments, (key, change) => {
        if (change.type !== 'changed') enqueue(key)
      })
      follower.followForAll(rook.operators, enqueue)
      const notify = (change: ViewChange<Node>) => {
        if (change.type === 'changed' && isSameJson(change.previous, change.value)) return
        for (const cluster of clusters.list()) enqueue(keyText(keyOf(cluster)))
      }
      signal.addEventListener('abort', nodes.subscribe(notify), { once: true })
      await Promise.all(needed.map((view) => view.whenSynced(signal)))
      for (const cluster of clusters.list()) enqueue(keyText(keyOf(cluster)))
    },

    async reconcile(key, signal) {
      const cluster = views.clusters.get(splitKey(key))
      if (cluster === undefined) return reporter.forget(key) ?? undefined
      const mode = growthMode(cluster, { trust: ports.trust, rookRuns: rook.isContested(cluster) })
      if (!mode.isOn) return (await reporter.reportOff(key, cluster, mode.explanation)) ?? undefined
      const pass = new GrowthPass(views, { cluster, rookImage: mode.rookImage })
      try {
        const { decision } = await performPass({
          observe: async () => pass.observe(),
          decide: decideGrowthPass,
          perform: performGrowth(ports, { key, pass, reporter }, signal),
          signal,
        })
        if (decision.trouble !== undefined) throw decision.trouble
        const { recheckAfterSeconds } = decision
        return recheckAfterSeconds === undefined ? undefined : { recheckAfterSeconds }
      } catch (error) {
        if (isRightMissing(error)) await reporter.reportRefusal(key, cluster, error.message)
        throw error
      }
    },
  }
}
