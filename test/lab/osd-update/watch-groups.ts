import { setTimeout as pause } from 'node:timers/promises'
import { groupsBelowFloor } from '../../../scenarios/testing/groups-below-floor.ts'
import { observeCeph } from '../../../src/ceph/observe-ceph.ts'
import type { LabCeph } from '../ceph/lab-ceph.ts'

export interface GroupsSeen {
  /** How often Ceph could be seen. */
  readonly looks: number
  /** Placement groups that were seen with fewer copies than their floor, and when. */
  readonly below: readonly string[]
  /** The most OSDs that were down at one look. */
  readonly mostDown: number
}

const lookEveryMs = 100

/** Looks at every placement group all the time, until it is stopped. */
export function watchGroups({ commands }: Pick<LabCeph, 'commands'>): { stop(): Promise<GroupsSeen> } {
  const below = new Set<string>()
  let [looks, mostDown, isStopped] = [0, 0, false]
  const watching = (async () => {
    while (!isStopped) {
      const map = await observeCeph(commands)
      if (map.known) {
        looks += 1
        const down = map.value.osds.filter(({ isUp }) => !isUp).map(({ id }) => `osd.${id}`)
        mostDown = Math.max(mostDown, down.length)
        for (const group of groupsBelowFloor(map.value)) below.add(`${group} with ${down.join(', ')} down`)
      }
      await pause(lookEveryMs)
    }
  })()
  // Whoever stops it hears of it.
  watching.catch(() => {})
  return {
    async stop() {
      isStopped = true
      await watching
      return { looks, below: [...below], mostDown }
    },
  }
}
