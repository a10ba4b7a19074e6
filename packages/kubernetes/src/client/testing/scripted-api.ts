import { onTestFinished } from 'vitest'
import { ApiError } from '../../api/api-error.ts'
import type { ConfigMap } from '../../api/core.ts'
import { CofferdamError } from '../../errors.ts'
import type { Clock } from '../../runtime/clock.ts'
import { seededRandom } from '../../runtime/random.ts'
import { realClock } from '../../runtime/real-clock.ts'
import type { ClusterConnection } from '../cluster-connection.ts'
import { createHttpKubeApi, type HttpKubeApi, type HttpKubeApiOptions } from '../http-kube-api.ts'
import { type Script, startScriptedServer } from './scripted-server.ts'

export const settings: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'ns', name: 'a', resourceVersion: '7' },
}
export const key = { namespace: 'ns', name: 'a' }
/** Pauses pass a thousand times faster; the time limit of a request stays, for a busy machine needs it. */
export const hurriedClock: Clock = {
  now: () => realClock.now(),
  after: (delayMs, callback) => realClock.after(delayMs < 30_000 ? delayMs / 1000 : delayMs, callback),
}

export function openApi(config: ClusterConnection, more: Partial<HttpKubeApiOptions> = {}): HttpKubeApi {
  const api = createHttpKubeApi({ config, clock: realClock, random: seededRandom(1), ...more })
  onTestFinished(() => api.close())
  return api
}

export async function apiFor(
  script: Script,
  more: Partial<HttpKubeApiOptions> = {},
  connection?: Partial<ClusterConnection>,
) {
  const server = await startScriptedServer(script)
  return { server, api: openApi(server.connection(connection), more) }
}

export async function refusalOf(work: Promise<unknown>): Promise<Error> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof ApiError || error instanceof CofferdamError) return error
  throw new Error('it should have been refused', { cause: error })
}
