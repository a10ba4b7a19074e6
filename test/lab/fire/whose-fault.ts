/** OSDs of a rack went: by an eviction that was let through, or by a fire. */
export interface Loss {
  readonly kind: 'eviction' | 'fire'
  readonly rack: string
  readonly atMs: number
  readonly what: string
}

/**
 * Why a placement group could fall without a fault of the operator; undefined when it is the operator's. A fire may meet an eviction that
 * was let through before anything could be known of it, and an eviction may come while no operator is there to hold it.
 */
export function whoseFault(
  losses: readonly Loss[],
  unattendedMs: readonly number[],
  unseenMs: number,
): string | undefined {
  for (const fire of losses.filter(({ kind }) => kind === 'fire'))
    for (const other of losses) {
      if (other.rack === fire.rack) continue
      if (other.kind === 'fire') return `two racks burned, ${fire.rack} and ${other.rack}`
      const apart = other.atMs - fire.atMs
      if (Math.abs(apart) < unseenMs) return `the fire in ${fire.rack} met the eviction of ${other.what}`
      const isAlone = unattendedMs.some((atMs) => atMs >= fire.atMs && atMs <= other.atMs + unseenMs)
      if (apart > 0 && isAlone) return `${other.what} left after the fire in ${fire.rack} while no operator was there`
    }
  return undefined
}
