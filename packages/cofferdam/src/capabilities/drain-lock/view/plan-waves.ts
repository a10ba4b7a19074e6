import { budgetKey } from '../../../ledger/rules/keys.ts'
import { type Claim, doClaimsConflict } from '../../../ledger/rules/ledger.ts'
import { claimsFor } from '../domain/claims.ts'
import type { DisruptionSnapshot } from '../domain/snapshot.ts'
import { podPlanOf } from './plan-disruption.ts'

/** What a node needs for itself while it is away. */
export interface WaveNeeds {
  readonly node: string
  readonly claims: readonly Pick<Claim, 'key' | 'scope'>[]
  /** Budgets of pods that leave: they cannot, while another request holds one of them for a pod that stays. */
  readonly leaves: readonly string[]
  /** No two of these go together, and they go last. */
  readonly isControlPlane: boolean
}

export function waveNeedsOf(snapshot: DisruptionSnapshot, isControlPlane: boolean): WaveNeeds {
  const { request, node, storage, budgets } = snapshot
  const { locks, leaves } = podPlanOf(snapshot)
  const left = budgets.filter(({ uid }) =>
    leaves.some(({ kind, budgetUids }) => kind === 'ordinary' && budgetUids.includes(uid)),
  )
  return {
    node: request.nodeName,
    claims: node === undefined ? [] : claimsFor(node, storage, locks),
    leaves: left.map(budgetKey),
    isControlPlane,
  }
}

/**
 * Which nodes can be away together, wave by wave, in the order that was given; nodes of the control plane last, one at a time.
 *
 * By the rules of the ledger: two nodes go together unless they need the same key for themselves, or one holds a budget that pods
 * have to leave by. What blocks a node now is no part of it: it waits in its wave.
 *
 * Guarantees: every node is in exactly one wave; no two nodes of a wave are in conflict. The number of waves need not be the smallest.
 */
export function planWaves(needs: readonly WaveNeeds[]): readonly (readonly string[])[] {
  const waves: WaveNeeds[][] = []
  for (const need of needs.filter(({ isControlPlane }) => !isControlPlane)) {
    const wave = waves.find((members) => !members.some((member) => areInConflict(member, need)))
    if (wave === undefined) waves.push([need])
    else wave.push(need)
  }
  for (const need of needs.filter(({ isControlPlane }) => isControlPlane)) waves.push([need])
  return waves.map((members) => members.map(({ node }) => node))
}

function areInConflict(a: WaveNeeds, b: WaveNeeds): boolean {
  return (
    a.claims.some((mine) => b.claims.some((theirs) => doClaimsConflict(mine, theirs))) ||
    holdsBudgetOf(a, b) ||
    holdsBudgetOf(b, a)
  )
}

function holdsBudgetOf({ claims }: WaveNeeds, { leaves }: WaveNeeds): boolean {
  return claims.some(({ key }) => leaves.includes(key))
}
