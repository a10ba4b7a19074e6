import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { CephPorts } from '../../../ceph/reader/ceph-ports.ts'
import { followClusters, isRelevantBudgetChange, splitKey } from '../../../ceph/reader/follow-clusters.ts'
import type { RookPresence } from '../../../ceph/reader/rook-presence.ts'
import { RefusedWrites } from '../../../ceph/refused-writes.ts'
import type { Permission } from '../../../shared/permission.ts'
import { performPass } from '../../interpreter.ts'
import { StaticBudgetPerformer, type StaticPerformPorts } from '../apply/static-budgets.ts'
import { decideStaticPass } from '../domain/decide-static-pass.ts'
import { StaticBudgetObserver, type StaticObserverPorts } from '../observe/static-budgets.ts'
import type { CephReports } from '../report/report.ts'

export const cephStaticBudgetsPermissions: readonly Permission[] = [
  { group: 'ceph.rook.io', resource: 'cephclusters', verbs: ['list', 'watch'] },
  { group: 'ceph.rook.io', resource: 'cephfilesystemmirrors', verbs: ['list', 'watch'] },
  { group: 'ceph.rook.io', resource: 'cephfilesystems', verbs: ['list', 'watch'] },
  { group: 'ceph.rook.io', resource: 'cephnfses', verbs: ['list', 'watch'] },
  { group: 'ceph.rook.io', resource: 'cephnvmeofgateways', verbs: ['list', 'watch'] },
  { group: 'ceph.rook.io', resource: 'cephobjectstores', verbs: ['list', 'watch'] },
  { group: 'ceph.rook.io', resource: 'cephrbdmirrors', verbs: ['list', 'watch'] },
  { group: 'apps', resource: 'deployments', grantedBy: 'ceph', verbs: ['list', 'watch'] },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: ['list', 'watch'] },
  { group: 'policy', resource: 'poddisruptionbudgets', grantedBy: 'ceph', verbs: ['create', 'update', 'delete'] },
  { group: '', resource: 'events', verbs: ['create'] },
]

export interface StaticBudgetPorts extends StaticObserverPorts {
  readonly ceph: Pick<CephPorts, 'of' | 'observeQuorum'>
  readonly reports: CephReports
  readonly rook: RookPresence
  readonly applyBudgets: StaticPerformPorts['applyBudgets']
}

/** Keeps the budgets of all daemons but OSDs as their numbers and the quorum allow. Keys are CephClusters. */
export function createCephStaticBudgets(ports: StaticBudgetPorts): Controller {
  const { views, reports } = ports
  const observer = new StaticBudgetObserver(ports)
  const refused = new RefusedWrites(reports)
  const events = reports.events.scoped()
  const { beside } = ports
  const performing = { ...ports, budgets: views.budgets, events, observer, turns: beside?.turns }
  const needed = [
    ...Object.values(views),
    ports.rook.operators,
    ...(beside === undefined ? [] : [beside.daemonPods, beside.nodes, beside.serviceDeployments, beside.servicePods]),
  ] as const

  return {
    name: 'ceph-static-budgets',

    async start(enqueue, signal) {
      const { clusters, budgets, daemons, ...services } = views
      const disturb = (key: string) => {
        observer.disturb(key)
        enqueue(key)
      }
      const follower = followClusters(clusters, signal)
      signal.addEventListener(
        'abort',
        clusters.subscribe(({ key }) => disturb(key)),
        { once: true },
      )
      follower.follow(daemons, disturb)
      if (beside !== undefined) {
        follower.follow(beside.daemonPods, enqueue)
        follower.follow(beside.serviceDeployments, enqueue)
        follower.follow(beside.servicePods, enqueue)
        follower.followForAll(beside.nodes, enqueue)
        beside.turns.follow('turn', enqueue, signal)
      }
      for (const view of Object.values(services)) follower.follow<KubeObject>(view, enqueue)
      follower.follow(budgets, (key, change) => {
        if (isRelevantBudgetChange(change)) enqueue(key)
      })
      follower.followForAll(ports.rook.operators, enqueue)
      await Promise.all(needed.map((view) => view.whenSynced(signal)))
      for (const cluster of clusters.list()) enqueue(keyText(keyOf(cluster)))
    },

    async reconcile(key, signal) {
      const cluster = views.clusters.get(splitKey(key))
      if (cluster === undefined || cluster.spec?.external?.enable === true) {
        observer.forget(key)
        refused.forget(key)
        events.forget(key)
        return undefined
      }
      try {
        return await reconcileCluster(key, cluster, signal)
      } catch (error) {
        if (hasReason(error, 'Forbidden')) await refused.report(key, cluster, error.message)
        throw error
      }
    },
  }

  async function reconcileCluster(key: string, cluster: CephCluster, signal: AbortSignal) {
    const pass = new StaticBudgetPerformer(performing, { key, cluster, signal })
    try {
      const { decision } = await performPass({
        observe: async () => ({ ...observer.observe(key, cluster), ...pass.heard }),
        decide: decideStaticPass,
        perform: pass.perform,
        signal,
      })
      refused.forget(key)
      const { recheckAfterSeconds } = decision
      return recheckAfterSeconds === undefined ? undefined : { recheckAfterSeconds }
    } finally {
      pass.end()
    }
  }
}
