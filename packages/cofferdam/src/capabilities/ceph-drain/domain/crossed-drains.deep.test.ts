import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { firstState, isOver, movesFrom } from './testing/drain-model.ts'
import type { ModelSetup, ModelState } from './testing/drain-model-state.ts'

interface Explored {
  readonly states: number
  /** What happened on a shortest way to a state in which something was broken. */
  readonly harm: readonly string[] | undefined
  /** The same for a state from which not all drains can end any more. */
  readonly wedge: readonly string[] | undefined
}

function digestOf(state: ModelState): string {
  return createHash('sha1').update(JSON.stringify(state)).digest('base64')
}

/** Goes through everything that can happen, in every order. */
function explore(setup: ModelSetup): Explored {
  const seen = new Map<string, number>([[digestOf(firstState), 0]])
  const cameFrom: { readonly state: number; readonly move: string }[] = [{ state: -1, move: '' }]
  const before: number[][] = [[]]
  const ends: number[] = []
  let harm: string[] | undefined
  let latest: readonly (readonly [number, ModelState])[] = [[0, firstState]]
  while (latest.length > 0) {
    const next: [number, ModelState][] = []
    for (const [at, state] of latest) {
      if (isOver(setup, state)) {
        ends.push(at)
        continue
      }
      for (const move of movesFrom(setup, state)) {
        if (move.harm !== undefined) harm ??= [...wayTo(at), move.name, move.harm]
        const digest = digestOf(move.next)
        const known = seen.get(digest)
        if (known !== undefined) {
          before[known]?.push(at)
          continue
        }
        next.push([cameFrom.length, move.next])
        seen.set(digest, cameFrom.length)
        cameFrom.push({ state: at, move: move.name })
        before.push([at])
      }
    }
    latest = next
  }
  const canEnd = new Set<number>()
  const waiting = [...ends]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (canEnd.has(at)) continue
    canEnd.add(at)
    waiting.push(...(before[at] ?? []))
  }
  const stuck = cameFrom.findIndex((_, at) => !canEnd.has(at))
  return { states: cameFrom.length, harm, wedge: stuck === -1 ? undefined : wayTo(stuck) }

  function wayTo(at: number): string[] {
    const way: string[] = []
    for (let step = at; step > 0; step = cameFrom[step]?.state ?? 0) way.unshift(cameFrom[step]?.move ?? '')
    return way
  }
}

const oneOsdEach: ModelSetup['nodes'] = [
  { name: 'node-a', osds: [0], mon: 'a' },
  { name: 'node-b', osds: [1], mon: 'b' },
  { name: 'node-c', osds: [2], mon: 'c' },
]
const twoOsdsEach: ModelSetup['nodes'] = oneOsdEach.map((node, index) => ({
  ...node,
  osds: [2 * index, 2 * index + 1],
}))

const mixed: ModelSetup['nodes'] = [
  { name: 'node-a', osds: [0], mon: 'a' },
  { name: 'node-b', osds: [1], mon: 'b' },
  { name: 'node-c', osds: [2] },
  { name: 'node-m', osds: [], mon: 'c' },
]
const fiveMons: ModelSetup['nodes'] = ['a', 'b', 'c', 'd', 'e'].map((mon, index) => ({
  name: `node-${mon}`,
  osds: index < 3 ? [index] : [],
  mon,
}))

/** With servers that can run nowhere else, as those with local volumes or a host's address; of mons there are too few for a budget. */
const pinnedServers: ModelSetup['nodes'] = ['a', 'b', 'c'].map((server, index) => ({
  name: `node-${server}`,
  osds: [index],
  server,
}))
const monsAndServers: ModelSetup['nodes'] = oneOsdEach.map((node, index) =>
  index < 2 ? { ...node, server: node.mon as string } : node,
)

const setups: Record<string, ModelSetup> = {
  'two nodes with two OSDs and a mon each': { nodes: twoOsdsEach, drained: ['node-a', 'node-b'] },
  'two nodes, of which one is opened again in the middle and drained anew': {
    nodes: oneOsdEach,
    drained: ['node-a', 'node-b'],
    givenUp: ['node-a'],
  },
  'three nodes with an OSD and a mon each': { nodes: oneOsdEach, drained: ['node-a', 'node-b', 'node-c'] },
  'a node with OSD and mon, one with an OSD alone, one with a mon alone': {
    nodes: mixed,
    drained: ['node-a', 'node-c', 'node-m'],
  },
  'two nodes with OSD and mon, one with a mon alone': { nodes: mixed, drained: ['node-a', 'node-b', 'node-m'] },
  'two nodes with an OSD and a server that can run nowhere else': {
    nodes: pinnedServers,
    drained: ['node-a', 'node-b'],
    givenUp: ['node-a'],
  },
  'three nodes with an OSD and a server that can run nowhere else': {
    nodes: pinnedServers,
    drained: ['node-a', 'node-b', 'node-c'],
  },
  'two nodes with an OSD, a mon and such a server': { nodes: monsAndServers, drained: ['node-a', 'node-b'] },
  'such servers on a node without OSDs as well': {
    nodes: [...pinnedServers.slice(0, 2), { name: 'node-c', osds: [2] }, { name: 'node-g', osds: [], server: 'g' }],
    drained: ['node-a', 'node-b', 'node-g'],
  },
  'five mons, of which two may be away': { nodes: fiveMons, drained: ['node-a', 'node-b', 'node-d'] },
}

describe('drains that begin whenever they like, in every order of all that can happen', () => {
  it.each(Object.entries(setups))('%s: all can end from everywhere, with quorum and enough copies', (_name, setup) => {
    const { states, harm, wedge } = explore(setup)
    expect({ harm, wedge }).toEqual({ harm: undefined, wedge: undefined })
    expect(states).toBeGreaterThan(500)
  })

  it('mons held by their number alone: one node has lost its mon, the other its OSD, and both wait for ever', () => {
    const { wedge } = explore({ nodes: oneOsdEach, drained: ['node-a', 'node-b'], byNumberAlone: true })
    expect(wedge?.filter((move) => / leaves/.test(move))).toEqual(['osd.0 leaves node-a', 'mon.b leaves'])
  })

  it('servers that cannot move, held by their number alone: one node has lost its server, the other its OSD', () => {
    const { wedge } = explore({ nodes: pinnedServers, drained: ['node-a', 'node-b'], serversByNumber: true })
    expect(wedge?.filter((move) => / leaves/.test(move))).toEqual(['osd.0 leaves node-a', 'server.b leaves'])
  })
})
