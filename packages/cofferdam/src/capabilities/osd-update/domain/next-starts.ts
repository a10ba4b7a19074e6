import type { SlackHypergraph } from '../../../safety/slack-hypergraph.ts'
import type { RoundPlan } from './plan-rounds.ts'
import { RunningSet } from './running-set.ts'

export interface RollingWindow {
  /** Which OSDs are to start now, in the order of the plan. They count as down from here on. */
  start(): readonly number[]
  /** The OSD is up again and its placement groups have peered: what it held back is free for others. */
  returned(osd: number): void
  readonly runningCount: number
  readonly waitingCount: number
}

const waits = 1
const runs = 2

/**
 * The plan without barrier: whoever comes back makes room for those that share a placement group with it, at once. An event
 * costs as much as the edges of the OSD and of its neighbours, not a scan of the whole cluster.
 *
 * Guarantees: what runs is always a safe set of at most `maxParallel`; the first `barrierRounds` rounds of the plan run one by one.
 * Assumes: nothing else stops or fails meanwhile; a changed map needs a new plan and a new window.
 */
export function createRollingWindow(input: {
  readonly hypergraph: SlackHypergraph
  readonly plan: Pick<RoundPlan, 'rounds'>
  readonly maxParallel: number
  readonly barrierRounds?: number
}): RollingWindow {
  const { hypergraph: graph, plan, maxParallel } = input
  const unitOf = new Map<number, number>()
  for (const [unit, id] of graph.osds.entries()) unitOf.set(id, unit)
  const barriers = plan.rounds.slice(0, input.barrierRounds ?? 0)
  const order = Int32Array.from(plan.rounds.flat().flatMap((id) => unitOf.get(id) ?? []))
  const turnOf = new Int32Array(graph.osds.length)
  const state = new Uint8Array(graph.osds.length)
  for (let turn = 0; turn < order.length; turn += 1) {
    turnOf[order[turn] as number] = turn
    state[order[turn] as number] = waits
  }
  const running = new RunningSet(graph)
  const noted = new Uint8Array(graph.osds.length)
  let candidates: number[] = []
  let mustTryAll = true
  let firstWaiting = 0
  let waitingCount = order.length
  let barriersPassed = 0
  let barrierEnd = barriers[0]?.length ?? 0

  return {
    start,
    returned,
    get runningCount() {
      return running.size
    },
    get waitingCount() {
      return waitingCount
    },
  }

  function start(): readonly number[] {
    passBarriers()
    const end = barriersPassed < barriers.length ? barrierEnd : order.length
    const started: number[] = []
    const tried = mustTryAll
      ? order.subarray(firstWaiting, end)
      : candidates.sort((a, b) => (turnOf[a] as number) - (turnOf[b] as number))
    for (const unit of tried) {
      noted[unit] = 0
      if (running.size >= maxParallel) break
      if (state[unit] !== waits || (turnOf[unit] as number) >= end || !running.mayAdd(unit)) continue
      state[unit] = runs
      running.add(unit)
      started.push(graph.osds[unit] as number)
    }
    mustTryAll = running.size >= maxParallel
    for (const unit of candidates) noted[unit] = 0
    candidates = []
    waitingCount -= started.length
    while (firstWaiting < order.length && state[order[firstWaiting] as number] !== waits) firstWaiting += 1
    return started
  }

  function passBarriers(): void {
    while (barriersPassed < barriers.length && running.size === 0 && firstWaiting >= barrierEnd) {
      barriersPassed += 1
      barrierEnd += barriers[barriersPassed]?.length ?? 0
      mustTryAll = true
    }
  }

  function returned(osd: number): void {
    const unit = unitOf.get(osd)
    if (unit === undefined || state[unit] !== runs) return
    state[unit] = 0
    running.remove(unit)
    const { edgeStarts, edgeMembers, unitStarts, unitEdges } = graph
    for (let entry = unitStarts[unit] as number; entry < (unitStarts[unit + 1] as number); entry += 1) {
      const edge = unitEdges[entry] as number
      for (let at = edgeStarts[edge] as number; at < (edgeStarts[edge + 1] as number); at += 1) {
        const other = edgeMembers[at] as number
        if (state[other] !== waits || noted[other] === 1) continue
        noted[other] = 1
        candidates.push(other)
      }
    }
  }
}
