import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { changesOf } from './decide-pace.ts'
import type { OsdUpdateDecision } from './decision.ts'
import { beforeStarts, withoutNeverBegun } from './never-begun.ts'
import { narrowedByRefusal, overriddenRefusal } from './override-refusal.ts'
import { asking, closing, needsHold, notesOf, type UpdatePassDecision } from './pass-end.ts'
import type { HeardInPass, StartIntent, UpdatePassSnapshot } from './pass-snapshot.ts'
import { recordSteps } from './record-steps.ts'
import { refusedByCeph } from './refused-by-ceph.ts'
import type { RestartWay } from './restart-way.ts'
import type { CephForUpdate, OsdUpdateSnapshot } from './snapshot.ts'
import { hasNotBegun, neverBegun, type StartOutcome } from './start-outcome.ts'
import { doesRestart, startedDeployment } from './started-deployment.ts'
import type { AskStep, Eviction, UpdateStep } from './steps.ts'
import { stoppableOsds } from './stoppable-osds.ts'
import type { StartNote, StartNotes } from './stored-update.ts'
import { withNooutOf } from './update-noout.ts'
import { withFailure } from './update-record.ts'

/**
 * Hold, Ceph's ok-to-stop check, record, then the objects: whoever is interrupted in between is carried on by the next pass.
 *
 * Guarantees: without Ceph's yes to exactly those that are to stop and those that are restarting, nothing is touched, unless a setting
 * of the CephCluster overrides the checks: then one OSD alone. Where Ceph said no before, it is asked before the storage is held, so that
 * nobody else has to wait for an update that cannot start.
 */
export function decideStarts(pass: UpdatePassSnapshot, wanted: OsdUpdateDecision): UpdatePassDecision {
  const { seen, heard } = pass
  const decision = narrowedByRefusal(pass, wanted)
  const { map, isClean } = cephOf(seen)
  const running = runningBefore(seen, decision.progress.running)
  const asked = stoppableOsds(map, [...new Set([...decision.start, ...decision.progress.running])])
  const hold = needsHold(pass, decision)
  const heardNow = heard.okToStop !== undefined && isSameJson(heard.okToStop.osds, asked) ? heard.okToStop : undefined
  const question = (isSecured: boolean): AskStep => ({
    do: 'ask',
    ask: 'ok-to-stop',
    osds: asked,
    isSecured,
    ...(map.ignoredPools === undefined ? {} : { ignoredPools: map.ignoredPools.map(({ id }) => id) }),
  })
  const isUnchecked = seen.cluster.settings.skipUpgradeChecks
  if (asked.length > 0 && !isUnchecked) {
    const isDoubtful = hold.length > 0 && pass.refusedSinceMs !== undefined
    if (isDoubtful && heardNow === undefined) return asking(question(false))
    const answer = heardNow?.answer
    const isOverridden = answer?.known === true && decision.override !== undefined
    if (answer !== undefined && !(answer.known && answer.value) && !isOverridden) {
      const alone = answer.known ? overriddenRefusal(pass, decision, { asked, running }) : undefined
      return alone === undefined ? refused(pass, decision, { answer, asked, running }) : decideStarts(pass, alone)
    }
    if (heardNow?.isSecured !== true) {
      const probe: AskStep = { do: 'ask', ask: 'trial', isClean: isClean.known && isClean.value }
      return asking(...hold, probe, question(true))
    }
  }
  const besideRook = seen.isWalking === true ? beginRound : beginRestarts
  const begin = seen.cluster.mode === 'own' ? beginUpdates : besideRook
  const begun = begin(pass, decision, running)
  return { ...begun, steps: [...hold, ...begun.steps] }
}

function refused(
  pass: UpdatePassSnapshot,
  decision: OsdUpdateDecision,
  given: {
    readonly answer: NonNullable<HeardInPass['okToStop']>['answer']
    readonly asked: readonly number[]
    readonly running: readonly number[]
  },
): UpdatePassDecision {
  const { seen, stored, refusedSinceMs = seen.nowMs } = pass
  const { answer, asked, running } = given
  const isIdle = running.length === 0
  const untouched = { ...withNooutOf(decision, []), progress: beforeStarts(decision, running) }
  const refusedForMs = isIdle ? seen.nowMs - refusedSinceMs : undefined
  const refusal = refusedByCeph(untouched, { answer, asked, refusedForMs })
  return closing(pass, { decision: refusal, notes: notesOf(stored.starts, running, decision), isIdle })
}

/** Where the Deployments are ours. */
function beginUpdates(
  pass: UpdatePassSnapshot,
  decision: OsdUpdateDecision,
  running: readonly number[],
): UpdatePassDecision {
  const { seen, cluster, deployments } = pass
  const markMs = Math.max(seen.nowMs, decision.record.settledMs ?? 0)
  const starts = decision.start.flatMap((osd) => {
    const deployment = deployments.get(osd)
    return deployment === undefined ? [] : [{ osd, deployment: startedDeployment(deployment, cluster, markMs) }]
  })
  const untouched = decision.start
    .filter((osd) => !deployments.has(osd))
    .map((osd): StartOutcome => ({ osd, result: 'later', why: 'its Deployment is gone' }))
  const restarting = decision.start.filter((osd) => {
    const deployment = deployments.get(osd)
    return deployment !== undefined && doesRestart(deployment, cluster)
  })
  const intent = intentOf(pass, decision, { running, untouched, restarting, markMs })
  return asking(...recordOf(pass, intent), ...flagsOf(intent.decision), {
    do: 'write',
    write: 'deployments',
    starts,
    intent,
  })
}

/** Beside Rook, which updates those that it is not kept from. */
function beginRound(
  pass: UpdatePassSnapshot,
  decision: OsdUpdateDecision,
  running: readonly number[],
): UpdatePassDecision {
  const markMs = Math.max(pass.seen.nowMs, decision.record.settledMs ?? 0)
  const changes = changesOf(
    pass,
    decision.start.map((id) => ({ id })),
    'free',
  )
  const found = new Set(changes.map(({ osd }) => osd))
  const untouched = decision.start
    .filter((osd) => !found.has(osd))
    .map((osd): StartOutcome => ({ osd, result: 'later', why: 'its Deployment is gone' }))
  const intent = intentOf(pass, decision, { running, untouched, restarting: [...found], markMs })
  return asking(...recordOf(pass, intent), ...flagsOf(intent.decision), {
    do: 'write',
    write: 'round',
    changes,
    intent,
  })
}

/** Beside Rook: its Deployment makes another pod when the old one is evicted or deleted. */
function beginRestarts(
  pass: UpdatePassSnapshot,
  decision: OsdUpdateDecision,
  running: readonly number[],
): UpdatePassDecision {
  const { seen, stored, heard } = pass
  const { ways } = heard
  const { start } = decision
  // Right before the write: a budget or a lock that came meanwhile counts.
  if (ways === undefined || ('ways' in ways && start.some((osd) => !ways.ways.has(osd)))) {
    return asking({ do: 'ask', ask: 'restart-ways', osds: start, isAgain: false })
  }
  if ('error' in ways) {
    const untouched = { ...decision, start: [], progress: beforeStarts(decision, running) }
    const notes = notesOf(stored.starts, running, decision)
    const end = closing(pass, { decision: untouched, notes, isIdle: running.length === 0, trouble: ways.error })
    // What was decided did not come to pass, and is decided anew.
    return { ...end, steps: end.steps.filter((step) => step.do === 'hold') }
  }
  const markMs = Math.max(seen.nowMs, decision.record.settledMs ?? 0)
  const untouched = start.flatMap((osd): StartOutcome[] => {
    const way = ways.ways.get(osd)
    return way?.way === 'wait' ? [{ osd, result: 'later', why: way.why, isHeld: true }] : []
  })
  const waiting = new Set(untouched.map(({ osd }) => osd))
  const going = start.filter((osd) => !waiting.has(osd))
  const intent = intentOf(pass, decision, { running, untouched, restarting: going, markMs })
  if (going.length === 0) return decideAfterStarts(pass, { intent, outcomes: [], isTriedAgain: true })
  const evictions = going.map((osd) => evictionOf(pass, osd, ways.ways.get(osd)))
  return asking(...recordOf(pass, intent), ...flagsOf(intent.decision), {
    do: 'evict',
    evictions,
    intent,
    isAgain: false,
  })
}

/** OSDs were touched: what came of it is recorded and reported. */
export function decideAfterStarts(
  pass: UpdatePassSnapshot,
  begun: NonNullable<HeardInPass['begun']>,
): UpdatePassDecision {
  const { intent } = begun
  const { decision, running } = intent
  const again = tryAgain(pass, begun)
  if (again !== undefined) return asking(again)
  const byOsd = new Map([...intent.untouched, ...begun.outcomes].map((outcome) => [outcome.osd, outcome]))
  const outcomes = decision.start.map((osd) => byOsd.get(osd) as StartOutcome)
  const isOverrideUnused = outcomes.some((one) => one.osd === decision.override?.osd && hasNotBegun(one))
  const { overrides: _, ...plain } = decision.record
  const { overridesBefore } = intent
  const noted = isOverrideUnused
    ? { ...plain, ...(overridesBefore && { overrides: overridesBefore }) }
    : decision.record
  const record = outcomes.reduce(
    (so, outcome) =>
      outcome.result === 'refused' ? withFailure(so, { osd: outcome.osd, why: outcome.why, atMs: intent.nowMs }) : so,
    noted,
  )
  const unbegun = outcomes.flatMap(neverBegun)
  const trouble = outcomes.find((outcome) => outcome.result === 'unsure')
  return closing(pass, {
    decision: withoutNeverBegun({ ...decision, record }, unbegun, running),
    notes: withoutNotes(intent.notes, unbegun, running),
    isIdle: running.length === 0 && outcomes.every(hasNotBegun),
    held: refusedPods(pass, begun),
    ...(trouble?.result === 'unsure' && { trouble: trouble.error }),
  })
}

/** A budget of Cofferdam that was open just now is being closed for this very update. */
function tryAgain(
  pass: UpdatePassSnapshot,
  { intent, outcomes, isTriedAgain }: NonNullable<HeardInPass['begun']>,
): UpdateStep | undefined {
  const { seen, heard, isStorageHeld } = pass
  if (isTriedAgain || !isStorageHeld || seen.cluster.mode === 'own' || seen.isWalking === true) return undefined
  const wayOf = (osd: number) =>
    heard.ways !== undefined && 'ways' in heard.ways ? heard.ways.ways.get(osd) : undefined
  const osds = outcomes.filter((one) => isHeldBack(one) && wayOf(one.osd)?.way === 'evict').map(({ osd }) => osd)
  if (osds.length === 0) return undefined
  if (heard.waysAgain === undefined) return { do: 'ask', ask: 'restart-ways', osds, isAgain: true }
  if ('error' in heard.waysAgain) return undefined
  const { ways } = heard.waysAgain
  const passing = osds.filter((osd) => ways.get(osd)?.way === 'past-own-budgets')
  if (passing.length === 0) return undefined
  const evictions = passing.map((osd) => evictionOf(pass, osd, ways.get(osd)))
  return { do: 'evict', evictions, intent, isAgain: true }
}

function refusedPods(
  { oldPods }: UpdatePassSnapshot,
  { outcomes }: NonNullable<HeardInPass['begun']>,
): { readonly uid: string; readonly why: string }[] {
  return outcomes.filter(isHeldBack).flatMap(({ osd, why }) => {
    return (oldPods.get(osd) ?? []).map(({ metadata }) => ({ uid: metadata.uid ?? '', why }))
  })
}

function isHeldBack(outcome: StartOutcome): outcome is Extract<StartOutcome, { readonly result: 'later' }> {
  return outcome.result === 'later' && outcome.isHeld === true
}

function evictionOf(
  { oldPods, isStorageHeld }: UpdatePassSnapshot,
  osd: number,
  way: RestartWay | undefined,
): Eviction {
  const by = way?.way === 'past-own-budgets' && isStorageHeld ? 'deletion' : 'eviction'
  const pods = (oldPods.get(osd) ?? []).map(({ metadata }) => {
    return { namespace: metadata.namespace ?? '', name: metadata.name, uid: metadata.uid ?? '' }
  })
  return { osd, by, pods }
}

function intentOf(
  { seen, stored }: UpdatePassSnapshot,
  decision: OsdUpdateDecision,
  given: Pick<StartIntent, 'running' | 'untouched'> & {
    readonly restarting: readonly number[]
    readonly markMs: number
  },
): StartIntent {
  const { running, untouched, restarting, markMs } = given
  const { epoch } = cephOf(seen).map
  const fresh = restarting.map((osd): [number, StartNote] => [osd, { atMs: markMs, epoch }])
  const notes = new Map([...notesOf(stored.starts, decision.progress.running, decision), ...fresh])
  const { overrides } = seen.record
  return {
    nowMs: seen.nowMs,
    decision: withNooutOf(decision, restarting),
    running,
    notes,
    untouched,
    ...(overrides !== undefined && { overridesBefore: overrides }),
  }
}

/** Set after it is on record and before anything stops. */
function flagsOf({ noout }: OsdUpdateDecision): UpdateStep[] {
  const set = noout?.set ?? []
  return set.length === 0 ? [] : [{ do: 'write', write: 'flags', noout: { set, unset: [] } }]
}

/**
 * The record with the starts on it. It is reported, and its reason written, when it is done: whoever takes over after a crash in
 * between has to report it.
 */
function recordOf(
  { seen, stored }: UpdatePassSnapshot,
  { decision, running, notes, untouched }: StartIntent,
): UpdateStep[] {
  const unbegun = untouched.flatMap(neverBegun)
  const begun = withoutNeverBegun(decision, unbegun, running)
  const reason = (stored.reason ?? begun.reason) as OsdUpdateDecision['reason']
  const change = { record: begun.record, starts: withoutNotes(notes, unbegun, running), decision: { ...begun, reason } }
  return recordSteps(stored, seen.cluster, change)
}

function withoutNotes(
  notes: StartNotes,
  unbegun: readonly { readonly osd: number }[],
  running: readonly number[],
): StartNotes {
  const isUnbegun = new Set(unbegun.map(({ osd }) => osd).filter((osd) => !running.includes(osd)))
  return new Map([...notes].filter(([osd]) => !isUnbegun.has(osd)))
}

/** Assumes: something starts, and nothing does without Ceph. */
function cephOf({ ceph }: OsdUpdateSnapshot): CephForUpdate {
  return (ceph as { readonly value: CephForUpdate }).value
}

/** Which of these were restarting before: all that start now are counted among the running already. */
function runningBefore({ osds, record }: OsdUpdateSnapshot, running: readonly number[]): readonly number[] {
  const isRunning = new Set(running)
  return osds
    .filter(({ id, startedMs }) => isRunning.has(id) && startedMs !== undefined && startedMs >= (record.settledMs ?? 0))
    .map(({ id }) => id)
}
