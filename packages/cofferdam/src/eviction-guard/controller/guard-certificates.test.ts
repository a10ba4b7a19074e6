import {
  type ValidatingWebhookConfiguration,
  validatingWebhookConfigurations,
} from '@cofferdam/kubernetes/api/admission-registration.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { namespaces, secrets } from '@cofferdam/kubernetes/api/resources.ts'
import { createWatchCache } from '@cofferdam/kubernetes/informers/watch-cache.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { runController } from '@cofferdam/kubernetes/runtime/controller.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import { buildGuardConfigurationManifest } from '../../deploy/guard-manifests.ts'
import { defaultCertificateSettings, planCertificates } from '../guard-certificates.ts'
import { createGuardCertificates } from './guard-certificates.ts'
import { createGuardRegistration } from './guard-registration.ts'

const secretKey = { namespace: 'cofferdam-system', name: 'cofferdam-guard-tls' }
const day = 86_400_000

async function fixture(operators: number) {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1))
  // Time leaps for the controllers alone: to run all timers of two years would take long.
  let leaptMs = 0
  const leaping: Clock = { now: () => clock.now() + leaptMs, after: (ms, callback) => clock.after(ms, callback) }
  const random = seededRandom(1)
  const server = new ApiServer({ clock, random })
  const api = server.as(clusterAdmin)
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: secretKey.namespace } })
  for (const manifest of buildGuardConfigurationManifest() as readonly unknown[] as readonly KubeObject[]) {
    await api.create<KubeObject>(validatingWebhookConfigurations, manifest)
  }
  const news: string[] = []
  const errors: unknown[] = []
  const base = { api, clock, random, onError: (error: unknown) => errors.push(error) }
  const configurations = createWatchCache<ValidatingWebhookConfiguration>({
    ...base,
    type: validatingWebhookConfigurations,
  })
  const nothing = createWatchCache({ ...base, type: namespaces, fieldSelector: 'metadata.name=none' })
  const empty = { ...nothing, synced: true, byIndex: () => [], list: () => [], get: () => undefined } as never
  const registration = createGuardRegistration({
    api,
    clock: leaping,
    settings: { address: () => ({ url: 'https://127.0.0.1:1' }), guardsDeletions: false },
    views: { configurations, namespaces: empty, budgets: empty, ledger: empty },
    report: () => {},
    policy: { maxTtlMs: 1, maxHoldMs: 1, maxPerNamespace: 1 },
  })
  const certificates = Array.from({ length: operators }, () =>
    createGuardCertificates({
      api,
      clock: leaping,
      configurations,
      plan: (seen) => planCertificates({ ...seen, hosts: ['guard'], settings: defaultCertificateSettings }),
      report: ({ step }) => news.push(step),
    }),
  )
  const running = [registration, ...certificates].map((controller) => runController(controller, { clock, random }))
  return {
    clock,
    api,
    news,
    errors,
    leap(ms: number) {
      leaptMs += ms
    },
    authorities: async () =>
      Buffer.from((await api.get(secrets, secretKey)).data?.['ca.crt'] ?? '', 'base64')
        .toString()
        .split('BEGIN CERTIFICATE').length - 1,
    async stop() {
      const stopping = running.map((controller) => controller.stop())
      await clock.advance(10_000)
      await Promise.all(stopping)
      await Promise.all([configurations.stop(), nothing.stop()])
    },
  }
}

describe('the keeper of the guard’s certificates', () => {
  it('of two operators one makes the first authority, and the other takes it as it is', async () => {
    const { clock, news, api, stop } = await fixture(2)
    await clock.advance(60_000)
    expect(news).toEqual(['begin'])
    const { type, data = {} } = await api.get(secrets, secretKey)
    expect([type, Object.keys(data).sort()]).toEqual(['kubernetes.io/tls', ['ca.crt', 'ca.key', 'tls.crt', 'tls.key']])
    await stop()
  })

  it('registers the authority with both webhooks', async () => {
    const { clock, api, stop } = await fixture(1)
    await clock.advance(60_000)
    const { data = {} } = await api.get(secrets, secretKey)
    const { webhooks = [] } = await api.get(validatingWebhookConfigurations, { name: 'cofferdam-eviction-guard' })
    expect(webhooks.map(({ clientConfig }) => clientConfig)).toEqual([
      {
        url: expect.stringMatching(/^https:\/\/127\.0\.0\.1:1\/validate\/eviction\/[0-9a-f]{32}$/),
        caBundle: data['ca.crt'],
      },
      {
        url: expect.stringMatching(/^https:\/\/127\.0\.0\.1:1\/validate\/locked\/[0-9a-f]{32}$/),
        caBundle: data['ca.crt'],
      },
    ])
    await stop()
  })

  it('over two years renews certificates often and the authority once, never with more than two trusted', async () => {
    const { clock, news, authorities, leap, stop } = await fixture(1)
    let most = 0
    for (let days = 0; days < 720; days += 20) {
      await clock.advance(60_000)
      most = Math.max(most, await authorities())
      leap(20 * day)
    }
    expect([most, await authorities()]).toEqual([2, 1])
    expect(news.filter((step) => step !== 'renew')).toEqual(['begin', 'announce', 'switch', 'retire'])
    await stop()
  })
})
