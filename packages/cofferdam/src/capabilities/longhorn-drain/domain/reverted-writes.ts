import type { LonghornReplica } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { isOwnBudget } from './budget-object.ts'
import type { LonghornDecision } from './decision.ts'

/** What we wrote and nobody may undo: flags by replica, budgets by name, each with the uid of what was written. */
export interface OwnWrites {
  readonly flags: ReadonlyMap<string, { readonly uid: string; readonly isRequested: boolean }>
  readonly budgets: ReadonlyMap<string, string>
}

export interface RevertedWrite {
  readonly kind: 'replica' | 'poddisruptionbudget'
  readonly name: string
  readonly node: string
  /** What was done to it, as in `replica db-r-1: its eviction was cancelled`. */
  readonly what: string
}

export const noWrites: OwnWrites = { flags: new Map(), budgets: new Map() }

interface Seen {
  readonly replicas: readonly LonghornReplica[]
  readonly budgets: readonly PodDisruptionBudget[]
}

/**
 * Writes of ours that somebody else undid though the decision still asks for them.
 *
 * What we undo ourselves is taken out of `written` when it is written. An object that is gone and made again has another
 * uid: a replica is another one then, a budget was deleted.
 */
export function findReverted(written: OwnWrites, seen: Seen, decision: LonghornDecision): readonly RevertedWrite[] {
  const asked = new Map(decision.evictions.map((answer) => [answer.replica, answer]))
  const found: RevertedWrite[] = []
  for (const { metadata, spec } of written.flags.size === 0 ? [] : seen.replicas) {
    const { name } = metadata
    const flag = written.flags.get(name)
    const answer = asked.get(name)
    if (flag === undefined || flag.uid !== metadata.uid || answer?.isRequested !== flag.isRequested) continue
    if ((spec?.evictionRequested ?? false) === flag.isRequested) continue
    const verb = flag.isRequested ? 'cancelled' : 'requested again'
    found.push({ kind: 'replica', name, node: answer.node, what: `the eviction of replica ${name} was ${verb}` })
  }
  const there = new Map(seen.budgets.map(({ metadata }) => [metadata.name, metadata.uid]))
  for (const { instanceManager: name, node, wanted } of written.budgets.size === 0 ? [] : decision.budgets) {
    const uid = written.budgets.get(name)
    if (uid === undefined || wanted !== 'present' || there.get(name) === uid) continue
    found.push({ kind: 'poddisruptionbudget', name, node, what: `budget ${name} of node ${node} was deleted` })
  }
  return found
}

/** What of ours is there now. A flag that stands as somebody else wants it is not remembered as ours any more. */
export function rememberOwnWrites(written: OwnWrites, seen: Seen): OwnWrites {
  const flags = new Map(
    seen.replicas.flatMap(({ metadata, spec }) => {
      const flag = written.flags.get(metadata.name)
      const isOurs = flag?.uid === metadata.uid && (spec?.evictionRequested ?? false) === flag?.isRequested
      return flag === undefined || !isOurs ? [] : [[metadata.name, flag] as const]
    }),
  )
  const budgets = new Map(
    seen.budgets.flatMap((budget) => {
      const { name, uid } = budget.metadata
      return uid !== undefined && isOwnBudget(budget) ? [[name, uid] as const] : []
    }),
  )
  return { flags, budgets }
}

/** One sentence, and what to do. */
export function explainReverted({ kind, what }: RevertedWrite, by: string | undefined): string {
  const who =
    by === undefined ? 'by another client; the audit log of Kubernetes shows which one' : `by ${JSON.stringify(by)}`
  const risk =
    kind === 'replica' ? 'The replica does not leave its node.' : 'Nothing held the last copies on that node meanwhile.'
  return `In mode owner, ${what} ${who}. ${risk} Cofferdam writes it again. Stop the client that does this, or set cofferdam.io/manage=guide.`
}
