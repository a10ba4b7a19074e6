import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { holdAnnotation } from '@cofferdam/product/capabilities/drain-lock/domain/budget-hold.ts'
import { evictionTokenAnnotation } from '@cofferdam/product/capabilities/drain-lock/domain/eviction-token.ts'
import { afterEach, expect, it } from 'vitest'
import { type LockStage, lockText, openLockStage } from './testing/lock-stage.ts'

let stage: LockStage
afterEach(() => stage.close())

const readBudgets = { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['get', 'list'] }
const evictPods = { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] }

/** What a drainer of a tenant may do, and nothing else. */
const mallory = () => stage.memberOfShop('mallory', [readBudgets, evictPods])

/** As everybody reads it who may read budgets. */
async function readToken(api: KubeApi, name: string): Promise<string> {
  const { metadata } = await api.get(podDisruptionBudgets, { namespace: 'shop', name })
  const { requestId, epoch } = JSON.parse(metadata.annotations?.[holdAnnotation] ?? '{}') as Record<string, unknown>
  return JSON.stringify({ requestId, epoch })
}

async function evictWith(api: KubeApi, name: string, token: string): Promise<string> {
  const metadata = { name, namespace: 'shop', annotations: { [evictionTokenAnnotation]: token } }
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata, deleteOptions: { dryRun: ['All'] } }
  return api.createSubresource(pods, { namespace: 'shop', name }, 'eviction', body).then(
    () => 'granted',
    (error: Error & { code?: number }) => `${error.code} ${error.message}`,
  )
}

it('whoever reads a token off a held budget gets 429 with it, and the drain it belongs to completes', async () => {
  stage = await openLockStage()
  await stage.addStaying('db')
  // It could spare a second pod: nothing but the hold stands between mallory and the last one.
  const room = { type: 'merge', body: { spec: { maxUnavailable: 2 } } } as const
  await stage.api.patch(podDisruptionBudgets, { namespace: 'shop', name: 'db' }, room)
  stage.operate()
  await stage.seconds(5)
  await stage.request('reboot-1', { nodeName: 'node-1' })
  await stage.reach('reboot-1', 'Drained')
  const thief = await mallory()
  const token = await readToken(thief, 'db')
  expect(JSON.parse(token)).toMatchObject({ epoch: expect.any(Number), requestId: expect.any(String) })
  for (const pod of ['db-0', 'db-1', 'db-2']) {
    expect(await evictWith(thief, pod, token)).toContain(
      'the eviction token is ignored: it counts for user system:serviceaccount:cofferdam-system:cofferdam-operator only',
    )
  }
  expect(await evictWith(thief, 'db-1', token)).toMatch(/^429 /)
  stage.world.kubelet.reboot('node-1', 60)
  await stage.reach('reboot-1', 'Completed')
  expect(stage.oracle.violations).toEqual([])
})

it('break-glass for one request opens an owner’s lock to its drain alone, not to whoever reads its token', async () => {
  stage = await openLockStage()
  await stage.addStaying('db')
  await stage.addLeaving('web', { replicas: 3, maxUnavailable: 3 })
  stage.operate()
  await stage.seconds(5)
  await stage.lock('web', lockText(stage.clock, 3_600))
  await stage.request('reboot-1', { nodeName: 'node-1' })
  await stage.breakGlass('reboot-1', { by: 'alice', reason: 'it burns', untilMs: stage.clock.now() + 1_800_000 })
  await stage.reach('reboot-1', 'Drained')
  // Those that came in place of others run by now, and count.
  await stage.seconds(10)
  const thief = await mallory()
  const token = await readToken(thief, 'db')
  const onOthers = [...stage.podsOn('node-2'), ...stage.podsOn('node-3')].filter((name) => name.startsWith('web'))
  expect(onOthers.length).toBeGreaterThan(0)
  for (const pod of onOthers) expect(await evictWith(thief, pod, token)).toMatch(/^429 .*bob locked budget shop\/web/)
  expect(stage.podsOn('node-1').filter((name) => name.startsWith('web'))).toEqual([])
  stage.world.kubelet.reboot('node-1', 60)
  await stage.reach('reboot-1', 'Completed')
  expect(stage.oracle.violations).toEqual([])
})
