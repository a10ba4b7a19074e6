import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { medik8sLeaseNamespace } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ViewChange, WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { LastDecisions } from '../../../ceph/reader/last-decisions.ts'
import type { HoldFailure } from '../../../ledger/store/ledger-hold.ts'
import { type LedgerStore, ledgerPermissions } from '../../../ledger/store/ledger-store.ts'
import { isStorageNews, type StorageLedger } from '../../../ledger/store/storage-ledger.ts'
import type { Permission } from '../../../shared/permission.ts'
import { announce, openUp, protect, releaseOf, WrittenBudgets } from '../apply/apply.ts'
import { FenceHolds } from '../apply/fence-holds.ts'
import { FencingWrites } from '../apply/writes.ts'
import { createFencingJudge } from '../domain/decide.ts'
import type { FencingDecision } from '../domain/decision.ts'
import { parseMachineBudget } from '../domain/parse-budget.ts'
import { createFencingParser } from '../domain/parse-fencing.ts'
import { parseFencingSettings } from '../domain/settings.ts'
import type { MachineBudgetView } from '../domain/snapshot.ts'
import { EvidenceNews } from '../observe/evidence.ts'
import {
  areLeasesExpected,
  type FencingLook,
  type FencingObservePorts,
  observeFencing,
  unreadViews,
} from '../observe/observe.ts'
import { FencedOsds } from '../observe/osds.ts'
import { FencingReporter, type FencingReports } from '../report/report.ts'
import { RemediatorListeners } from './listeners.ts'

export const fencingPermissions: readonly Permission[] = [
  { group: 'ceph.rook.io', resource: 'cephclusters', verbs: ['list', 'watch'] },
  { group: 'apps', resource: 'deployments', grantedBy: 'ceph', verbs: ['list', 'watch'] },
  { group: '', resource: 'pods', verbs: ['list', 'watch'] },
  { group: '', resource: 'nodes', verbs: ['list', 'watch'] },
  { group: '', resource: 'namespaces', verbs: ['list', 'watch'] },
  { group: 'machine.openshift.io', resource: 'machines', verbs: ['list', 'watch', 'patch'] },
  { group: 'machine.openshift.io', resource: 'machinehealthchecks', verbs: ['list', 'watch', 'patch'] },
  { group: 'cluster.x-k8s.io', resource: 'machines', verbs: ['list', 'watch', 'patch'] },
  { group: 'cluster.x-k8s.io', resource: 'machinehealthchecks', verbs: ['list', 'watch'] },
  { group: 'remediation.medik8s.io', resource: 'nodehealthchecks', verbs: ['list', 'watch', 'patch'] },
  {
    group: 'healthchecking.openshift.io',
    resource: 'machinedisruptionbudgets',
    verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'],
  },
  { group: 'healthchecking.openshift.io', resource: 'machinedisruptionbudgets/status', verbs: ['update'] },
  {
    group: 'coordination.k8s.io',
    resource: 'leases',
    namespace: medik8sLeaseNamespace,
    grantedBy: 'medik8s',
    verbs: ['list', 'watch', 'create', 'update', 'delete'],
  },
  ...ledgerPermissions,
  { group: 'cofferdam.io', resource: 'disruptionledgers', verbs: ['list', 'watch'] },
  { group: '', resource: 'events', verbs: ['create'] },
]

export interface FencingLedger extends StorageLedger {
  readonly store: Pick<LedgerStore, 'change' | 'read'>
}

export interface FencingPorts extends Omit<FencingObservePorts, 'parse' | 'osds'> {
  readonly api: Pick<KubeApi, 'create' | 'update' | 'patch' | 'delete'>
  readonly decisions: LastDecisions | undefined
  /** Where disruptions are agreed upon; without it nobody else has a say. */
  readonly ledger: FencingLedger | undefined
  readonly reports: FencingReports
}

/** Machines are shared by clusters, so all of it is one key, and is decided about by one at a time. */
const everything = 'machines'

/** At the start nobody is waited for longer than this: what is not known by then is closed, and it is told why. */
const patienceMs = 10_000

/** Keeps the labels and budgets of machines, and what remediators are told, as the data allows. */
export function createFencing(ports: FencingPorts): Controller {
  const { clock, views, decisions, ledger } = ports
  const holds = new FenceHolds(clock, ledger)
  const listeners = new RemediatorListeners(clock)
  const reporter = new FencingReporter(ports.reports, views)
  const written = new WrittenBudgets()
  const news = new EvidenceNews(clock)
  const judge = createFencingJudge()
  const isReleased = (requestId: string) => holds.isReleased(requestId)
  const observed = {
    ...ports,
    parse: createFencingParser(),
    osds: new FencedOsds(),
    unmade: written.unmade,
    isReleased,
  }

  return {
    name: 'fencing',

    async start(enqueue, signal) {
      const tell = () => enqueue(everything)
      const until = (end: () => void) => signal.addEventListener('abort', end, { once: true })
      for (const view of Object.values(views) as WatchView<unknown>[]) {
        until(
          view.subscribe((change) => {
            if (isNews(change)) tell()
          }),
        )
      }
      if (ledger !== undefined) {
        until(
          ledger.view.subscribe((change) => {
            if (clusterIds().some((cluster) => isStorageNews(change, cluster))) tell()
          }),
        )
      }
      if (decisions !== undefined) {
        until(
          decisions.follow((key) => {
            if (news.isNews(key, decisions.latest(key))) tell()
          }),
        )
      }
      // Leases of medik8s can be listed only where it is installed, and are not waited for.
      const { leases: _, ...needed } = views
      const all = [...(Object.values(needed) as WatchView<unknown>[]), ...(ledger === undefined ? [] : [ledger.view])]
      await atMost(Promise.all(all.map((view) => view.whenSynced(signal))), signal)
      // What is not known is closed; a first look of Ceph's saves whoever starts anew from closing what is open for a moment.
      await atMost(Promise.all(clusterIds().map((cluster) => firstLook(cluster, signal))), signal)
      tell()
    },

    async reconcile(_, signal) {
      const unread = unreadViews(views)
      if (unread.length > 0) return closeBlindly(unread, signal)
      const first = observeFencing(observed)
      const writes = new FencingWrites(ports, signal)
      const looked = await write(writes, first, signal)
      await writes.settle()
      await reporter.report({ ...looked, refused: writes.refused })
      const failure = writes.refused.find(({ error }) => !hasReason(error, 'Conflict', 'AlreadyExists'))
      if (failure !== undefined) throw failure.error
      return { recheckAfterSeconds: recheckAfter(looked, writes.refused.length > 0) }
    },
  }

  async function atMost(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
    const ended = new AbortController()
    const limit = sleep(clock, patienceMs, AbortSignal.any([signal, ended.signal]))
    await Promise.race([work.catch(() => {}), limit])
    ended.abort()
  }

  async function firstLook({ namespace, name }: ReturnType<typeof clusterIds>[number], signal: AbortSignal) {
    await decisions?.decided(`${namespace}/${name}`, { maxAgeMs: patienceMs, waitMs: patienceMs, signal })
  }

  interface Written {
    readonly decision: FencingDecision
    readonly snapshot: FencingLook['snapshot']
    readonly problems: FencingDecision['problems']
    readonly listenSeconds: number | undefined
  }

  /**
   * What protects comes before what is held in the ledger, and that before what releases. What releases is announced, and
   * decided again on the ledger as it is after that: whoever took the storage meanwhile has seen the announcement or is seen.
   */
  async function write(writes: FencingWrites, look: FencingLook, signal: AbortSignal): Promise<Written> {
    const decision = judge.decide(look.snapshot)
    holds.noteEnded(decision.fences)
    const { unlabelled, putRight } = await protect(writes, { decision, written })
    await closeFormer(writes, decision)
    const unheld = await holdStorage(writes, decision, signal)
    const more = [...putRight, ...unheld, ...leaseProblems()]
    const opening = releaseOf(decision, writes)
    if (!opening.isNeeded) {
      await release(writes, decision, signal)
      return outcomeOf(decision, look, more)
    }
    await announce(writes, { decision, answers: opening.answers, written })
    const again = observeFencing(observed, ledger === undefined ? undefined : await ledger.store.read(signal))
    const latest = judge.decide(again.snapshot)
    await openUp(writes, { decision: latest, announced: opening.answers, unlabelled, written })
    await release(writes, latest, signal)
    return outcomeOf(latest, again, more)
  }

  function outcomeOf(decision: FencingDecision, look: FencingLook, more: FencingDecision['problems']): Written {
    const heard = listeners.check(look.snapshot, look.objects)
    return {
      decision,
      snapshot: look.snapshot,
      problems: [...more, ...heard.problems],
      listenSeconds: heard.recheckAfterSeconds,
    }
  }

  async function holdStorage(
    writes: FencingWrites,
    { fences }: FencingDecision,
    signal: AbortSignal,
  ): Promise<FencingDecision['problems']> {
    const { problems, failure } = await holds.hold(fences, signal)
    noteLedger(writes, failure)
    return problems
  }

  async function release(writes: FencingWrites, { fences }: FencingDecision, signal: AbortSignal): Promise<void> {
    noteLedger(writes, (await holds.release(fences, signal)).failure)
  }

  function noteLedger(writes: FencingWrites, failure: HoldFailure | undefined): void {
    if (failure !== undefined) writes.refused.push({ object: 'disruptionledger', error: failure.error })
  }

  function leaseProblems(): FencingDecision['problems'] {
    if (!areLeasesExpected(views) || views.leases.synced) return []
    const problem =
      'its Leases cannot be read, so NodeHealthChecks are paused instead: kubectl apply -k deploy/medik8s/rights'
    return [{ object: `namespace/${medik8sLeaseNamespace}`, problem }]
  }

  function recheckAfter({ decision, listenSeconds }: Written, wasOvertaken: boolean): number {
    for (const { namespace, name } of clusterIds()) {
      if (news.isOld(decisions?.latest(`${namespace}/${name}`))) decisions?.request(`${namespace}/${name}`)
    }
    const seconds = [
      decision.recheckAfterSeconds,
      holds.recheckAfterSeconds(),
      listenSeconds,
      ...clusterIds().map(({ namespace, name }) => news.staleInSeconds(decisions?.latest(`${namespace}/${name}`))),
      wasOvertaken ? 1 : undefined,
    ]
    return Math.min(...seconds.filter((each) => each !== undefined))
  }

  function clusterIds() {
    return [...views.clusters.list()]
      .filter((cluster) => parseFencingSettings(cluster).isManaged)
      .map(({ metadata: { namespace = '', name, uid = '' } }) => ({ namespace, name, uid }))
  }

  /** A budget that a cluster had before stays until it has another, and spares nothing meanwhile. */
  function closeFormer(writes: FencingWrites, { clusters, orphanBudgets }: FencingDecision): Promise<void> {
    const wanted = [...clusters.flatMap(({ budget }) => budget ?? []), ...orphanBudgets]
    const isSame = (a: { namespace: string; name: string }) => (b: { namespace: string; name: string }) =>
      a.namespace === b.namespace && a.name === b.name
    return closeBudgets(writes, (view) => !wanted.some(isSame(view)))
  }

  async function closeBudgets(writes: FencingWrites, isMeant: (view: MachineBudgetView) => boolean): Promise<void> {
    for (const budget of views.budgets.list()) {
      const { view } = parseMachineBudget(budget)
      if (!view.isOurs || (view.maxUnavailable === 0 && view.status.disruptionsAllowed <= 0) || !isMeant(view)) continue
      await writes.updateBudget({ ...budget, spec: { ...budget.spec, maxUnavailable: 0 } })
      const seen = writes.budget(view)
      if (seen?.status === undefined) continue
      const observedGeneration = seen.metadata.generation ?? 0
      await writes.updateBudgetStatus(seen, { ...seen.status, observedGeneration, disruptionsAllowed: 0 })
    }
  }

  /** While something cannot be read, whatever is open is closed, and everything else is left as it is. */
  async function closeBlindly(unread: readonly string[], signal: AbortSignal) {
    const writes = new FencingWrites(ports, signal)
    await closeBudgets(writes, () => true)
    await writes.settle()
    await reporter.reportBlind(unread)
    return { recheckAfterSeconds: 5 }
  }
}

/** Versions and the bookkeeping of the server change with every write; what is said does not. */
function isNews(change: ViewChange<unknown>): boolean {
  if (change.type !== 'changed') return true
  const { previous, value } = change as { readonly previous: unknown; readonly value: unknown }
  return !isSameJson(withoutVersion(previous), withoutVersion(value))
}

function withoutVersion(value: unknown): unknown {
  const object = value as Partial<KubeObject>
  if (object.metadata === undefined) return value
  const { resourceVersion: _, managedFields: __, ...metadata } = object.metadata
  return { ...object, metadata }
}
