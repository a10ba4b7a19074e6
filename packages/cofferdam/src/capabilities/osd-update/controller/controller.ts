import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ViewChange } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import { CephTrials } from '../../../ceph/reader/ceph-trials.ts'
import { followClusters, splitKey } from '../../../ceph/reader/follow-clusters.ts'
import { updateRequestId } from '../../../ledger/rules/update-request.ts'
import { ledgerPermissions } from '../../../ledger/store/ledger-store.ts'
import { isStorageNews, type StorageLedger } from '../../../ledger/store/storage-ledger.ts'
import type { DisruptionLedger } from '../../../shared/kinds/disruption-ledger.ts'
import type { Permission } from '../../../shared/permission.ts'
import { isRightMissing } from '../apply/apply.ts'
import type { StoredUpdate } from '../apply/record.ts'
import { UpdateHold } from '../apply/update-hold.ts'
import { decideOsdUpdate, needsCeph } from '../domain/decide.ts'
import type { OsdUpdateSnapshot } from '../domain/snapshot.ts'
import { OsdUpdateObserver, type UpdateLook, type UpdateObserverPorts } from '../observe/observe.ts'
import { OsdUpdateReporter, type UpdateReports } from '../report/report.ts'
import { type BeginPorts, beginUpdates, noteTurn, remember, type UpdateTurn } from './begin.ts'
import { BatchProposals } from './propose.ts'
import { OsdRemoval, type OsdRemovalPorts } from './removal.ts'

export const osdUpdatePermissions: readonly Permission[] = [
  { group: 'ceph.rook.io', resource: 'cephclusters', verbs: ['list', 'watch'] },
  { group: 'apps', resource: 'deployments', grantedBy: 'ceph', verbs: ['list', 'watch'] },
  { group: 'apps', resource: 'deployments', grantedBy: 'ceph-own-osds', verbs: ['update', 'delete'] },
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

export interface OsdUpdatePorts extends Omit<UpdateObserverPorts, 'ledgers'>, Pick<OsdRemovalPorts, 'observeLostOsds'> {
  readonly api: KubeApi
  readonly reports: UpdateReports
  /** Where disruptions are agreed upon; without it updates are alone with the data. */
  readonly ledger?: StorageLedger
}

/** Nobody tells when a record is repaired. */
const lookAgainSeconds = 15

/**
 * Brings OSDs to what their CephCluster says, as many at a time as their data allows. Keys are `namespace/name` of CephClusters.
 *
 * Guarantees: every reconcile is one look, one decision and its writes; whatever has to be awaited is awaited between two of them,
 * so a change of the cluster counts at once. While nothing differs Ceph is not asked and nothing is written.
 */
export function createOsdUpdate(ports: OsdUpdatePorts): Controller {
  const { views, api } = ports
  const ledgers = ports.ledger?.view
  const observer = new OsdUpdateObserver({ ...ports, ...(ledgers !== undefined && { ledgers }) })
  const reporter = new OsdUpdateReporter(ports.reports)
  const removal = new OsdRemoval(ports)
  const beginPorts: BeginPorts = { api, observer, ceph: ports.ceph, osdDeployments: views.osdDeployments }
  const proposals = new BatchProposals(ports.ceph)
  const trials = new CephTrials(ports.ceph)
  const hold = new UpdateHold(ports.clock, ports.ledger)
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
      const ending = nodes.subscribe((change) => {
        // One that comes or goes decides where OSDs are pinned to.
        if (change.type !== 'resynced') for (const key of seenClusters.keys()) enqueue(key)
      })
      signal.addEventListener('abort', ending, { once: true })
      const unbudgeted = views.budgets.subscribe((change) => {
        const { namespace } = change.type === 'removed' ? change.previous : change.value
        for (const cluster of clusters.byIndex('namespace', namespace)) {
          if (observer.isBudgetNews(cluster, change)) enqueue(keyText(keyOf(cluster)))
        }
      })
      signal.addEventListener('abort', unbudgeted, { once: true })
      if (ledgers !== undefined) {
        const tell = (change: ViewChange<DisruptionLedger>) => {
          for (const [key, cluster] of seenClusters) {
            if (isStorageNews(change, cluster, updateRequestId(cluster))) enqueue(key)
          }
        }
        signal.addEventListener('abort', ledgers.subscribe(tell), { once: true })
        // Who holds the storage may be unknown: then nothing starts.
        void ledgers.whenSynced(signal).then(enqueueAll, () => {})
      }
      const needed = [clusters, osdDeployments, osdPods, nodes, views.budgets, ports.rook.operators]
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
        // The change itself has asked for another look.
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
    if (gone !== undefined) await hold.settle(gone, 'release', signal)
    seenClusters.delete(key)
    observer.forget(key)
    removal.forget(key)
    proposals.forget(key)
    trials.forget(key)
    reporter.forget(key)
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
    const stored = await observer.readStored(cluster, asking)
    const first = look(key, cluster, stored)
    if (stored.problem !== undefined || !needsCeph(first.snapshot))
      return rest(key, cluster, { ...first, stored }, signal)
    const ceph = await observer.askCeph(key, cluster, { look: first.look, stored }, asking)
    changed.throwIfAborted()
    const proposal = await propose(key, cluster, { ...look(key, cluster, stored).snapshot, ceph }, asking)
    changed.throwIfAborted()
    // Kubernetes again, after Ceph: what went down while it was asked must not be taken for running.
    const second = look(key, cluster, stored)
    const seen = { ...second.snapshot, ceph, ...(proposal !== undefined && { proposal }) }
    const decided = await hold.decide(seen, (one) => decideOsdUpdate(one), signal)
    const isStorageHeld = hold.holds(decided.snapshot.cluster)
    const turn: UpdateTurn = { cluster, look: second.look, stored, ...decided, isStorageHeld }
    if (decided.decision.start.length > 0) await tryCeph(key, turn, asking)
    changed.throwIfAborted()
    const { decision, isIdle, error } =
      decided.decision.start.length > 0
        ? await beginUpdates(beginPorts, turn, { signal, changed })
        : await noteTurn(api, turn, signal)
    const isOver = decided.decision.claim?.wants === 'release' || isIdle
    const unsettled = await hold.settle(turn.snapshot.cluster, isOver ? 'release' : 'keep', signal)
    const untold = unsettled && `${unsettled.object}: ${unsettled.problem}`
    const problems = [...second.look.problems, proposals.noteOf(key), trials.problemOf(key), untold].filter(
      (problem) => problem !== undefined,
    )
    if (error !== undefined) throw error
    await reporter.report({ key, cluster, decision, problems, recorded: stored })
    const heldSeconds = hold.recheckAfterSeconds(turn.snapshot.cluster)
    return soonest(decision.recheckAfterSeconds, heldSeconds, second.look.wakeAfterSeconds)
  }

  /** What Ceph itself would choose, where the settings leave it the choice. */
  async function propose(key: string, cluster: CephCluster, snapshot: OsdUpdateSnapshot, signal: AbortSignal) {
    const { ceph } = snapshot
    const commands = observer.commandsOf(cluster)
    if (snapshot.cluster.settings.strategy === 'plan' || ceph?.known !== true || commands === undefined)
      return undefined
    const { ask: question } = decideOsdUpdate(snapshot)
    if (question === undefined) return undefined
    return proposals.propose({ key, question, map: ceph.value.map, commands, signal })
  }

  /** Before a batch: whether Ceph's word on it is worth anything. */
  async function tryCeph(key: string, { cluster, snapshot: { ceph } }: UpdateTurn, signal: AbortSignal): Promise<void> {
    const seen = ceph?.known === true ? ceph.value : undefined
    const isClean = seen?.isClean.known === true && seen.isClean.value
    const isNews = await trials.try({ key, isClean, map: seen?.map, ceph: observer.commandsOf(cluster), signal })
    if (isNews && trials.problemOf(key) !== undefined) ports.reports.countDisagreement(key)
  }

  function look(key: string, cluster: CephCluster, stored: StoredUpdate) {
    const seen = observer.look(key, cluster, stored)
    const snapshot: Omit<OsdUpdateSnapshot, 'ceph'> = { ...seen.snapshot, ...hold.observe(seen.snapshot.cluster) }
    return { look: seen, snapshot }
  }

  /** Nothing differs and nothing is on its way, or what was remembered cannot be read. */
  async function rest(
    key: string,
    cluster: CephCluster,
    seen: {
      readonly look: UpdateLook
      readonly snapshot: Omit<OsdUpdateSnapshot, 'ceph'>
      readonly stored: StoredUpdate
    },
    signal: AbortSignal,
  ) {
    const { stored } = seen
    const decision = decideOsdUpdate({ ...seen.snapshot, ceph: undefined })
    if (stored.configMap !== undefined && stored.reason !== decision.reason) {
      await remember(api, { cluster: seen.snapshot.cluster, stored, decision, starts: stored.starts }, signal)
    }
    await reporter.report({ key, cluster, decision, problems: seen.look.problems, recorded: stored })
    const recheckAfterSeconds = stored.problem === undefined ? decision.recheckAfterSeconds : lookAgainSeconds
    const { look, snapshot } = seen
    const lost = { key, cluster, snapshot, deployments: look.deployments, commands: observer.commandsOf(cluster) }
    const removalSeconds = stored.problem === undefined ? await removal.reconcile(lost, signal) : undefined
    return soonest(recheckAfterSeconds, look.wakeAfterSeconds, removalSeconds)
  }
}

function soonest(...rechecks: readonly (number | undefined)[]): { readonly recheckAfterSeconds: number } | undefined {
  const due = rechecks.filter((seconds) => seconds !== undefined)
  return due.length === 0 ? undefined : { recheckAfterSeconds: Math.min(...due) }
}
