import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { validatingWebhookConfigurations } from '@cofferdam/kubernetes/api/admission-registration.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { namespaces, nodes, pods, secrets } from '@cofferdam/kubernetes/api/resources.ts'
import { serviceAccountUser } from '@cofferdam/simulator/api-server/user-info.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildEvictionToken, evictionTokenAnnotation } from '../capabilities/drain-lock/domain/eviction-token.ts'
import { buildGuardConfigurationManifest } from '../deploy/guard-manifests.ts'
import { operatorAccount } from '../deploy/operator-manifests.ts'
import { nodeDisruptions } from '../shared/kinds/node-disruption.ts'
import { startGuardFixture } from './testing/guard-fixture.ts'
import { evictionReview } from './testing/reviews.ts'

const lock = { until: new Date(Date.now() + 3_600_000).toISOString(), holder: 'shop team', reason: 'rebalancing' }
const name = 'cofferdam-eviction-guard'
const secretKey = { namespace: 'cofferdam-system', name: 'cofferdam-guard-tls' }

let fixture: Awaited<ReturnType<typeof startGuardFixture>>
let counter = 0
const namespaceOf = () => `shop-${++counter}`

beforeAll(async () => {
  fixture = await startGuardFixture()
})
afterAll(() => fixture.stop())

const labelOf = async (namespace: string) =>
  (await fixture.admin.get(namespaces, { name: namespace })).metadata.labels?.['cofferdam.io/locked']
const operator = serviceAccountUser(operatorAccount.namespace, operatorAccount.name)
const token = (requestId: string, epoch: number) => ({
  metadata: { name: 'web-0', annotations: { [evictionTokenAnnotation]: buildEvictionToken({ requestId, epoch }) } },
})
const isGoing = async (namespace: string, pod: string) =>
  (await fixture.admin.get(pods, { namespace, name: pod })).metadata.deletionTimestamp !== undefined

/** As any pod of the cluster can that reaches the port. */
async function postToGuard(path: string, body: object): Promise<string> {
  const sent = request({
    host: '127.0.0.1',
    port: fixture.guard().port(),
    path,
    method: 'POST',
    rejectUnauthorized: false,
    agent: false,
  })
  sent.end(JSON.stringify(body))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

describe('an API server that asks the guard', () => {
  it('lets an eviction through where nobody holds the budget', async () => {
    const namespace = namespaceOf()
    await fixture.seed({ namespace, podNames: ['web-0'] })
    await fixture.evict({ namespace, name: 'web-0' })
    expect(await isGoing(namespace, 'web-0')).toBe(true)
    expect(fixture.outcomes.at(-1)).toMatchObject({ verdict: 'allowed', reason: 'NothingHeld' })
  })

  it('refuses an eviction from a locked budget with 429 and words, until the owner unlocks it', async () => {
    const namespace = namespaceOf()
    await fixture.seed({ namespace, podNames: ['web-0'] })
    await fixture.lock(namespace, lock)
    const refused = fixture.evict({ namespace, name: 'web-0' })
    await expect(refused).rejects.toMatchObject({
      code: 429,
      reason: 'TooManyRequests',
      message: expect.stringContaining(
        `Pod ${namespace}/web-0 must stay: shop team locked budget ${namespace}/web until`,
      ),
      details: { causes: [{ reason: 'DisruptionBudget', field: `pdb/${namespace}/web` }] },
    })
    await expect(refused).rejects.not.toHaveProperty('details.retryAfterSeconds')
    await fixture.lock(namespace, undefined)
    await fixture.evict({ namespace, name: 'web-0' })
    expect(await isGoing(namespace, 'web-0')).toBe(true)
  })

  it('refuses an eviction from a budget that another drain holds, and lets that drain itself through', async () => {
    const namespace = namespaceOf()
    const { uid, node } = await fixture.seed({ namespace, podNames: ['web-0'] })
    const ledger = await fixture.hold([
      { key: `node/${node}`, uid: 'node-1', requestId: 'request-1' },
      { key: `pdb/${namespace}/web`, uid, requestId: 'request-1' },
    ])
    await fixture.until('the namespace is marked', () => fixture.markOf(namespace) === 'true')
    await expect(fixture.evict({ namespace, name: 'web-0' })).rejects.toMatchObject({
      code: 429,
      message: expect.stringContaining('operator-1 holds pdb/'),
    })
    const asking = (epoch: number) => fixture.evict({ namespace, name: 'web-0' }, token('request-1', epoch), operator)
    await expect(asking(2)).rejects.toMatchObject({ code: 429, message: expect.stringContaining('epoch 2') })
    await asking(1)
    expect(await isGoing(namespace, 'web-0')).toBe(true)
    await ledger.remove()
    await fixture.until('the mark is gone', () => fixture.markOf(namespace) === undefined)
  })

  it('lets a request through an owner’s lock on somebody’s explicit word, and on nothing less', async () => {
    const namespace = namespaceOf()
    await fixture.seed({ namespace, podNames: ['web-0'] })
    await fixture.lock(namespace, lock)
    const until = new Date(Date.now() + 3_600_000).toISOString()
    const glass = JSON.stringify({ by: 'alice', reason: 'the machine burns', until })
    const request = await fixture.admin.create(nodeDisruptions, {
      apiVersion: 'cofferdam.io/v1alpha1',
      kind: 'NodeDisruption',
      metadata: { name: 'burning' },
      spec: { nodeName: `node-${namespace}`, intent: 'Reboot', honourSkipDrain: true },
    })
    const requestId = request.metadata.uid ?? ''
    const ledger = await fixture.hold([{ key: `node/node-${namespace}`, uid: 'node-1', requestId }])
    const ask = () => fixture.evict({ namespace, name: 'web-0' }, token(requestId, 1), operator)
    await expect(ask()).rejects.toMatchObject({ code: 429, message: expect.stringContaining('shop team locked') })
    const annotations = { 'cofferdam.io/break-glass': glass }
    const patch = { type: 'merge', body: { metadata: { annotations } } } as const
    await fixture.seesDisruption(await fixture.admin.patch(nodeDisruptions, { name: 'burning' }, patch))
    await expect(fixture.evict({ namespace, name: 'web-0' })).rejects.toMatchObject({ code: 429 })
    await ask()
    expect(await isGoing(namespace, 'web-0')).toBe(true)
    await ledger.remove()
  })

  it('is not the only one that can reach the guard: a review that a pod forged leaves no note and reads no holder', async () => {
    const namespace = namespaceOf()
    const { node } = await fixture.seed({ namespace, podNames: ['web-0'] })
    await fixture.lock(namespace, lock)
    const cordon = { type: 'merge', body: { spec: { unschedulable: true } } } as const
    await fixture.seesNode(await fixture.admin.patch(nodes, { name: node }, cordon))
    const [path = ''] = (fixture.configuration()?.webhooks ?? []).map(({ clientConfig }) => clientConfig.url ?? '')
    const word = new URL(path).pathname.split('/').at(-1) ?? ''
    const forged = evictionReview({ namespace, user: 'kubernetes-admin' })
    const noteOf = async () =>
      (await fixture.admin.get(nodes, { name: node })).metadata.annotations?.['cofferdam.io/eviction-attempted']
    for (const guess of ['/validate/locked', `/validate/locked/${'0'.repeat(32)}`]) {
      const said = await postToGuard(guess, forged)
      expect(said).toContain('"allowed":false')
      expect(said).not.toContain('shop team')
    }
    expect(await noteOf()).toBeUndefined()
    // The same body under the registered path is the API server's own.
    expect(await postToGuard(`/validate/locked/${word}`, forged)).toContain('shop team')
    await fixture.until('it is noted', async () => (await noteOf())?.includes('kubernetes-admin') === true)
  })

  it('notes on a cordoned node who tried to empty it, refused or not; a dry run leaves no note', async () => {
    const namespace = namespaceOf()
    const { node } = await fixture.seed({ namespace, podNames: ['web-0'] })
    await fixture.lock(namespace, lock)
    const written = await fixture.admin.patch(
      nodes,
      { name: node },
      { type: 'merge', body: { spec: { unschedulable: true } } },
    )
    await fixture.seesNode(written)
    const noteOf = async () =>
      (await fixture.admin.get(nodes, { name: node })).metadata.annotations?.['cofferdam.io/eviction-attempted']
    const key = { namespace, name: 'web-0' }
    await expect(fixture.evict(key, { deleteOptions: { dryRun: ['All'] } })).rejects.toMatchObject({ code: 429 })
    expect(await noteOf()).toBeUndefined()
    await expect(fixture.evict(key)).rejects.toMatchObject({ code: 429 })
    await fixture.until('the node carries the note', async () => (await noteOf()) !== undefined)
    expect(JSON.parse((await noteOf()) ?? '')).toMatchObject({ by: 'cofferdam:admin' })
  })

  it('is registered again when somebody weakens the registration or applies it anew; one that is removed is told, for nobody here may make one', async () => {
    const webhooks = fixture.configuration()?.webhooks ?? []
    expect(webhooks.map(({ failurePolicy }) => failurePolicy)).toEqual(['Ignore', 'Fail'])
    const isWhole = () => JSON.stringify(fixture.configuration()?.webhooks) === JSON.stringify(webhooks)
    await fixture.admin.delete(validatingWebhookConfigurations, { name })
    await fixture.until('it is told', () => fixture.news.includes('registration is missing'))
    const [shipped] = buildGuardConfigurationManifest() as readonly unknown[] as readonly KubeObject[]
    await fixture.admin.create<KubeObject>(validatingWebhookConfigurations, shipped as KubeObject)
    await fixture.until('it is registered again', () => fixture.configuration() !== undefined && isWhole())
    expect(fixture.news.at(-1)).toBe('registration is back')
    const weakened = webhooks.map((webhook) => ({ ...webhook, failurePolicy: 'Ignore' as const }))
    const changed = await fixture.admin.get(validatingWebhookConfigurations, { name })
    await fixture.admin.update(validatingWebhookConfigurations, { ...changed, webhooks: weakened.slice(1) })
    await fixture.until('both webhooks are as they were', isWhole)
  })

  it('has the mark of a locked namespace put back when somebody takes it off, and off when the lock goes', async () => {
    const namespace = namespaceOf()
    await fixture.seed({ namespace, podNames: ['web-0'] })
    await fixture.lock(namespace, lock)
    const isMarked = async () => (await labelOf(namespace)) === 'true'
    await fixture.until('the namespace is marked', isMarked)
    const labels = { 'cofferdam.io/locked': null }
    await fixture.admin.patch(namespaces, { name: namespace }, { type: 'merge', body: { metadata: { labels } } })
    await fixture.until('the namespace is marked again', isMarked)
    await fixture.lock(namespace, undefined)
    await fixture.until('the mark is gone', async () => (await labelOf(namespace)) === undefined)
  })

  it('makes all anew when somebody breaks the Secret, and answers again', async () => {
    const namespace = namespaceOf()
    await fixture.seed({ namespace, podNames: ['web-0', 'web-1'] })
    await fixture.lock(namespace, lock)
    const broken = { type: 'merge', body: { data: { 'tls.key': 'bm9uc2Vuc2U=' } } } as const
    await fixture.admin.patch(secrets, secretKey, broken)
    await fixture.until('it is made anew', () => fixture.news.at(-1) === 'begin')
    const code = () =>
      fixture.evict({ namespace, name: 'web-0' }).then(
        () => 201,
        (error: { code: number }) => error.code,
      )
    await fixture.until('the guard is trusted again', async () => (await code()) === 429)
  })
})

describe('a guard whose authority ends soon', () => {
  it('changes authority and certificate under load without a single call that fails', async () => {
    const own = await startGuardFixture({ connectsAnew: true })
    const namespace = 'shop'
    const answers = new Map<string, number>()
    const refusals = () => answers.get('429') ?? 0
    const authorities = async () => (await own.admin.get(secrets, secretKey)).data?.['ca.crt']
    let isOver = false
    const callWithoutPause = async () => {
      while (!isOver) {
        const answer = await own.evict({ namespace, name: 'web-0' }).then(
          () => 'evicted',
          (error: { code: number; message: string }) => (error.code === 429 ? '429' : error.message),
        )
        answers.set(answer, (answers.get(answer) ?? 0) + 1)
      }
    }
    try {
      await own.seed({ namespace, podNames: ['web-0'] })
      await own.lock(namespace, lock)
      await own.until('calls must succeed', () => own.markOf(namespace) === 'true')
      const first = await authorities()
      const load = Array.from({ length: 2 }, callWithoutPause)
      // Longer than a call takes: those under way trust what was registered when they began.
      own.setCertificateSettings({ authorityRenewBeforeMs: Number.POSITIVE_INFINITY, settleMs: 2_000 })
      await own.until('the next authority is announced', () => own.news.includes('announce'))
      own.setCertificateSettings({ authorityRenewBeforeMs: 0 })
      await own.until('the next authority signs', () => own.news.includes('switch'))
      const switched = await authorities()
      await own.until('the webhooks carry the new order', () =>
        (own.configuration()?.webhooks ?? []).every(({ clientConfig }) => clientConfig.caBundle === switched),
      )
      const before = refusals()
      await own.until('many more calls came', () => refusals() > before + 40)
      isOver = true
      await Promise.all(load)
      expect([...answers.keys()]).toEqual(['429'])
      expect([own.news, switched === first]).toEqual([['begin', 'announce', 'switch'], false])
    } finally {
      isOver = true
      await own.stop()
    }
  })
})

describe('a guard that looks at deletions too', () => {
  it('refuses to let people delete a locked pod, and lets kubelets and the cluster’s own controllers go on', async () => {
    const own = await startGuardFixture({ guardsDeletions: true })
    try {
      const namespace = 'shop'
      await own.seed({ namespace, podNames: ['web-0', 'web-1', 'web-2', 'web-3'] })
      await own.lock(namespace, lock)
      await expect(own.admin.delete(pods, { namespace, name: 'web-0' })).rejects.toMatchObject({ code: 429 })
      const masters = ['system:masters']
      const kubelet = own.server.as({ username: 'system:node:node-shop', groups: ['system:nodes', ...masters] })
      await kubelet.delete(pods, { namespace, name: 'web-1' })
      // The pod is going already: whoever asks again changes nothing.
      await own.admin.delete(pods, { namespace, name: 'web-1' }, { gracePeriodSeconds: 0 })
      const controller = 'system:serviceaccount:kube-system:replicaset-controller'
      await own.server.as({ username: controller, groups: masters }).delete(pods, { namespace, name: 'web-2' })
      const finished = { type: 'merge', body: { status: { phase: 'Succeeded' } } } as const
      await own.admin.patch(pods, { namespace, name: 'web-3' }, finished, { subresource: 'status' })
      await own.admin.delete(pods, { namespace, name: 'web-3' })
      await expect(own.evict({ namespace, name: 'web-0' })).rejects.toMatchObject({ code: 429 })
    } finally {
      await own.stop()
    }
  })
})

describe('an API server that cannot reach the guard', () => {
  it('lets the cluster’s own controllers delete pods where deletions are guarded: a rollout in a locked namespace stood still until the guard was back', async () => {
    const own = await startGuardFixture({ guardsDeletions: true })
    try {
      const namespace = 'shop'
      await own.seed({ namespace, podNames: ['web-0', 'web-1', 'web-2'] })
      await own.lock(namespace, lock)
      await own.until('the namespace is marked', () => own.markOf(namespace) === 'true')
      await own.guard().stop()
      const as = (username: string) => own.server.as({ username, groups: ['system:masters'] })
      await as('system:serviceaccount:kube-system:replicaset-controller').delete(pods, { namespace, name: 'web-0' })
      const finished = { type: 'merge', body: { status: { phase: 'Failed' } } } as const
      await own.admin.patch(pods, { namespace, name: 'web-1' }, finished, { subresource: 'status' })
      await as('ann').delete(pods, { namespace, name: 'web-1' })
      for (const user of ['ann', 'system:serviceaccount:kube-system-2:mallory', 'system:kube-scheduler-2'])
        await expect(as(user).delete(pods, { namespace, name: 'web-2' })).rejects.toMatchObject({ code: 500 })
    } finally {
      await own.stop()
    }
  })

  it('evicts where no lock is held, and refuses with 500 where one is; the guard’s return ends that', async () => {
    const [open, locked] = [namespaceOf(), namespaceOf()]
    await fixture.seed({ namespace: open, podNames: ['web-0'] })
    await fixture.seed({ namespace: locked, podNames: ['web-0'] })
    await fixture.lock(locked, lock)
    await fixture.until('the namespace is marked', async () => (await labelOf(locked)) === 'true')
    await fixture.guard().stop()
    await fixture.evict({ namespace: open, name: 'web-0' })
    expect(await isGoing(open, 'web-0')).toBe(true)
    await expect(fixture.evict({ namespace: locked, name: 'web-0' })).rejects.toMatchObject({
      code: 500,
      message: expect.stringContaining('failed calling webhook "locked.guard.cofferdam.io"'),
    })
    fixture.restartGuard()
    await fixture.until('the guard answers again', () =>
      fixture.evict({ namespace: locked, name: 'web-0' }).then(
        () => false,
        (error: { code: number }) => error.code === 429,
      ),
    )
  })

  it('is still answered for a moment by a guard that ends, until it is known that it does', async () => {
    const own = await startGuardFixture({ lingerMs: 500 })
    try {
      await own.seed({ namespace: 'shop', podNames: ['web-0'] })
      await own.lock('shop', lock)
      await own.until('calls must succeed', () => own.markOf('shop') === 'true')
      const stopped = own.guard().stop()
      expect(own.guard().whatIsMissing()).toBe('it is shutting down')
      await expect(own.evict({ namespace: 'shop', name: 'web-0' })).rejects.toMatchObject({ code: 429 })
      await stopped
      await expect(own.evict({ namespace: 'shop', name: 'web-0' })).rejects.toMatchObject({ code: 500 })
    } finally {
      await own.stop()
    }
  })
})
