import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { medik8sLeaseNamespace } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ViewChange, WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { LastDecisions } from '../../../ceph/reader/last-decisions.ts'
import { type LedgerStore, ledgerPermissions } from '../../../ledger/store/ledger-store.ts'
import { isRelevantStorageChange, type StorageLedger } from '../../../ledger/store/storage-ledger.ts'
import type { Permission } from '../../../shared/permission.ts'
import { performPass } from '../../interpreter.ts'
import { type FencingMemory, fencingPerformers } from '../apply/apply.ts'
import { FenceHolds } from '../apply/fence-holds.ts'
import { FencingWrites } from '../apply/writes.ts'
import { WrittenBudgets } from '../apply/written-budgets.ts'
import { createFencingJudge } from '../domain/decide.ts'
import { decideFencingPass, type FencingPass } from '../domain/decide-pass.ts'
import { createFencingParser } from '../domain/parse-fencing.ts'
import type { FencingPassSnapshot } from '../domain/pass-snapshot.ts'
import { parseFencingSettings } from '../domain/settings.ts'
import { EvidenceChanges } from '../observe/evidence.ts'
import { readOsdPods } from '../observe/fresh-osd-pods.ts'
import type { FencingObservePorts, FreshlyRead } from '../observe/observe.ts'
import { observePass } from '../observe/observe-pass.ts'
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
  { group: 'cofferdam.io', resource: 'nodedisruptions', verbs: ['list', 'watch', 'patch'] },
  ...ledgerPermissions,
  { group: 'cofferdam.io', resource: 'disruptionledgers', verbs: ['list', 'watch'] },
  { group: '', resource: 'events', verbs: ['create'] },
]

export interface FencingLedger extends StorageLedger {
  readonly store: Pick<LedgerStore, 'change' | 'read'>
}

export interface FencingPorts extends Omit<FencingObservePorts, 'parse' | 'osds'> {
  readonly api: Pick<KubeApi, 'list' | 'create' | 'update' | 'patch' | 'delete'>
  readonly decisions: LastDecisions | undefined
  /** Where disruptions are agreed upon; without it no other holder counts. */
  readonly ledger: FencingLedger | undefined
  readonly reports: FencingReports
}

/** Machines are shared by clusters, so all of it is one key, and is decided about by one at a time. */
const everything = 'machines'

/** At the start nobody is waited for longer than this: what is not known by then is closed, and the reason is reported. */
const patienceMs = 10_000

/** Keeps the labels and budgets of machines, and the annotations for remediators, as the data allows. */
export function createFencing(ports: FencingPorts): Controller {
  const { clock, views, decisions, ledger } = ports
  const holds = new FenceHolds(clock, ledger)
  const listeners = new RemediatorListeners(clock)
  const reporter = new FencingReporter(ports.reports, views)
  const written = new WrittenBudgets()
  const evidence = new EvidenceChanges(clock)
  const judge = createFencingJudge()
  const isReleased = (requestId: string) => holds.isReleased(requestId)
  const observed = {
    ...ports,
    parse: createFencingParser(),
    osds: new FencedOsds(),
    unmade: written.unmade,
    isReleased,
  }
  const readFresh = async (signal: AbortSignal): Promise<FreshlyRead> => {
    const namespaces = clusterIds().map(({ namespace }) => namespace)
    // Pods last: an eviction by another tool needs no entry in the ledger.
    return { ledger: await ledger?.store.read(signal), osdPods: await readOsdPods(ports.api, namespaces, signal) }
  }

  return {
    name: 'fencing',

    async start(enqueue, signal) {
      const enqueueAll = () => enqueue(everything)
      const until = (end: () => void) => signal.addEventListener('abort', end, { once: true })
      for (const view of Object.values(views) as WatchView<unknown>[]) {
        until(
          view.subscribe((change) => {
            if (isRelevant(change)) enqueueAll()
          }),
        )
      }
      if (ledger !== undefined) {
        until(
          ledger.view.subscribe((change) => {
            if (clusterIds().some((cluster) => isRelevantStorageChange(change, cluster))) enqueueAll()
          }),
        )
      }
      if (decisions !== undefined) {
        until(
          decisions.follow((key) => {
            if (evidence.isRelevant(key, decisions.latest(key))) enqueueAll()
          }),
        )
      }
      // Leases of medik8s can be listed only where it is installed, and are not waited for.
      const { leases: _, ...needed } = views
      const all = [...(Object.values(needed) as WatchView<unknown>[]), ...(ledger === undefined ? [] : [ledger.view])]
      await atMost(Promise.all(all.map((view) => view.whenSynced(signal))), signal)
      // What is not known is closed; a first poll of Ceph keeps a restarted operator from briefly closing what is open.
      await atMost(Promise.all(clusterIds().map((cluster) => firstPoll(cluster, signal))), signal)
      enqueueAll()
    },

    async reconcile(_, signal) {
      const writes = new FencingWrites(ports, signal)
      const memory: FencingMemory = { unlabelled: new Set(), unheld: [] }
      const { snapshot, decision } = await performPass({
        observe: async () => observePass(observed, { memory, writes, written, listeners }),
        decide: (seen: FencingPassSnapshot): FencingPass => decideFencingPass(seen, judge.decide),
        perform: fencingPerformers({ writes, written, holds, reporter, readFresh }, memory, signal),
        signal,
      })
      if (snapshot.state === 'blind') return { recheckAfterSeconds: decision.recheckAfterSeconds }
      const failure = writes.refused.find(({ error }) => !hasReason(error, 'Conflict', 'AlreadyExists'))
      if (failure !== undefined) throw failure.error
      return { recheckAfterSeconds: recheckAfter(decision, writes.refused.length > 0) }
    },
  }

  async function atMost(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
    const ended = new AbortController()
    const limit = sleep(clock, patienceMs, AbortSignal.any([signal, ended.signal]))
    await Promise.race([work.catch(() => {}), limit])
    ended.abort()
  }

  async function firstPoll({ namespace, name }: ReturnType<typeof clusterIds>[number], signal: AbortSignal) {
    await decisions?.decided(`${namespace}/${name}`, { maxAgeMs: patienceMs, waitMs: patienceMs, signal })
  }

  function recheckAfter(decision: FencingPass, wasOvertaken: boolean): number {
    for (const { namespace, name } of clusterIds()) {
      if (evidence.isOld(decisions?.latest(`${namespace}/${name}`))) decisions?.request(`${namespace}/${name}`)
    }
    const seconds = [
      decision.recheckAfterSeconds,
      holds.recheckAfterSeconds(),
      ...clusterIds().map(({ namespace, name }) => evidence.staleInSeconds(decisions?.latest(`${namespace}/${name}`))),
      wasOvertaken ? 1 : undefined,
    ]
    return Math.min(...seconds.filter((each) => each !== undefined))
  }

  function clusterIds() {
    return [...views.clusters.list()]
      .filter((cluster) => parseFencingSettings(cluster).isManaged)
      .map(({ metadata: { namespace = '', name, uid = '' } }) => ({ namespace, name, uid }))
  }
}

/** Versions and the bookkeeping of the server change with every write; what is said does not. */
function isRelevant(change: ViewChange<unknown>): boolean {
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
