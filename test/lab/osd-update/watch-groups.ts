import { setTimeout as pause } from 'node:timers/promises'
import { observeCeph } from '@cofferdam/product/ceph/observe-ceph.ts'
import type { CephMap } from '@cofferdam/product/safety/ceph-map.ts'
import { groupsBelowFloor } from '../../../scenarios/testing/groups-below-floor.ts'
import type { LabCeph } from '../ceph/lab-ceph.ts'

export interface GroupsSeen {
  /** How often Ceph could be seen. */
  readonly looks: number
  /** Placement groups that were seen with fewer copies than their floor, and when. */
  readonly below: readonly string[]
  /** The same while they agreed on who serves them: one that moves to a new OSD peers first with that one, and then with the old. */
  readonly peering: readonly string[]
  /** The most OSDs that were down at one look. */
  readonly mostDown: number
}

const pollEveryMs = 100

/** Looks at every placement group all the time, until it is stopped. */
export function watchGroups({ commands }: Pick<LabCeph, 'commands'>): { stop(): Promise<GroupsSeen> } {
  const below = new Set<string>()
  const peering = new Set<string>()
  let [looks, mostDown, isStopped] = [0, 0, false]
  const watching = (async () => {
    while (!isStopped) {
      const map = await observeCeph(commands)
      if (map.known) {
        looks += 1
        const down = map.value.osds.filter(({ isUp }) => !isUp).map(({ id }) => `osd.${id}`)
        mostDown = Math.max(mostDown, down.length)
        for (const group of groupsBelowFloor(map.value)) {
          const { state, words } = rowOf(map.value, group)
          const seen = state.split('+').includes('peering') ? peering : below
          seen.add(`${words} with ${down.join(', ')} down`)
        }
      }
      await pause(pollEveryMs)
    }
  })()
  // Whoever stops it hears of it.
  watching.catch(() => {})
  return {
    async stop() {
      isStopped = true
      await watching
      return { looks, below: [...below], peering: [...peering], mostDown }
    },
  }
}

/** Enough to see afterwards how it came to that. */
function rowOf({ pgs, epoch }: CephMap, group: string): { readonly state: string; readonly words: string } {
  const [pool = '', number = ''] = group.split('.')
  const row = Array.from({ length: pgs.count }, (_, pg) => pg).find(
    (pg) => pgs.poolIds[pg] === Number(pool) && pgs.pgNumbers[pg] === Number.parseInt(number, 16),
  ) as number
  const acting = pgs.acting.slice(pgs.offsets[row], pgs.offsets[row + 1]).join()
  const up = pgs.up.slice(pgs.upOffsets[row], pgs.upOffsets[row + 1]).join()
  const state = pgs.stateNames[pgs.states[row] as number] ?? ''
  const report = `reported in epoch ${pgs.reportedEpochs[row]} of ${epoch}`
  return { state, words: `${group} (${state}, acting ${acting}, up ${up}, ${report})` }
}
