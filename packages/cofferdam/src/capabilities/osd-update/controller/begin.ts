import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { CephPorts } from '../../../ceph/reader/ceph-ports.ts'
import type { Observed } from '../../../shared/observed.ts'
import { doesRestart, isRightMissing, type StartOutcome, startUpdate } from '../apply/apply.ts'
import { type StartNote, type StartNotes, type StoredUpdate, writeUpdate } from '../apply/record.ts'
import type { OsdUpdateDecision } from '../domain/decision.ts'
import { beforeStarts, type NeverBegun, withoutNeverBegun } from '../domain/never-begun.ts'
import { namesOf } from '../domain/proposed-starts.ts'
import type { OsdUpdateSnapshot, UpdatedCluster } from '../domain/snapshot.ts'
import { stoppableOsds } from '../domain/stoppable-osds.ts'
import { withFailure } from '../domain/update-record.ts'
import type { OsdUpdateObserver, UpdateLook } from '../observe/observe.ts'
import { readWays, restartOsd, type SeenWays } from './restart.ts'

export interface BeginPorts {
  readonly api: KubeApi
  readonly observer: OsdUpdateObserver
  readonly ceph: Pick<CephPorts, 'askOkToStop'>
  readonly osdDeployments: Pick<WatchView<Deployment>, 'whenSeen'>
}

/** One look with all that was heard, and what was read of the record. */
export interface UpdateTurn {
  readonly cluster: CephCluster
  readonly look: UpdateLook
  readonly stored: StoredUpdate
  readonly snapshot: OsdUpdateSnapshot
  readonly decision: OsdUpdateDecision
  /** Whether the ledger has the storage held for this update. */
  readonly isStorageHeld: boolean
}

/** What came of a decision. */
export interface TurnEnd {
  readonly decision: OsdUpdateDecision
  /** Nothing is on its way that the storage is to be held for. */
  readonly isIdle: boolean
  /** Trouble that is not about an OSD. */
  readonly error?: unknown
}

/** When Ceph said no, and nobody will tell when it says yes. */
const lookAgainSeconds = 15

/** Writes down what was decided. */
export function remember(
  api: KubeApi,
  given: {
    readonly cluster: Pick<UpdatedCluster, 'namespace' | 'name'>
    readonly stored: StoredUpdate
    readonly decision: OsdUpdateDecision
    readonly starts: StartNotes
  },
  signal: AbortSignal,
): Promise<StoredUpdate> {
  const { cluster, stored, decision, starts } = given
  const { namespace, name } = cluster
  return writeUpdate(api, { namespace, name, stored, signal }, { record: decision.record, starts, decision })
}

/** A decision that starts nothing. */
export async function noteTurn(
  api: KubeApi,
  { snapshot, stored, decision }: UpdateTurn,
  signal: AbortSignal,
): Promise<TurnEnd> {
  const starts = notesOf(stored.starts, new Set(decision.progress.running), decision)
  await remember(api, { cluster: snapshot.cluster, stored, decision, starts }, signal)
  return { decision, isIdle: false }
}

/**
 * Record, Ceph's own word, then the objects: whoever is interrupted in between is carried on by the next look.
 *
 * Guarantees: without Ceph's yes to exactly those that are to stop and those that are on their way, nothing is touched.
 */
export async function beginUpdates(
  ports: BeginPorts,
  turn: UpdateTurn,
  { signal, changed }: { readonly signal: AbortSignal; readonly changed: AbortSignal },
): Promise<TurnEnd> {
  const { api, observer } = ports
  const { snapshot, stored, decision } = turn
  const running = runningBefore(snapshot, decision.progress.running)
  const markMs = Math.max(snapshot.nowMs, decision.record.settledMs ?? 0)
  const starts = startNotes(turn, markMs)
  const note = (before: StoredUpdate, noted: OsdUpdateDecision, noteworthy = starts) =>
    remember(api, { cluster: snapshot.cluster, stored: before, decision: noted, starts: noteworthy }, signal)
  // Its words come when it is done: Ceph may still refuse, and so may the budgets.
  const untouched = { ...decision, progress: beforeStarts(decision, running) }
  const intent = { ...untouched, reason: (stored.reason ?? decision.reason) as OsdUpdateDecision['reason'] }
  const written = await note(stored, intent)
  const touched = [...new Set([...decision.start, ...decision.progress.running])]
  const asked = snapshot.ceph?.known === true ? stoppableOsds(snapshot.ceph.value.map, touched) : []
  const commands = observer.commandsOf(turn.cluster)
  if (asked.length > 0 && commands !== undefined) {
    const answer = await ports.ceph.askOkToStop(commands, asked, AbortSignal.any([signal, changed]))
    changed.throwIfAborted()
    if (!answer.known || !answer.value) {
      const refused = refusedBy(answer, untouched, asked)
      await note(written, refused)
      return { decision: refused, isIdle: running.length === 0 }
    }
  }
  const ways = snapshot.cluster.mode === 'beside-rook' ? await readWays(ports, turn.cluster, signal) : undefined
  const outcomes = await Promise.all(decision.start.map((osd) => startOne(ports, osd, { turn, markMs, ways, signal })))
  const versions = outcomes.flatMap((outcome) => ('version' in outcome && outcome.version ? [outcome.version] : []))
  const { namespace } = turn.cluster.metadata
  await Promise.all(versions.map((version) => ports.osdDeployments.whenSeen(version, signal, namespace)))
  const record = outcomes.reduce(
    (noted, outcome) =>
      outcome.result === 'refused'
        ? withFailure(noted, { osd: outcome.osd, why: outcome.why, atMs: snapshot.nowMs })
        : noted,
    decision.record,
  )
  const unbegun = outcomes.flatMap(neverBegun)
  const done = withoutNeverBegun({ ...decision, record }, unbegun, running)
  const isUnbegun = new Set(unbegun.map(({ osd }) => osd).filter((osd) => !running.includes(osd)))
  await note(written, done, new Map([...starts].filter(([osd]) => !isUnbegun.has(osd))))
  const isIdle = running.length === 0 && outcomes.every(hasNotBegun)
  const trouble = outcomes.find((outcome) => outcome.result === 'unsure')
  return { decision: done, isIdle, ...(trouble?.result === 'unsure' && { error: trouble.error }) }
}

/** Which of these were on their way before: all that start now are counted among the running already. */
function runningBefore({ osds, record }: OsdUpdateSnapshot, running: readonly number[]): readonly number[] {
  const isRunning = new Set(running)
  return osds
    .filter(({ id, startedMs }) => isRunning.has(id) && startedMs !== undefined && startedMs >= (record.settledMs ?? 0))
    .map(({ id }) => id)
}

function neverBegun(outcome: StartOutcome): NeverBegun[] {
  if (outcome.result !== 'later' && outcome.result !== 'refused') return []
  return [{ osd: outcome.osd, why: outcome.why, isHeld: outcome.result === 'later' && outcome.isHeld === true }]
}

function startNotes(turn: UpdateTurn, markMs: number): StartNotes {
  const { snapshot, stored, decision } = turn
  const epoch = snapshot.ceph?.known === true ? snapshot.ceph.value.map.epoch : 0
  const begun = decision.start
    .filter((osd) => restarts(osd, turn))
    .map((osd): [number, StartNote] => [osd, { atMs: markMs, epoch }])
  return new Map([...notesOf(stored.starts, new Set(decision.progress.running), decision), ...begun])
}

function restarts(osd: number, { look: { deployments, snapshot }, cluster }: UpdateTurn): boolean {
  if (snapshot.cluster.mode === 'beside-rook') return true
  const deployment = deployments.get(osd)
  return deployment !== undefined && doesRestart(deployment, cluster)
}

async function startOne(
  ports: BeginPorts,
  osd: number,
  given: {
    readonly turn: UpdateTurn
    readonly markMs: number
    /** Where Rook writes the Deployments. */
    readonly ways: SeenWays | undefined
    readonly signal: AbortSignal
  },
): Promise<StartOutcome> {
  const { turn, markMs, ways, signal } = given
  const { look: seen, cluster, isStorageHeld } = turn
  if (ways !== undefined) {
    const restart = { osd, cluster, pods: seen.oldPods.get(osd) ?? [], isStorageHeld }
    return restartOsd(ports, restart, { ways, signal })
  }
  const deployment = seen.deployments.get(osd)
  if (deployment === undefined) return { osd, result: 'later', why: 'its Deployment is gone' }
  return startUpdate(ports.api, { osd, deployment, cluster, markMs }, signal)
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

function refusedBy(
  answer: Observed<boolean>,
  decision: OsdUpdateDecision,
  asked: readonly number[],
): OsdUpdateDecision {
  const words: Pick<OsdUpdateDecision, 'reason' | 'explanation'> = answer.known
    ? {
        reason: 'CephDisagrees',
        explanation: `Ceph does not call it safe to stop ${namesOf(asked)} together, and nothing starts until it does`,
      }
    : { reason: 'SafetyUnknown', explanation: `nothing starts without Ceph's ok-to-stop check: ${answer.why}` }
  return { ...decision, ...words, start: [], recheckAfterSeconds: lookAgainSeconds }
}
