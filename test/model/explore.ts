import { type Bounds, type Parts, realParts } from './bounds.ts'
import { createLockModel, type LockModel } from './expand.ts'
import { findLeftover, invariants } from './invariants.ts'
import { type ModelState, stateOf, vectorOf, width } from './state.ts'
import { Numbers, Visited } from './visited.ts'

export interface Finding {
  readonly what: string
  /** From the beginning to where it shows, one happening a line; no shorter one does. */
  readonly trace: readonly string[]
}

export interface Exploration {
  readonly bounds: Bounds
  readonly states: number
  readonly transitions: number
  /** How many happenings the farthest state is away from the beginning. */
  readonly depth: number
  /** False: it was stopped before all states were seen. */
  readonly isComplete: boolean
  readonly findings: readonly Finding[]
}

export interface ExploreOptions {
  readonly parts?: Parts
  /** Stop at so many states. */
  readonly limit?: number
  /** Which findings to look for; all of them when absent. */
  readonly only?: (what: string) => boolean
  readonly progress?: (told: { readonly states: number; readonly done: number; readonly depth: number }) => void
}

const fault = 0x8000_0000

/** Visits all states within the bounds, breadth first, until something is found to be wrong. */
export function explore(bounds: Bounds, options: ExploreOptions = {}): Exploration {
  const { parts = realParts, limit = Number.POSITIVE_INFINITY, only = () => true, progress } = options
  const model = createLockModel(bounds, parts)
  const visited = new Visited()
  const parents = new Numbers()
  const starts = new Numbers()
  const edges = new Numbers()
  const begin = model.canonical(model.initial)
  visited.add(vectorOf(begin))
  parents.push(0)
  let depth = 0
  let levelEnd = 1
  const finish = (
    found: { what: string; at: number; last?: string } | undefined,
    isComplete: boolean,
  ): Exploration => ({
    bounds,
    states: visited.size,
    transitions: edges.length,
    depth,
    isComplete,
    findings: found === undefined ? [] : [{ what: found.what, trace: traceTo(model, visited, parents, found) }],
  })
  for (let index = 0; index < visited.size; index += 1) {
    if (index === levelEnd) {
      depth += 1
      levelEnd = visited.size
    }
    if (index % 100_000 === 0) progress?.({ states: visited.size, done: index, depth })
    const state = stateOf(model.pools, visited.vectors, index * width)
    const broken = invariants.find((invariant) => only(invariant.name) && !invariant.holds(state))
    if (broken !== undefined) return finish({ what: `${broken.name}: ${broken.harm}`, at: index }, false)
    starts.push(edges.length)
    let isStuck = true
    for (const { next, isFault, violation, label } of model.expand(state)) {
      if (violation !== undefined && only(violation))
        return finish({ what: violation, at: index, last: label() }, false)
      const { index: to, isNew } = visited.add(vectorOf(model.canonical(next)))
      if (isNew) parents.push(index)
      edges.push(isFault ? (to | fault) >>> 0 : to)
      isStuck &&= isFault || to === index
    }
    if (isStuck && !model.hasEnded(state) && only('deadlock'))
      return finish({ what: 'deadlock: a request has not ended and nothing can happen any more', at: index }, false)
    const left = isStuck && model.hasEnded(state) ? findLeftover(state) : undefined
    if (left !== undefined && only(left)) return finish({ what: left, at: index }, false)
    if (visited.size > limit) return finish(undefined, false)
  }
  starts.push(edges.length)
  const wedged = only('L1') ? findWedged(model, visited, starts, edges) : undefined
  const what = 'L1: whatever happens from here, some request never ends or leaves something behind'
  return finish(wedged === undefined ? undefined : { what, at: wedged }, true)
}

/** The first state from which no continuation without faults ends every request, with nothing of it left behind. */
function findWedged(model: LockModel, visited: Visited, starts: Numbers, edges: Numbers): number | undefined {
  const canEnd = new Uint8Array(visited.size)
  for (let isChanged = true; isChanged; ) {
    isChanged = false
    for (let index = visited.size - 1; index >= 0; index -= 1) {
      if (canEnd[index] === 1) continue
      const state = stateOf(model.pools, visited.vectors, index * width)
      let can = model.hasEnded(state) && findLeftover(state) === undefined
      for (let edge = starts.at(index); !can && edge < starts.at(index + 1); edge += 1) {
        const to = edges.at(edge)
        can = to < fault && canEnd[to] === 1
      }
      if (!can) continue
      canEnd[index] = 1
      isChanged = true
    }
  }
  const wedged = canEnd.indexOf(0)
  return wedged === -1 ? undefined : wedged
}

/** Tells the way again from the beginning, with the names as they were then. */
function traceTo(
  model: LockModel,
  visited: Visited,
  parents: Numbers,
  { at, last }: { readonly at: number; readonly last?: string },
): string[] {
  const path: number[] = []
  for (let index = at; index !== 0; index = parents.at(index)) path.unshift(index)
  const trace: string[] = []
  let state: ModelState = model.initial
  for (const index of path) {
    const wanted = model.expand(state).find(({ next }) => visited.add(vectorOf(model.canonical(next))).index === index)
    if (wanted === undefined) throw new Error(`state ${index} cannot be reached again`)
    trace.push(wanted.label())
    state = wanted.next
  }
  if (last !== undefined)
    trace.push(
      model
        .expand(state)
        .find(({ violation }) => violation !== undefined)
        ?.label() ?? last,
    )
  return trace
}
