import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { expect, it } from 'vitest'
import { trustsAlone } from '../shared/ceph-trust/named-clusters.ts'
import { controllerNames } from './controller-names.ts'
import { createMetrics } from './metrics.ts'
import { startOperator } from './operator.ts'

/** Which watches are open in an operator that runs everything, by kind and scope. */
async function openWatches(): Promise<string[]> {
  const clock = new VirtualClock()
  const server = new ApiServer({ clock, random: seededRandom(7) })
  server.start()
  const admin = server.as(clusterAdmin)
  const open = new Set<{ readonly name: string }>()
  const api = Object.create(admin) as KubeApi
  Object.assign(api, {
    async *watch(...[type, query]: Parameters<KubeApi['watch']>) {
      const scope = [query?.namespace, query?.labelSelector].filter((each) => each !== undefined)
      const watch = { name: [`${type.plural}.${type.group}`, ...scope].join(' ') }
      open.add(watch)
      try {
        yield* admin.watch(type, query)
      } finally {
        open.delete(watch)
      }
    },
  })
  const operator = startOperator({
    api,
    clock,
    random: seededRandom(3),
    log: { info() {}, warn() {}, error() {}, debug() {} } as never,
    metrics: createMetrics(),
    controllers: controllerNames,
    dryRun: false,
    trust: trustsAlone([{ namespace: 'rook-ceph', name: 'rook-ceph' }], 'rook/ceph:v1.19.0'),
  })
  await clock.advance(5_000)
  const names = [...open].map(({ name }) => name).sort()
  const stopped = operator.stop()
  await clock.advance(60_000)
  await stopped
  server.stop()
  return names
}

it('an operator that runs everything has one watch for each kind and scope: every watch costs the API server', async () => {
  const open = await openWatches()
  expect(open).toEqual([...new Set(open)])
  expect(open).toEqual(expect.arrayContaining(['nodes.', 'poddisruptionbudgets.policy', 'pods.']))
})
