import type { UpdatableOsd } from './snapshot.ts'

/**
 * Of those that may stop together as many as budgets of others let go at once.
 *
 * Guarantees: no more by any budget than it has room for; a part of what may stop together may.
 */
export function withinBudgets(start: readonly number[], osds: readonly UpdatableOsd[]): readonly number[] {
  const within = new Map(osds.flatMap((osd) => (osd.takesFrom === undefined ? [] : [[osd.id, osd.takesFrom] as const])))
  if (within.size === 0) return start
  const taken = new Map<string, number>()
  return start.filter((id) => {
    const limit = within.get(id)
    if (limit === undefined) return true
    const count = taken.get(limit.budget) ?? 0
    taken.set(limit.budget, count + 1)
    return count < limit.room
  })
}
