import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { startClientLoad } from '../ceph/client-load.ts'
import type { Lab } from '../lab.ts'
import type { RunningProgram } from '../processes/run-program.ts'
import { heldRacks, isBlocking, racks } from './held-racks.ts'

/** What one run of the story came to. Times in seconds. */
export interface DrainStory {
  /** From the first eviction of an OSD to budgets that allow nothing on every rack but one, and let that one go on. */
  readonly blockedAfter: number
  /** How many of the drains ended, and after how long the first one did. */
  readonly ended: number
  readonly firstEndedAfter: number
  /** Of the drain that had to wait, counted from when the first node was given back. */
  readonly lastEndedAfter: number
  /** From the last uncordon to one budget for all OSDs. */
  readonly calmAfter: number
  /** Drains that gave up because two budgets covered one pod, and were begun again. */
  readonly begunAgain: number
  readonly longestStall: number
  readonly faults: readonly string[]
}

const drained = ['node-a', 'node-b'] as const
/** A drain that takes longer does not end. */
const patienceSeconds = 180

/** Two nodes of two racks are drained at the same moment by kubectl while a client writes and reads; each is given back when it is empty. */
export async function drainStory(lab: Lab): Promise<DrainStory> {
  const load = startClientLoad({ ...lab, pools: ['replicapool', 'ecpool'] })
  await lab.seconds(2)
  const clock = watchBudgets(lab)
  const began = performance.now()
  const running = new Map<string, RunningProgram>(drained.map((node) => [node, lab.drain(node)]))
  const ends: number[] = []
  let begunAgain = 0
  let givenBack = began
  while (running.size > 0) {
    const isOver = ([, drain]: readonly [string, RunningProgram]) => !drain.isRunning()
    const wait = lab.until('a drain has ended', () => [...running].some(isOver), patienceSeconds)
    if (
      !(await wait.then(
        () => true,
        () => false,
      ))
    )
      break
    const [node, drain] = [...running].find(isOver) as [string, RunningProgram]
    if (/more than one PodDisruptionBudget/.test(drain.output())) {
      begunAgain += 1
      running.set(node, lab.drain(node))
      continue
    }
    running.delete(node)
    if ((await drain.ended).code !== 0) continue
    ends.push(secondsSince(ends.length === 0 ? began : givenBack))
    await lab.kubectl('uncordon', node)
    givenBack = performance.now()
  }
  for (const drain of running.values()) await drain.stop()
  await lab.kubectl('uncordon', ...drained)
  const last = performance.now()
  await lab.until('one budget covers all OSDs again', () => lab.osdBudgets().join() === 'rook-ceph-osd', 240)
  const calmAfter = secondsSince(last)
  clock.stop()
  const { faults, longestStallMs } = await load.stop()
  const [firstEndedAfter = Number.NaN, lastEndedAfter = Number.NaN] = ends
  return {
    blockedAfter: clock.seconds(),
    ended: ends.length,
    firstEndedAfter,
    lastEndedAfter,
    calmAfter,
    begunAgain,
    longestStall: longestStallMs / 1_000,
    faults,
  }
}

/** Measures the time between the first eviction of an OSD and budgets that block every rack but one, and let that one go on. */
function watchBudgets({ views }: Lab): { seconds(): number; stop(): void } {
  let evicted: number | undefined
  let blocked: number | undefined
  const look = () => {
    const { closed, open } = heldRacks(views, isBlocking)
    if (open.length === 1 && closed.length === racks.length - 1) blocked ??= performance.now()
  }
  const endings = [
    views.of(pods).subscribe(({ after }) => {
      if (after?.metadata.labels?.['app'] !== 'rook-ceph-osd') return
      if (after.metadata.deletionTimestamp !== undefined) evicted ??= performance.now()
    }),
    views.of(podDisruptionBudgets).subscribe(look),
  ]
  return {
    // Budgets may be there before the first pod goes.
    seconds: () => Math.max(0, ((blocked ?? Number.NaN) - (evicted ?? Number.NaN)) / 1_000),
    stop: () => {
      for (const end of endings) end()
    },
  }
}

function secondsSince(began: number): number {
  return (performance.now() - began) / 1_000
}
