import type { Reason } from '../../../shared/reasons.ts'
import { machineBudgetName } from './budget-name.ts'
import { isInScope, type SickNode } from './choose-target.ts'
import type { Fence } from './decision.ts'
import { fencedText } from './fenced-node.ts'
import type { LabelledCluster } from './labelled-cluster.ts'
import { explainLostQuorum } from './lost-quorum.ts'
import { marks } from './marks.ts'
import { overrideText } from './override-text.ts'
import { freshEvidence } from './running-osds.ts'
import type { MachineView } from './snapshot.ts'

export interface ClusterVerdict {
  readonly mayLoseOne: boolean
  readonly reason: Reason
  readonly explanation: string
  readonly wayOut: string
}

interface ClusterFacts {
  readonly nowMs: number
  readonly fences: readonly Fence[]
  readonly sick: readonly SickNode[]
  /** A machine with OSDs that run, still without the label. */
  readonly unlabelled: MachineView | undefined
}

/**
 * Can the cluster lose a machine now?
 *
 * Guarantees: yes only when Ceph, asked just now, has every placement group clean, no fence is under way, and whoever holds
 * its storage holds nothing but the failure domain in which every sick machine is; and every machine with OSDs that run carries
 * the label already, so that the budget counts all of them.
 */
export function judgeCluster(
  labelled: LabelledCluster,
  { nowMs, fences, sick, unlabelled }: ClusterFacts,
): ClusterVerdict {
  const { cluster, budget, formerBudgets } = labelled
  const no = (reason: Reason, explanation: string, wayOut: string): ClusterVerdict => ({
    mayLoseOne: false,
    reason,
    explanation,
    wayOut,
  })
  if (labelled.budgetName !== machineBudgetName(cluster)) {
    return no(
      'FenceUnknown',
      `Another cluster has the budget name ${machineBudgetName(cluster)}, under which other tools search for this one.`,
      'One of the two clusters must be called otherwise, or set another machineDisruptionBudgetNamespace.',
    )
  }
  const evidence = freshEvidence(cluster, nowMs)
  if (!evidence.known && labelled.quorum !== undefined) {
    return no(
      'QuorumLost',
      explainLostQuorum(labelled.quorum),
      `All others open when Ceph answers and is clean. ${overrideText(cluster)}`,
    )
  }
  if (!evidence.known) {
    return no(
      'FenceUnknown',
      `Ceph cannot be judged: ${evidence.why}.`,
      `It opens when Ceph answers and is clean. ${overrideText(cluster)}`,
    )
  }
  const { isClean } = evidence.value
  if (!isClean.known) {
    return no(
      'FenceUnknown',
      `Whether all data is clean is not known: ${isClean.why}.`,
      'It opens when that is known, and Ceph is clean.',
    )
  }
  const unreadable = [budget, ...formerBudgets].find((seen) => seen?.isRecordReadable === false)
  if (unreadable !== undefined) {
    return no(
      'FenceUnknown',
      'What is written on the budget about fences cannot be read.',
      `Correct or delete the annotation ${marks.fences} of machinedisruptionbudget/${unreadable.namespace}/${unreadable.name}.`,
    )
  }
  const under = fences.find(({ isOver }) => !isOver)
  if (under !== undefined) {
    return no(
      'FenceUnderWay',
      `${capital(fencedText(under))} is being fenced.`,
      'The next may go when it is back or replaced and all placement groups are clean again.',
    )
  }
  if (!isClean.value) {
    return no('FenceWaitsForData', 'Not all placement groups are clean.', 'It opens when Ceph has recovered.')
  }
  if (cluster.heldBy !== undefined && !cluster.heldBy.known) {
    return no(
      'LedgerUnknown',
      `Who holds the storage is not known: ${cluster.heldBy.why}.`,
      'It opens with the ledger.',
    )
  }
  const mine = sick.filter(({ clusters }) => clusters.includes(labelled))
  const holder = cluster.heldBy?.value.find(
    (held) => mine.length === 0 || !mine.every(({ node }) => isInScope(labelled, node.name, held)),
  )
  if (holder !== undefined) {
    const what = holder.scope === '' ? 'the storage' : `failure domain ${holder.scope}`
    return no('StorageKeyHeld', `${holder.holder} holds ${what}.`, 'It opens when that is released.')
  }
  if (unlabelled !== undefined) {
    return no(
      'FenceLabelsPending',
      `Machine ${unlabelled.name} has running OSDs and does not carry its label yet.`,
      'It opens when every machine with running OSDs carries the label.',
    )
  }
  return {
    mayLoseOne: true,
    reason: 'FenceAllowed',
    explanation: 'All placement groups are clean and the storage is not held: one machine may be fenced.',
    wayOut: '',
  }
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
