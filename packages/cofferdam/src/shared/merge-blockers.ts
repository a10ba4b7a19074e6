import type { Blocker } from './blocker.ts'

/** One blocker per object and reason, with all who wait for it. */
export function mergeBlockers(blockers: readonly (Blocker | undefined)[]): Blocker[] {
  const merged = new Map<string, Blocker>()
  for (const blocker of blockers) {
    if (blocker === undefined) continue
    const key = `${blocker.object} ${blocker.reason}`
    const same = merged.get(key)
    const waiting = [...new Set([...(same?.waiting ?? []), ...blocker.waiting])]
    merged.set(key, { ...(same ?? blocker), waiting })
  }
  return [...merged.values()]
}
