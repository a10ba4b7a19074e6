import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { startClientLoad } from '../ceph/client-load.ts'
import type { Lab } from '../lab.ts'
import { heldRacks, isUsedUp } from './held-racks.ts'

/** What one crash came to, in seconds. */
export interface CrashStory {
  /** From the power cut to the moment from which no OSD of another rack could be evicted, until it is repaired. */
  readonly heldAfter: number
  readonly longestStall: number
}

const crashed = 'node-d'
const others = ['rack-y', 'rack-z'] as const
/** Ceph sees it at once, Kubernetes after its grace period of 40 to 50 seconds. */
const patienceSeconds = 150

/** The power of a node is cut while a client writes and reads; it comes back when all other racks are held. */
export async function crashStory(lab: Lab): Promise<CrashStory> {
  const load = startClientLoad({ ...lab, pools: ['replicapool', 'ecpool'] })
  await lab.seconds(2)
  let heldAt: number | undefined
  const look = () => {
    const { closed } = heldRacks(lab.views, isUsedUp)
    const isHeld = others.every((rack) => closed.includes(rack))
    // A moment in which a budget is exchanged does not count.
    heldAt = isHeld ? (heldAt ?? performance.now()) : undefined
  }
  const end = lab.views.of(podDisruptionBudgets).subscribe(look)
  const began = performance.now()
  lab.machines.powerOff(crashed)
  await lab.until('all other racks are held', () => heldAt !== undefined, patienceSeconds).catch(() => {})
  await lab.seconds(2)
  end()
  const heldAfter = ((heldAt ?? Number.NaN) - began) / 1_000
  lab.machines.powerOn(crashed)
  await lab.until('one budget covers all OSDs again', () => lab.osdBudgets().join() === 'rook-ceph-osd', 240)
  await lab.ceph.untilClean()
  const { longestStallMs } = await load.stop()
  return { heldAfter, longestStall: longestStallMs / 1_000 }
}
