import type { BudgetWrite } from '@cofferdam/kubernetes/api/budget-write.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { Sha512Hex } from './budget-object.ts'
import { hasClosingMarks } from './closing-mark.ts'
import { closingSteps } from './closing-nodes.ts'
import { decideLonghornDrain } from './decide.ts'
import type { LonghornDecision } from './decision.ts'
import { failedEvictions } from './failed-evictions.ts'
import { formerTicketsOf } from './former-tickets.ts'
import { decideGuidance } from './guidance.ts'
import type { GuidanceDecision } from './guidance-decision.ts'
import { hasGuidanceMarks, parseGuidanceMarks } from './guidance-marks.ts'
import { decideMovingRecords } from './moving-record.ts'
import { isBlipping } from './parse-node.ts'
import type { LonghornPassSnapshot } from './pass-snapshot.ts'
import { type ObservedLonghorn, planCsiBudgets, planHoldBudgets, planHoldWithdrawal } from './plan-budgets.ts'
import { findReverted } from './reverted-writes.ts'
import type { LonghornSnapshot, ReplicaView } from './snapshot.ts'
import type { GuidanceWrite, LonghornStep, LonghornWrite, SurplusReplica } from './steps.ts'

export interface LonghornPass {
  readonly steps: readonly LonghornStep[]
  readonly observed: ObservedLonghorn | undefined
  readonly recheckAfterSeconds: number | undefined
}

export interface LonghornDecider {
  decide(snapshot: LonghornSnapshot): LonghornDecision
  readonly sha512Hex: Sha512Hex
}

interface Held {
  /** What leads on to another decision ends the steps there. */
  readonly isLeading: boolean
  /** Every budget that is wanted was there when this was decided. */
  readonly isComplete: boolean
  readonly steps: readonly LonghornStep[]
  readonly problems: LonghornDecision['problems']
}

/** How soon a kubelet that is NotReady is checked again: by then it is more than a blip. */
const blipRecheckSeconds = 15

/**
 * Everything that one pass does, in order: what protects, what moves, what is let go, what is reported.
 *
 * Guarantees: every budget that is wanted is there before one is deleted, and before Longhorn is asked for anything. What is let go was
 * decided on what the API server listed, and not against what was last heard; a copy goes one of a volume at a time, and only in the
 * state it was seen in. Budgets, flags and statuses of Longhorn are never written.
 */
export function decideLonghornPass(seen: LonghornPassSnapshot, decider: LonghornDecider): LonghornPass {
  const { objects, snapshot } = seen
  const { mode } = snapshot.settings
  const steps: LonghornStep[] = [{ do: 'report', what: 'mode', mode }]
  const leftOver = mode === 'hold' ? [] : budgetSteps(planHoldWithdrawal(objects.budgets))
  const former = [...ticketSteps(seen), ...(mode === 'observe' ? movingSteps({ ...snapshot, replicas: [] }) : [])]
  const isGuided = mode !== 'observe' || hasGuidanceMarks(parseGuidanceMarks(objects))
  if (!isGuided && leftOver.length + former.length === 0 && !hasClosingMarks(objects)) {
    return { steps, observed: undefined, recheckAfterSeconds: undefined }
  }
  const observed = { objects, snapshot, decision: decider.decide(snapshot) }
  const recheckAfterSeconds = objects.kubeNodes.some(isBlipping) ? blipRecheckSeconds : undefined
  const guidance = isGuided ? decideGuidance(snapshot, observed.decision, parseGuidanceMarks(objects)) : noGuidance
  const held = mode === 'hold' ? decideHeld(seen, observed, decider.sha512Hex) : undefined
  if (mode !== 'observe') steps.push(ownWrites(seen, observed, guidance))
  steps.push(...leftOver, ...former, ...(held?.steps ?? []))
  if (held?.isLeading === true) return { steps, observed, recheckAfterSeconds }
  const guided = guidanceSteps(observed, guidance)
  steps.push(...guided)
  if (mode !== 'observe') {
    const kept = mode === 'hold' ? observed.decision.surplusKept : []
    steps.push(...movingSteps(snapshot), {
      do: 'report',
      what: 'decision',
      nodes: observed.decision.nodes,
      problems: [...observed.decision.problems, ...(held?.problems ?? []), ...guidance.problems],
      failedEvictions: failedEvictions(snapshot),
      surplusKept: new Map(kept.map(({ volume, explanation }) => [volume, explanation])),
    })
  }
  // After what was decided is reported, so that the event of a cordon is the newer one.
  // And after every budget that is wanted: Longhorn may let the node go as soon as it sees the cordon.
  if (held?.isComplete !== false) steps.push(...closingSteps(observed, guided))
  return { steps: [...steps, { do: 'report', what: 'refusals' }], observed, recheckAfterSeconds }
}

const noGuidance: GuidanceDecision = { steps: [], problems: [], reverted: [] }

/** Longhorn decides and moves; budgets of ours hold what it would let go too early. */
function decideHeld(seen: LonghornPassSnapshot, observed: ObservedLonghorn, sha512Hex: Sha512Hex): Held {
  const { decision } = observed
  const { afresh, deployments, attempted } = seen
  const plan = planHoldBudgets(observed, sha512Hex)
  const csi = planCsiBudgets(observed, deployments)
  const steps: LonghornStep[] = []
  const create = plan.create.filter((write) => isOpen(write, attempted))
  const isOneToGo = plan.remove.length + csi.remove.length + decision.surplusReplicas.length > 0
  const isComplete = plan.create.length + plan.taken.length === 0
  const problems = [...takenProblems(plan.taken), ...unreadProblems(seen)]
  if (afresh === undefined) {
    steps.push(...budgetSteps(create))
    // Whether all of them could be made decides whether anything may go.
    if (isOneToGo && create.length > 0) return { problems, isComplete, isLeading: true, steps: [...steps, watches] }
    steps.push(...budgetSteps(csi.create.filter((write) => isOpen(write, attempted))))
    if (isOneToGo && plan.create.length === 0)
      return { problems, isComplete, isLeading: true, steps: [...steps, server] }
  } else if (afresh.known && afresh.value.snapshot.settings.mode === 'hold') {
    const fresh = { ...afresh.value, decision: decideLonghornDrain(afresh.value.snapshot) }
    const release = releases(seen, { observed, fresh }, sha512Hex)
    steps.push(...release.steps)
    if (release.isLeading) return { problems, isComplete, isLeading: true, steps }
  }
  return { problems, isComplete, isLeading: false, steps }
}

const watches: LonghornStep = { do: 'ask', from: 'watches' }
const server: LonghornStep = { do: 'ask', from: 'server' }

/** Budgets that hold nothing any more, and copies beyond what a volume wants. */
function releases(
  { deployments, attempted }: LonghornPassSnapshot,
  { observed, fresh }: { readonly observed: ObservedLonghorn; readonly fresh: ObservedLonghorn },
  sha512Hex: Sha512Hex,
): { readonly isLeading: boolean; readonly steps: readonly LonghornStep[] } {
  const plan = planHoldBudgets(fresh, sha512Hex)
  const create = plan.create.filter((write) => isOpen(write, attempted))
  if (create.length > 0) return { isLeading: true, steps: [...budgetSteps(create), server] }
  const isOneMissing = plan.taken.length + plan.create.length > 0
  const before = {
    holds: planHoldBudgets(observed, sha512Hex).remove,
    sidecars: planCsiBudgets(observed, deployments).remove,
  }
  const holds = plan.remove.filter((write) => isAmong(before.holds, write))
  const sidecars = planCsiBudgets(fresh, deployments).remove.filter((write) => isAmong(before.sidecars, write))
  const surplus = surplusToRemove(observed, fresh)
  return {
    isLeading: false,
    steps: [
      ...budgetSteps(isOneMissing ? sidecars : [...holds, ...sidecars]),
      ...(surplus.length === 0 ? [] : [{ do: 'write', what: 'surplus', replicas: surplus } as const]),
    ],
  }
}

/** What watches still want, and may be late with, would be made again at once. */
function isAmong(deletes: readonly BudgetWrite[], write: BudgetWrite): boolean {
  return deletes.some((other) => nameOf(other) === nameOf(write))
}

function nameOf(write: BudgetWrite): string {
  return write.verb === 'delete' ? write.seen.metadata.name : write.budget.metadata.name
}

function surplusToRemove(seen: ObservedLonghorn, fresh: ObservedLonghorn): readonly SurplusReplica[] {
  const before = new Set(seen.decision.surplusReplicas)
  const chosen = new Map<string, string>()
  for (const name of fresh.decision.surplusReplicas) {
    const { volume } = fresh.snapshot.replicas.find((replica) => replica.name === name) as ReplicaView
    if (before.has(name) && !chosen.has(volume)) chosen.set(volume, name)
  }
  const names = new Set(chosen.values())
  return fresh.objects.replicas
    .filter(({ metadata }) => names.has(metadata.name))
    .flatMap(({ metadata: { name, uid, resourceVersion } }) =>
      uid === undefined || resourceVersion === undefined ? [] : [{ name, uid, resourceVersion }],
    )
}

function isOpen(write: BudgetWrite, attempted: ReadonlySet<string>): boolean {
  return write.verb !== 'delete' && !attempted.has(write.budget.metadata.name)
}

function budgetSteps(writes: readonly BudgetWrite[]): LonghornWrite[] {
  return writes.length === 0 ? [] : [{ do: 'write', what: 'budgets', writes }]
}

/** What others undid of what we wrote; and what of ours is there now is remembered. */
function ownWrites(
  { written, attempted, afresh }: LonghornPassSnapshot,
  { objects, decision }: ObservedLonghorn,
  guidance: GuidanceDecision,
): LonghornStep {
  // A later decision of the same pass sees the same requests again.
  const isFirst = attempted.size === 0 && afresh === undefined
  const withdrawn = isFirst ? guidance.reverted : []
  return {
    do: 'report',
    what: 'own-writes',
    reverted: [...findReverted(written, objects.budgets, decision), ...withdrawn],
  }
}

function ticketSteps({ objects, snapshot }: LonghornPassSnapshot): readonly LonghornWrite[] {
  const tickets = formerTicketsOf(snapshot.volumes).map((ticket) => ({
    ...ticket,
    resourceVersion: versionOf(objects.attachments, ticket.volume),
  }))
  return tickets.length === 0 ? [] : [{ do: 'write', what: 'tickets', tickets }]
}

function movingSteps(snapshot: LonghornSnapshot): readonly LonghornWrite[] {
  const changes = decideMovingRecords(snapshot)
  return changes.length === 0 ? [] : [{ do: 'write', what: 'moving', changes }]
}

/** Where Longhorn is not guided any more, this only takes back what was changed for it. */
function guidanceSteps({ objects }: ObservedLonghorn, guidance: GuidanceDecision): readonly GuidanceWrite[] {
  const changes = guidance.steps.map((step) => ({
    ...step,
    resourceVersion: versionOf(step.kind === 'setting' ? objects.settings : objects.nodes, step.name),
  }))
  return changes.length === 0 ? [] : [{ do: 'write', what: 'guidance', changes }]
}

/** Of the very object that it was decided from. */
function versionOf(objects: readonly KubeObject[], name: string): string | undefined {
  return objects.find(({ metadata }) => metadata.name === name)?.metadata.resourceVersion
}

function takenProblems(taken: readonly string[]): LonghornDecision['problems'] {
  return taken.map((name) => ({
    object: `poddisruptionbudget/${name}`,
    problem: 'it has the name of a budget of Cofferdam and is not one; no budget is deleted',
  }))
}

function unreadProblems({ deployments, snapshot }: LonghornPassSnapshot): LonghornDecision['problems'] {
  if (deployments !== undefined) return []
  const problem = "cannot be read, so the budgets of Longhorn's CSI sidecars stay as they are: apply deploy/longhorn"
  return [{ object: `deployments in ${snapshot.namespace}`, problem }]
}
