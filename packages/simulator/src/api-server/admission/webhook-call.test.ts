import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import {
  createCertificateAuthority,
  issueServerCertificate,
} from '@cofferdam/product/eviction-guard/self-signed-certificate.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clusterAdmin } from '../user-info.ts'
import type { AdmissionRequest } from './admission.ts'
import { createValidatingWebhooks, type ValidatingWebhooksOptions } from './validating-webhooks.ts'
import type { WebhookClientConfig } from './webhook-configuration.ts'

const creation: AdmissionRequest = {
  operation: 'CREATE',
  type: pods,
  key: { namespace: 'shop', name: 'web' },
  kind: { group: '', version: 'v1', kind: 'Pod' },
  object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' } },
  user: clusterAdmin,
  dryRun: false,
}

function configurationOf(clientConfig: WebhookClientConfig): KubeObject {
  const meta = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' }
  const rules = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }]
  const webhook = { name: 'guard.cofferdam.io', clientConfig, rules, failurePolicy: 'Fail', sideEffects: 'None' }
  return { ...meta, metadata: { name: 'guard' }, webhooks: [webhook] } as KubeObject
}

async function refusalOf(attempt: Promise<unknown>) {
  const error = await attempt.then(
    () => undefined,
    (reason: ApiError) => reason,
  )
  return error && { code: error.code, reason: error.reason, message: error.message }
}

describe('webhooks over HTTPS', () => {
  const validity = { notBeforeMs: Date.UTC(2020, 0, 1), notAfterMs: Date.UTC(2060, 0, 1) }
  const authority = createCertificateAuthority({ commonName: 'authority', ...validity })
  const stranger = createCertificateAuthority({ commonName: 'stranger', ...validity })
  const certified = issueServerCertificate({
    authority,
    commonName: 'guard',
    hosts: ['127.0.0.1', 'guard.cofferdam.svc'],
    ...validity,
  })
  let server: Server
  let url: string
  let connections = 0

  beforeAll(async () => {
    server = createServer({ cert: certified.certificatePem, key: certified.privateKeyPem }, (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const review = JSON.parse(Buffer.concat(chunks).toString()) as { apiVersion: string; request: JsonObject }
        response.statusCode = request.url?.startsWith('/broken') ? 503 : 200
        const answer = { uid: review.request['uid'], allowed: false, status: { code: 403, message: 'not now' } }
        response.end(JSON.stringify({ apiVersion: review.apiVersion, kind: 'AdmissionReview', response: answer }))
      })
    })
    server.on('secureConnection', () => {
      connections += 1
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  })

  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  function over(clientConfig: WebhookClientConfig, options: Partial<ValidatingWebhooksOptions> = {}) {
    return createValidatingWebhooks({
      configurations: () => [configurationOf(clientConfig)],
      namespaceLabels: () => ({}),
      clock: realClock,
      ...options,
    })
  }

  const bundle = (pem: string) => Buffer.from(pem).toString('base64')

  it('the webhook is asked and its no is told; connections are kept for the next question', async () => {
    const webhooks = over({ url, caBundle: bundle(authority.certificatePem) })
    const before = connections
    for (let asked = 0; asked < 6; asked += 1) {
      expect(await refusalOf(webhooks.admit(creation))).toEqual({
        code: 403,
        reason: '',
        message: 'admission webhook "guard.cofferdam.io" denied the request: not now',
      })
    }
    expect(connections - before).toBeLessThan(6)
    await webhooks.close()
  })

  it('a server that the bundle does not vouch for is not believed', async () => {
    const webhooks = over({ url, caBundle: bundle(stranger.certificatePem) })
    const refusal = await refusalOf(webhooks.admit(creation))
    expect(refusal?.message).toMatch(
      /^Internal error occurred: failed calling webhook "guard\.cofferdam\.io": failed to call webhook: Post ".*": .*certificate/,
    )
    await webhooks.close()
  })

  it('a service is checked by its name in the cluster', async () => {
    const service = { namespace: 'cofferdam', name: 'guard', path: '/' }
    const webhooks = over({ service, caBundle: bundle(authority.certificatePem) }, { resolveService: () => url })
    expect((await refusalOf(webhooks.admit(creation)))?.code).toBe(403)
    await webhooks.close()
  })

  it('a server that answers with an error has not answered', async () => {
    const webhooks = over({ url: `${url}/broken`, caBundle: bundle(authority.certificatePem) })
    const refusal = await refusalOf(webhooks.admit(creation))
    expect(refusal?.code).toBe(500)
    expect(refusal?.message).toMatch(/answered 503/)
    await webhooks.close()
  })

  it('a port where nobody listens is a failed call', async () => {
    const webhooks = over({ url: 'https://127.0.0.1:1', caBundle: bundle(authority.certificatePem) })
    const refusal = await refusalOf(webhooks.admit(creation))
    expect(refusal?.message).toMatch(
      /failed to call webhook: Post "https:\/\/127\.0\.0\.1:1\/\?timeout=10s": .*ECONNREFUSED/,
    )
    await webhooks.close()
  })
})
