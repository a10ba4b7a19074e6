import { type TokenReview, tokenReviews } from '@cofferdam/kubernetes/api/authentication.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { namespaces, nodes, pods, secrets, serviceAccounts } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../harness/virtual-clock.ts'
import { ApiServer } from '../api-server.ts'
import { clusterAdmin } from '../user-info.ts'

const key = { namespace: 'ci', name: 'bot' }
const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: key }
const whoTheBotIs = {
  username: 'system:serviceaccount:ci:bot',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:ci', 'system:authenticated'],
}

async function fixture(seed = 1) {
  const clock = new VirtualClock()
  const server = new ApiServer({ clock, random: seededRandom(seed) })
  const api = server.as(clusterAdmin)
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ci' } })
  await api.create(serviceAccounts, account)
  const ask = async (spec: object = {}) => {
    const { status } = await api.createSubresource(serviceAccounts, key, 'token', { spec: { ...spec } })
    return (status as { readonly token: string }).token
  }
  const review = async (token: string, audiences?: readonly string[]) => {
    const spec = { token, ...(audiences === undefined ? {} : { audiences }) }
    const question = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: { name: '' }, spec }
    return (await api.create<TokenReview>(tokenReviews, question)).status
  }
  return { clock, server, api, ask, review }
}

describe('a token of a ServiceAccount', () => {
  it('makes its bearer the account, with its groups and its uid', async () => {
    const { api, server, ask } = await fixture()
    const { uid } = (await api.get(serviceAccounts, key)).metadata
    expect(server.authenticate(await ask())).toEqual({ ...whoTheBotIs, uid })
  })

  it('ends when its time is over, and not before', async () => {
    const { clock, server, ask } = await fixture()
    const token = await ask({ expirationSeconds: 600 })
    await clock.advance(599_000)
    expect(server.authenticate(token)?.username).toBe(whoTheBotIs.username)
    await clock.advance(1_000)
    expect(server.authenticate(token)).toBeUndefined()
  })

  it('ends with its account, also when another of the same name takes its place', async () => {
    const { api, server, ask } = await fixture()
    const token = await ask()
    await api.delete(serviceAccounts, key)
    expect(server.authenticate(token)).toBeUndefined()
    await api.create(serviceAccounts, account)
    expect(server.authenticate(token)).toBeUndefined()
  })

  const bound: Record<string, KubeObject> = {
    Pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'ci', name: 'run' },
      spec: { containers: [{ name: 'x', image: 'x' }] },
    } as KubeObject,
    Secret: { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'ci', name: 'run' } },
    Node: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'run' } },
  }
  const types = { Pod: pods, Secret: secrets, Node: nodes }
  for (const [kind, object] of Object.entries(bound)) {
    it(`that is bound to a ${kind} ends with it`, async () => {
      const { api, server, ask } = await fixture()
      const type = types[kind as keyof typeof types]
      await api.create(type as typeof nodes, object)
      const token = await ask({ boundObjectRef: { kind, apiVersion: 'v1', name: 'run' } })
      expect(server.authenticate(token)?.username).toBe(whoTheBotIs.username)
      const where = kind === 'Node' ? { name: 'run' } : { namespace: 'ci', name: 'run' }
      await api.delete(type as typeof nodes, where, { gracePeriodSeconds: 0 })
      expect(server.authenticate(token)).toBeUndefined()
    })
  }

  it('for another audience does not open the API server', async () => {
    const { server, ask, review } = await fixture()
    const token = await ask({ audiences: ['vault'] })
    expect(server.authenticate(token)).toBeUndefined()
    expect(await review(token)).toEqual({ user: {}, error: 'invalid bearer token' })
    expect(await review(token, ['cofferdam', 'vault'])).toMatchObject({ authenticated: true, audiences: ['vault'] })
  })

  it('that was changed, is of another server or is no token at all is not known', async () => {
    const { server, ask, review } = await fixture()
    const [head, body, signature] = (await ask()).split('.') as [string, string, string]
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'))
    const richer = Buffer.from(JSON.stringify({ ...claims, exp: claims.exp * 2 })).toString('base64url')
    const unsigned = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url')
    const foreign = await (await fixture(2)).ask()
    const wrong = [
      `${head}.${richer}.${signature}`,
      `${unsigned}.${body}.`,
      `${head}.${body}.`,
      `${head}.${body}`,
      `${head}.${body}.${signature}.x`,
      foreign,
      'x'.repeat(100_000),
      '..',
    ]
    for (const token of wrong) {
      expect(server.authenticate(token), token.slice(0, 80)).toBeUndefined()
      expect(await review(token)).toEqual({ user: {}, error: 'invalid bearer token' })
    }
  })

  it('is told by a TokenReview whose it is', async () => {
    const { ask, review } = await fixture()
    expect(await review(await ask())).toEqual({
      authenticated: true,
      user: { ...whoTheBotIs, uid: expect.any(String) },
      audiences: ['https://kubernetes.default.svc.cluster.local'],
    })
    await expect(review('')).rejects.toMatchObject({
      code: 400,
      message: 'token is required for TokenReview in authentication',
    })
  })

  const refusals: Record<string, { spec: object; code: number; says: string }> = {
    'for less than ten minutes': {
      spec: { expirationSeconds: 60 },
      code: 422,
      says: 'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes',
    },
    'for more than 136 years': {
      spec: { expirationSeconds: 2 ** 33 },
      code: 422,
      says: 'may not specify a duration larger than 2^32 seconds',
    },
    'bound to a pod that is not there': {
      spec: { boundObjectRef: { kind: 'Pod', name: 'gone' } },
      code: 404,
      says: 'pods "gone" not found',
    },
    'bound to a kind that tokens are not bound to': {
      spec: { boundObjectRef: { kind: 'Job', name: 'gone' } },
      code: 422,
      says: 'cannot bind token to this type of object',
    },
  }
  for (const [what, { spec, code, says }] of Object.entries(refusals)) {
    it(`is refused ${what}`, async () => {
      const { ask } = await fixture()
      await expect(ask(spec)).rejects.toMatchObject({ code, message: expect.stringContaining(says) })
    })
  }

  it('is refused for another object of the same name than the one that was meant', async () => {
    const { api, ask } = await fixture()
    await api.create(secrets, bound['Secret'] as KubeObject)
    const refusal = ask({ boundObjectRef: { kind: 'Secret', name: 'run', uid: 'another' } })
    await expect(refusal).rejects.toMatchObject({ code: 409 })
  })
})
