import type { ObjectProblem } from '../../../shared/object-problem.ts'
import { cephFactsOf } from './ceph-facts.ts'
import { decideWithoutRecord } from './decide-without-record.ts'
import type { CephDrainDecision } from './decision.ts'
import type { RecordedOwnership } from './drain-record.ts'
import type { FlagsOutcome, HeardRefusal, PassSnapshot } from './pass-snapshot.ts'
import { planBudgetWrites, writesOf } from './plan-budget-writes.ts'
import { planRelease } from './plan-release.ts'
import { planTightening } from './plan-tightening.ts'
import type { CephDrainSnapshot } from './snapshot.ts'
import type { DrainState } from './state-map.ts'
import type { CephDrainStep } from './steps.ts'
import { isAhead } from './storage-turn.ts'

/** How a decision is written. */
export interface PlannedWrites {
  readonly steps: readonly CephDrainStep[]
  /** False while the rest depends on what comes of the last of the steps. */
  readonly isWhole: boolean
  /** What is in force once they are performed: less than was wanted while the record is refused. */
  readonly decision: CephDrainDecision
  /** What could not be written, as far as that was heard. */
  readonly failures: readonly ObjectProblem[]
  /** Set while the record is refused. */
  readonly refusal: HeardRefusal | undefined
  /** A mon may have gone since the snapshot, from a node that is to keep it: nothing is released yet. */
  readonly isEarly: boolean
  /** The pass fails with what refused the record. */
  readonly failsUnrecorded: boolean
}

/**
 * Plans the writes of a decision: what is intended first, then the budgets, then the flags, then what came of those.
 *
 * Guarantees: a flag is on record as ours before it is set, and until it is gone, so whatever interrupts this, a flag of
 * ours is found again and one of an administrator's is never taken for ours. While the record is refused nothing is written but what
 * protects data without it. No OSD is let go while a mon may go beside one that is to stay; what the turn allows counts when its
 * budgets stand.
 */
export function planWrites(pass: PassSnapshot, snapshot: CephDrainSnapshot, wanted: CephDrainDecision): PlannedWrites {
  const { heard } = pass
  const { mode } = snapshot.cluster
  const common = { decision: wanted, failures: heard.failures, refusal: undefined, failsUnrecorded: false }
  if (mode !== 'manage') return { ...common, ...planObserving(pass, snapshot, wanted), isEarly: false }
  const isEarly = isTooEarly(pass, wanted)
  if (heard.record !== undefined && 'refused' in heard.record) {
    return { ...planWithoutRecord(pass, snapshot, wanted, heard.record.refused), isEarly }
  }
  const intent = intentOf(pass.record.state, wanted)
  const writes = isEarly
    ? writesOf(planTightening(snapshot, wanted.budgets), snapshot, pass.budgets)
    : planBudgetWrites(snapshot, pass.budgets, wanted)
  const flags = flagSteps(pass, wanted)
  const isWhole = flags.length === 0 || heard.flags !== undefined
  const change = { decision: wanted, ...notesOf(pass), ownership: ownershipOf(snapshot) }
  const record = heard.record?.taken ?? pass.record
  return {
    ...common,
    isEarly,
    isWhole,
    failures: [...flagFailures(heard.flags), ...heard.failures],
    steps: [
      ...enterTurn(pass, wanted),
      { do: 'write', name: 'record', record: pass.record, change: { ...change, state: intent } },
      { do: 'write', name: 'budgets', writes },
      ...flags,
      ...(heard.flags === undefined
        ? []
        : ([
            {
              do: 'write',
              name: 'record-flags',
              record,
              change: { ...change, state: withoutEnded(intent, heard.flags) },
            },
          ] as const)),
      ...(isWhole && !pass.memory.isNoteCleared ? ([{ do: 'write', name: 'clear-note' }] as const) : []),
      ...(isWhole ? leaveTurn(pass, wanted, { isInForce: !isEarly }) : []),
    ],
  }
}

/** How soon it is tried again to end a flag that could not be ended. */
const retryFlagsAfterSeconds = 5

/** What is left of ours is released, unless another writer may have it too; what is seen is reported in a map of our own. */
function planObserving(
  pass: PassSnapshot,
  snapshot: CephDrainSnapshot,
  wanted: CephDrainDecision,
): Pick<PlannedWrites, 'steps' | 'isWhole' | 'decision' | 'failures'> {
  const { heard, isReachable, record, budgets: present } = pass
  const change = { state: undefined, decision: wanted, ...notesOf(pass), ownership: ownershipOf(snapshot) }
  const turn = enterTurn(pass, wanted)
  const note: CephDrainStep = { do: 'write', name: 'note', change, isNeeded: true }
  const { failures } = heard
  if (snapshot.cluster.mode === 'contested') {
    return { steps: [...turn, note], isWhole: true, decision: wanted, failures }
  }
  const { configMap: map } = record
  const release = planRelease({ snapshot, present, map, isReachable, flags: heard.flags })
  const flags = flagSteps(pass, { ...wanted, noout: { set: [], unset: release.unset } })
  const retry = Math.min(wanted.recheckAfterSeconds, retryFlagsAfterSeconds)
  return {
    decision: release.left.length === 0 ? wanted : { ...wanted, recheckAfterSeconds: retry },
    failures: [...flagFailures(heard.flags), ...failures],
    isWhole: flags.length === 0,
    steps: [
      ...turn,
      ...(release.budgets.length === 0
        ? []
        : ([{ do: 'write', name: 'budgets', writes: release.budgets }] satisfies CephDrainStep[])),
      ...flags,
      note,
      ...(flags.length > 0 || release.record === undefined
        ? []
        : ([{ do: 'write', name: 'release-record', record, release: release.record }] satisfies CephDrainStep[])),
    ],
  }
}

/** What the record says beside the decision. */
function notesOf({ silentSince, cephLog, map, quorum }: PassSnapshot) {
  return { silentSince, cephLog, ...(map && { cephFacts: cephFactsOf(map, quorum) }) }
}

function ownershipOf({ cluster: { mode, updates } }: CephDrainSnapshot): RecordedOwnership {
  return { mode, ...(updates === undefined ? {} : { updates }) }
}

/** What holds OSDs is written, and flags that are on record as ours are taken back. */
function planWithoutRecord(
  pass: PassSnapshot,
  snapshot: CephDrainSnapshot,
  wanted: CephDrainDecision,
  refusal: HeardRefusal,
): Omit<PlannedWrites, 'isEarly'> {
  const { heard } = pass
  const { settings } = snapshot.cluster
  const isLasting = !refusal.isPassing || refusal.forMs >= settings.silenceGraceMs
  const held = decideWithoutRecord(snapshot, wanted, { why: refusal.why, isLasting })
  const failsUnrecorded = !isLasting
  const flags = flagSteps(pass, held)
  const isHeard = flags.length === 0 || heard.flags !== undefined
  // The record itself cannot say that it is refused.
  const ownership = ownershipOf(snapshot)
  const change = { state: undefined, decision: held, ...notesOf(pass), ownership }
  return {
    decision: held,
    failures: [...flagFailures(heard.flags), ...heard.failures],
    refusal,
    failsUnrecorded: isHeard && failsUnrecorded,
    isWhole: isHeard && !failsUnrecorded,
    steps: [
      { do: 'write', name: 'budgets', writes: planBudgetWrites(snapshot, pass.budgets, held) },
      ...flags,
      ...(isHeard && !failsUnrecorded ? ([{ do: 'write', name: 'note', change, isNeeded: false }] as const) : []),
      // Other budgets stand than were wanted.
      ...(isHeard ? leaveTurn(pass, wanted, { isInForce: false }) : []),
    ],
  }
}

function isTooEarly({ turnBefore }: PassSnapshot, { turn }: CephDrainDecision): boolean {
  return turnBefore !== undefined && turn !== undefined && isAhead(turnBefore, turn)
}

function enterTurn({ turnBefore }: PassSnapshot, { turn }: CephDrainDecision): CephDrainStep[] {
  if (turnBefore === undefined) return []
  return [turn === undefined ? { do: 'hold', name: 'forget-turn' } : { do: 'hold', name: 'enter-turn', turn }]
}

function leaveTurn(
  { turnBefore }: PassSnapshot,
  { turn }: CephDrainDecision,
  { isInForce }: { readonly isInForce: boolean },
): CephDrainStep[] {
  if (turnBefore === undefined || turn === undefined) return []
  return [{ do: 'hold', name: 'leave-turn', turn: isInForce ? turn : undefined }]
}

function flagSteps({ isReachable }: PassSnapshot, { noout }: CephDrainDecision): CephDrainStep[] {
  if (!isReachable || noout.set.length + noout.unset.length === 0) return []
  return [{ do: 'write', name: 'flags', ...noout }]
}

/** What is ours until it is gone, and from before it is set. */
function intentOf(recorded: DrainState, { state, noout }: CephDrainDecision): DrainState {
  const leaving = noout.unset.filter((bucket) => recorded.ownNoout.includes(bucket))
  return { ...state, ownNoout: [...new Set([...state.ownNoout, ...noout.set, ...leaving])].sort() }
}

function withoutEnded(intent: DrainState, { unset, gone }: FlagsOutcome): DrainState {
  const ended = new Set([...unset, ...gone])
  return { ...intent, ownNoout: intent.ownNoout.filter((bucket) => !ended.has(bucket)) }
}

function flagFailures(outcome: FlagsOutcome | undefined): ObjectProblem[] {
  return (outcome?.failed ?? []).map(({ bucket, wanted, why }) => ({
    object: `bucket/${bucket}`,
    problem: `noout could not be ${wanted}: ${why}`,
  }))
}
