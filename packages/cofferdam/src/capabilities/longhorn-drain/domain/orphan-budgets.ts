import type { LonghornIndex } from './longhorn-index.ts'

/** Budgets that name no instance manager. One that cannot be read is still one. */
export function orphanBudgets({ budgets, instanceManagers, unreadableObjects }: LonghornIndex): readonly string[] {
  const orphans: string[] = []
  for (const name of budgets) {
    if (!instanceManagers.has(name) && !unreadableObjects.has(`instancemanager/${name}`)) orphans.push(name)
  }
  return orphans.sort()
}
