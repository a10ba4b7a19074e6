import { describeKubeApiContract } from '@cofferdam/kubernetes/client/kube-api.contract.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { ApiServer } from './api-server.ts'
import { clusterAdmin } from './user-info.ts'

describeKubeApiContract('the embedded server, in process', async () => {
  const server = new ApiServer({ clock: realClock, random: seededRandom(7) })
  server.start()
  return {
    api: server.as(clusterAdmin),
    compact: () => server.compact(),
    close: async () => server.stop(),
  }
})
