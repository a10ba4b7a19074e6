import { between, oneOf } from '../story.ts'
import { always, type FaultKind } from './deed-kind.ts'

/** How long a process works until it has too much in memory. */
const fillsMs = 20_000

/** What a process runs into that may not have more. */
export const limitFaults: Readonly<Record<string, FaultKind>> = {
  'no file is left for another connection': {
    row: 'F26',
    fits: always,
    apply({ stage, random, tell, excuses }) {
      const { running } = stage.processes
      if (running.length === 0) return
      const forMs = between(random, 5, 120) * 1_000
      const out = random.next() < 0.5 ? [oneOf(random, running)] : running.slice()
      tell(`${out.map(({ name }) => name).join(' and ')} can open no connection for ${forMs / 1_000} s`)
      excuses.hindered(forMs + 30_000)
      for (const { hazards } of out) hazards.filesGoneUntilMs = stage.clock.now() + forMs
    },
  },
  'processes are killed for their memory': {
    row: 'F26',
    fits: always,
    apply({ stage, random, tell, excuses, atHome }) {
      const times = between(random, 1, 6)
      tell(`each process is killed for its memory, ${times} times`)
      excuses.hindered(times * fillsMs + 30_000)
      const turns = Array.from({ length: times }, (_, turn) =>
        stage.clock.after(turn * fillsMs, () => {
          for (const { hazards } of stage.processes.running) hazards.isDead = true
        }),
      )
      atHome(() => {
        for (const cancel of turns) cancel()
      })
    },
  },
}
