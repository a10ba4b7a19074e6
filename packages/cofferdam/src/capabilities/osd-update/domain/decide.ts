import { chooseStarts } from './choose-starts.ts'
import type { ChosenStarts } from './chosen-starts.ts'
import type { OsdUpdateDecision } from './decision.ts'
import { besideRound, judgePace, leftRound, withOpened } from './judge-pace.ts'
import { judgeReturns, recordOfGeneration } from './judge-returns.ts'
import { overrideStarts, withOverride } from './override-start.ts'
import { paceGate } from './pace-gate.ts'
import { osdsInParallel } from './parallel-limit.ts'
import { isAnyPeering } from './peered-osds.ts'
import { recheckRound } from './recheck-round.ts'
import { isReleaseCheckDue } from './release-check.ts'
import type { CephForUpdate, OsdUpdateSnapshot, UpdatableOsd, UpdateRecord } from './snapshot.ts'
import { type SortedOsds, sortOsds, upOsds } from './sort-osds.ts'
import type { CephChoice } from './start-input.ts'
import { withTurns } from './turn-for-drains.ts'
import { isHeldForUpdate, wantedUpdateClaim } from './update-claim.ts'
import { firstGate, type Gate } from './update-gates.ts'
import { decideUpdateNoout } from './update-noout.ts'
import { overrideInForce } from './update-override.ts'
import { progressOf } from './update-progress.ts'
import type { UpdateSettings } from './update-settings.ts'
import { updateWords } from './update-words.ts'
import { withinBudgets } from './within-budgets.ts'

/** Below so many OSDs nothing can be spread, so they go one at a time; they are judged like all others. */
const fewOsds = 3
/** Ceph sends no event when placement groups have peered. */
const pollSeconds = 5
/** A pass of Rook that changes nothing may be short, and has to be seen. */
const rookSeconds = 2

/** Whether the decision needs to know Ceph. When not, nobody asks it anything. */
export function needsCeph(snapshot: Omit<OsdUpdateSnapshot, 'ceph'>): boolean {
  const record = recordOfGeneration(snapshot)
  const isWorking = hasWork(sortOsds({ ...snapshot, ceph: undefined }, record), record, snapshot.osds)
  const isCheckDue = snapshot.cluster.mode !== 'off' && isReleaseCheckDue(record, snapshot.nowMs)
  return isWorking || isHeldForUpdate(snapshot) || isCheckDue
}

/**
 * Which OSDs of a cluster are to be updated now, and why not more. Asked again after every change and every return: what must be
 * remembered is in the record, the rest is seen.
 *
 * Guarantees: only OSDs that need an update start; with all that are restarting they leave every placement group its floor, by two
 * reckonings; never more than the settings allow are restarting; nothing starts while the update is frozen, or while somebody
 * else holds the storage or waits for it, or has it left free for a drain. With the same record and world the answer is the same, so whoever crashed goes on.
 * Assumes: the claim is held and the record is written before any Deployment is.
 * Fails closed: without Ceph, ledger or a readable record nothing starts.
 */
export function decideOsdUpdate(snapshot: OsdUpdateSnapshot, recheck = recheckRound): OsdUpdateDecision {
  const before = recordOfGeneration(snapshot)
  const seen = snapshot.ceph?.known === true ? snapshot.ceph.value : undefined
  const first = sortOsds(snapshot, before)
  const judged = snapshot.recordProblem === undefined ? judgeReturns(snapshot, before, first) : snapshot.record
  const sorted = judged === before ? first : sortOsds(snapshot, judged)
  const failed = new Set(judged.failed.map(({ osd }) => osd))
  const paced = judgePace(snapshot, { before, judged })
  const closed = leftRound(snapshot, paced)
  const moving = sorted.away.filter(({ id }) => !failed.has(id) && !closed.has(id))
  const running = moving.map(({ id }) => id)
  const isPending = hasPending(sorted)
  const isWorking = hasWork(sorted, judged, snapshot.osds)
  const isMoving = moving.some(({ isNodeCordoned }) => isNodeCordoned !== true)
  const noted = withTurns(snapshot, paced, { isPending, isWorking, isMoving })
  const gate = firstGate(snapshot, noted) ?? (seen && paceGate(snapshot, noted, seen))
  const planned = seen && isPending ? choose({ snapshot, seen, judged, sorted, running, gate, recheck }) : nothingChosen
  const wanted =
    seen && isPending && gate === undefined
      ? overrideStarts({ snapshot, seen, sorted, running, record: judged, chosen: planned })
      : planned
  const chosen = seen === undefined ? wanted : { ...wanted, start: besideRound(wanted.start, paced, seen) }
  const begun = isWorking ? withOpened(withStarts(noted, chosen, snapshot, seen), chosen.start, snapshot) : noted
  const { noout, record } = decideUpdateNoout(snapshot, seen, { record: begun, running, start: chosen.start })
  const claim = claimOf(snapshot, { seen, isActive: running.length + chosen.start.length > 0, sorted, chosen })
  const { mode, settings } = snapshot.cluster
  // What Rook does with its settings beside us is not ours to warn of.
  const checksOff = mode === 'own' || (mode !== 'off' && isWorking) ? overrideInForce(settings) : undefined
  const blocked = [...sorted.leftOut, ...chosen.blocked].sort((a, b) => a.osd - b.osd)
  return {
    ...updateWords({ gate, chosen, sorted, running, record, nowMs: snapshot.nowMs, isClean: seen?.isClean }),
    start: chosen.start,
    progress: progressOf({ snapshot, sorted, running, chosen, record }),
    ...(chosen.plan && { plan: chosen.plan }),
    ...(chosen.ask && { ask: chosen.ask }),
    ...(chosen.override && { override: chosen.override }),
    ...(checksOff !== undefined && { checksOff }),
    ...(noout.set.length + noout.unset.length > 0 && { noout }),
    blocked,
    ...(claim && { claim }),
    record,
    recheckAfterSeconds: recheckOf(
      { gate, isWorking, isHeld: isHeldForUpdate(snapshot), isReleasing: claim?.wants === 'release' },
      running.length + chosen.start.length,
      moving.some(({ awaitsRook }) => awaitsRook === true),
    ),
  }
}

const nothingChosen: ChosenStarts = { start: [], blocked: [], roundsLeft: 0, lowerBound: 0 }

function hasPending({ pending, again }: SortedOsds): boolean {
  return pending.length > 0 || again.length > 0
}

/** A failed OSD is queried in Ceph only when Kubernetes has it back: a dead disk must not cost a question for ever. */
function hasWork(sorted: SortedOsds, { failed, noout }: UpdateRecord, osds: readonly UpdatableOsd[]): boolean {
  if (hasPending(sorted) || sorted.back.length > 0 || (noout ?? []).length > 0) return true
  const isFailed = new Set(failed.map(({ osd }) => osd))
  if (sorted.away.some(({ id }) => !isFailed.has(id))) return true
  return (
    isFailed.size > 0 && osds.some(({ id, isPodReady, needsUpdate }) => isFailed.has(id) && isPodReady && !needsUpdate)
  )
}

interface Seen {
  readonly snapshot: OsdUpdateSnapshot
  readonly seen: CephForUpdate
  readonly judged: UpdateRecord
  readonly sorted: SortedOsds
  readonly running: readonly number[]
  readonly gate: Gate | undefined
  readonly recheck: typeof recheckRound
}

function choose({ snapshot, seen, judged, sorted, running, gate, recheck }: Seen): ChosenStarts {
  const { settings } = snapshot.cluster
  const { map } = seen
  const up = upOsds(seen)
  const unreadyOnes = snapshot.osds.filter(({ id, isPodReady }) => !isPodReady && up.has(id)).map(({ id }) => id)
  const away = new Set([...sorted.away.map(({ id }) => id), ...unreadyOnes])
  const isUnready = new Set(unreadyOnes)
  const most = map.osds.length < fewOsds ? 1 : osdsInParallel(settings.maxInParallel, map.osds.length)
  const begun = judged.done + 1
  const held = sorted.pending.flatMap(({ id, held: why }) => (why === undefined ? [] : [{ osd: id, why }]))
  const free = sorted.pending.filter((osd) => osd.held === undefined)
  const chosen = chooseStarts(
    {
      map,
      settings,
      pending: free.filter(({ id }) => !isUnready.has(id)).map(({ id }) => id),
      unready: free.filter(({ id }) => isUnready.has(id)).map(({ id }) => id),
      again: sorted.again.map(({ id }) => id),
      away,
      room: Math.max(most - running.length, 0),
      ramp: settings.canary && begun < most ? begun : undefined,
      running,
      ...(settings.strategy !== 'plan' && { cephChooses: choiceOf(snapshot, settings) }),
    },
    recheck,
  )
  const allowed = {
    ...chosen,
    start: withinBudgets(chosen.start, snapshot.osds),
    blocked: [...chosen.blocked, ...held].sort((a, b) => a.osd - b.osd),
  }
  const { ask: _, ...gated } = allowed
  // Ceph would refuse, and would be asked again only after a while.
  if (gate === undefined) return isAnyPeering(map, running) ? { ...gated, start: [] } : allowed
  return { ...gated, start: gate.allowsDown ? allowed.start.filter((id) => !up.has(id)) : [] }
}

/** A version says nothing where the image stays the same. */
function choiceOf(
  { cluster, osds, proposal }: OsdUpdateSnapshot,
  { strategy, cephVersion }: UpdateSettings,
): CephChoice {
  return {
    by: strategy === 'ok-to-upgrade' && cluster.isUpgrade ? 'ok-to-upgrade' : 'ok-to-stop',
    updated: osds.filter(isUpdated).map(({ id }) => id),
    ...(cephVersion !== undefined && { version: cephVersion }),
    ...(proposal !== undefined && { proposal }),
  }
}

function isUpdated({ needsUpdate, isPodReady, problem }: UpdatableOsd): boolean {
  return !needsUpdate && isPodReady && problem === undefined
}

function withStarts(
  record: UpdateRecord,
  { start, override }: ChosenStarts,
  { nowMs }: OsdUpdateSnapshot,
  seen: CephForUpdate | undefined,
): UpdateRecord {
  if (start.length === 0 || seen === undefined) return record
  const up = upOsds(seen)
  const down = start.filter((id) => !up.has(id))
  const wereDown = [...new Set([...(record.wereDown ?? []), ...down])].sort((a, b) => a - b)
  return {
    ...record,
    startedMs: record.startedMs ?? nowMs,
    ...(wereDown.length > 0 && { wereDown }),
    ...(override && { overrides: withOverride(record, override, nowMs) }),
  }
}

function claimOf(
  snapshot: OsdUpdateSnapshot,
  given: {
    readonly seen: CephForUpdate | undefined
    readonly isActive: boolean
    readonly sorted: Pick<SortedOsds, 'away'>
    readonly chosen: Pick<ChosenStarts, 'start'>
  },
): OsdUpdateDecision['claim'] {
  const { seen, isActive, sorted, chosen } = given
  const isGone = snapshot.cluster.isBeingDeleted
  // A drain that caught them restarting would wait for the storage, they for the end of the drain.
  const isHandedOver =
    chosen.start.length === 0 &&
    sorted.away.length > 0 &&
    sorted.away.every(({ isNodeCordoned }) => isNodeCordoned === true)
  // A damaged placement group may stay so for days: the storage is not held all that time for an update that is over.
  const isAtRest = (seen?.isClean.known === true && seen.isClean.value) || seen?.isAtRest === true
  const isClean = isGone || isHandedOver || isAtRest
  return wantedUpdateClaim(snapshot, { isActive: isActive && !isGone && !isHandedOver, isClean })
}

function recheckOf(
  given: {
    readonly gate: Gate | undefined
    readonly isWorking: boolean
    readonly isHeld: boolean
    readonly isReleasing: boolean
  },
  active: number,
  isRookAwaited: boolean,
): number | undefined {
  if (isRookAwaited) return rookSeconds
  if (active > 0) return pollSeconds
  const after = given.gate?.afterSeconds ?? pollSeconds * 3
  const isWaiting = given.isWorking || (given.isHeld && !given.isReleasing)
  return isWaiting && Number.isFinite(after) ? after : undefined
}
