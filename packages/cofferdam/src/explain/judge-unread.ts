import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { budgetsOf } from '@cofferdam/kubernetes/api/disruption-rules.ts'
import type { Labels } from '@cofferdam/kubernetes/api/label-selector.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { isOverInstanceManager } from '../capabilities/longhorn-drain/domain/budget-object.ts'
import type { Blocker } from '../shared/blocker.ts'
import type { Reason } from '../shared/reasons.ts'
import type { Explanation } from './explanation.ts'
import type { GuardSnapshot } from './snapshot.ts'

const notReadable: Reason = 'NotReadable'
const guardedDaemons: ReadonlySet<string> = new Set(['rook-ceph-osd', 'rook-ceph-mon', 'rook-ceph-mgr'])

/** Of what could not be read, that which storage rests on; undefined: all of it was. */
interface UnreadStorage {
  readonly ceph: string | undefined
  readonly longhorn: string | undefined
}

export function unreadStorage(unread: readonly string[]): UnreadStorage {
  const first = (pattern: RegExp) => unread.find((what) => pattern.test(what))
  return {
    // Of a record that is there and partly invalid, the rest was judged.
    ceph: first(/^(?:cephclusters\.ceph\.rook\.io|configmap [^ ]+\/rook-ceph-\S+): (?!annotation )/),
    longhorn: first(/^[a-z]+\.longhorn\.io: /),
  }
}

export function isGuardedDaemon(labels: Labels = {}): boolean {
  return guardedDaemons.has(labels['app'] ?? '')
}

/** What is not known for want of rights, and why, in the words of whoever noted it. */
export function explainUnread(unread: string, question: string): Pick<Blocker, 'object' | 'reason' | 'explanation'> {
  const at = unread.indexOf(': ')
  return {
    object: unread.slice(0, at),
    reason: notReadable,
    explanation: `it is not known ${question}: ${unread.slice(at + 2)}`,
  }
}

export const unreadQuestions = {
  ceph: 'whether Ceph needs it',
  longhorn: 'whether Longhorn needs its node',
  ledger: 'whether a drain holds what it needs',
} as const

/** `unknown`: nothing is seen that holds it, and not everything that may could be read. */
export type Verdict = 'free' | 'blocked' | 'unknown'

export function verdictOf({ mayGo, blockers }: Pick<Explanation, 'mayGo' | 'blockers'>): Verdict {
  if (mayGo) return 'free'
  const isUnknown = blockers.length > 0 && blockers.every(({ reason }) => reason === notReadable)
  return isUnknown ? 'unknown' : 'blocked'
}

/**
 * What could not be read and may hold the pod: the ledger for what a budget covers, the CephCluster and its records for Ceph's daemons,
 * Longhorn's objects for its instance managers. What cannot matter to the pod is passed over.
 */
export function unreadBlockers({
  budgets: all,
  holds,
  unread = [],
}: Pick<GuardSnapshot, 'budgets' | 'holds' | 'unread'>): (pod: Pod) => Blocker | undefined {
  if (unread.length === 0) return () => undefined
  const { ceph, longhorn } = unreadStorage(unread)
  const isLedgerUnread = holds !== undefined && !holds.ledger.known && holds.hasGuard !== false
  const ledger = isLedgerUnread ? unread.find((what) => what.startsWith('disruptionledger cluster: ')) : undefined
  return (pod) => {
    const budgets = budgetsOf(pod, all)
    const isDaemon = isGuardedDaemon(pod.metadata.labels)
    if (ceph !== undefined && isDaemon) return unreadBlocker(ceph, unreadQuestions.ceph, nameOf(pod))
    if (longhorn !== undefined && budgets.some(isOverInstanceManager)) {
      return unreadBlocker(longhorn, unreadQuestions.longhorn, nameOf(pod))
    }
    if (ledger !== undefined && (isDaemon || budgets.length > 0)) {
      return unreadBlocker(ledger, unreadQuestions.ledger, nameOf(pod))
    }
    return undefined
  }
}

const nameOf = (pod: Pod) => [`pod/${keyText(keyOf(pod))}`]

export function unreadBlocker(unread: string, question: string, waiting: readonly string[]): Blocker {
  return {
    ...explainUnread(unread, question),
    holder: 'missing rights',
    causes: [],
    unblocks: 'an answer with the right to read it: ask again with another --context or --as',
    override: 'an eviction asks its budgets and the eviction guard in any case; they may refuse it',
    waiting,
  }
}
