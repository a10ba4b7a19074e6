import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { breakWatches } from '../stage/hazards.ts'
import { between } from '../story.ts'
import { always, type FaultKind } from './deed-kind.ts'

/** A server whose copy of the data stands still, while the others go on. */
export const elderFaults: Readonly<Record<string, FaultKind>> = {
  'a server that has fallen behind answers lists': {
    row: 'F10',
    fits: always,
    async apply({ stage, random, tell, excuses, atHome }) {
      const { clock, hazards, processes } = stage
      const behindMs = between(random, 5, 60) * 1_000
      const forMs = between(random, 5, 90) * 1_000
      const isRestart = random.next() < 0.5
      const { resourceVersion } = await stage.api.list(nodes, { limit: 1 })
      let isHome = false
      atHome(() => {
        isHome = true
      })
      await sleep(clock, behindMs)
      if (isHome) return
      tell(
        `lists and watches are ${behindMs / 1_000} s old for ${forMs / 1_000} s${isRestart ? ', and both replicas start' : ''}`,
      )
      excuses.hindered(forMs + 30_000)
      hazards.elder = { resourceVersion, untilMs: clock.now() + forMs }
      if (isRestart) for (const process of processes.running) process.hazards.isDead = true
      breakWatches(hazards)
    },
  },
}
