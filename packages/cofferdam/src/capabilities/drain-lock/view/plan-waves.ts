import { type Claim, doClaimsConflict, isLimit } from '../../../ledger/rules/claim.ts'
import { budgetKey } from '../../../ledger/rules/keys.ts'
import { claimsFor } from '../domain/claims.ts'
import type { DisruptionSnapshot } from '../domain/snapshot.ts'
import { podPlanOf } from './plan-disruption.ts'

/** What a node needs for itself while it is away. */
export interface WaveNeeds {
  readonly node: string
  readonly claims: readonly Pick<Claim, 'key' | 'scope' | 'most'>[]
  /** Budgets of pods that leave: they cannot, while another request holds one of them for a pod that stays. */
  readonly leaves: readonly string[]
}

export function waveNeedsOf(snapshot: DisruptionSnapshot): WaveNeeds {
  const { request, node, storage, budgets, limits } = snapshot
  const { locks, leaves } = podPlanOf(snapshot)
  const left = budgets.filter(({ uid }) =>
    leaves.some(({ kind, budgetUids }) => kind === 'ordinary' && budgetUids.includes(uid)),
  )
  const places = limits.known ? limits.value.map(({ key, most }) => ({ key, scope: '', most })) : []
  return {
    node: request.nodeName,
    claims: node === undefined ? [] : [...claimsFor(node, storage, locks), ...places],
    leaves: left.map(budgetKey),
  }
}

/**
 * Which nodes can be away together, wave by wave, in the order that was given.
 *
 * By the rules of the ledger: two nodes go together unless they need the same key for themselves, or one holds a budget that pods
 * have to leave by; and no more nodes than a limit on nodes in maintenance allows. What blocks a node now is no part of it: it waits in
 * its wave.
 *
 * Guarantees: every node is in exactly one wave; all nodes of a wave can be away together. The number of waves need not be the smallest.
 */
export function planWaves(needs: readonly WaveNeeds[]): readonly (readonly string[])[] {
  const waves: WaveNeeds[][] = []
  for (const need of needs) {
    const wave = waves.find((members) => fits(members, need))
    if (wave === undefined) waves.push([need])
    else wave.push(need)
  }
  return waves.map((members) => members.map(({ node }) => node))
}

function fits(members: readonly WaveNeeds[], need: WaveNeeds): boolean {
  if (members.some((member) => areInConflict(member, need))) return false
  return need.claims.every((claim) => {
    if (!isLimit(claim)) return true
    const taken = members.filter(({ claims }) => claims.some(({ key }) => key === claim.key))
    return taken.length < (claim.most ?? 1)
  })
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
