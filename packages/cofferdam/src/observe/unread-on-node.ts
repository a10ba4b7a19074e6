import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { HostedPod } from '../capabilities/drain-lock/observe/objects.ts'
import type { UnknownNode } from '../capabilities/drain-lock/view/plan-drain.ts'
import { isInstanceManager, isOverInstanceManager } from '../capabilities/longhorn-drain/domain/budget-object.ts'
import { explainUnread, isGuardedDaemon, unreadQuestions, unreadStorage } from '../explain/judge-unread.ts'
import type { Ledger } from '../ledger/rules/ledger.ts'
import type { Observed } from '../shared/observed.ts'

type UnreadOnNode = Omit<UnknownNode, 'node'>

/** What was read, and what was not. */
interface ReadForDrains {
  readonly notSeen: readonly string[]
  readonly ledger: Observed<Ledger>
  /** Indexed by `node`. */
  readonly pods: Pick<WatchView<HostedPod>, 'byIndex' | 'list'>
  readonly budgets: readonly PodDisruptionBudget[]
  /** The nodes that Longhorn itself lists. */
  readonly longhornNodes: Observed<ReadonlySet<string>>
}

/**
 * What could not be read and may hold a node: the ledger and the limits hold any, Ceph those with its daemons, Longhorn those that it lists
 * or that have its instance managers. What cannot matter to a node is passed over, as in the explanation of its pods.
 *
 * Fails closed: where Longhorn is somewhere and its own list of nodes may not be read, copies can be on any node, its pods there or not.
 */
export function findUnread({
  notSeen,
  ledger,
  pods,
  budgets,
  longhornNodes,
}: ReadForDrains): (node: string) => UnreadOnNode | undefined {
  if (!ledger.known) return always(`disruptionledger cluster: ${ledger.why}`, unreadQuestions.ledger)
  const limits = notSeen.find((what) => what.startsWith('disruptionpolicies.cofferdam.io: '))
  if (limits !== undefined) return always(limits, 'how many nodes may be away')
  const { ceph, longhorn } = unreadStorage(notSeen)
  if (ceph === undefined && longhorn === undefined) return () => undefined
  const managers = budgets.filter(isOverInstanceManager)
  const isManager = ({ namespace, labels }: HostedPod) =>
    isInstanceManager(labels) ||
    managers.some(
      ({ metadata, spec: { selector } }) =>
        metadata.namespace === namespace && selector !== undefined && isSelected(selector, labels),
    )
  const isAnywhere =
    longhorn !== undefined && !longhornNodes.known && (managers.length > 0 || [...pods.list()].some(isManager))
  const isOn = (node: string) => (longhornNodes.known ? longhornNodes.value.has(node) : isAnywhere)
  return (node) => {
    const here = pods.byIndex('node', node)
    if (ceph !== undefined && here.some(({ labels }) => isGuardedDaemon(labels)))
      return unread(ceph, unreadQuestions.ceph)
    if (longhorn !== undefined && (isOn(node) || here.some(isManager)))
      return unread(longhorn, unreadQuestions.longhorn)
    return undefined
  }
}

function always(what: string, question: string): () => UnreadOnNode {
  const found = unread(what, question)
  return () => found
}

function unread(what: string, question: string): UnreadOnNode {
  const { object, reason, explanation } = explainUnread(what, question)
  return { object, reason, why: `${object}: ${explanation}` }
}
