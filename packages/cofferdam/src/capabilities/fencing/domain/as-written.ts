import { isHold } from './decide-gates.ts'
import type { ClusterAnswer, FenceAnswer, FencingDecision } from './decision.ts'
import { fenceLabelValue } from './fence-labels.ts'
import { hookName, skipAnnotation } from './marks.ts'
import type { FencingSnapshot, MachineBudgetView, MachineView } from './snapshot.ts'

type Words = Pick<FenceAnswer, 'mayFence' | 'reason' | 'explanation' | 'wayOut'>

/**
 * The decision as far as it is in force: remediators go by what is written on machines and budgets, not by what was decided.
 *
 * Guarantees: no machine may go that a budget, a label or a gate of ours still keeps, and no budget allows more than it says itself.
 */
export function asWritten(snapshot: FencingSnapshot, decision: FencingDecision): FencingDecision {
  const machines = new Map(snapshot.machines.map((machine) => [machine.nodeName ?? '', machine]))
  return {
    ...decision,
    clusters: decision.clusters.map((answer) => clusterAsWritten(snapshot, answer)),
    nodes: decision.nodes.map((answer) => {
      const machine = machines.get(answer.node)
      if (answer.reason === 'PlannedOutage') return plannedAsWritten(snapshot, decision, answer, machine)
      const pending = answer.reason === 'FenceUnderWay' || !answer.mayFence ? undefined : pendingFor(snapshot, machine)
      return pending === undefined ? answer : { ...answer, ...pending }
    }),
  }
}

/** A gate that was decided and is not there yet protects nothing. */
function plannedAsWritten(
  { remediators }: FencingSnapshot,
  { gates }: FencingDecision,
  answer: FenceAnswer,
  machine: MachineView | undefined,
): FenceAnswer {
  const watching = new Set(
    remediators.flatMap(({ key, nodes }) => (nodes?.includes(answer.node) === false ? [] : [key])),
  )
  const isMissing = gates.filter(isHold).some((gate) => {
    if ('node' in gate) return gate.node === answer.node
    if ('remediator' in gate) return watching.has(gate.remediator)
    return gate.machine === machine?.name && gate.namespace === machine.namespace
  })
  if (!isMissing) return answer
  const explanation = `${answer.explanation} What keeps remediators from it is not set yet: cofferdam status shows whether an operator is running.`
  return { ...answer, explanation }
}

function clusterAsWritten({ budgets }: FencingSnapshot, answer: ClusterAnswer): ClusterAnswer {
  const { budget } = answer
  if (budget === undefined) return answer
  const seen = budgets.find(({ namespace, name }) => namespace === budget.namespace && name === budget.name)
  const disruptionsAllowed = Math.min(budget.status.disruptionsAllowed, seen === undefined ? 0 : allowedBy(seen))
  const inForce = { ...answer, budget: { ...budget, status: { ...budget.status, disruptionsAllowed } } }
  if (disruptionsAllowed === budget.status.disruptionsAllowed) return inForce
  return {
    ...inForce,
    reason: 'FenceReleasePending',
    explanation: `One machine may be fenced as soon as budget ${budget.namespace}/${budget.name} allows it.`,
  }
}

/** Why a machine that may be fenced is still kept; undefined: it is not. */
export function pendingFor(snapshot: FencingSnapshot, machine: MachineView | undefined): Words | undefined {
  const kept = machine === undefined ? undefined : keeperOf(snapshot, machine)
  if (kept === undefined) return undefined
  return {
    mayFence: false,
    reason: 'FenceReleasePending',
    explanation: `Nothing holds it any more, but ${kept} still keeps it from being fenced.`,
    wayOut: 'The operator removes that next. If it stays: cofferdam status shows whether an operator is running.',
  }
}

function keeperOf({ budgets, leases, nowMs }: FencingSnapshot, machine: MachineView): string | undefined {
  const { namespace, name, labels, nodeName = '' } = machine
  const closed = budgets.find(
    (budget) =>
      budget.namespace === namespace &&
      budget.labelKey !== undefined &&
      labels[budget.labelKey] === fenceLabelValue &&
      !budget.disrupted.has(name) &&
      allowedBy(budget) === 0,
  )
  if (closed !== undefined) return `budget ${closed.namespace}/${closed.name}`
  if (machine.isHookedByUs) return `the pre-terminate hook ${hookName}`
  if (machine.skip === 'ours') return `the annotation ${skipAnnotation}`
  const lease = leases.get(nodeName)
  return lease?.isOurs === true && lease.validUntilMs > nowMs ? `the Lease of node ${nodeName}` : undefined
}

/** As a remediator reads it. */
function allowedBy({ status }: MachineBudgetView): number {
  return Math.max(0, status.disruptionsAllowed)
}
