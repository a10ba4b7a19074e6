import { isHeldAs } from '../../../ledger/rules/hold-rules.ts'
import { storageArbiter } from '../../../ledger/rules/storage-arbiter.ts'
import { probeQuestion } from '../../../safety/probe-question.ts'
import { unknown } from '../../../shared/observed.ts'
import { crowdingProblems } from '../../../shared/record-limits.ts'
import { closeFirst } from './close-first.ts'
import type { CephDrainDecision } from './decision.ts'
import { decideHearingCeph } from './hear-ceph.ts'
import type { PassSnapshot } from './pass-snapshot.ts'
import { type PlannedWrites, planWrites } from './plan-writes.ts'
import { removalDueInMs } from './retire-budget.ts'
import type { CephDrainSnapshot } from './snapshot.ts'
import { isStateKey } from './state-map.ts'
import type { CephDrainStep } from './steps.ts'

/** What one pass does next, and when the next one is due. */
export interface PassDecision {
  readonly steps: readonly CephDrainStep[]
  /** What is in force when the steps are performed. */
  readonly decision: CephDrainDecision
  /** When to reconcile again because of what was written; undefined: that asks for none. */
  readonly recheckAfterSeconds: number | undefined
  /** The record has to be taken before anything else can be done: after the steps the pass fails with what refused it. */
  readonly failsUnrecorded: boolean
}

/** How many write conflicts on the ledger one pass tolerates. */
const mostLedgerRefusals = 3
const retryRecordAfterSeconds = 15

/**
 * Decides all that one pass does: who is asked, what is held in the ledger, what is written, what is reported, in the order in which it is
 * to be performed. What has to be heard first is the last of the steps until it was.
 *
 * Guarantees: Ceph is heard before a failure domain is opened, and the storage is held before anything is written that needs it; the
 * record is written before what it announces, and the storage is released after everything else was written. What was performed in
 * this pass is not performed again.
 * Fails closed: a ledger that changes all the time counts as unknown, and so does one that could not be changed.
 */
export function decidePass(pass: PassSnapshot): PassDecision {
  const { observed, heard, memory } = pass
  const closing = closeFirst(pass)
  const ledger = heard.ledgerRefusals < mostLedgerRefusals ? heard.ledger : unknown('it changes all the time')
  const snapshot: CephDrainSnapshot = { ...observed, ...storageArbiter(ledger, observed.cluster) }
  const okToStop = { map: pass.isReachable ? pass.map : undefined, cephSays: heard.cephSays }
  const { decision: decided, unheard } = decideHearingCeph(snapshot, okToStop)
  if (closing.length > 0) {
    return { steps: closing, decision: decided, recheckAfterSeconds: undefined, failsUnrecorded: false }
  }
  if (unheard.length > 0) {
    const steps: CephDrainStep[] = [{ do: 'ask', name: 'hear-ceph', domains: unheard }]
    return { steps, decision: decided, recheckAfterSeconds: undefined, failsUnrecorded: false }
  }
  const problems = [
    ...decided.problems,
    ...misjudgement(pass),
    ...pass.problems,
    ...crowdingProblems(pass.record.configMap, isStateKey),
  ]
  const wanted: CephDrainDecision = {
    ...decided,
    alarm: decided.alarm || memory.probe.problem !== undefined,
    problems: [...problems, ...memory.failures],
  }
  const written = planWrites(pass, snapshot, wanted)
  const reported = { ...written.decision, problems: [...problems, ...written.failures, ...heard.unsettled] }
  const steps = [
    ...holdSteps(pass, snapshot, decided),
    ...written.steps,
    ...(written.isWhole ? [...reportSteps(pass, snapshot, written, reported), ...trySteps(pass)] : []),
  ]
  return {
    steps: steps.filter(({ name }) => !heard.performed.includes(name)),
    decision: written.decision,
    recheckAfterSeconds: recheckAfterSeconds(pass, written),
    failsUnrecorded: written.failsUnrecorded,
  }
}

/** A failed ok-to-stop probe blocks nothing, and is reported. */
function misjudgement({ observed, memory }: PassSnapshot) {
  const { problem } = memory.probe
  return problem === undefined ? [] : [{ object: `cephcluster/${observed.cluster.name}`, problem }]
}

function holdSteps(
  { heard, memory }: PassSnapshot,
  { arbiter }: CephDrainSnapshot,
  { claim }: CephDrainDecision,
): CephDrainStep[] {
  if (claim?.wants !== 'hold') return []
  const by = { requestId: claim.requestId, epoch: memory.heldEpoch }
  const isHeld = arbiter?.known === true && isHeldAs(arbiter.value.own, by)
  return isHeld ? [] : [{ do: 'hold', name: 'hold-storage', claim, refusals: heard.ledgerRefusals }]
}

function reportSteps(
  { observed, record, cephLog }: PassSnapshot,
  snapshot: CephDrainSnapshot,
  { decision, failures, refusal }: PlannedWrites,
  reported: CephDrainDecision,
): CephDrainStep[] {
  const { cephSilentMs, cluster } = observed
  const isWarning =
    refusal !== undefined ||
    decision.reason === 'PgInDoubt' ||
    decision.reason === 'BudgetsContested' ||
    decision.alarm ||
    (cephSilentMs > 0 && cephSilentMs >= cluster.settings.silenceGraceMs)
  return [
    { do: 'hold', name: 'settle-storage', wants: decision.claim?.wants === 'release' ? 'release' : 'keep' },
    { do: 'report', name: 'tell', snapshot, decision, failures },
    {
      do: 'report',
      name: 'report',
      decision: reported,
      silentMs: cephSilentMs,
      recordRefusedMs: refusal === undefined ? 0 : Math.max(refusal.forMs, 1_000),
      isRecordForbidden: refusal?.isForbidden === true,
      isLogFollowed: cephLog === 'followed',
      isWarning,
      recordedReason: record.reason,
      ownership: { mode: cluster.mode, ...(cluster.updates === undefined ? {} : { updates: cluster.updates }) },
    },
  ]
}

/** The ok-to-stop probe runs once while everything is clean: after all else, for no budget waits for it. */
function trySteps({ observed, map, isReachable, memory }: PassSnapshot): CephDrainStep[] {
  const isClean = observed.ceph.known && observed.ceph.value.pgs.health === 'clean'
  const mayAsk = isClean && observed.cluster.mode === 'manage' && isReachable
  if (!mayAsk || map === undefined || !memory.probe.isDue) return []
  const question = probeQuestion(map)
  return question === undefined ? [] : [{ do: 'ask', name: 'try-ceph', question }]
}

function recheckAfterSeconds(
  { observed, budgets, heard }: PassSnapshot,
  { refusal, isEarly }: PlannedWrites,
): number | undefined {
  const removals = budgets.flatMap((budget) => {
    const dueInMs = removalDueInMs(budget, observed.nowMs)
    return dueInMs === undefined ? [] : [Math.max(1, Math.ceil(dueInMs / 1000))]
  })
  const rechecks = [
    ...(refusal === undefined ? removals : [retryRecordAfterSeconds]),
    ...(heard.isProbeChanged || isEarly ? [1] : []),
  ]
  return rechecks.length === 0 ? undefined : Math.min(...rechecks)
}
