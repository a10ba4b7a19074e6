import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { Blocker, Cause } from '../../../shared/blocker.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { heldManagerOf, isHoldBudget, isInstanceManagerBudget } from '../domain/budget-object.ts'
import type { ReplicaBlocker } from '../domain/decision.ts'
import { drainPolicyLabel } from '../domain/policy.ts'
import { isForsaken, type LonghornView, moveReasons, nodeOf, passesInDrain } from './longhorn-view.ts'

/** Why the budget of an instance manager allows no disruption: the things behind it, one by one. Empty: a drain of its node frees it. */
export type LonghornRefusals = readonly Omit<Blocker, 'waiting'>[]

/** Undefined for any other budget, and where its instance manager is not known. */
export function longhornRefusals(
  budget: PodDisruptionBudget,
  view: LonghornView | undefined,
  pods: readonly Pod[],
): LonghornRefusals | undefined {
  const manager = managerBehind(budget)
  if (view === undefined || manager === undefined) return undefined
  const answer = view.decision.budgets.find(({ instanceManager }) => instanceManager === manager)
  if (answer === undefined) return undefined
  const { wanted, node, reason, explanation } = answer
  const isRehearsed = view.rehearsed === node
  if (wanted === 'absent') {
    const stuck = isHoldBudget(budget) ? undefined : stuckBudget(budget, view, node)
    if (stuck !== undefined) return [stuck]
    return isRehearsed && !isBudgetForsaken(budget, view) ? [] : [goingBudget(budget, view)]
  }
  const behind = longhornBlockers(view, node, pods)
  if (wanted === 'present' && (behind.length > 0 || isRehearsed)) return behind
  const isOpen = reason === ('NotCordoned' satisfies Reason)
  return [
    {
      object: objectOf(budget),
      reason,
      explanation: isOpen ? `node ${node} takes new pods, so its instance manager is kept` : explanation,
      holder: keeperOf(budget),
      causes: [],
      unblocks: isOpen
        ? `a cordon of the node; cofferdam explain node/${node} shows what would hold it then`
        : 'the instance manager running again',
      override: deletePod(manager, view),
    },
  ]
}

/** The node that an instance manager's budget is about. */
export function nodeBehind(budget: PodDisruptionBudget, { decision }: LonghornView): string | undefined {
  const manager = managerBehind(budget)
  return decision.budgets.find(({ instanceManager }) => instanceManager === manager)?.node
}

/** The instance manager that a budget is about, Longhorn's or one of ours; undefined for any other budget. */
export function managerBehind(budget: PodDisruptionBudget): string | undefined {
  return isInstanceManagerBudget(budget) ? budget.metadata.name : heldManagerOf(budget)
}

/** What holds a leaving node; of one whose drain is rehearsed only what a drain would not end by itself. */
export function longhornBlockers(
  view: LonghornView,
  nodeName: string,
  podsOnNode: readonly Pod[],
  /** Only those for the sake of this volume. */
  volume?: string,
): LonghornRefusals {
  const answer = view.decision.nodes.find(({ node }) => node === nodeName)
  const all = (answer?.blockers ?? []).filter((each) => volume === undefined || each.volume === volume)
  const lasting = view.rehearsed === nodeName ? all.filter((each) => !passesInDrain(each, view, podsOnNode)) : all
  return lasting.map((each) => blockerOf(each, view, nodeName))
}

const ofMoves: readonly Reason[] = ['NoPlaceForReplica', 'ReplicaMoving']

function blockerOf(blocker: ReplicaBlocker, view: LonghornView, nodeName: string): Omit<Blocker, 'waiting'> {
  const { object, reason, explanation, wayOut } = blocker
  const sinceMs = ofMoves.includes(reason) ? nodeOf(view, nodeName)?.moving?.sinceMs : undefined
  return {
    object,
    reason,
    explanation,
    holder: holderOf(blocker, view),
    ...(sinceMs === undefined ? {} : { since: rfc3339(sinceMs) }),
    causes: moveReasons.includes(reason) || reason === 'TaintNotSeen' ? absentOperator(view) : [],
    unblocks: wayOut,
    override: overrideOf(blocker, view),
  }
}

function holderOf({ object, volume }: ReplicaBlocker, { snapshot }: LonghornView): string {
  if (volume === '') return object
  const by = snapshot.volumes.find(({ name }) => name === volume)?.attachedBy
  return by === undefined ? `volume/${volume}` : `volume/${volume} (attached by ${by})`
}

/** The policy rests, and the budget has not gone yet. */
function goingBudget(budget: PodDisruptionBudget, view: LonghornView): LonghornRefusals[number] {
  const reason: Reason = 'ReplicasProtected'
  return {
    object: objectOf(budget),
    reason,
    explanation: 'nothing on the node holds it, but its budget is still there',
    holder: keeperOf(budget),
    causes: isHoldBudget(budget) ? absentOperator(view) : [],
    unblocks: isBudgetForsaken(budget, view) ? 'the operator running again' : 'a moment',
    override: deleteBudget(budget),
  }
}

/** The policy rests, but Longhorn never finds that out. */
function stuckBudget(
  budget: PodDisruptionBudget,
  view: LonghornView,
  nodeName: string,
): LonghornRefusals[number] | undefined {
  const held = view.decision.nodes.find(({ node }) => node === nodeName)?.blockers ?? []
  const stuck = held.find(({ reason }) => reason === ('LonghornStuck' satisfies Reason))
  if (stuck === undefined) return undefined
  const { object, reason, explanation, wayOut } = stuck
  return {
    object,
    reason,
    explanation,
    holder: keeperOf(budget),
    causes: [],
    unblocks: wayOut,
    override: deleteBudget(budget),
  }
}

/** Who makes and removes it. */
function keeperOf(budget: PodDisruptionBudget): string {
  return isHoldBudget(budget) ? 'the operator' : 'Longhorn'
}

function isBudgetForsaken(budget: PodDisruptionBudget, view: LonghornView): boolean {
  return isForsaken(view) && isHoldBudget(budget)
}

function absentOperator(view: LonghornView): Cause[] {
  if (!isForsaken(view)) return []
  const { unattendedSince } = view
  const says = 'is not running, so no replica starts to move, and no budget is removed'
  return [{ object: 'the operator', says, ...(unattendedSince === undefined ? {} : { since: unattendedSince }) }]
}

const ofPolicy: readonly Reason[] = [
  'DrainPolicyUnknown',
  'LastReplica',
  'LinkedCloneReplica',
  'NoPlaceForReplica',
  'ReplicaMoving',
  'ReplicaMustLeave',
  'StrictLocalReplica',
  'VolumeFaulted',
]

/** A policy lets replicas go; what the policy has no say in goes with the pod alone. Longhorn itself knows no policy of one volume. */
function overrideOf({ object, reason, volume }: ReplicaBlocker, view: LonghornView): string {
  const { settings, namespace } = view.snapshot
  const isStuckMove = reason === ('LonghornStuck' satisfies Reason) && object.startsWith('replica/')
  if (!ofPolicy.includes(reason) && !isStuckMove) return deletePod('NAME', view)
  if (settings.mode === 'hold') {
    return `kubectl -n ${namespace} label volumes.longhorn.io ${volume === '' ? 'NAME' : volume} ${drainPolicyLabel}=always-allow; without the node the volume may be out of reach. Where Longhorn's own budget holds the node too, its setting node-drain-policy decides`
  }
  const body = JSON.stringify({ value: 'always-allow' })
  return `kubectl -n ${namespace} patch settings.longhorn.io node-drain-policy --type merge -p '${body}'; then no volume holds a node`
}

function deleteBudget({ metadata }: PodDisruptionBudget): string {
  return `kubectl -n ${metadata.namespace ?? ''} delete pdb ${metadata.name}`
}

function deletePod(name: string, { snapshot }: LonghornView): string {
  return `kubectl -n ${snapshot.namespace} delete pod ${name} bypasses the budget; volumes in use there fail at once`
}

function objectOf({ metadata }: PodDisruptionBudget): string {
  return `pdb/${metadata.namespace ?? ''}/${metadata.name}`
}
