import { describe, expect, it } from 'vitest'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { estimateDrain, type PastDrain, pastDrainsOf } from './estimate-drain.ts'

const past = (node: string, seconds: number, intent: PastDrain['intent'] = 'Reboot'): PastDrain => {
  return { node, seconds, intent }
}
const unknown = 'no completed drain is on record, so how long a node takes is not known'

describe('how long waves take', () => {
  interface Row {
    readonly waves: readonly (readonly string[])[]
    readonly past: readonly PastDrain[]
    readonly waits?: Readonly<Record<string, number>>
    readonly then: number | undefined
    readonly restsOn?: string
  }
  const rows: Record<string, Row> = {
    'no drain on record: no number, since a guess would be taken for one': {
      waves: [['a']],
      past: [],
      then: undefined,
      restsOn: unknown,
    },
    'drains for another intent say nothing: a removal waits for no boot': {
      waves: [['a']],
      past: [past('a', 60, 'Remove')],
      then: undefined,
      restsOn: unknown,
    },
    'a wave takes as long as its slowest node, and waves follow each other': {
      waves: [['a', 'b'], ['c']],
      past: [past('a', 60), past('b', 200), past('c', 100)],
      then: 300,
      restsOn: '3 completed drains on record, of 3 of these nodes',
    },
    'a node without a drain of its own takes the middle of all, which one slow node does not move': {
      waves: [['new']],
      past: [past('a', 50), past('b', 60), past('c', 9_000)],
      then: 60,
      restsOn: '3 completed drains on record, of 0 of these nodes; 60 s for nodes without one',
    },
    'of several drains of a node the last one counts': {
      waves: [['a']],
      past: [past('a', 50), past('a', 70)],
      then: 70,
    },
    'a wave begins when the known waits of its nodes are over, and later ones after it': {
      waves: [['a'], ['b']],
      past: [past('a', 60), past('b', 60)],
      waits: { b: 600 },
      then: 660,
    },
    'a wait that ends before its wave begins costs nothing': {
      waves: [['a'], ['b']],
      past: [past('a', 60), past('b', 60)],
      waits: { b: 30 },
      then: 120,
      restsOn: '2 completed drains on record, of 2 of these nodes',
    },
    'no waves take no time': { waves: [], past: [past('a', 60)], then: 0 },
  }
  it.each(Object.entries(rows))('%s', (_sentence, { waves, past: drains, waits = {}, then, restsOn }) => {
    const found = estimateDrain(waves, { past: drains, intent: 'Reboot', waitSecondsOf: (node) => waits[node] ?? 0 })
    expect(found.seconds).toBe(then)
    if (restsOn !== undefined) expect(found.restsOn).toBe(restsOn)
  })
})

describe('which requests say how long a node takes', () => {
  const request = (status: NodeDisruption['status'], creationTimestamp = '2026-01-01T12:00:00Z'): NodeDisruption => ({
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: 'r', creationTimestamp },
    spec: { nodeName: 'a', intent: 'Reboot', honourSkipDrain: true },
    ...(status === undefined ? {} : { status }),
  })
  const rows: Record<string, { readonly given: NodeDisruption; readonly then: readonly number[] }> = {
    'a completed one, from when nothing but itself kept it: the queue is not part of it': {
      given: request({
        phase: 'Completed',
        firstInQueueSince: '2026-01-01T12:10:00Z',
        phaseSince: '2026-01-01T12:12:00Z',
      }),
      then: [120],
    },
    'without that time, from when it was created': {
      given: request({ phase: 'Completed', phaseSince: '2026-01-01T12:01:00Z' }),
      then: [60],
    },
    'one that was rejected does not: it took no node': {
      given: request({ phase: 'Rejected', phaseSince: '2026-01-01T12:01:00Z' }),
      then: [],
    },
    'one that has not ended does not': {
      given: request({ phase: 'Draining', phaseSince: '2026-01-01T12:01:00Z' }),
      then: [],
    },
    'one whose times contradict each other does not: the clock of a machine was wrong': {
      given: request({ phase: 'Completed', phaseSince: '2026-01-01T11:59:00Z' }),
      then: [],
    },
    'one with a time that cannot be read does not': {
      given: request({ phase: 'Completed', phaseSince: 'yesterday' }),
      then: [],
    },
  }
  it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
    expect(pastDrainsOf([given]).map(({ seconds }) => seconds)).toEqual(then)
  })
})
