import type { DisruptionLedger } from '../api/disruption-ledger.ts'
import { keyOf, keyText } from '../api/resource-type.ts'
import type { CephCluster } from '../api/rook.ts'
import type { Observed } from '../domain/observed.ts'
import { decideOsdUpdate, needsCeph } from '../domain/osd-update/decide.ts'
import type { OsdUpdateDecision } from '../domain/osd-update/decision.ts'
import type { OsdUpdateSnapshot } from '../domain/osd-update/snapshot.ts'
import { upOsds } from '../domain/osd-update/sort-osds.ts'
import { withFailure } from '../domain/osd-update/update-record.ts'
import type { KubeApi } from '../kube/kube-api.ts'
import type { ViewChange } from '../kube/watch-view.ts'
import type { Controller } from '../runtime/controller.ts'
import { followClusters, splitKey } from './follow-clusters.ts'
import { ledgerPermissions } from './ledger-store.ts'
import { doesRestart, isRightMissing, type StartOutcome, startRestart, startUpdate } from './osd-update-apply.ts'
import { UpdateKey } from './osd-update-key.ts'
import { OsdUpdateObserver, type UpdateLook, type UpdateObserverPorts } from './osd-update-observe.ts'
import { type StartNote, type StartNotes, type StoredUpdate, writeUpdate } from './osd-update-record.ts'
import { OsdUpdateReporter, type UpdateReports } from './osd-update-report.ts'
import type { Permission } from './permission.ts'
import { isStorageNews, type StorageLedger } from './storage-key.ts'

export const osdUpdatePermissions: readonly Permission[] = [
  { group: 'ceph.rook.io', resource: 'cephclusters', verbs: ['list', 'watch'] },
  { group: 'apps', resource: 'deployments', verbs: ['list', 'watch', 'update'] },
  { group: '', resource: 'pods', verbs: ['list', 'watch'] },
  { group: '', resource: 'pods/eviction', verbs: ['create'] },
  // The record has the name of its cluster in its own, and a Role knows no patterns.
  { group: '', resource: 'configmaps', verbs: ['get', 'create', 'update'] },
  { group: '', resource: 'events', verbs: ['create'] },
  { group: 'cofferdam.io', resource: 'disruptionledgers', verbs: ['list', 'watch'] },
  ...ledgerPermissions,
]

export interface OsdUpdatePorts extends UpdateObserverPorts {
  readonly api: KubeApi
  readonly reports: UpdateReports
  /** Where disruptions are agreed upon; without it updates are alone with the data. */
  readonly ledger?: StorageLedger
}

/** One look with all that was heard, and what was read of the record. */
interface Turn {
  readonly key: string
  readonly cluster: CephCluster
  readonly look: UpdateLook
  readonly stored: StoredUpdate
  readonly snapshot: OsdUpdateSnapshot
  readonly decision: OsdUpdateDecision
}

/** What came of a decision. */
interface Done {
  readonly decision: OsdUpdateDecision
  /** Nothing is on its way that the storage is to be held for. */
  readonly isIdle: boolean
  /** Trouble that is not about an OSD. */
  readonly error?: unknown
}

/** When Ceph said no, or the record makes no sense. */
const lookAgainSeconds = 15

/**
 * Brings OSDs to what their CephCluster says, as many at a time as their data allows. Keys are `namespace/name` of CephClusters.
 *
 * Guarantees: every reconcile is one look, one decision and its writes; whatever has to be awaited is awaited between two of them,
 * so a change of the cluster counts at once. While nothing differs Ceph is not asked and nothing is written.
 */
export function createOsdUpdate(ports: OsdUpdatePorts): Controller {
  const { views, api } = ports
  const observer = new OsdUpdateObserver(ports)
  const reporter = new OsdUpdateReporter(ports.reports)
  const updateKey = new UpdateKey(ports.clock, ports.ledger)
  const seenClusters = new Map<string, { readonly namespace: string; readonly name: string; readonly uid: string }>()

  return {
    name: 'osd-update',

    async start(enqueue, signal) {
      const { clusters, osdDeployments, osdPods } = views
      const follower = followClusters(clusters, signal)
      follower.followSelf(enqueue)
      follower.follow(osdDeployments, enqueue)
      follower.follow(osdPods, enqueue)
      follower.followForAll(ports.rook.operators, enqueue)
      const ledgers = ports.ledger?.view
      if (ledgers !== undefined) {
        const tell = (change: ViewChange<DisruptionLedger>) => {
          for (const [key, cluster] of seenClusters) if (isStorageNews(change, cluster)) enqueue(key)
        }
        signal.addEventListener('abort', ledgers.subscribe(tell), { once: true })
        await ledgers.whenSynced(signal)
      }
      const needed = [clusters, osdDeployments, osdPods, ports.rook.operators]
      await Promise.all(needed.map((view) => view.whenSynced(signal)))
      for (const cluster of clusters.list()) enqueue(keyText(keyOf(cluster)))
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
    if (gone !== undefined) await updateKey.settle(gone, 'release', signal)
    seenClusters.delete(key)
    observer.forget(key)
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
    // Kubernetes again, after Ceph: what went down while it was asked must not be taken for running.
    const second = look(key, cluster, stored)
    const decided = await updateKey.decide({ ...second.snapshot, ceph }, (one) => decideOsdUpdate(one), signal)
    const turn: Turn = { key, cluster, look: second.look, stored, ...decided }
    const { decision, isIdle, error } =
      decided.decision.start.length > 0 ? await begin(turn, { signal, changed }) : await note(turn, signal)
    const isOver = decided.decision.claim?.wants === 'release' || isIdle
    const unsettled = await updateKey.settle(turn.snapshot.cluster, isOver ? 'release' : 'keep', signal)
    const problems = [...second.look.problems, ...(unsettled === undefined ? [] : [unsettled])]
    if (error !== undefined) throw error
    await reporter.report({ key, cluster, decision, problems, recordedReason: stored.reason })
    const rechecks = [decision.recheckAfterSeconds, updateKey.recheckAfterSeconds(turn.snapshot.cluster)]
    const due = rechecks.filter((seconds) => seconds !== undefined)
    return due.length === 0 ? undefined : { recheckAfterSeconds: Math.min(...due) }
  }

  function look(key: string, cluster: CephCluster, stored: StoredUpdate) {
    const seen = observer.look(key, cluster, stored)
    const arbiter = updateKey.look(seen.snapshot.cluster)
    const snapshot: Omit<OsdUpdateSnapshot, 'ceph'> = { ...seen.snapshot, ...(arbiter !== undefined && { arbiter }) }
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
      await remember(seen.snapshot.cluster, stored, { decision, starts: stored.starts, signal })
    }
    await reporter.report({ key, cluster, decision, problems: seen.look.problems, recordedReason: stored.reason })
    // Nobody tells when a record is repaired.
    const recheckAfterSeconds = stored.problem === undefined ? decision.recheckAfterSeconds : lookAgainSeconds
    return recheckAfterSeconds === undefined ? undefined : { recheckAfterSeconds }
  }

  function remember(
    { namespace, name }: { readonly namespace: string; readonly name: string },
    stored: StoredUpdate,
    given: { readonly decision: OsdUpdateDecision; readonly starts: StartNotes; readonly signal: AbortSignal },
  ): Promise<StoredUpdate> {
    const { decision, starts, signal } = given
    return writeUpdate(api, { namespace, name, stored, signal }, { record: decision.record, starts, decision })
  }

  async function note({ snapshot, stored, decision }: Turn, signal: AbortSignal): Promise<Done> {
    const starts = notesOf(stored.starts, new Set(decision.progress.running), decision)
    await remember(snapshot.cluster, stored, { decision, starts, signal })
    return { decision, isIdle: false }
  }

  /** Record, Ceph's own word, then the objects: whoever is interrupted in between is carried on by the next look. */
  async function begin(
    turn: Turn,
    { signal, changed }: { readonly signal: AbortSignal; readonly changed: AbortSignal },
  ): Promise<Done> {
    const { cluster, snapshot, stored, decision } = turn
    const { running } = decision.progress
    const markMs = Math.max(snapshot.nowMs, decision.record.settledMs ?? 0)
    const epoch = snapshot.ceph?.known === true ? snapshot.ceph.value.map.epoch : 0
    const begun = new Map(
      decision.start
        .filter((osd) => restarts(osd, turn))
        .map((osd): [number, StartNote] => [osd, { atMs: markMs, epoch }]),
    )
    const starts = new Map([...notesOf(stored.starts, new Set(running), decision), ...begun])
    // Its words come when it is done: Ceph may still refuse.
    const intent = { ...decision, reason: (stored.reason ?? decision.reason) as OsdUpdateDecision['reason'] }
    const written = await remember(snapshot.cluster, stored, { decision: intent, starts, signal })

    const asked = stoppable(snapshot, [...new Set([...decision.start, ...running])])
    const commands = observer.commandsOf(cluster)
    if (asked.length > 0 && commands !== undefined) {
      const answer = await ports.ceph.askOkToStop(commands, asked, AbortSignal.any([signal, changed]))
      changed.throwIfAborted()
      if (!answer.known || !answer.value) {
        const refused = refusedBy(answer, decision, asked)
        await remember(snapshot.cluster, written, { decision: refused, starts, signal })
        return { decision: refused, isIdle: running.length === 0 }
      }
    }
    const outcomes = await Promise.all(decision.start.map((osd) => startOne(osd, { turn, markMs, signal })))
    const versions = outcomes.flatMap((outcome) => ('version' in outcome && outcome.version ? [outcome.version] : []))
    await Promise.all(versions.map((version) => views.osdDeployments.whenSeen(version, signal)))
    const record = outcomes.reduce(
      (noted, outcome) =>
        outcome.result === 'refused'
          ? withFailure(noted, { osd: outcome.osd, why: outcome.why, atMs: snapshot.nowMs })
          : noted,
      decision.record,
    )
    const done = { ...decision, record }
    await remember(snapshot.cluster, written, { decision: done, starts, signal })
    const isIdle = running.length === 0 && outcomes.every(hasNotBegun)
    const trouble = outcomes.find((outcome) => outcome.result === 'unsure')
    return { decision: done, isIdle, ...(trouble?.result === 'unsure' && { error: trouble.error }) }
  }

  function restarts(osd: number, { look: { deployments, snapshot }, cluster }: Turn): boolean {
    if (snapshot.cluster.mode === 'beside-rook') return true
    const deployment = deployments.get(osd)
    return deployment !== undefined && doesRestart(deployment, cluster)
  }

  async function startOne(
    osd: number,
    { turn, markMs, signal }: { readonly turn: Turn; readonly markMs: number; readonly signal: AbortSignal },
  ): Promise<StartOutcome> {
    const { look: seen, cluster } = turn
    if (seen.snapshot.cluster.mode !== 'beside-rook') {
      const deployment = seen.deployments.get(osd)
      if (deployment === undefined) return { osd, result: 'later', why: 'its Deployment is gone' }
      return startUpdate(api, { osd, deployment, cluster, markMs }, signal)
    }
    const old = seen.oldPods.get(osd) ?? []
    const uids = old.flatMap(({ metadata }) => metadata.uid ?? [])
    for (const uid of uids) observer.noteLeaving(uid)
    const outcome = await startRestart(api, { osd, pods: old }, signal)
    if (outcome.result === 'later' || outcome.result === 'refused') for (const uid of uids) observer.noteStaying(uid)
    return outcome
  }
}

/** Where nobody answered it may have begun. */
function hasNotBegun(outcome: StartOutcome): boolean {
  return outcome.result === 'unsure' ? isRightMissing(outcome.error) : outcome.result !== 'started'
}

/** Of those on their way, and of those that were given up and may yet return. */
function notesOf(notes: StartNotes, running: ReadonlySet<number>, { record }: OsdUpdateDecision): StartNotes {
  const failed = new Set(record.failed.map(({ osd }) => osd))
  return new Map([...notes].filter(([osd]) => running.has(osd) || failed.has(osd)))
}

/** Those that run and hold data: of others Ceph has nothing to say. */
function stoppable({ ceph }: OsdUpdateSnapshot, osds: readonly number[]): number[] {
  if (ceph?.known !== true) return []
  const up = upOsds(ceph.value)
  const withData = new Set<number>(ceph.value.map.pgs.acting)
  return osds.filter((osd) => up.has(osd) && withData.has(osd)).sort((a, b) => a - b)
}

function refusedBy(
  answer: Observed<boolean>,
  decision: OsdUpdateDecision,
  asked: readonly number[],
): OsdUpdateDecision {
  const named = asked.slice(0, 10).map((osd) => `osd.${osd}`)
  const more = asked.length > named.length ? ` and ${asked.length - named.length} more` : ''
  const words: Pick<OsdUpdateDecision, 'reason' | 'explanation'> = answer.known
    ? {
        reason: 'CephDisagrees',
        explanation: `Ceph does not call it safe to stop ${named.join(', ')}${more} together, and nothing starts until it does`,
      }
    : { reason: 'SafetyUnknown', explanation: `nothing starts without Ceph's own word: ${answer.why}` }
  return { ...decision, ...words, start: [], recheckAfterSeconds: lookAgainSeconds }
}
