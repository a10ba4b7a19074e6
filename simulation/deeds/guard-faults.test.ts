import { podDisruptionBudgets, pods, secrets } from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { guardSecret } from '@cofferdam/product/eviction-guard/domain/guard-secret.ts'
import { appLockAnnotation } from '@cofferdam/product/shared/app-lock-annotation.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Deeds, openDeeds } from './testing/open-deeds.ts'

let deeds: Deeds
beforeEach(async () => {
  deeds = await openDeeds()
  await deeds.stage.clock.advance(10_000)
})
afterEach(() => deeds.stage.close())

/** What becomes of the eviction of a pod of `web`, which its owner has locked; and how long that took. */
async function evictLocked(): Promise<{ readonly answer: string; readonly tookMs: number }> {
  const { api, clock, views } = deeds.stage
  const { namespace = '', name } = [...views.of(pods).values()].filter(
    ({ metadata }) => metadata.namespace === 'shop',
  )[0]?.metadata ?? { name: '' }
  const startMs = clock.now()
  let answer = ''
  evictPod(api, { namespace, name }).then(
    () => {
      answer = 'it goes'
    },
    (error: unknown) => {
      answer = (error as Error).message
    },
  )
  await clock.advanceUntil(() => answer !== '', 60_000)
  return { answer, tookMs: clock.now() - startMs }
}

async function lockWeb(): Promise<void> {
  const { api, clock } = deeds.stage
  const text = JSON.stringify({ until: rfc3339(clock.now() + 3_600_000), holder: 'bob', reason: 'rebalance' })
  const body = { metadata: { annotations: { [appLockAnnotation]: text } } }
  await api.patch(podDisruptionBudgets, { namespace: 'shop', name: 'web' }, { type: 'merge', body })
  await clock.advance(5_000)
}

it('a guard that answers late is waited for three seconds, and then a locked pod stays all the same', async () => {
  await lockWeb()
  await deeds.perform('the guard answers late', 1)
  const { answer, tookMs } = await evictLocked()
  const lateMs = Number(/after (\d+) ms/.exec(deeds.told.at(-1) ?? '')?.[1])
  expect(tookMs).toBe(Math.min(lateMs, 3_000))
  expect(answer).toMatch(lateMs < 3_000 ? 'bob locked budget' : 'context deadline exceeded')
  await deeds.mend()
  expect((await evictLocked()).tookMs).toBe(0)
})

it('certificates of long ago are replaced by the operator, and a locked pod stays', async () => {
  await lockWeb()
  const before = await deeds.stage.api.get(secrets, guardSecret)
  await deeds.perform('the Secret of the guard is restored from a backup, and has expired')
  await deeds.stage.clock.advance(120_000)
  const after = await deeds.stage.api.get(secrets, guardSecret)
  expect(after.data?.['tls.crt']).not.toBe(before.data?.['tls.crt'])
  expect(deeds.writes.filter(({ type }) => type.plural === 'secrets').length).toBeGreaterThan(1)
  expect((await evictLocked()).answer).toContain('bob locked budget')
})

it('an operator whose token has expired writes nothing, and goes on when it has another', async () => {
  await deeds.perform('the token of the operator has expired')
  const { clock, hazards } = deeds.stage
  const count = deeds.writes.length
  await clock.advance((hazards.refusals?.untilMs ?? 0) - clock.now() - 1_000)
  expect(deeds.writes.length).toBe(count)
  await clock.advance(60_000)
  await lockWeb()
  expect((await evictLocked()).answer).toContain('bob locked budget')
})
