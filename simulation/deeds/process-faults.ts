import type { CrashPosition } from '../stage/hazards.ts'
import type { Process } from '../stage/processes.ts'
import { between, oneOf } from '../story.ts'
import { always, type DeedPorts, type FaultKind } from './deed-kind.ts'

function anyProcess({ stage, random }: DeedPorts): Process | undefined {
  const { running } = stage.processes
  return running.length === 0 ? undefined : oneOf(random, running)
}

function crashAt(position: CrashPosition): (ports: DeedPorts) => void {
  return (ports) => {
    const { random, tell, excuses } = ports
    const writesLeft = between(random, 0, 12)
    // Whoever leads has something to write.
    for (const process of ports.stage.processes.running) process.hazards.crash = { writesLeft, position }
    tell(`the operator that writes dies at its write ${writesLeft + 1}: ${position}`)
    excuses.hindered(30_000)
  }
}

/** What befalls a process of the operator. */
export const processFaults: Readonly<Record<string, FaultKind>> = {
  'crash before a write': { row: 'F1', fits: always, apply: crashAt('before') },
  'crash after a write is stored, before its answer': { row: 'F1', fits: always, apply: crashAt('committed') },
  'both replicas are killed': {
    row: 'F2',
    fits: always,
    apply({ stage, tell, excuses }) {
      tell('both replicas are killed')
      excuses.hindered(30_000)
      for (const { hazards } of stage.processes.running) hazards.isDead = true
    },
  },
  'crash loop': {
    row: 'F3',
    fits: always,
    apply({ stage, random, tell, excuses, atHome }) {
      const times = between(random, 2, 8)
      tell(`each process dies ${times} times`)
      excuses.hindered((times + 2) * 15_000)
      const turns = Array.from({ length: times }, (_, turn) =>
        stage.clock.after(turn * 15_000, () => {
          for (const { hazards } of stage.processes.running) hazards.crash = { writesLeft: 0, position: 'before' }
        }),
      )
      // One that has nothing to write would die at its first write of the quiet day, and the next one writes what it left.
      atHome(() => {
        for (const cancel of turns) cancel()
        for (const { hazards } of stage.processes.running) hazards.crash = undefined
      })
    },
  },
  'a process stands still at a write, then goes on': {
    row: 'F14',
    fits: always,
    apply(ports) {
      const { stage, random, tell, excuses } = ports
      const process = anyProcess(ports)
      if (process === undefined) return
      const ms = between(random, 20, 120) * 1_000
      tell(`${process.name} stands still for ${ms / 1_000} s`)
      excuses.hindered(ms + 30_000)
      process.freezable.freezeAfter(between(random, 0, 6))
      stage.clock.after(ms, () => process.freezable.thaw())
    },
  },
  'the event loop stalls': {
    row: 'F26',
    fits: always,
    apply(ports) {
      const { stage, tell, excuses } = ports
      const process = anyProcess(ports)
      if (process === undefined) return
      tell(`${process.name} stalls for 8 s`)
      excuses.hindered(15_000)
      process.freezable.freezeAfter(0)
      stage.clock.after(8_000, () => process.freezable.thaw())
    },
  },
  'a clock jumps': {
    row: 'F15',
    fits: always,
    apply(ports) {
      const { stage, random, tell, excuses, atHome } = ports
      const process = anyProcess(ports)
      if (process === undefined) return
      const hours = oneOf(random, [-24, -1, 1, 24])
      tell(`the clock of ${process.name} jumps by ${hours} h`)
      process.skewMs = hours * 3_600_000
      const mend = () => {
        process.skewMs = 0
      }
      excuses.hindered(60_000)
      atHome(mend)
      stage.clock.after(between(random, 30, 240) * 1_000, mend)
    },
  },
  'watches are late': {
    row: 'F9',
    fits: always,
    apply(ports) {
      const { stage, random, tell, excuses } = ports
      const ms = oneOf(random, [500, 2_000, 10_000])
      const forMs = between(random, 30, 180) * 1_000
      tell(`what watches say is ${ms / 1_000} s late for ${forMs / 1_000} s`)
      excuses.hindered(forMs + 30_000)
      for (const { hazards } of stage.processes.running) hazards.lag = { untilMs: stage.clock.now() + forMs, ms }
    },
  },
}
