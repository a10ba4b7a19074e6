import { ApiError, type StatusReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { takeRights } from '../../scenarios/testing/take-rights.ts'
import { breakWatches } from '../stage/hazards.ts'
import type { Stage } from '../stage/open-stage.ts'
import { between, oneOf } from '../story.ts'
import { always, type DeedPorts, type FaultKind } from './deed-kind.ts'

function untilMs({ stage, random, excuses }: DeedPorts, least: number, most: number): number {
  const forMs = between(random, least, most) * 1_000
  excuses.hindered(forMs + 30_000)
  return stage.clock.now() + forMs
}

/** Clusters whose operator lacks rights now. */
const deprived = new WeakSet<Stage>()

/** What befalls the API server, or the way to it. */
export const serverFaults: Readonly<Record<string, FaultKind>> = {
  'answers to writes are lost': {
    row: 'F4',
    fits: always,
    apply(ports) {
      ports.tell('answers to writes are lost')
      ports.stage.hazards.lostReplies = { untilMs: untilMs(ports, 10, 90), rate: 0.5 }
    },
  },
  'writes meet conflicts': {
    row: 'F5',
    fits: always,
    apply(ports) {
      ports.tell('writes meet conflicts')
      ports.stage.hazards.conflicts = { untilMs: untilMs(ports, 10, 180), rate: 0.5 }
    },
  },
  'the server refuses with 429, 500, 503 and 504': {
    row: 'F6',
    fits: always,
    apply(ports) {
      const reasons: readonly StatusReason[] = ['TooManyRequests', 'InternalError', 'ServiceUnavailable', 'Timeout']
      ports.tell('the server refuses many requests')
      ports.stage.hazards.refusals = { untilMs: untilMs(ports, 5, 120), rate: oneOf(ports.random, [0.3, 0.9]), reasons }
    },
  },
  'the server is out of reach': {
    row: 'F7',
    fits: always,
    apply(ports) {
      const { hazards } = ports.stage
      hazards.outageUntilMs = untilMs(ports, 3, 150)
      ports.tell(`the server is out of reach until ${hazards.outageUntilMs}`)
      breakWatches(hazards)
    },
  },
  'watches break off with 410': {
    row: 'F8',
    fits: always,
    apply({ stage, tell }) {
      tell('all watches break off')
      stage.server.compact()
      breakWatches(stage.hazards)
    },
  },
  'events are lost until watches break off': {
    row: 'F11',
    fits: always,
    apply(ports) {
      const { stage, tell } = ports
      const { hazards, clock } = stage
      tell('watches say nothing')
      hazards.isDeaf = true
      clock.after(untilMs(ports, 2, 60) - clock.now(), () => {
        hazards.isDeaf = false
        breakWatches(hazards)
      })
    },
  },
  'events come twice': {
    row: 'F12',
    fits: always,
    apply(ports) {
      ports.tell('watches say everything twice')
      ports.stage.hazards.doublesUntilMs = untilMs(ports, 30, 200)
    },
  },
  'the guard is out of reach': {
    row: 'F16',
    fits: always,
    apply(ports) {
      const { stage, random, tell } = ports
      tell('the guard is out of reach')
      stage.guard.cut()
      stage.clock.after(between(random, 5, 120) * 1_000, () => stage.guard.mend())
    },
  },
  'rights are taken away for a while': {
    row: 'F25',
    fits: always,
    async apply({ stage, random, tell, excuses, atHome }) {
      // Each gives back what it found: the second of two would bring back the loss of the first.
      if (deprived.has(stage)) return
      deprived.add(stage)
      const group = oneOf(random, ['', 'policy', 'cofferdam.io'])
      const verbs = oneOf(random, [['update', 'patch', 'create', 'delete'], ['list', 'watch', 'get'], ['patch']])
      tell(`the operator may no longer ${verbs.join(', ')} in "${group}"`)
      const over = excuses.hinderedOpenly()
      const giveBack = await takeRights(stage.api, group, verbs)
      const mend = async () => {
        await giveBack().catch((error: unknown) => {
          if (!(error instanceof ApiError)) throw error
        })
        over()
        deprived.delete(stage)
      }
      atHome(mend)
      stage.clock.after(between(random, 20, 120) * 1_000, () => void mend())
    },
  },
}
