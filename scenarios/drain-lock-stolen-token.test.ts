import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { holdAnnotation } from '@cofferdam/product/capabilities/drain-lock/domain/budget-hold.ts'
import { evictionTokenAnnotation } from '@cofferdam/product/capabilities/drain-lock/domain/eviction-token.ts'
import { afterEach, expect, it } from 'vitest'
import { type LockFixture, lockText, openLockFixture } from './testing/lock-fixture.ts'

let fixture: LockFixture
afterEach(() => fixture.close())

const readBudgets = { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['get', 'list'] }
const evictPods = { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] }

/** What a drainer of a tenant may do, and nothing else. */
const mallory = () => fixture.memberOfShop('mallory', [readBudgets, evictPods])

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
  fixture = await openLockFixture()
  await fixture.addStaying('db')
  // It could spare a second pod: nothing but the hold stands between mallory and the last one.
  const room = { type: 'merge', body: { spec: { maxUnavailable: 2 } } } as const
  await fixture.api.patch(podDisruptionBudgets, { namespace: 'shop', name: 'db' }, room)
  fixture.operate()
  await fixture.seconds(5)
  await fixture.request('reboot-1', { nodeName: 'node-1' })
  await fixture.reach('reboot-1', 'Drained')
  const thief = await mallory()
  const token = await readToken(thief, 'db')
  expect(JSON.parse(token)).toMatchObject({ epoch: expect.any(Number), requestId: expect.any(String) })
  for (const pod of ['db-0', 'db-1', 'db-2']) {
    expect(await evictWith(thief, pod, token)).toContain(
      'the eviction token is ignored: it counts for user system:serviceaccount:cofferdam-system:cofferdam-operator only',
    )
  }
  expect(await evictWith(thief, 'db-1', token)).toMatch(/^429 /)
  fixture.world.kubelet.reboot('node-1', 60)
  await fixture.reach('reboot-1', 'Completed')
  expect(fixture.oracle.violations).toEqual([])
})

it('break-glass for one request opens an owner’s lock to its drain alone, not to whoever reads its token', async () => {
  fixture = await openLockFixture()
  await fixture.addStaying('db')
  await fixture.addLeaving('web', { replicas: 3, maxUnavailable: 3 })
  fixture.operate()
  await fixture.seconds(5)
  await fixture.lock('web', lockText(fixture.clock, 3_600))
  await fixture.request('reboot-1', { nodeName: 'node-1' })
  await fixture.breakGlass('reboot-1', { by: 'alice', reason: 'it burns', untilMs: fixture.clock.now() + 1_800_000 })
  await fixture.reach('reboot-1', 'Drained')
  // Those that came in place of others run by now, and count.
  await fixture.seconds(10)
  const thief = await mallory()
  const token = await readToken(thief, 'db')
  const onOthers = [...fixture.podsOn('node-2'), ...fixture.podsOn('node-3')].filter((name) => name.startsWith('web'))
  expect(onOthers.length).toBeGreaterThan(0)
  for (const pod of onOthers) expect(await evictWith(thief, pod, token)).toMatch(/^429 .*bob locked budget shop\/web/)
  expect(fixture.podsOn('node-1').filter((name) => name.startsWith('web'))).toEqual([])
  fixture.world.kubelet.reboot('node-1', 60)
  await fixture.reach('reboot-1', 'Completed')
  expect(fixture.oracle.violations).toEqual([])
})
