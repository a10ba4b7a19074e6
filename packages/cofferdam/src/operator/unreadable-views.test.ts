import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { expect, it } from 'vitest'
import { controllerNames } from './controller-names.ts'
import { createMetrics } from './metrics.ts'
import { startOperator } from './operator.ts'

it('a right that is missing is in the log once, with who does without it, and once more when it is granted: it was repeated every half minute', async () => {
  const clock = new VirtualClock()
  const server = new ApiServer({ clock, random: seededRandom(7) })
  server.start()
  const admin = server.as(clusterAdmin)
  let isForbidden = true
  const requireRight = (plural: string) => {
    if (isForbidden && plural === 'storageclasses') throw new ApiError('Forbidden', 'storageclasses is forbidden')
  }
  const api = Object.create(admin) as KubeApi
  Object.assign(api, {
    async *watch(...[type, query]: Parameters<KubeApi['watch']>) {
      requireRight(type.plural)
      yield* admin.watch(type, query)
    },
    async list(...[type, query]: Parameters<KubeApi['list']>) {
      requireRight(type.plural)
      return admin.list(type, query)
    },
  })
  const said: string[] = []
  const note = (_fields: object, text = '') => void (text.includes('storageclasses') && said.push(text))
  const operator = startOperator({
    api,
    clock,
    random: seededRandom(3),
    log: { info: note, warn: note, error: note, debug() {} } as never,
    metrics: createMetrics(),
    controllers: controllerNames,
    dryRun: false,
  })
  await clock.advance(600_000)
  expect(said).toEqual([
    expect.stringMatching(/^storageclasses cannot be read: longhorn-drain does nothing that depends on it\. Grant/),
  ])
  isForbidden = false
  await clock.advance(60_000)
  expect(said.slice(1)).toEqual(['storageclasses can be read again: longhorn-drain uses it again'])
  const stopped = operator.stop()
  await clock.advance(60_000)
  await stopped
  server.stop()
})
