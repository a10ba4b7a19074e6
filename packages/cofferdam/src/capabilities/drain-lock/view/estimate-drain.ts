import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'

/** A drain that is over, and how long its node was taken. */
export interface PastDrain {
  readonly node: string
  readonly intent: NodeDisruption['spec']['intent']
  readonly seconds: number
}

/** From when nothing but its own drain kept a request until it was over: queueing is not part of it, the reboot is. */
export function pastDrainsOf(disruptions: readonly NodeDisruption[]): readonly PastDrain[] {
  return disruptions.flatMap(({ metadata, spec, status }): PastDrain[] => {
    if (status?.phase !== 'Completed') return []
    const fromMs = parseRfc3339(status.firstInQueueSince ?? metadata.creationTimestamp ?? '')
    const toMs = parseRfc3339(status.phaseSince ?? '')
    if (fromMs === undefined || toMs === undefined || toMs <= fromMs) return []
    return [{ node: spec.nodeName, intent: spec.intent, seconds: Math.round((toMs - fromMs) / 1000) }]
  })
}

/** How long a node was taken for this intent, by those on record. */
interface UsualTime {
  /** How many drains it rests on. */
  readonly drains: number
  /** The middle of them. Undefined: none is on record. */
  readonly middle: number | undefined
  /** The last drain of a node. */
  readonly ofNode: ReadonlyMap<string, number>
}

export function usualTimeOf(past: readonly PastDrain[], wanted: PastDrain['intent']): UsualTime {
  const alike = past.filter(({ intent }) => intent === wanted)
  return {
    drains: alike.length,
    middle: alike.map(({ seconds }) => seconds).sort((a, b) => a - b)[Math.floor(alike.length / 2)],
    ofNode: new Map(alike.map(({ node, seconds }) => [node, seconds])),
  }
}

export interface DrainEstimate {
  /** Undefined: nothing is known that it could rest on. */
  readonly seconds: number | undefined
  readonly restsOn: string
}

/**
 * How long the waves take, one after the other.
 *
 * A wave takes as long as its slowest node: as long as the last drain of that node took, or as the middle of all that are on record. Known
 * ends of locks are waited for. Where no drain is on record there is no number.
 */
export function estimateDrain(
  waves: readonly (readonly string[])[],
  {
    past,
    intent,
    waitSecondsOf,
  }: {
    readonly past: readonly PastDrain[]
    readonly intent: PastDrain['intent']
    /** Until when a node has to wait at least, from now. */
    readonly waitSecondsOf: (node: string) => number
  },
): DrainEstimate {
  const { drains: count, middle, ofNode } = usualTimeOf(past, intent)
  if (middle === undefined) {
    return { seconds: undefined, restsOn: 'no completed drain is on record, so how long a node takes is not known' }
  }
  let seconds = 0
  for (const nodes of waves) {
    const begins = Math.max(seconds, ...nodes.map(waitSecondsOf))
    seconds = begins + Math.max(...nodes.map((node) => ofNode.get(node) ?? middle))
  }
  const own = new Set(waves.flat().filter((node) => ofNode.has(node))).size
  const drains = count === 1 ? 'one completed drain' : `${count} completed drains`
  const rest = own === waves.flat().length ? '' : `; ${middle} s for nodes without one`
  return { seconds, restsOn: `${drains} on record, of ${own} of these nodes${rest}` }
}
