import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { connect, type TLSSocket } from 'node:tls'
import { describe, expect, it } from 'vitest'
import type { GuardAnswer } from './eviction-guard.ts'
import { type GuardServer, type GuardServerOptions, startGuardServer } from './guard-server.ts'
import { type CertifiedKey, createCertificateAuthority, issueServerCertificate } from './self-signed-certificate.ts'

const validity = { notBeforeMs: Date.UTC(2020, 0, 1), notAfterMs: Date.UTC(2060, 0, 1) }
const authorities = ['one', 'two'].map((commonName) => createCertificateAuthority({ commonName, ...validity }))
const [first, second] = authorities.map((authority) =>
  issueServerCertificate({ authority, commonName: 'guard', hosts: ['127.0.0.1'], ...validity }),
) as [ReturnType<typeof issueServerCertificate>, ReturnType<typeof issueServerCertificate>]
const bundle = authorities.map(({ certificatePem }) => certificatePem)

const yes: GuardAnswer = { code: 200, body: '{"ok":true}', contentType: 'application/json' }

async function withServer<T>(options: Partial<GuardServerOptions>, scenario: (server: GuardServer) => Promise<T>) {
  const server = await startGuardServer({
    host: '127.0.0.1',
    port: 0,
    certificate: first,
    answer: () => yes,
    whatIsMissing: () => undefined,
    recognises: (proof) => proof === 'word',
    ...options,
  })
  try {
    return await scenario(server)
  } finally {
    await server.close()
  }
}

interface Asked {
  readonly path?: string
  readonly method?: string
  readonly body?: string
  readonly ca?: string | string[]
  readonly agent?: Agent
  readonly client?: CertifiedKey
}

function clientCertificates() {
  const [authority, other] = ['front', 'front'].map((commonName) =>
    createCertificateAuthority({ commonName, ...validity }),
  ) as [CertifiedKey, CertifiedKey]
  const issue = (by: CertifiedKey, commonName: string) =>
    issueServerCertificate({ authority: by, commonName, hosts: ['127.0.0.1'], purpose: 'clientAuth', ...validity })
  return {
    authority,
    own: issue(authority, 'kube-apiserver'),
    foreign: issue(other, 'kube-apiserver'),
    kubelet: issue(authority, 'system:node:a'),
  }
}

async function ask({ port }: GuardServer, asked: Asked) {
  const { path = '/validate/eviction/word', method = 'POST', body = '', ca = bundle, agent = false } = asked
  const { certificatePem: cert, privateKeyPem: key } = asked.client ?? {}
  const sent = request({ host: '127.0.0.1', port, path, method, ca, agent, cert, key })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk)
  return { code: response.statusCode, body: Buffer.concat(chunks).toString() }
}

/** An answer that is given when the test says so. */
function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, answer: () => opened.then(() => yes) }
}

describe('the server of the guard', () => {
  it('passes each review on with the path it came by', async () => {
    const asked: unknown[] = []
    const answer: GuardServerOptions['answer'] = (text, { isStrict, isFromServer }) => {
      asked.push([text, isStrict, isFromServer])
      return yes
    }
    await withServer({ answer }, async (server) => {
      expect(await ask(server, { body: 'a', path: '/validate/eviction' })).toEqual({ code: 200, body: '{"ok":true}' })
      await ask(server, { body: 'b', path: '/validate/locked/word?timeout=3s' })
    })
    expect(asked).toEqual([
      ['a', false, false],
      ['b', true, true],
    ])
  })

  it('says what it is waiting for until it is ready', async () => {
    let missing: string | undefined = 'not read yet: pods'
    await withServer({ whatIsMissing: () => missing }, async (server) => {
      const readiness = { path: '/readyz', method: 'GET' }
      expect(await ask(server, readiness)).toEqual({ code: 503, body: 'not ready: not read yet: pods\n' })
      missing = undefined
      expect(await ask(server, readiness)).toEqual({ code: 200, body: 'ok\n' })
    })
  })

  it('refuses with words what it does not know', async () => {
    await withServer({}, async (server) => {
      expect(await ask(server, { path: '/secrets' })).toMatchObject({ code: 404 })
      expect(await ask(server, { method: 'GET' })).toEqual({ code: 405, body: 'reviews are sent with POST\n' })
    })
  })

  it('does not read a review that is too large, whether that is said before or not', async () => {
    await withServer({ limits: { bodyBytes: 1_000 } }, async (server) => {
      const tooLarge = { code: 413, body: 'the review is larger than the guard reads\n' }
      expect(await ask(server, { body: 'x'.repeat(1_001) })).toEqual(tooLarge)
      const sent = request({
        host: '127.0.0.1',
        port: server.port,
        path: '/validate/eviction',
        method: 'POST',
        ca: bundle,
      })
      sent.on('error', () => {})
      sent.write('x'.repeat(900))
      sent.write('x'.repeat(900))
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      expect(response.statusCode).toBe(413)
      sent.destroy()
      expect(await ask(server, { body: 'x'.repeat(1_000) })).toMatchObject({ code: 200 })
    })
  })

  it('turns away what is more than it takes on at once, and is there again afterwards', async () => {
    const { open, answer } = gate()
    await withServer({ answer, limits: { requestsUnderWay: 3 } }, async (server) => {
      const held = Array.from({ length: 10 }, () => ask(server, { body: '{}' }))
      const turnedAway = await Promise.all(held.map((each) => Promise.race([each, opening()])))
      expect(turnedAway.filter((each) => each?.code === 503)).toHaveLength(7)
      open()
      const codes = (await Promise.all(held)).map(({ code }) => code).sort()
      expect(codes).toEqual([200, 200, 200, 503, 503, 503, 503, 503, 503, 503])
      expect(await ask(server, { body: '{}' })).toMatchObject({ code: 200 })

      /** Resolves once seven were turned away, for those that are still held. */
      async function opening() {
        let answered = 0
        for (const each of held) void each.then(() => (answered += 1))
        while (answered < 7) await new Promise((resolve) => setImmediate(resolve))
        return undefined
      }
    })
  })

  it('keeps room for the API server while strangers hold all that they may have', async () => {
    const { open, answer } = gate()
    await withServer({ answer, limits: { requestsUnderWay: 8 } }, async (server) => {
      const stranger = { body: '{}', path: '/validate/eviction/forged' }
      const held = [ask(server, stranger), ask(server, stranger)]
      while ((await ask(server, stranger)).code !== 503) open()
      const own = ask(server, { body: '{}' })
      open()
      expect(await own).toMatchObject({ code: 200 })
      await Promise.all(held)
    })
  })

  it('takes reviews with a client certificate alone where authorities are given, and says so', async () => {
    const { authority, own, foreign, kubelet } = clientCertificates()
    const clients = { authorities: authority.certificatePem, names: ['kube-apiserver'] }
    const asked: unknown[] = []
    const answer: GuardServerOptions['answer'] = (_, how) => {
      asked.push(how)
      return yes
    }
    await withServer({ answer, clients }, async (server) => {
      const refused = {
        code: 403,
        body: 'reviews are taken from clients with a certificate of --guard-client-ca alone\n',
      }
      expect(await ask(server, { body: '{}' })).toEqual(refused)
      expect(await ask(server, { body: '{}', client: foreign })).toEqual(refused)
      expect(await ask(server, { body: '{}', client: kubelet })).toMatchObject({ code: 403 })
      expect(asked).toEqual([])
      expect(await ask(server, { body: '{}', client: own, path: '/validate/locked' })).toMatchObject({ code: 200 })
      server.setCertificate(second)
      expect(await ask(server, { body: '{}', client: foreign })).toEqual(refused)
      expect(await ask(server, { body: '{}', client: own })).toMatchObject({ code: 200 })
      expect(await ask(server, { path: '/readyz', method: 'GET' })).toMatchObject({ code: 200 })
    })
    expect(asked).toEqual([
      { isStrict: true, isFromServer: true },
      { isStrict: false, isFromServer: true },
    ])
  })

  it('survives an answer that fails, and tells of it', async () => {
    const errors: unknown[] = []
    const answer = () => {
      throw new Error('no rule')
    }
    await withServer({ answer, onError: (error) => errors.push(error) }, async (server) => {
      expect(await ask(server, { body: '{}' })).toEqual({ code: 500, body: 'the guard failed; its log says why\n' })
    })
    expect(errors).toEqual([new Error('no rule')])
  })

  it('changes its certificate while connections are open: they go on, new ones see the new one', async () => {
    await withServer({}, async (server) => {
      const old = connect({ host: '127.0.0.1', port: server.port, ca: authorities[0]?.certificatePem as string })
      await once(old, 'secureConnect')
      server.setCertificate(second)
      await expect(ask(server, { ca: authorities[0]?.certificatePem as string })).rejects.toThrow(/certificate/)
      expect(await ask(server, { body: '{}', ca: authorities[1]?.certificatePem as string })).toMatchObject({
        code: 200,
      })
      expect(await askOver(old)).toContain('200 OK')
      old.destroy()
    })
  })

  it('answers what it has been asked before it ends, and then lets go of the port', async () => {
    const { open, answer } = gate()
    const agent = new Agent({ keepAlive: true })
    let held: ReturnType<typeof ask> | undefined
    await withServer({ answer, limits: { requestsUnderWay: 1 } }, async (server) => {
      held = ask(server, { body: '{}', agent })
      // The second is turned away only when the first has arrived.
      while ((await ask(server, { body: '{}' })).code !== 503) open()
      const closed = server.close()
      open()
      await closed
    })
    expect(await held).toMatchObject({ code: 200 })
  })

  it('ends though somebody holds a connection on which nothing was ever asked', async () => {
    await withServer({}, async (server) => {
      const silent = connect({ host: '127.0.0.1', port: server.port, ca: bundle })
      await once(silent, 'secureConnect')
      const cut = once(silent, 'close')
      await server.close()
      await cut
    })
  })

  it('says which port is taken and how to choose another', async () => {
    await withServer({}, async ({ port }) => {
      await expect(withServer({ port }, async () => {})).rejects.toMatchObject({
        code: 'PORT_IN_USE',
        hint: 'Stop the other program, or choose another port with --guard-port.',
      })
    })
  })
})

async function askOver(socket: TLSSocket): Promise<string> {
  socket.write('GET /readyz HTTP/1.1\r\nhost: guard\r\n\r\n')
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  return chunk.toString()
}
