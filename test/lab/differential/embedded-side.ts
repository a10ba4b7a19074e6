import { realRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { startHttpFace } from '@cofferdam/simulator/api-server/http/http-face.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { startDisruption } from '@cofferdam/simulator/world/workloads/disruption.ts'
import type { Side } from './side.ts'
import { createWireClient } from './wire-client.ts'

/**
 * The embedded server behind its HTTP face, and of its world only the disruption controller: garbage collection and the
 * lifecycle of namespaces stand still, so that objects on their way out can be looked at.
 */
export async function openEmbeddedSide(): Promise<Side> {
  // As in the lab, where no controller makes accounts.
  const plugins = { serviceAccount: false, taintNodesByCondition: true }
  const server = new ApiServer({ clock: realClock, random: realRandom, plugins })
  const face = await startHttpFace({ server, clock: realClock, port: 0 })
  const client = createWireClient({ url: face.url })
  const start = () => startDisruption({ api: server.as(clusterAdmin), clock: realClock, random: realRandom })
  let pauses = 0
  let disruption: ReturnType<typeof start> | undefined = start()
  return {
    name: 'embedded',
    ...client,
    async pauseBudgets() {
      pauses += 1
      disruption?.stop()
      disruption = undefined
    },
    async resumeBudgets() {
      pauses -= 1
      if (pauses === 0) disruption = start()
    },
    async close() {
      disruption?.stop()
      await client.close()
      await face.close()
      server.stop()
    },
  }
}
