import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ViewChange } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import { CephLogWatch, type LogState } from '../../../ceph/reader/ceph-log-watch.ts'
import type { CephPorts } from '../../../ceph/reader/ceph-ports.ts'
import { followClusters, isRelevantBudgetChange, splitKey } from '../../../ceph/reader/follow-clusters.ts'
import { OkToStopProbes } from '../../../ceph/reader/ok-to-stop-probes.ts'
import type { RookPresence } from '../../../ceph/reader/rook-presence.ts'
import { storageHold } from '../../../ledger/rules/hold-storage.ts'
import { LedgerHold } from '../../../ledger/store/ledger-hold.ts'
import { isRelevantStorageChange, type StorageLedger } from '../../../ledger/store/storage-ledger.ts'
import type { DisruptionLedger } from '../../../shared/kinds/disruption-ledger.ts'
import type { Permission } from '../../../shared/permission.ts'
import { performPass } from '../../interpreter.ts'
import { PassMemories } from '../apply/pass-memories.ts'
import { CephDrainPerformer, type PerformPorts } from '../apply/perform.ts'
import { observedName, recordName } from '../apply/record.ts'
import type { StorageTurns } from '../apply/storage-turns.ts'
import { decidePass } from '../domain/decide-pass.ts'
import { heardNothing, type PassSnapshot } from '../domain/pass-snapshot.ts'
import { CephDrainObserver, type CephDrainViews } from '../observe/observe.ts'
import { CephDrainReporter, type CephReports } from '../report/report.ts'
import type { CephDecisions } from './decisions.ts'

export const cephDrainPermissions: readonly Permission[] = [
  { group: 'ceph.rook.io', resource: 'cephclusters', verbs: ['list', 'watch'] },
  { group: 'apps', resource: 'deployments', grantedBy: 'ceph', verbs: ['list', 'watch'] },
  { group: '', resource: 'pods', verbs: ['list', 'watch'] },
  { group: '', resource: 'nodes', verbs: ['list', 'watch'] },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: ['list', 'watch'] },
  { group: 'policy', resource: 'poddisruptionbudgets', grantedBy: 'ceph', verbs: ['create', 'update', 'delete'] },
  { group: '', resource: 'configmaps', grantedBy: 'ceph', verbs: ['create'] },
  {
    group: '',
    resource: 'configmaps',
    grantedBy: 'ceph',
    names: [recordName, observedName],
    verbs: ['get', 'update', 'delete'],
  },
  { group: '', resource: 'events', verbs: ['create'] },
]

export interface CephDrainPorts extends Pick<PerformPorts, 'applyBudgets'> {
  readonly api: Pick<KubeApi, 'get' | 'create' | 'update' | 'delete'>
  readonly clock: Clock
  readonly views: CephDrainViews
  readonly ceph: CephPorts
  readonly reports: CephReports
  readonly rook: RookPresence
  /** Where disruptions are agreed upon; without it ceph-drain is alone with its data. */
  readonly ledger?: StorageLedger
  /** Where others learn what was decided. */
  readonly decisions?: CephDecisions
  /** Where mons and mgrs follow the OSDs on their nodes. */
  readonly turns?: StorageTurns
  /** How old an answer of Ceph may be in calm times. Default: a minute. */
  readonly calmMs?: number
}

/** Keeps the disruption budgets of OSDs as the data allows. Keys are `namespace/name` of CephClusters. */
export function createCephDrain(ports: CephDrainPorts): Controller {
  const { views, reports } = ports
  let enqueueKey: (key: string) => void = () => {}
  const log = new CephLogWatch({
    clock: ports.clock,
    onHint(key, hint) {
      if (observer.takeHint(key, hint)) enqueueKey(key)
    },
    onChange: (key) => enqueueKey(key),
  })
  const observer = new CephDrainObserver({ ...ports, log })
  const probes = new OkToStopProbes(ports.ceph)
  const reporter = new CephDrainReporter(reports)
  const hold = new LedgerHold(ports.clock, ports.ledger, storageHold)
  const memories = new PassMemories(ports.clock)
  const performing: PerformPorts = { ...ports, budgets: views.budgets, reporter, hold, memories, probes }
  const needed = [...Object.values(views), ports.rook.operators] as const

  function forget(key: string): void {
    log.forget(key)
    observer.forget(key)
    probes.forget(key)
    reporter.forget(key)
    hold.forget((name) => name === key)
    ports.decisions?.forget(key)
    memories.forget(key)
    ports.turns?.forget(key)
  }

  return {
    name: 'ceph-drain',

    async start(enqueue, signal) {
      enqueueKey = enqueue
      signal.addEventListener('abort', () => log.close(), { once: true })
      const disturb = (key: string) => {
        observer.disturb(key)
        enqueue(key)
      }
      const { clusters, osdDeployments, osdPods, nodes, budgets, daemonDeployments, daemonPods, servicePods } = views
      const enqueueAll = () => {
        for (const cluster of clusters.list()) enqueue(keyText(keyOf(cluster)))
      }
      const follower = followClusters(clusters, signal)
      signal.addEventListener(
        'abort',
        clusters.subscribe(({ key }) => disturb(key)),
        { once: true },
      )
      follower.follow(osdDeployments, disturb)
      follower.follow(osdPods, disturb)
      follower.follow(daemonDeployments, enqueue)
      follower.follow(daemonPods, enqueue)
      follower.follow(servicePods, enqueue)
      ports.turns?.follow('loose', enqueue, signal)
      follower.followForAll(nodes, disturb)
      follower.followForAll(ports.rook.operators, enqueue)
      // A budget says nothing about Ceph: what was last heard from there still holds, and the answer is quicker.
      follower.follow(budgets, (key, change) => {
        if (isRelevantBudgetChange(change)) enqueue(key)
      })
      const ledgers = ports.ledger?.view
      if (ledgers !== undefined) {
        const notify = (change: ViewChange<DisruptionLedger>) => {
          for (const { metadata } of clusters.list()) {
            const { namespace = '', name, uid = '' } = metadata
            if (isRelevantStorageChange(change, { namespace, name, uid })) enqueue(`${namespace}/${name}`)
          }
        }
        signal.addEventListener('abort', ledgers.subscribe(notify), { once: true })
        // Budgets are kept where the ledger cannot be read: who holds the storage is unknown until it is.
        void ledgers.whenSynced(signal).then(enqueueAll, () => {})
      }
      await Promise.all(needed.map((view) => view.whenSynced(signal)))
      enqueueAll()
      ports.decisions?.listen(enqueue)
    },

    async reconcile(key, signal) {
      const cluster = views.clusters.get(splitKey(key))
      if (cluster === undefined || cluster.spec?.external?.enable === true) {
        forget(key)
        return undefined
      }
      try {
        return await reconcileCluster(key, cluster, signal)
      } catch (error) {
        if (hasReason(error, 'Forbidden')) await reporter.reportRefusal(key, cluster, error.message)
        throw error
      }
    },
  }

  async function reconcileCluster(key: string, cluster: CephCluster, signal: AbortSignal) {
    const notifyDecided = ports.decisions?.begin(key)
    const turnBefore = ports.turns?.inForce(key)
    const hasNewLoss = await observer.hasNewLoss(key, cluster, signal)
    const observe = async (asks: 'ceph' | 'nobody') => {
      const snapshot = await observer.observe(key, cluster, signal, asks)
      const { ceph: said } = snapshot.snapshot
      probes.see(key, said.known && said.value.pgs.health === 'clean')
      return snapshot
    }
    let seen = await observe(hasNewLoss ? 'nobody' : 'ceph')
    const { snapshot: observed, ceph } = seen
    const pass = new CephDrainPerformer(
      performing,
      {
        key,
        cluster,
        ceph,
        notifyDecided: ({ snapshot, decision }) =>
          notifyDecided?.({ snapshot, decision, cephAskedAtMs: seen.cephAskedAtMs }),
        async readCeph() {
          seen = await observe('ceph')
        },
        signal,
      },
      { ...heardNothing, ledger: hold.observe() },
    )
    try {
      const { decision: end } = await performPass({
        observe: async (): Promise<PassSnapshot> => ({
          observed: seen.snapshot,
          record: seen.record,
          budgets: seen.budgets,
          map: seen.map,
          silentSince: seen.silentSince,
          problems: seen.problems,
          hasNewLoss,
          isReachable: ceph !== undefined,
          cephLog: logText(log.stateOf(key)),
          quorum: ports.ceph.lastQuorum(observed.cluster),
          turnBefore,
          memory: {
            ...memories.of(key),
            heldEpoch: hold.epochOf(observed.cluster),
            probe: { isDue: probes.isDue(key), problem: probes.problemOf(key) },
          },
          heard: pass.heard,
        }),
        decide: decidePass,
        perform: pass.perform,
        // Each round has Ceph heard on a failure domain that it was not heard on, or performs a step that is not repeated.
        mostRounds: Number.POSITIVE_INFINITY,
        signal,
      })
      if (end.failsUnrecorded) throw pass.recordError
      const rechecks = [
        end.recheckAfterSeconds,
        observer.recheckAfterSeconds(key, seen, end.decision),
        hold.recheckAfterSeconds(observed.cluster),
      ].filter((seconds) => seconds !== undefined)
      return rechecks.length === 0 ? undefined : { recheckAfterSeconds: Math.min(...rechecks) }
    } finally {
      pass.end()
    }
  }
}

function logText(state: LogState | undefined): string | undefined {
  if (state === undefined) return undefined
  return state.isFollowed ? 'followed' : `not followed: ${state.why}`
}
