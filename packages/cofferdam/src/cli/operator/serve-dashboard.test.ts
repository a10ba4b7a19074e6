import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { quietLog } from '@cofferdam/kubernetes/runtime/log.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createCertificateAuthority, issueServerCertificate } from '../../eviction-guard/self-signed-certificate.ts'
import type { DashboardPlace } from './dashboard-flags.ts'
import { keepServing, serveDashboard } from './serve-dashboard.ts'
import { clusterWithViewers } from './testing/cluster-with-viewers.ts'

const onThisMachine: DashboardPlace = { host: '127.0.0.1', port: 0, tlsFolder: undefined, takesApiTokens: false }

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cofferdam-page-'))
  for (const file of ['index.html', 'page.js', 'page.css', 'favicon.svg']) writeFileSync(join(folder, file), file)
})
afterAll(() => rmSync(folder, { recursive: true }))

async function cluster() {
  const opened = await clusterWithViewers(new VirtualClock())
  onTestFinished(opened.stop)
  return opened
}

async function served({
  place = onThisMachine,
  api,
}: {
  place?: DashboardPlace
  api?: (own: KubeApi) => KubeApi
} = {}) {
  const all = await cluster()
  const { clock, operator } = all
  const page = await serveDashboard({
    place,
    api: api === undefined ? operator : api(operator),
    clock,
    random: seededRandom(2),
    log: quietLog,
    pageDirectory: folder,
    cluster: 'test',
    leaseNamespace: 'cofferdam-system',
  })
  onTestFinished(() => page.close())
  const ask = (path: string, token?: string, method = 'GET') =>
    fetch(new URL(path, page.url), {
      method,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    })
  return { ...all, page, ask }
}

const facts = ['/api/cluster', '/api/explain?object=node/worker-a1', '/api/stream', '/api/anything']

describe('the page that the operator serves', () => {
  it('shows no facts without a token, with a token that is not known, or with one for somewhere else', async () => {
    const { ask, tokenOf } = await served()
    for (const path of facts) {
      expect((await ask(path)).status, path).toBe(401)
      expect((await ask(path, 'odd')).status, path).toBe(401)
      expect((await ask(path, await tokenOf('ann', ['https://kubernetes.default.svc.cluster.local']))).status).toBe(401)
    }
    expect((await ask('/api/cluster')).headers.get('www-authenticate')).toBe('Bearer realm="cofferdam"')
  })

  it('says to a user without the right which right is missing', async () => {
    const { ask, tokenOf } = await served()
    const token = await tokenOf('bob')
    for (const path of facts) expect((await ask(path, token)).status, path).toBe(403)
    expect(await (await ask('/api/cluster', token)).text()).toBe(
      'system:serviceaccount:default:bob may not see this page: it needs the right to get the path /cofferdam/dashboard\n',
    )
  })

  it('shows a user with the right what the operator sees, and keeps it out of every cache', async () => {
    const { ask, tokenOf } = await served()
    const token = await tokenOf('ann')
    const answer = await ask('/api/cluster', token)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(await answer.json()).toMatchObject({ cluster: 'test', nodes: [{ id: 'worker-a1' }] })
    const explained = await (await ask('/api/explain?object=node/worker-a1', token)).json()
    expect(explained).toMatchObject({ code: 0, text: expect.stringContaining('It holds nothing to evict.') })
    expect((await ask('/api/cluster', token, 'POST')).status).toBe(405)
  })

  it('is itself no secret: without a token it is the same for everyone, and asks for one', async () => {
    const { ask } = await served()
    const page = await ask('/')
    expect([page.status, await page.text()]).toEqual([200, 'index.html'])
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('takes tokens for the API server only where it was told to', async () => {
    const { ask, tokenOf } = await served({ place: { ...onThisMachine, takesApiTokens: true } })
    const apiToken = await tokenOf('ann', ['https://kubernetes.default.svc.cluster.local'])
    expect((await ask('/api/cluster', apiToken)).status).toBe(200)
    expect((await ask('/api/cluster', await tokenOf('ann'))).status).toBe(200)
    expect((await ask('/api/cluster', await tokenOf('ann', ['vault']))).status).toBe(401)
  })

  it.each(['tokenreviews', 'subjectaccessreviews'])('is refused to everyone with 503 while %s fail', async (plural) => {
    let isBroken = true
    const { ask, tokenOf } = await served({
      api: (own) =>
        changedApi(own, {
          create(type, object, options) {
            if (isBroken && type.plural === plural) return Promise.reject(new ApiError('InternalError', 'down'))
            return own.create(type, object, options)
          },
        }),
    })
    const token = await tokenOf('ann')
    for (const path of facts) expect((await ask(path, token)).status, path).toBe(503)
    isBroken = false
    expect((await ask('/api/cluster', token)).status).toBe(200)
  })

  it('asks the cluster once for many requests, and again after half a minute', async () => {
    let reviews = 0
    const { clock, ask, tokenOf } = await served({
      api: (own) =>
        changedApi(own, {
          create(type, object, options) {
            if (type.plural === 'tokenreviews') reviews += 1
            return own.create(type, object, options)
          },
        }),
    })
    const token = await tokenOf('ann')
    await Promise.all(facts.slice(0, 2).map((path) => ask(path, token)))
    await ask('/api/cluster', token)
    expect(reviews).toBe(1)
    await clock.advance(30_000)
    await ask('/api/cluster', token)
    expect(reviews).toBe(2)
  })
})

/** Resolves when the server has ended the stream. */
async function endOf(answer: Response): Promise<void> {
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  while (!(await reader.read()).done);
}

describe('an open stream', () => {
  it('goes on while the token counts, and ends within a minute after that', async () => {
    const { clock, ask, tokenOf } = await served()
    const answer = await ask('/api/stream', await tokenOf('ann'))
    expect(answer.status).toBe(200)
    let isOver = false
    const over = endOf(answer).then(() => (isOver = true))
    await clock.advance(599_000)
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(isOver).toBe(false)
    await clock.advance(60_000)
    await over
  })

  it('ends within a minute after the right was taken away', async () => {
    const { clock, admin, ask, tokenOf } = await served()
    const over = endOf(await ask('/api/stream', await tokenOf('ann')))
    const bindings = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterrolebindings' }
    await admin.delete({ ...bindings, kind: 'ClusterRoleBinding', namespaced: false }, { name: 'viewers' })
    await clock.advance(60_000)
    await over
  })

  it('ends when the cluster cannot be asked any more: what cannot be known is not shown', async () => {
    let isBroken = false
    const { clock, ask, tokenOf } = await served({
      api: (own) =>
        changedApi(own, {
          create(type, object, options) {
            if (isBroken && type.plural === 'tokenreviews') return Promise.reject(new ApiError('InternalError', 'down'))
            return own.create(type, object, options)
          },
        }),
    })
    const over = endOf(await ask('/api/stream', await tokenOf('ann')))
    isBroken = true
    await clock.advance(60_000)
    await over
  })
})

describe('the page over HTTPS', () => {
  const authority = createCertificateAuthority({ commonName: 'ca', notBeforeMs: 0, notAfterMs: Date.now() + 1e9 })
  const write = (place: string) => {
    const span = { notBeforeMs: 0, notAfterMs: Date.now() + 1e9 }
    const made = issueServerCertificate({ authority, commonName: 'page', hosts: ['127.0.0.1'], ...span })
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, 'tls.crt'), made.certificatePem)
    writeFileSync(join(place, 'tls.key'), made.privateKeyPem)
    return made.certificatePem
  }
  const certificateAt = (url: string) =>
    new Promise<string>((resolve, reject) => {
      const asked = request(url, { ca: authority.certificatePem, agent: false }, (response) => {
        const { raw } = (response.socket as import('node:tls').TLSSocket).getPeerCertificate()
        response.resume()
        resolve(raw.toString('base64'))
      })
      asked.on('error', reject).end()
    })
  const bodyOf = (pem: string) => pem.replace(/-----[A-Z ]+-----|\s/g, '')

  it('has the certificate of the folder, and the next one a minute after it was renewed', async () => {
    const tlsFolder = join(folder, 'tls')
    const first = write(tlsFolder)
    const { clock, page } = await served({ place: { ...onThisMachine, tlsFolder } })
    expect(page.url).toMatch(/^https:/)
    expect(await certificateAt(page.url)).toBe(bodyOf(first))
    const second = write(tlsFolder)
    await clock.advance(60_000)
    while ((await certificateAt(page.url)) !== bodyOf(second)) await new Promise((resolve) => setImmediate(resolve))
  })

  it('is served as soon as there is a certificate; until then the operator works without it', async () => {
    const { clock, operator } = await cluster()
    const tlsFolder = join(folder, 'late')
    const lines: string[] = []
    const log = {
      ...quietLog,
      error: (_: unknown, text?: string) => void lines.push(text ?? ''),
      info: (fields: unknown) => void lines.push(JSON.stringify(fields)),
    }
    const page = keepServing({
      place: { ...onThisMachine, tlsFolder },
      api: operator,
      clock,
      random: seededRandom(2),
      log,
      pageDirectory: folder,
      cluster: 'test',
      leaseNamespace: 'cofferdam-system',
    })
    onTestFinished(() => page.close())
    const until = async (count: number) => {
      while (lines.length < count) await new Promise((resolve) => setImmediate(resolve))
    }
    await until(1)
    expect(lines).toEqual(['the page cannot be served; the operator works on, and it is tried again'])
    write(tlsFolder)
    await clock.advance(30_000)
    await until(2)
    expect(lines[1]).toMatch(/"url":"https:/)
  })
})
