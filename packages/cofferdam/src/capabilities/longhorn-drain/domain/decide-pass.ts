import type { BudgetWrite } from '@cofferdam/kubernetes/api/budget-write.ts'
import { longhornNamespace } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { Sha512Hex } from './budget-object.ts'
import { hasClosingMarks } from './closing-mark.ts'
import { closingSteps } from './closing-nodes.ts'
import { decideLonghornDrain } from './decide.ts'
import type { LonghornDecision } from './decision.ts'
import { decideEvictionAttachments, decideTicketWithdrawal } from './eviction-attachments.ts'
import { failedEvictions } from './failed-evictions.ts'
import { decideGuidance } from './guidance.ts'
import { hasGuidanceMarks, parseGuidanceMarks } from './guidance-marks.ts'
import { planLonghornMigration } from './migration.ts'
import { decideMovingRecords } from './moving-record.ts'
import { isBlipping } from './parse-node.ts'
import type { LonghornPassSnapshot } from './pass-snapshot.ts'
import { type ObservedLonghorn, planCsiBudgets, planLonghornBudgets } from './plan-budgets.ts'
import { findReverted } from './reverted-writes.ts'
import type { LonghornSnapshot } from './snapshot.ts'
import type { LonghornStep, LonghornWrite, SurplusReplica } from './steps.ts'

export interface LonghornPass {
  readonly steps: readonly LonghornStep[]
  readonly observed: ObservedLonghorn | undefined
  readonly recheckAfterSeconds: number | undefined
}

export interface LonghornDecider {
  decide(snapshot: LonghornSnapshot): LonghornDecision
  readonly sha512Hex: Sha512Hex
}

interface Owned {
  /** What leads on to another decision ends the steps there. */
  readonly isLeading: boolean
  readonly steps: readonly LonghornStep[]
  readonly problems: LonghornDecision['problems']
  readonly failed: ReadonlyMap<string, string>
}

/** How soon a kubelet that is NotReady is checked again: by then it is more than a blip. */
const blipRecheckSeconds = 15

/**
 * Everything that one pass does, in order: what protects, what moves, what is let go, what is reported.
 *
 * Guarantees: every budget of an instance manager that is wanted is there before one is deleted. What is let go was decided on what
 * the API server listed, not on what was last heard; a copy goes only if both agree on it, one of a volume at a time, and only in the
 * state it was seen in.
 */
export function decideLonghornPass(seen: LonghornPassSnapshot, decider: LonghornDecider): LonghornPass {
  const { objects, snapshot } = seen
  const { mode, refused } = snapshot.settings
  const steps: LonghornStep[] = [{ do: 'report', what: 'mode', settings: { mode, refused } }]
  const isGuided = mode === 'guide' || hasGuidanceMarks(parseGuidanceMarks(objects))
  if (mode === 'observe' && !isGuided && refused === undefined && !hasClosingMarks(objects)) {
    return { steps, observed: undefined, recheckAfterSeconds: undefined }
  }
  const observed = { objects, snapshot, decision: decider.decide(snapshot) }
  const recheckAfterSeconds = objects.kubeNodes.some(isBlipping) ? blipRecheckSeconds : undefined
  if (refused !== undefined) steps.push(...withdraw(observed))
  const own = mode === 'owner' ? decideOwned(seen, observed, decider.sha512Hex) : undefined
  steps.push(...(own?.steps ?? []))
  if (own?.isLeading === true) return { steps, observed, recheckAfterSeconds }
  const guided = isGuided ? guide(observed) : undefined
  steps.push(...(guided?.steps ?? []))
  if (mode !== 'observe') {
    const kept = mode === 'owner' ? observed.decision.surplusKept : []
    steps.push({
      do: 'report',
      what: 'decision',
      nodes: observed.decision.nodes,
      problems: [...observed.decision.problems, ...(own?.problems ?? []), ...(guided?.problems ?? [])],
      failedEvictions: new Map([...failedEvictions(snapshot), ...(own?.failed ?? [])]),
      surplusKept: new Map(kept.map(({ volume, explanation }) => [volume, explanation])),
    })
  }
  // After what was decided is reported, so that the event of a cordon is the newer one.
  steps.push(...closingSteps(observed, guided?.steps ?? []))
  return { steps: [...steps, { do: 'report', what: 'refusals' }], observed, recheckAfterSeconds }
}

/**
 * Takes back what an owner who may not be one any more left behind and nobody else takes away: attachments for moves, and the
 * records of moves.
 *
 * Budgets and flags stay: Longhorn's manager takes both over by their names and goes by its own rules from there, and a budget
 * that we deleted on a cordoned node would not be made again.
 */
function withdraw(observed: ObservedLonghorn): LonghornStep[] {
  const asStill = { ...observed.snapshot, replicas: [] }
  return [...ticketSteps(observed, decideTicketWithdrawal(observed.snapshot)), ...movingSteps(asStill)]
}

/** Where Longhorn leaves its drains to us. */
function decideOwned(seen: LonghornPassSnapshot, observed: ObservedLonghorn, sha512Hex: Sha512Hex): Owned {
  const { objects, snapshot, decision } = observed
  const { afresh, deployments, attempted } = seen
  const plan = planLonghornBudgets(observed, sha512Hex)
  const csi = planCsiBudgets(observed, deployments)
  const reverted = findReverted(seen.written, objects, decision)
  const attachments = decideEvictionAttachments(snapshot)
  const steps: LonghornStep[] = [{ do: 'report', what: 'own-writes', reverted }]
  const create = plan.create.filter((write) => isOpen(write, attempted))
  const isOneToGo = plan.remove.length + csi.remove.length + decision.surplusReplicas.length > 0
  const reported = {
    problems: [...takenProblems(plan.taken), ...unreadProblems(deployments)],
    failed: withoutPlace(attachments.withoutPlace),
  }
  if (afresh === undefined) {
    steps.push(...budgetSteps(create))
    // Whether all of them could be made decides whether anything may go.
    if (isOneToGo && create.length > 0) return { ...reported, isLeading: true, steps: [...steps, watches] }
    steps.push(...budgetSteps(csi.create.filter((write) => isOpen(write, attempted))), ...flagSteps(observed))
    steps.push(...ticketSteps(observed, attachments.changes))
    if (isOneToGo && plan.create.length === 0) return { ...reported, isLeading: true, steps: [...steps, server] }
  } else if (afresh.known && afresh.value.snapshot.settings.mode === 'owner') {
    const fresh = { ...afresh.value, decision: decideLonghornDrain(afresh.value.snapshot) }
    const release = releases(seen, { observed, fresh }, sha512Hex)
    steps.push(...release.steps)
    if (release.isLeading) return { ...reported, isLeading: true, steps }
  }
  steps.push(...movingSteps(snapshot), ...migrationSteps(observed))
  return { ...reported, isLeading: false, steps }
}

const watches: LonghornStep = { do: 'ask', from: 'watches' }
const server: LonghornStep = { do: 'ask', from: 'server' }

/** Budgets that hold nothing any more, and copies beyond what a volume wants. */
function releases(
  { deployments, attempted }: LonghornPassSnapshot,
  { observed, fresh }: { readonly observed: ObservedLonghorn; readonly fresh: ObservedLonghorn },
  sha512Hex: Sha512Hex,
): { readonly isLeading: boolean; readonly steps: readonly LonghornStep[] } {
  const plan = planLonghornBudgets(fresh, sha512Hex)
  const create = plan.create.filter((write) => isOpen(write, attempted))
  if (create.length > 0) return { isLeading: true, steps: [...budgetSteps(create), server] }
  const isOneMissing = plan.taken.length + plan.create.length > 0
  const unneeded = planCsiBudgets(fresh, deployments).remove
  const surplus = surplusToRemove(observed, fresh)
  return {
    isLeading: false,
    steps: [
      ...budgetSteps(isOneMissing ? unneeded : [...plan.remove, ...unneeded]),
      ...(surplus.length === 0 ? [] : [{ do: 'write', what: 'surplus', replicas: surplus } as const]),
    ],
  }
}

function surplusToRemove(seen: ObservedLonghorn, fresh: ObservedLonghorn): readonly SurplusReplica[] {
  const before = new Set(seen.decision.surplusReplicas)
  const chosen = new Map<string, string>()
  for (const name of fresh.decision.surplusReplicas) {
    const volume = fresh.snapshot.replicas.find((replica) => replica.name === name)?.volume
    if (volume !== undefined && before.has(name) && !chosen.has(volume)) chosen.set(volume, name)
  }
  return [...chosen.values()].flatMap((name) => {
    const found = fresh.objects.replicas.find(({ metadata }) => metadata.name === name)
    const { uid, resourceVersion } = found?.metadata ?? {}
    return uid === undefined || resourceVersion === undefined ? [] : [{ name, uid, resourceVersion }]
  })
}

function isOpen(write: BudgetWrite, attempted: ReadonlySet<string>): boolean {
  return write.verb === 'create' && !attempted.has(write.budget.metadata.name)
}

function budgetSteps(writes: readonly BudgetWrite[]): LonghornWrite[] {
  return writes.length === 0 ? [] : [{ do: 'write', what: 'budgets', writes }]
}

/** Flags of replicas, then those of nodes. */
function flagSteps({ objects, decision }: ObservedLonghorn): LonghornStep[] {
  const replicas = new Map(objects.replicas.map((replica) => [replica.metadata.name, replica]))
  const flags = decision.evictions
    .filter(({ changes }) => changes)
    .map((answer) => {
      const { metadata, spec } = replicas.get(answer.replica) ?? {}
      return { ...answer, volume: spec?.volumeName ?? '', resourceVersion: metadata?.resourceVersion }
    })
  const nodes = decision.autoEvicting
  if (flags.length + nodes.length === 0) return []
  return [
    { do: 'write', what: 'flags', flags, nodes },
    { do: 'report', what: 'evictions' },
  ]
}

function ticketSteps(
  { objects }: ObservedLonghorn,
  changes: ReturnType<typeof decideTicketWithdrawal>,
): readonly LonghornWrite[] {
  const tickets = changes.flatMap((change) => {
    const found = objects.attachments.find(({ metadata }) => metadata.name === change.volume)
    return found === undefined ? [] : [{ ...change, resourceVersion: found.metadata.resourceVersion }]
  })
  return tickets.length === 0 ? [] : [{ do: 'write', what: 'tickets', tickets }]
}

function movingSteps(snapshot: LonghornSnapshot): readonly LonghornWrite[] {
  const changes = decideMovingRecords(snapshot)
  return changes.length === 0 ? [] : [{ do: 'write', what: 'moving', changes }]
}

function migrationSteps({ objects }: ObservedLonghorn): readonly LonghornWrite[] {
  const { nodes, replicas } = planLonghornMigration(objects.nodes, objects.replicas)
  if (nodes.length + replicas.length === 0) return []
  const versions = new Map(objects.replicas.map(({ metadata }) => [metadata.name, metadata.resourceVersion]))
  const seen = replicas.map((replica) => ({ ...replica, resourceVersion: versions.get(replica.name) }))
  return [{ do: 'write', what: 'migration', nodes, replicas: seen }]
}

/**
 * Longhorn decides; what it decides is reported as the same decision. Where it is not guided any more, this only takes back
 * what was changed for it.
 */
function guide(observed: ObservedLonghorn): Pick<Owned, 'steps' | 'problems'> {
  const { objects, snapshot, decision } = observed
  const guidance = decideGuidance(snapshot, decision, parseGuidanceMarks(objects))
  const changes = guidance.steps.flatMap((step) => {
    const found = (step.kind === 'setting' ? objects.settings : objects.nodes).find(
      ({ metadata }) => metadata.name === step.name,
    )
    return found === undefined ? [] : [{ ...step, resourceVersion: found.metadata.resourceVersion }]
  })
  return {
    problems: guidance.problems,
    steps: [
      ...(changes.length === 0 ? [] : [{ do: 'write', what: 'guidance', changes } as const]),
      ...(snapshot.settings.mode === 'guide' ? movingSteps(snapshot) : []),
    ],
  }
}

function takenProblems(taken: readonly string[]): LonghornDecision['problems'] {
  return taken.map((name) => ({
    object: `poddisruptionbudget/${name}`,
    problem: 'it has the name of the budget of an instance manager but is for other pods; no budget is deleted',
  }))
}

function unreadProblems(deployments: LonghornPassSnapshot['deployments']): LonghornDecision['problems'] {
  if (deployments !== undefined) return []
  const problem = "cannot be read, so the budgets of Longhorn's CSI sidecars stay as they are: apply deploy/longhorn"
  return [{ object: `deployments in ${longhornNamespace}`, problem }]
}

function withoutPlace(volumes: readonly string[]): ReadonlyMap<string, string> {
  const why = 'No node that takes replicas is without a copy of it, so it is not attached to be copied.'
  return new Map(volumes.map((volume) => [volume, why]))
}
