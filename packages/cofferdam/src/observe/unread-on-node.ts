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
  readonly pods: Pick<WatchView<HostedPod>, 'byIndex'>
  readonly budgets: readonly PodDisruptionBudget[]
}

/**
 * What could not be read and may hold a node: the ledger and the limits hold any, Ceph those with its daemons, Longhorn those with its
 * instance managers. What cannot matter to a node is passed over, as in the explanation of its pods.
 */
export function findUnread({
  notSeen,
  ledger,
  pods,
  budgets,
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
  return (node) => {
    const here = pods.byIndex('node', node)
    if (ceph !== undefined && here.some(({ labels }) => isGuardedDaemon(labels)))
      return unread(ceph, unreadQuestions.ceph)
    if (longhorn !== undefined && here.some(isManager)) return unread(longhorn, unreadQuestions.longhorn)
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
