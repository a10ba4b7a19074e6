import { describe, expect, it } from 'vitest'
import { decideRookDrain, type RookDrainDecision, type RookDrainView } from './drain-rules.ts'

const nowMs = Date.parse('2026-01-01T12:00:00Z')
const now = '2026-01-01T12:00:00.000Z'
const early = '2026-01-01T11:58:00.000Z'

interface Row {
  readonly down?: readonly number[]
  readonly drained?: readonly number[]
  readonly isClean?: boolean
  readonly state?: Record<string, string>
  readonly then: Partial<RookDrainDecision>
}

const drainOfA = {
  'draining-failure-domain': 'a',
  'draining-failure-domain-duration': early,
  'set-no-out': 'true',
  'a-noout-last-set-at': early,
}

const rows: Record<string, Row> = {
  'all is well: the default budget': { then: { draining: '', excluded: [], noout: undefined } },
  'an OSD crashed, data clean: the default budget leaves it out': {
    down: [1],
    then: { draining: '', excluded: [1], noout: undefined },
  },
  'an OSD of a drained node is down, data still reads clean: a minute passes before it is left out': {
    down: [1],
    drained: [1],
    then: { draining: '', excluded: [], state: { 'draining-failure-domain-duration': now } },
  },
  'an OSD of a drained node is down, data unclean: its domain may go, with noout': {
    down: [1],
    drained: [1],
    isClean: false,
    then: {
      draining: 'a',
      noout: 'a',
      state: {
        'draining-failure-domain': 'a',
        'draining-failure-domain-duration': now,
        'set-no-out': 'true',
        'a-noout-last-set-at': now,
      },
    },
  },
  'an OSD crashed, data unclean: its domain may go, without noout': {
    down: [2],
    isClean: false,
    then: { draining: 'b', noout: undefined },
  },
  'the domain on record is kept while it is drained': {
    down: [1, 2],
    drained: [1, 2],
    isClean: false,
    state: { ...drainOfA, 'draining-failure-domain': 'b' },
    then: { draining: 'b', noout: 'b' },
  },
  'a drain wins over a crash': {
    down: [1, 2],
    drained: [2],
    isClean: false,
    state: { ...drainOfA, 'set-no-out': '' },
    then: { draining: 'b', noout: 'b' },
  },
  'the OSDs are back, data unclean: it waits': { isClean: false, state: drainOfA, then: { draining: 'a', noout: 'a' } },
  'all is well again: the state is reset, and keys of others stay': {
    state: { ...drainOfA, theirs: 'stays' },
    then: { draining: '', noout: undefined, state: { 'draining-failure-domain': '', theirs: 'stays' } },
  },
  'the maintenance time is over: noout ends, the drain does not': {
    down: [1],
    drained: [1],
    isClean: false,
    state: { ...drainOfA, 'a-noout-last-set-at': '2026-01-01T11:00:00.000Z' },
    then: { draining: 'a', noout: undefined },
  },
}

describe("Rook's choice of a failure domain", () => {
  it.each(Object.entries(rows))('%s', (_sentence, { down = [], drained = [], isClean = true, state = {}, then }) => {
    const osds: RookDrainView['osds'] = ['a', 'b', 'c'].map((domain, at) => ({
      id: at + 1,
      domain,
      isDown: down.includes(at + 1),
      isOnDrainedNode: drained.includes(at + 1),
    }))
    const decided = decideRookDrain({ nowMs, osds, isClean, state, maintenanceTimeoutMs: 30 * 60_000 })
    expect(decided).toMatchObject(then)
    if (then.state !== undefined) expect(decided.state).toEqual(then.state)
  })
})
