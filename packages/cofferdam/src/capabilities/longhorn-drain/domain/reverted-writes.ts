import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { holdNameOf, isHoldBudget } from './budget-object.ts'
import type { LonghornDecision } from './decision.ts'

/** Budgets of ours that no other client may delete, by name, with the uid of what was written. */
export type OwnWrites = ReadonlyMap<string, string>

export type RevertedWrite =
  | { readonly kind: 'poddisruptionbudget'; readonly name: string; readonly node: string }
  /** A request for a disk, on Longhorn's node. */
  | { readonly kind: 'disk'; readonly name: string; readonly node: string }

export const noWrites: OwnWrites = new Map()

/**
 * Budgets of ours that somebody else deleted though the decision still asks for them.
 *
 * What we delete ourselves is taken out of `written` when it is written. One that is gone and made again has another uid: it
 * was deleted.
 */
export function findReverted(
  written: OwnWrites,
  budgets: readonly PodDisruptionBudget[],
  decision: LonghornDecision,
): readonly RevertedWrite[] {
  if (written.size === 0) return []
  const there = new Map(budgets.map(({ metadata }) => [metadata.name, metadata.uid]))
  return decision.budgets.flatMap(({ instanceManager, node, hold }): RevertedWrite[] => {
    const name = holdNameOf(instanceManager)
    const uid = written.get(name)
    return uid === undefined || hold !== 'needed' || there.get(name) === uid
      ? []
      : [{ kind: 'poddisruptionbudget', name, node }]
  })
}

/** What of ours is there now. */
export function rememberOwnWrites(budgets: readonly PodDisruptionBudget[]): OwnWrites {
  return new Map(
    budgets.flatMap((budget) => {
      const { name, uid } = budget.metadata
      return uid !== undefined && isHoldBudget(budget) ? [[name, uid] as const] : []
    }),
  )
}

/** What was undone, what that means, and what to do. */
export function explainReverted({ kind, name, node }: RevertedWrite, by: string | undefined): string {
  const who =
    by === undefined ? 'by another client; the audit log of Kubernetes shows which one' : `by ${JSON.stringify(by)}`
  return kind === 'disk'
    ? `The eviction of disk ${name} on node ${node} was withdrawn ${who}. Replicas that must leave the node stay on that disk. It is not requested again in this drain.`
    : `Budget ${name} of node ${node} was deleted ${who}. Nothing of Cofferdam held the last copies on that node meanwhile. It is created again. Stop the client that does this, or set cofferdam.io/manage=guide.`
}
