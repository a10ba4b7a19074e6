import { expandFencing, hasEnded, initialFencing, realFencing } from './fencing-model.ts'
import type { FencingBounds, FencingParts, FencingState } from './fencing-state.ts'

export interface FencingExploration {
  readonly states: number
  readonly isComplete: boolean
  readonly finding: { readonly what: string; readonly trace: readonly string[] } | undefined
}

/** Visits all states within the bounds, breadth first, until something is found to be wrong. */
export function exploreFencing(
  bounds: FencingBounds,
  {
    parts = realFencing,
    limit = Number.POSITIVE_INFINITY,
  }: { readonly parts?: FencingParts; readonly limit?: number } = {},
): FencingExploration {
  const states: FencingState[] = []
  const numbers = new Map<string, number>()
  const parents: { readonly from: number; readonly label: string }[] = []
  const edges: number[][] = []
  const add = (state: FencingState, from: number, label: string): number => {
    const key = keyOf(state)
    const known = numbers.get(key)
    if (known !== undefined) return known
    numbers.set(key, states.length)
    states.push(state)
    parents.push({ from, label })
    return states.length - 1
  }
  const traceTo = (at: number, last?: string) => {
    const trace = last === undefined ? [] : [last]
    for (let index = at; index > 0; index = parents[index]?.from ?? 0) trace.unshift(parents[index]?.label ?? '')
    return trace
  }
  add(initialFencing(bounds), 0, '')
  for (let index = 0; index < states.length; index += 1) {
    const mine: number[] = []
    edges.push(mine)
    for (const { label, next, isFault = false, violation } of expandFencing(
      bounds,
      parts,
      states[index] as FencingState,
    )) {
      if (violation !== undefined)
        return { states: states.length, isComplete: false, finding: { what: violation, trace: traceTo(index, label) } }
      const to = add(next, index, label)
      if (!isFault) mine.push(to)
    }
    if (states.length > limit) return { states: states.length, isComplete: false, finding: undefined }
  }
  const wedged = findWedged(states, edges)
  const what = 'L1: whatever happens from here, some node is never released or something is left behind'
  const finding = wedged === undefined ? undefined : { what, trace: traceTo(wedged) }
  return { states: states.length, isComplete: true, finding }
}

function findWedged(states: readonly FencingState[], edges: readonly (readonly number[])[]): number | undefined {
  const canEnd = states.map(hasEnded)
  for (let isChanged = true; isChanged; ) {
    isChanged = false
    for (let index = states.length - 1; index >= 0; index -= 1) {
      if (canEnd[index] || !edges[index]?.some((to) => canEnd[to])) continue
      canEnd[index] = true
      isChanged = true
    }
  }
  const wedged = canEnd.indexOf(false)
  return wedged < 0 ? undefined : wedged
}

/** Epochs are only ever compared, and here by the request that has them. */
function keyOf(state: FencingState): string {
  const { ledger, epoch } = state
  const order = [...new Set([epoch, ...ledger.entries.map((entry) => entry.epoch)])].sort((a, b) => a - b)
  const entries = ledger.entries
    .map((entry) => `${entry.requestId} ${entry.key} ${entry.scope} ${entry.state} ${order.indexOf(entry.epoch)}`)
    .sort()
  return JSON.stringify({ ...state, ledger: entries, epoch: order.indexOf(epoch) })
}
