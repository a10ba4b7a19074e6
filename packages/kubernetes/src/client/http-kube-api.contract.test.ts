import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { startHttpFace } from '@cofferdam/simulator/api-server/http/http-face.ts'
import { seededRandom } from '../runtime/random.ts'
import { realClock } from '../runtime/real-clock.ts'
import { createHttpKubeApi } from './http-kube-api.ts'
import { describeKubeApiContract } from './kube-api.contract.ts'

describeKubeApiContract('the HTTP client, on the embedded server', async () => {
  const random = seededRandom(1)
  const server = new ApiServer({ clock: realClock, random })
  server.start()
  const face = await startHttpFace({ server, clock: realClock, port: 0 })
  const api = createHttpKubeApi({
    config: {
      source: 'the contract',
      namespace: 'default',
      server: face.url,
      insecureSkipTlsVerify: false,
      authentication: { kind: 'none' },
    },
    clock: realClock,
    random,
  })
  return {
    api,
    compact: () => server.compact(),
    async close() {
      await api.close()
      await face.close()
      server.stop()
    },
  }
})
