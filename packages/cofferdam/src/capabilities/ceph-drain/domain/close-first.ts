import { asWanted } from './osd-budgets.ts'
import type { PassSnapshot } from './pass-snapshot.ts'
import { planBudgetWrites } from './plan-budget-writes.ts'
import type { CephDrainStep } from './steps.ts'

/**
 * What is done before all of Ceph is read when running OSDs were lost: every budget of ours that lets an OSD go is closed, and then
 * Ceph is read. It may take long to answer, for a mon or the mgr may have gone with the same machine. Nothing where no OSD was lost, or
 * Ceph was read since.
 *
 * Guarantees: nothing is released.
 */
export function closeFirst({ observed, budgets, hasNewLoss = false, heard }: PassSnapshot): CephDrainStep[] {
  if (!hasNewLoss || heard.performed.includes('read-ceph')) return []
  const read: CephDrainStep = { do: 'ask', name: 'read-ceph' }
  if (observed.cluster.mode !== 'manage' || heard.performed.includes('close-budgets')) return [read]
  const standing = observed.budgets.filter(({ isOurs, selector }) => isOurs && selector.covers !== 'other')
  if (standing.every(({ maxUnavailable }) => maxUnavailable === 0)) return [read]
  const wanted = standing.map((budget) => ({ ...asWanted(budget), maxUnavailable: 0 }))
  const writes = planBudgetWrites(observed, budgets, { budgets: wanted }).filter(({ verb }) => verb === 'replace')
  return [{ do: 'write', name: 'close-budgets', writes }, read]
}
