import type { Claim } from '../../../../ledger/rules/claim.ts'
import { budgetKey } from '../../../../ledger/rules/keys.ts'
import type { BudgetReference } from '../../../../shared/object-references.ts'
import { claimsFor } from '../../domain/claims.ts'
import { desiredWhenFree } from '../../domain/judge-budget-hold.ts'
import { awayUnasked } from '../../domain/limit-claims.ts'
import type { BudgetFacts, DisruptionSnapshot, PodFacts } from '../../domain/snapshot.ts'
import { type PlannedPods, podPlanOf } from '../plan-disruption.ts'

/** What a node needs for itself while it is away. */
export interface WaveNeeds {
  readonly node: string
  readonly claims: readonly Pick<Claim, 'key' | 'scope' | 'most'>[]
  /** Budgets of pods that leave: they cannot, while another request holds one of them for a pod that stays. */
  readonly leaves: readonly LeavingPods[]
}

export interface LeavingPods {
  /** `pdb/shop/orders` */
  readonly key: string
  readonly pods: number
  /** How many pods of the budget may be away when all of them are healthy. */
  readonly room: number
}

/** What a node's needs are judged beside. */
export interface WaveSurroundings {
  /** Whether the storage decides what a budget allows, so that its room now says nothing of later. */
  readonly isByStorage: (budget: BudgetReference) => boolean
  /** Every node that is asked about: one of them that is away now takes its place in its own wave. */
  readonly asked: ReadonlySet<string>
}

export function waveNeedsOf(
  snapshot: DisruptionSnapshot,
  { isByStorage, asked }: WaveSurroundings,
  { locks, leavesOf }: PlannedPods = podPlanOf(snapshot),
): WaveNeeds {
  const { request, node, storage, budgets, limits, ledger } = snapshot
  const left: LeavingPods[] = []
  for (const budget of budgets) {
    const pods = countOrdinary(leavesOf.get(budget.uid))
    if (pods > 0 && !isByStorage(budget)) left.push({ key: budgetKey(budget), pods, room: roomOf(budget) })
  }
  const places = (limits.known ? limits.value : []).map((facts) => {
    const unasked = ledger.known ? awayUnasked(facts, ledger.value) : facts.away
    return { key: facts.key, scope: '', most: facts.most - unasked.filter(({ name }) => !asked.has(name)).length }
  })
  return {
    node: request.nodeName,
    claims: node === undefined ? [] : [...claimsFor(node, storage, locks), ...places],
    leaves: left,
  }
}

/** Of one budget, how many evictions it has to allow. */
export function countOrdinary(pods: readonly PodFacts[] = []): number {
  let count = 0
  for (const { kind } of pods) if (kind === 'ordinary') count += 1
  return count
}

/** What is not counted yet may have room for one; the eviction API decides then. */
export function roomOf(budget: BudgetFacts): number {
  return budget.isCounted ? Math.max(0, budget.expectedPods - desiredWhenFree(budget)) : 1
}
