import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ViewChange } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import { followClusters, splitKey } from '../../../ceph/reader/follow-clusters.ts'
import { OkToStopProbes } from '../../../ceph/reader/ok-to-stop-probes.ts'
import { updateRequestId } from '../../../ledger/rules/update-request.ts'
import { ledgerPermissions } from '../../../ledger/store/ledger-store.ts'
import { isRelevantStorageChange, type StorageLedger } from '../../../ledger/store/storage-ledger.ts'
import type { DisruptionLedger } from '../../../shared/kinds/disruption-ledger.ts'
import type { Permission } from '../../../shared/permission.ts'
import { performPass } from '../../interpreter.ts'
import { type PerformPorts, UpdatePerformer } from '../apply/perform.ts'
import { UpdateHold } from '../apply/update-hold.ts'
import { decideUpdatePass } from '../domain/decide-pass.ts'
import { soonest } from '../domain/pass-end.ts'
import { isRightMissing } from '../domain/start-outcome.ts'
import { BatchProposals } from '../observe/batch-proposals.ts'
import { CephRefusals } from '../observe/ceph-refusals.ts'
import { OsdUpdateObserver, type UpdateObserverPorts } from '../observe/observe.ts'
import { type UpdateMemory, UpdatePass } from '../observe/observe-pass.ts'
import { UnreadyOsds } from '../observe/unready-osds.ts'
import { OsdUpdateReporter, type UpdateReports } from '../report/report.ts'

export const osdUpdatePermissions: readonly Permission[] = [
  { group: 'ceph.rook.io', resource: 'cephclusters', verbs: ['list', 'watch'] },
  { group: 'apps', resource: 'deployments', grantedBy: 'ceph', verbs: ['list', 'watch'] },
  { group: 'apps', resource: 'deployments', grantedBy: 'ceph-own-osds', verbs: ['update', 'delete'] },
  // The pace: a label on OSD Deployments, what Rook does, and a key in the ConfigMap by which Rook is asked for a pass.
  { group: 'apps', resource: 'deployments', grantedBy: 'ceph-pace', verbs: ['patch'] },
  { group: 'ceph.rook.io', resource: 'cephclusters', grantedBy: 'ceph-pace', verbs: ['get'] },
  { group: '', resource: 'configmaps', names: ['rook-config-override'], grantedBy: 'ceph-pace', verbs: ['patch'] },
  { group: '', resource: 'pods', verbs: ['list', 'watch'] },
  { group: '', resource: 'pods', grantedBy: 'ceph', verbs: ['delete'] },
  { group: '', resource: 'nodes', verbs: ['list', 'watch'] },
  { group: '', resource: 'pods/eviction', grantedBy: 'ceph', verbs: ['create'] },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: ['list', 'watch'] },
  // The record has the name of its cluster in its own, and a Role knows no patterns.
  { group: '', resource: 'configmaps', grantedBy: 'ceph', verbs: ['get', 'create', 'update'] },
  { group: '', resource: 'events', verbs: ['create'] },
  { group: 'cofferdam.io', resource: 'disruptionledgers', verbs: ['list', 'watch'] },
  ...ledgerPermissions,
]

export interface OsdUpdatePorts extends Omit<UpdateObserverPorts, 'ledgers'>, Pick<PerformPorts, 'observeLostOsds'> {
  readonly api: KubeApi
  readonly reports: UpdateReports
  /** Where disruptions are agreed upon; without it updates are alone with the data. */
  readonly ledger?: StorageLedger
}

/** What was to be done changed all the time. */
const recheckSeconds = 15

/**
 * Brings OSDs to what their CephCluster says, as many at a time as their data allows. Keys are `namespace/name` of CephClusters.
 *
 * Guarantees: every reconcile is one snapshot, one decision and its writes; whatever has to be awaited is awaited between two of them,
 * so a change of the cluster counts at once. While nothing differs Ceph is not asked and nothing is written.
 */
export function createOsdUpdate(ports: OsdUpdatePorts): Controller {
  const { views } = ports
  const ledgers = ports.ledger?.view
  const observer = new OsdUpdateObserver({ ...ports, ...(ledgers !== undefined && { ledgers }) })
  const reporter = new OsdUpdateReporter(ports.reports)
  const memory: UpdateMemory = {
    observer,
    hold: new UpdateHold(ports.clock, ports.ledger),
    proposals: new BatchProposals(ports.ceph),
    probes: new OkToStopProbes(ports.ceph),
    refusals: new CephRefusals(),
    unready: new UnreadyOsds(),
  }
  const performPorts: PerformPorts = { ...ports, osdDeployments: views.osdDeployments }
  const seenClusters = new Map<string, { readonly namespace: string; readonly name: string; readonly uid: string }>()

  return {
    name: 'osd-update',

    async start(enqueue, signal) {
      const { clusters, osdDeployments, osdPods, nodes } = views
      const enqueueAll = () => {
        for (const cluster of clusters.list()) enqueue(keyText(keyOf(cluster)))
      }
      const follower = followClusters(clusters, signal)
      follower.followSelf(enqueue)
      follower.follow(osdDeployments, enqueue)
      follower.follow(osdPods, enqueue)
      follower.followForAll(ports.rook.operators, enqueue)
      const undaemoned = views.daemons.subscribe((change) => {
        const { namespace } = (change.type === 'removed' ? change.previous : change.value).metadata
        for (const cluster of clusters.byIndex('namespace', namespace)) enqueue(keyText(keyOf(cluster)))
      })
      signal.addEventListener('abort', undaemoned, { once: true })
      const ending = nodes.subscribe((change) => {
        // One that comes or goes decides where OSDs are pinned to.
        if (change.type !== 'resynced') for (const key of seenClusters.keys()) enqueue(key)
      })
      signal.addEventListener('abort', ending, { once: true })
      const unbudgeted = views.budgets.subscribe((change) => {
        const { namespace } = change.type === 'removed' ? change.previous : change.value
        for (const cluster of clusters.byIndex('namespace', namespace)) {
          if (observer.isRelevantBudgetChange(cluster, change)) enqueue(keyText(keyOf(cluster)))
        }
      })
      signal.addEventListener('abort', unbudgeted, { once: true })
      if (ledgers !== undefined) {
        const notify = (change: ViewChange<DisruptionLedger>) => {
          for (const [key, cluster] of seenClusters) {
            if (isRelevantStorageChange(change, cluster, updateRequestId(cluster))) enqueue(key)
          }
        }
        signal.addEventListener('abort', ledgers.subscribe(notify), { once: true })
        // Who holds the storage may be unknown: then nothing starts.
        void ledgers.whenSynced(signal).then(enqueueAll, () => {})
      }
      const needed = [clusters, osdDeployments, osdPods, nodes, views.daemons, views.budgets, ports.rook.operators]
      await Promise.all(needed.map((view) => view.whenSynced(signal)))
      enqueueAll()
    },

    async reconcile(key, signal) {
      const cluster = views.clusters.get(splitKey(key))
      if (cluster === undefined || cluster.spec?.external?.enable === true) return leave(key, signal)
      const { namespace = '', name, uid = '' } = cluster.metadata
      seenClusters.set(key, { namespace, name, uid })
      const change = changeOf(key, cluster)
      try {
        return await reconcileCluster(key, cluster, { signal, changed: change.signal })
      } catch (error) {
        // The change itself has asked for another reconcile.
        if (change.signal.aborted && !signal.aborted) return undefined
        if (isRightMissing(error)) await reporter.reportRefusal(key, cluster, error.message)
        throw error
      } finally {
        change.end()
      }
    },
  }

  async function leave(key: string, signal: AbortSignal): Promise<undefined> {
    const gone = seenClusters.get(key)
    if (gone !== undefined) await memory.hold.settle(gone, 'release', signal)
    seenClusters.delete(key)
    const { hold: _, ...remembered } = memory
    for (const one of [...Object.values(remembered), reporter]) one.forget(key)
  }

  /** Fires when the cluster is not any more what this reconcile began with. */
  function changeOf(key: string, cluster: CephCluster): { readonly signal: AbortSignal; end(): void } {
    const changed = new AbortController()
    const end = views.clusters.subscribe((change) => {
      if (change.key !== key) return
      const now = change.type === 'removed' ? undefined : change.value
      const isSame =
        now !== undefined &&
        now.metadata.uid === cluster.metadata.uid &&
        now.metadata.deletionTimestamp === cluster.metadata.deletionTimestamp &&
        observer.generationOf(now) === observer.generationOf(cluster)
      if (!isSame) changed.abort()
    })
    return { signal: changed.signal, end }
  }

  async function reconcileCluster(
    key: string,
    cluster: CephCluster,
    { signal, changed }: { readonly signal: AbortSignal; readonly changed: AbortSignal },
  ) {
    const asking = AbortSignal.any([signal, changed])
    const pass = new UpdatePass(memory, { key, cluster })
    const { decision, snapshot, isCutShort } = await performPass({
      observe: () => pass.observe(asking),
      decide: decideUpdatePass,
      perform: new UpdatePerformer(performPorts, { memory, reporter, pass }, { signal, asking }),
      signal: asking,
    })
    if (decision.trouble !== undefined) throw decision.trouble
    const heldSeconds = decision.isAtRest === true ? undefined : memory.hold.recheckAfterSeconds(snapshot.seen.cluster)
    const due = soonest(isCutShort ? recheckSeconds : decision.recheckAfterSeconds, heldSeconds)
    return due === undefined ? undefined : { recheckAfterSeconds: due }
  }
}
