import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { ApiServer, type ApiServerOptions } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { createGuardService } from './guard-service.ts'

/** An API server on a clock that stands still, whose webhooks reach the guard of whatever operator listens. */
export function openGuardedServer(seed: number, options: Pick<ApiServerOptions, 'optionalField'> = {}) {
  const clock = new VirtualClock()
  const random = seededRandom(seed)
  const guard = createGuardService()
  const webhooks = { callWebhook: guard.call, resolveWebhookService: () => guard.url }
  const server = new ApiServer({ clock, random, ...webhooks, ...options })
  server.start()
  return { clock, random, guard, server, api: server.as(clusterAdmin) }
}
