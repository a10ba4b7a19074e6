import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ViewChange } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { CephPorts } from '../../../ceph/reader/ceph-ports.ts'
import { followClusters, isBudgetNews, splitKey } from '../../../ceph/reader/follow-clusters.ts'
import type { RookPresence } from '../../../ceph/reader/rook-presence.ts'
import { storageHold } from '../../../ledger/rules/hold-storage.ts'
import { storageArbiter } from '../../../ledger/rules/storage-arbiter.ts'
import { LedgerHold } from '../../../ledger/store/ledger-hold.ts'
import { isStorageNews, type StorageLedger } from '../../../ledger/store/storage-ledger.ts'
import type { DisruptionLedger } from '../../../shared/kinds/disruption-ledger.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import type { Permission } from '../../../shared/permission.ts'
import { crowdingProblems } from '../../../shared/record-limits.ts'
import type { ApplyPorts } from '../apply/apply.ts'
import { observedName, recordName } from '../apply/record.ts'
import type { StorageTurns } from '../apply/storage-turns.ts'
import { DecisionWriter, type WrittenDecision } from '../apply/write.ts'
import type { CephDrainDecision } from '../domain/decision.ts'
import { removalDueInMs } from '../domain/retire-budget.ts'
import { isAhead } from '../domain/storage-turn.ts'
import { CephDrainObserver, type CephDrainViews, type Seen } from '../observe/observe.ts'
import { CephDrainReporter, type CephReports } from '../report/report.ts'
import type { CephDecisions } from './decisions.ts'
import { SecondOpinions } from './second-opinions.ts'

export const cephDrainPermissions: readonly Permission[] = [
  { group: 'ceph.rook.io', resource: 'cephclusters', verbs: ['list', 'watch'] },
  { group: 'apps', resource: 'deployments', grantedBy: 'ceph', verbs: ['list', 'watch'] },
  { group: '', resource: 'pods', verbs: ['list', 'watch'] },
  { group: '', resource: 'nodes', verbs: ['list', 'watch'] },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: ['list', 'watch'] },
  { group: 'policy', resource: 'poddisruptionbudgets', grantedBy: 'ceph', verbs: ['create', 'update', 'delete'] },
  { group: '', resource: 'configmaps', grantedBy: 'ceph', verbs: ['create'] },
  { group: '', resource: 'configmaps', grantedBy: 'ceph', names: [recordName], verbs: ['get', 'update'] },
  {
    group: '',
    resource: 'configmaps',
    grantedBy: 'ceph',
    names: [observedName],
    verbs: ['get', 'update', 'delete'],
  },
  { group: '', resource: 'events', verbs: ['create'] },
]

export interface CephDrainPorts extends Pick<ApplyPorts, 'applyBudgets'> {
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
  /** Whether somebody else needs what Ceph says of a cluster whose budgets are not ours. */
  isLookWanted?(cluster: CephCluster): boolean
}

interface SeenInTurn extends Seen {
  /** A mon may have gone since the look, from a node that is to keep it. */
  readonly isEarly: boolean
}

/** Keeps the disruption budgets of OSDs as the data allows. Keys are `namespace/name` of CephClusters. */
export function createCephDrain(ports: CephDrainPorts): Controller {
  const { views, reports } = ports
  const observer = new CephDrainObserver({ ...ports, besideRook: (cluster) => ports.rook.isRooks(cluster) })
  const opinions = new SecondOpinions(ports)
  const reporter = new CephDrainReporter(reports)
  const hold = new LedgerHold(ports.clock, ports.ledger, storageHold)
  /** Flags that Ceph refused to change last time; on record until it does, or until nobody wants them any more. */
  const refusedFlags = new Map<string, readonly ObjectProblem[]>()
  const writer = new DecisionWriter({ ...ports, budgets: views.budgets })
  const needed = [...Object.values(views), ports.rook.operators] as const

  function forget(key: string): void {
    observer.forget(key)
    opinions.forget(key)
    reporter.forget(key)
    hold.forget((name) => name === key)
    ports.decisions?.forget(key)
    writer.forget(key)
    ports.turns?.forget(key)
    refusedFlags.delete(key)
  }

  return {
    name: 'ceph-drain',

    async start(enqueue, signal) {
      const disturb = (key: string) => {
        observer.disturb(key)
        enqueue(key)
      }
      const { clusters, osdDeployments, osdPods, nodes, budgets, daemonDeployments, daemonPods } = views
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
      ports.turns?.follow('loose', enqueue, signal)
      follower.followForAll(nodes, disturb)
      follower.followForAll(ports.rook.operators, enqueue)
      // A budget says nothing about Ceph: what was last heard from there still holds, and the answer is quicker.
      follower.follow(budgets, (key, change) => {
        if (isBudgetNews(change)) enqueue(key)
      })
      const ledgers = ports.ledger?.view
      if (ledgers !== undefined) {
        const tell = (change: ViewChange<DisruptionLedger>) => {
          for (const { metadata } of clusters.list()) {
            const { namespace = '', name, uid = '' } = metadata
            if (isStorageNews(change, { namespace, name, uid })) enqueue(`${namespace}/${name}`)
          }
        }
        signal.addEventListener('abort', ledgers.subscribe(tell), { once: true })
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
    const tellDecided = ports.decisions?.begin(key)
    const before = ports.turns?.inForce(key)
    const seen = await observer.observe(key, cluster, signal)
    const { record, map, ceph } = seen
    const { snapshot, decision: decided } = await hold.decide(
      seen.snapshot.cluster,
      async (ledger) => {
        const snapshot = { ...seen.snapshot, ...storageArbiter(ledger, seen.snapshot.cluster) }
        return { snapshot, decision: await opinions.decide({ snapshot, map, ceph, signal }) }
      },
      ({ decision: { claim } }) => (claim?.wants === 'hold' ? claim : undefined),
      signal,
    )
    const problems = [...decided.problems, ...seen.problems, ...crowdingProblems(record.configMap)]
    const wanted = { ...decided, problems: [...problems, ...(refusedFlags.get(key) ?? [])] }
    const isOurs = snapshot.cluster.mode !== 'observe'
    const isEarly = before !== undefined && wanted.turn !== undefined && isAhead(before, wanted.turn)
    const written = isOurs
      ? await write(key, { ...seen, isEarly }, wanted, signal)
      : await note(key, seen, wanted, signal)
    const { decision, failures, refusal } = written
    refusedFlags.set(key, failures)
    if (hasReason(refusal?.error, 'Forbidden')) reports.countRefusedWrite(key)
    const wants = decision.claim?.wants === 'release' ? 'release' : 'keep'
    const { failure: unsettled = [] } = await hold.settle(snapshot.cluster, wants, signal)
    tellDecided?.({ snapshot, decision, cephAskedAtMs: seen.cephAskedAtMs })
    const { settings } = snapshot.cluster
    await reporter.report({
      key,
      cluster,
      decision: { ...decision, problems: [problems, failures, unsettled].flat() },
      silentMs: snapshot.cephSilentMs,
      recordRefusedMs: refusal === undefined ? 0 : Math.max(refusal.forMs, 1_000),
      isWarning:
        refusal !== undefined ||
        decision.reason === 'PgInDoubt' ||
        decision.alarm ||
        (snapshot.cephSilentMs > 0 && snapshot.cephSilentMs >= settings.silenceGraceMs),
      recordedReason: record.reason,
    })
    const isNews = await opinions.tryCeph({ snapshot, map, ceph, signal })
    const rechecks = [
      observer.recheckAfterSeconds(key, seen, decision),
      hold.recheckAfterSeconds(snapshot.cluster),
      ...(refusal === undefined ? removalsDue(seen) : [refusal.retryAfterSeconds]),
      isNews || (isEarly && isOurs) ? 1 : undefined,
    ].filter((seconds) => seconds !== undefined)
    return rechecks.length === 0 ? undefined : { recheckAfterSeconds: Math.min(...rechecks) }
  }

  function removalsDue({ snapshot, budgets }: Seen): (number | undefined)[] {
    return budgets.map((budget) => {
      const dueInMs = removalDueInMs(budget, snapshot.nowMs)
      return dueInMs === undefined ? undefined : Math.max(1, Math.ceil(dueInMs / 1000))
    })
  }

  async function write(key: string, seen: SeenInTurn, wanted: CephDrainDecision, signal: AbortSignal) {
    const written = await inTurn(key, seen, wanted, (mayRelease) =>
      writer.write(key, seen, { decision: wanted, mayRelease }, signal),
    )
    const { noout } = written.decision
    if (noout.set.length + noout.unset.length > 0) observer.disturb(key)
    return written
  }

  /** No OSD is let go while a mon may go beside one that is to stay; what the turn allows counts when its budgets stand. */
  function inTurn(
    key: string,
    { isEarly }: SeenInTurn,
    { turn }: CephDrainDecision,
    apply: (mayRelease: boolean) => Promise<WrittenDecision>,
  ): Promise<WrittenDecision> {
    const { turns } = ports
    if (turns === undefined || turn === undefined) {
      turns?.forget(key)
      return apply(true)
    }
    return turns.exclusively(key, async () => {
      turns.narrow(key, turn)
      const written = await apply(!isEarly)
      // While the record is refused other budgets stand than were wanted.
      if (!isEarly && written.refusal === undefined) turns.publish(key, turn)
      return written
    })
  }

  async function note(
    key: string,
    seen: Seen,
    decision: CephDrainDecision,
    signal: AbortSignal,
  ): Promise<WrittenDecision> {
    await writer.note(key, seen, decision, signal)
    return { decision, failures: [] }
  }
}
