import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { HostedPod } from '../capabilities/drain-lock/observe/objects.ts'
import type { UnknownNode } from '../capabilities/drain-lock/view/plan-drain.ts'
import { explainUnread, isGuardedDaemon, unreadQuestions, unreadStorage } from '../explain/judge-unread.ts'
import { isLonghornSeen, unreadLonghorn } from '../explain/unread-longhorn.ts'
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
  /** The cluster has its kinds, as far as that may be read. */
  readonly isLonghornDefined: boolean
}

/**
 * What could not be read and may hold a node: the ledger and the limits hold any, Ceph those with its daemons, Longhorn those that it may
 * have copies on. What cannot matter to a node is passed over, as in the explanation of its pods.
 */
export function findUnread({
  notSeen,
  ledger,
  pods,
  budgets,
  longhornNodes: nodes,
  isLonghornDefined,
}: ReadForDrains): (node: string) => UnreadOnNode | undefined {
  if (!ledger.known) return always(`disruptionledger cluster: ${ledger.why}`, unreadQuestions.ledger)
  const limits = notSeen.find((what) => what.startsWith('disruptionpolicies.cofferdam.io: '))
  if (limits !== undefined) return always(limits, 'how many nodes may be away')
  const { ceph, longhorn } = unreadStorage(notSeen)
  if (ceph === undefined && longhorn === undefined) return () => undefined
  const places = { nodes, isInstalled: isLonghornDefined || isLonghornSeen(budgets, pods.list()) }
  const longhornOn = unreadLonghorn({ unread: notSeen, places, budgets })
  return (node) => {
    const here = pods.byIndex('node', node)
    if (ceph !== undefined && here.some(({ labels }) => isGuardedDaemon(labels)))
      return unread(ceph, unreadQuestions.ceph)
    const ofLonghorn = longhornOn(node, here)
    return ofLonghorn === undefined ? undefined : unread(ofLonghorn, unreadQuestions.longhorn)
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
