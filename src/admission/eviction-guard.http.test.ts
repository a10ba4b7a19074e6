import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { validatingWebhookConfigurations } from '../api/admission-registration.ts'
import { disruptionLedgers } from '../api/disruption-ledger.ts'
import { namespaces, nodes, pods, secrets } from '../api/resources.ts'
import { emptyLedger } from '../domain/drain-lock/ledger.ts'
import { ledgerStatus } from '../domain/drain-lock/parse-ledger.ts'
import { buildEvictionToken, evictionTokenAnnotation } from '../domain/eviction-guard/eviction-token.ts'
import { startGuardStage } from './testing/guard-stage.ts'

const lock = { until: new Date(Date.now() + 3_600_000).toISOString(), holder: 'shop team', reason: 'rebalancing' }
const name = 'cofferdam-eviction-guard'
const secretKey = { namespace: 'cofferdam-system', name: 'cofferdam-guard-tls' }

let stage: Awaited<ReturnType<typeof startGuardStage>>
let counter = 0
const namespaceOf = () => `shop-${++counter}`

beforeAll(async () => {
  stage = await startGuardStage()
})
afterAll(() => stage.stop())

const labelOf = async (namespace: string) =>
  (await stage.admin.get(namespaces, { name: namespace })).metadata.labels?.['cofferdam.io/locked']
const isGoing = async (namespace: string, pod: string) =>
  (await stage.admin.get(pods, { namespace, name: pod })).metadata.deletionTimestamp !== undefined

describe('an API server that asks the guard', () => {
  it('lets an eviction through where nobody holds the budget', async () => {
    const namespace = namespaceOf()
    await stage.seed({ namespace, podNames: ['web-0'] })
    await stage.evict({ namespace, name: 'web-0' })
    expect(await isGoing(namespace, 'web-0')).toBe(true)
    expect(stage.outcomes.at(-1)).toMatchObject({ verdict: 'allowed', reason: 'NothingHeld' })
  })

  it('refuses an eviction from a locked budget with 429 and words, until the owner unlocks it', async () => {
    const namespace = namespaceOf()
    await stage.seed({ namespace, podNames: ['web-0'] })
    await stage.lock(namespace, lock)
    const refused = stage.evict({ namespace, name: 'web-0' })
    await expect(refused).rejects.toMatchObject({
      code: 429,
      reason: 'TooManyRequests',
      message: expect.stringContaining(
        `Pod ${namespace}/web-0 must stay: shop team locked budget ${namespace}/web until`,
      ),
      details: { causes: [{ reason: 'DisruptionBudget', field: `pdb/${namespace}/web` }] },
    })
    await expect(refused).rejects.not.toHaveProperty('details.retryAfterSeconds')
    await stage.lock(namespace, undefined)
    await stage.evict({ namespace, name: 'web-0' })
    expect(await isGoing(namespace, 'web-0')).toBe(true)
  })

  it('refuses an eviction from a budget that another drain holds, and lets that drain itself through', async () => {
    const namespace = namespaceOf()
    const { uid } = await stage.seed({ namespace, podNames: ['web-0'] })
    const entry = {
      key: `pdb/${namespace}/web`,
      uid,
      scope: '',
      holder: 'operator-1 for nodedisruption/reboot',
      requestId: 'request-1',
      epoch: 1,
      state: 'Acting',
      since: '2026-01-01T00:00:00Z',
      renewSequence: 0,
    } as const
    const metadata = { name: 'cluster' }
    const made = await stage.admin.create(disruptionLedgers, {
      apiVersion: 'cofferdam.io/v1alpha1',
      kind: 'DisruptionLedger',
      metadata,
    })
    const status = ledgerStatus({ ...emptyLedger, nextEpoch: 2, entries: [entry] })
    await stage.admin.update(disruptionLedgers, { ...made, status }, { subresource: 'status' })
    await stage.until('the namespace is marked', async () => (await labelOf(namespace)) === 'true')
    const key = { namespace, name: 'web-0' }
    await expect(stage.evict(key)).rejects.toMatchObject({
      code: 429,
      message: expect.stringContaining('operator-1 for nodedisruption/reboot holds pdb/'),
    })
    const asking = (epoch: number) =>
      stage.evict(key, {
        metadata: {
          name: 'web-0',
          annotations: { [evictionTokenAnnotation]: buildEvictionToken({ requestId: 'request-1', epoch }) },
        },
      })
    await expect(asking(2)).rejects.toMatchObject({ code: 429, message: expect.stringContaining('epoch 2') })
    await asking(1)
    expect(await isGoing(namespace, 'web-0')).toBe(true)
    await stage.admin.delete(disruptionLedgers, { name: 'cluster' })
    await stage.until('the mark is gone', async () => (await labelOf(namespace)) === undefined)
  })

  it('notes on a cordoned node who tried to empty it, refused or not; a dry run leaves no note', async () => {
    const namespace = namespaceOf()
    const { node } = await stage.seed({ namespace, podNames: ['web-0'] })
    await stage.lock(namespace, lock)
    const written = await stage.admin.patch(
      nodes,
      { name: node },
      { type: 'merge', body: { spec: { unschedulable: true } } },
    )
    await stage.seesNode(written)
    const noteOf = async () =>
      (await stage.admin.get(nodes, { name: node })).metadata.annotations?.['cofferdam.io/eviction-attempted']
    const key = { namespace, name: 'web-0' }
    await expect(stage.evict(key, { deleteOptions: { dryRun: ['All'] } })).rejects.toMatchObject({ code: 429 })
    expect(await noteOf()).toBeUndefined()
    await expect(stage.evict(key)).rejects.toMatchObject({ code: 429 })
    await stage.until('the node carries the note', async () => (await noteOf()) !== undefined)
    expect(JSON.parse((await noteOf()) ?? '')).toMatchObject({ by: 'cofferdam:admin' })
  })

  it('is registered again when somebody removes, weakens or adds to the registration', async () => {
    const webhooks = stage.configuration()?.webhooks ?? []
    expect(webhooks.map(({ failurePolicy }) => failurePolicy)).toEqual(['Ignore', 'Fail'])
    const isWhole = () => JSON.stringify(stage.configuration()?.webhooks) === JSON.stringify(webhooks)
    await stage.admin.delete(validatingWebhookConfigurations, { name })
    await stage.until('it is registered again', () => stage.configuration() !== undefined && isWhole())
    const weakened = webhooks.map((webhook) => ({ ...webhook, failurePolicy: 'Ignore' as const }))
    const changed = await stage.admin.get(validatingWebhookConfigurations, { name })
    await stage.admin.update(validatingWebhookConfigurations, { ...changed, webhooks: weakened.slice(1) })
    await stage.until('both webhooks are as they were', isWhole)
  })

  it('has the mark of a locked namespace put back when somebody takes it off, and off when the lock goes', async () => {
    const namespace = namespaceOf()
    await stage.seed({ namespace, podNames: ['web-0'] })
    await stage.lock(namespace, lock)
    const isMarked = async () => (await labelOf(namespace)) === 'true'
    await stage.until('the namespace is marked', isMarked)
    const labels = { 'cofferdam.io/locked': null }
    await stage.admin.patch(namespaces, { name: namespace }, { type: 'merge', body: { metadata: { labels } } })
    await stage.until('the namespace is marked again', isMarked)
    await stage.lock(namespace, undefined)
    await stage.until('the mark is gone', async () => (await labelOf(namespace)) === undefined)
  })

  it('changes authority and certificate under load without a single call that fails', async () => {
    const namespace = namespaceOf()
    await stage.seed({ namespace, podNames: ['web-0'] })
    await stage.lock(namespace, lock)
    await stage.until('calls must succeed', async () => (await labelOf(namespace)) === 'true')
    const authorities = async () => (await stage.admin.get(secrets, secretKey)).data?.['ca.crt']
    const first = await authorities()
    const codes = new Map<number, number>()
    let isOver = false
    const load = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const code = await stage.evict({ namespace, name: 'web-0' }).then(
          () => 201,
          (error: { code: number }) => error.code,
        )
        codes.set(code, (codes.get(code) ?? 0) + 1)
      }
    })
    stage.setCertificateSettings({ authorityRenewBeforeMs: Number.POSITIVE_INFINITY })
    await stage.until('the next authority is announced', () => stage.news.includes('announce'))
    stage.setCertificateSettings({ authorityRenewBeforeMs: 0 })
    await stage.until('the next authority signs', () => stage.news.includes('switch'))
    const switched = await authorities()
    await stage.until('the webhooks carry the new order', () =>
      (stage.configuration()?.webhooks ?? []).every(({ clientConfig }) => clientConfig.caBundle === switched),
    )
    const before = codes.get(429) ?? 0
    await stage.until('many more calls came', () => (codes.get(429) ?? 0) > before + 100)
    isOver = true
    await Promise.all(load)
    expect([...codes.keys()]).toEqual([429])
    expect(switched).not.toBe(first)
    expect(stage.news).toEqual(['begin', 'announce', 'switch'])
  })

  it('makes all anew when somebody breaks the Secret, and answers again', async () => {
    const namespace = namespaceOf()
    await stage.seed({ namespace, podNames: ['web-0', 'web-1'] })
    await stage.lock(namespace, lock)
    const broken = { type: 'merge', body: { data: { 'tls.key': 'bm9uc2Vuc2U=' } } } as const
    await stage.admin.patch(secrets, secretKey, broken)
    await stage.until('it is made anew', () => stage.news.at(-1) === 'begin')
    const code = () =>
      stage.evict({ namespace, name: 'web-0' }).then(
        () => 201,
        (error: { code: number }) => error.code,
      )
    await stage.until('the guard is trusted again', async () => (await code()) === 429)
  })
})

describe('an API server that cannot reach the guard', () => {
  it('evicts where no lock is held, and refuses with 500 where one is; the guard’s return ends that', async () => {
    const [open, locked] = [namespaceOf(), namespaceOf()]
    await stage.seed({ namespace: open, podNames: ['web-0'] })
    await stage.seed({ namespace: locked, podNames: ['web-0'] })
    await stage.lock(locked, lock)
    await stage.until('the namespace is marked', async () => (await labelOf(locked)) === 'true')
    await stage.guard().stop()
    await stage.evict({ namespace: open, name: 'web-0' })
    expect(await isGoing(open, 'web-0')).toBe(true)
    await expect(stage.evict({ namespace: locked, name: 'web-0' })).rejects.toMatchObject({
      code: 500,
      message: expect.stringContaining('failed calling webhook "locked.guard.cofferdam.io"'),
    })
    stage.restartGuard()
    await stage.until('the guard answers again', () =>
      stage.evict({ namespace: locked, name: 'web-0' }).then(
        () => false,
        (error: { code: number }) => error.code === 429,
      ),
    )
  })
})
