import type { BudgetAnswer, NodeAnswer } from './decision.ts'
import type { LonghornIndex } from './longhorn-index.ts'
import type { HoldReasons } from './longhorn-rule.ts'
import { isManagerHeld } from './node-holds.ts'
import { isSeenClosed } from './seen-closing.ts'
import type { InstanceManagerView, LonghornNodeView } from './snapshot.ts'

type Answer = Pick<BudgetAnswer, 'wanted' | 'reason' | 'explanation'>

/** What is known of the node of an instance manager when its budget is decided. */
export interface NodeState {
  readonly node: LonghornNodeView | undefined
  readonly isHeld: boolean
  /** Undefined: they are not known. */
  readonly reasons: HoldReasons | undefined
  /** Where the node is cordoned or drained. */
  readonly answer: NodeAnswer | undefined
}

/**
 * Whether each budget of a node should be there.
 *
 * On an open node always, or, where the cluster is autoscaled, where something rests on it. On a cordoned one as long as
 * something holds the node; one that went too early is made again, since the pod may not have been evicted yet.
 * An instance manager that does not run keeps what it has.
 */
export function budgetAnswers(index: LonghornIndex, nodeName: string, state: NodeState): BudgetAnswer[] {
  return index.instanceManagersOn(nodeName).map((manager) => {
    const { wanted, reason, explanation } = answerFor(index, manager, state)
    const hold = holdFor(index, manager, { wanted, reasons: state.reasons })
    return { instanceManager: manager.name, node: nodeName, wanted, hold, reason, explanation }
  })
}

function holdFor(
  { longhornBudgets }: LonghornIndex,
  { name, type }: InstanceManagerView,
  { reasons, wanted }: Pick<NodeState, 'reasons'> & Pick<Answer, 'wanted'>,
): BudgetAnswer['hold'] {
  if (wanted === 'leave') return 'welcome'
  if (wanted === 'absent') return 'needless'
  // Longhorn makes its own when it comes to it: an instance manager that has just started has none yet.
  if (!longhornBudgets.has(name)) return reasons === 'none' ? 'welcome' : 'needed'
  if (reasons === undefined) return 'welcome'
  return reasons === 'own' && type !== 'engine' ? 'needed' : 'needless'
}

function answerFor(index: LonghornIndex, manager: InstanceManagerView, { node, isHeld, answer }: NodeState): Answer {
  if (!manager.isRunning) {
    return {
      wanted: 'leave',
      reason: 'InstanceManagerAway',
      explanation: 'It does not run; its budget stays as it is.',
    }
  }
  if (node === undefined || node.kubernetes === 'absent') {
    const explanation = `There is no node ${manager.node} that could be drained; its budget stays as it is.`
    return { wanted: 'leave', reason: 'NodeUnknown', explanation }
  }
  const isOpen = !isSeenClosed(node)
  const first = answer?.blockers[0]
  const unseen = isOpen && node.isCordoned ? first : undefined
  if (isOpen && !index.settings.isAutoscaled) {
    if (unseen !== undefined) return { wanted: 'present', reason: unseen.reason, explanation: unseen.explanation }
    return { wanted: 'present', reason: 'NotCordoned', explanation: 'The node takes new pods, so it is protected.' }
  }
  if (!isManagerHeld(manager, isHeld)) {
    const explanation = isOpen
      ? 'No volume has its last copy on this node, so the autoscaler may remove it.'
      : 'Nothing on the node holds it any more.'
    return { wanted: 'absent', reason: 'ReplicasProtected', explanation }
  }
  if (first === undefined || (isOpen && unseen === undefined)) {
    return { wanted: 'present', reason: 'NotCordoned', explanation: 'A volume has its last copy on this node.' }
  }
  return { wanted: 'present', reason: first.reason, explanation: (answer as NodeAnswer).explanation }
}
