import { createConnection } from 'node:net'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import {
  createCertificateAuthority,
  issueServerCertificate,
} from '@cofferdam/product/eviction-guard/self-signed-certificate.ts'
import { Agent, request } from 'undici'
import { describe, expect, it } from 'vitest'
import { startHttpFace } from './http-face.ts'
import { configMapNamed, configMapsPath, faceForTest } from './testing/face.ts'

const reasons = (json: { status: string; reason: string; code: number }) => [json.status, json.reason, json.code]

describe('bad input is refused with a word on what is wrong, and the server goes on', () => {
  it('a broken JSON body is refused with 400 that says where it breaks', async () => {
    const { call } = await faceForTest()
    const refused = await call(configMapsPath, { body: '{\n  "kind": "ConfigMap",\n  "metadata": }' })
    expect([refused.status, ...reasons(refused.json)]).toEqual([400, 'Failure', 'BadRequest', 400])
    expect(refused.json.message).toBe('the body of the request is not JSON: line 3, column 15: unexpected "}"')
    expect((await call(configMapsPath, { body: configMapNamed('next') })).status).toBe(201)
  })

  it('an empty body is refused with 400', async () => {
    const { call } = await faceForTest()
    const refused = await call(configMapsPath, { method: 'POST', type: 'application/json' })
    expect([refused.status, refused.json.message]).toEqual([
      400,
      'the body of the request is not JSON: line 1, column 1: unexpected the end of the body',
    ])
  })

  it('a body that is no object is refused with 400', async () => {
    const { call } = await faceForTest()
    for (const body of ['[]', 'null', '"text"', '7']) {
      expect((await call(configMapsPath, { body })).status, body).toBe(400)
    }
  })

  it('a body that nests without end is refused with 400 before anybody walks it', async () => {
    const { call } = await faceForTest()
    const refused = await call(configMapsPath, { body: '['.repeat(100_000) + ']'.repeat(100_000) })
    expect([refused.status, refused.json.message]).toEqual([
      400,
      'the body of the request nests deeper than 1000 levels',
    ])
  })

  it('a body over the limit is refused with 413 that names the limit', async () => {
    const { call } = await faceForTest({ maxBodyBytes: 1000 })
    const refused = await call(configMapsPath, { body: configMapNamed('big', { a: 'x'.repeat(2000) }) })
    expect([refused.status, ...reasons(refused.json)]).toEqual([413, 'Failure', 'RequestEntityTooLarge', 413])
    expect(refused.json.message).toBe('Request entity too large: limit is 1000')
    expect((await call(`${configMapsPath}/big`)).status).toBe(404)
    expect((await call(configMapsPath, { body: configMapNamed('small') })).status).toBe(201)
  })

  it('a body that does not say how long it is stops at the limit too', async () => {
    const { face } = await faceForTest({ maxBodyBytes: 1000 })
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode('x'.repeat(500)))
      },
    })
    const response = await fetch(`${face.url}${configMapsPath}`, {
      method: 'POST',
      body: stream,
      duplex: 'half',
      headers: { 'content-type': 'application/json' },
    } as RequestInit)
    expect(response.status).toBe(413)
  })

  it('a form is refused with 415 that names what is read', async () => {
    const { call } = await faceForTest()
    const refused = await call(configMapsPath, { body: 'a=1', type: 'application/x-www-form-urlencoded' })
    expect([refused.status, refused.json.reason]).toEqual([415, 'UnsupportedMediaType'])
    expect(refused.json.message).toContain('application/json, application/yaml')
  })

  it('an unknown path is not found, with the words kubectl shows', async () => {
    const { call } = await faceForTest()
    for (const path of [
      '/nosuch',
      '/api/v2/pods',
      '/apis/apps/v1/nosuch',
      '/api/v1/namespaces/a/nodes',
      '/api/v1/pods/x',
    ]) {
      const refused = await call(path)
      expect([refused.status, refused.json.message], path).toEqual([
        404,
        'the server could not find the requested resource',
      ])
    }
  })

  it('a method that a path does not take is refused with 405', async () => {
    const { call } = await faceForTest()
    const wrong = [
      ['/api', 'POST'],
      ['/api/v1/pods', 'POST'],
      ['/api/v1/pods', 'DELETE'],
      [`${configMapsPath}/a`, 'POST'],
      ['/api/v1/namespaces/default/pods/a/eviction', 'GET'],
      ['/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 'GET'],
      ['/api/v1/nodes', 'OPTIONS'],
    ] as const
    for (const [path, method] of wrong) {
      const refused = await call(path, { method })
      expect([refused.status, refused.json.reason], `${method} ${path}`).toEqual([405, 'MethodNotAllowed'])
    }
  })

  it('a broken escape in a path is refused with 400', async () => {
    const { call } = await faceForTest()
    expect((await call('/api/v1/namespaces/%zz/pods')).status).toBe(400)
  })

  it('a watch from the future is refused with 504, not left hanging', async () => {
    const { call } = await faceForTest()
    const refused = await call(`${configMapsPath}?watch=true&resourceVersion=99999999`)
    expect([refused.status, refused.json.reason]).toEqual([504, 'Timeout'])
    expect(refused.json.message).toContain('Too large resource version: 99999999')
    expect(refused.headers.get('retry-after')).toBe('1')
  })

  it('numbers and selectors that are none are refused with 400', async () => {
    const { call } = await faceForTest()
    for (const query of [
      'limit=many',
      'watch=1&timeoutSeconds=soon',
      'labelSelector=a%20b',
      'fieldSelector=oops',
      'includeObject=All',
    ]) {
      expect((await call(`${configMapsPath}?${query}`)).status, query).toBe(400)
    }
  })

  it('what nobody can read is answered with 400 and cuts only its own connection', async () => {
    const { call, face } = await faceForTest()
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = createConnection(face.port, '127.0.0.1', () => socket.end('\x00\x01 this is not HTTP\r\n\r\n'))
      let text = ''
      socket.on('data', (part) => {
        text += part.toString()
      })
      socket.on('end', () => resolve(text))
      socket.on('error', reject)
    })
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect((await call('/healthz')).text).toBe('ok')
  })
})

describe('the port', () => {
  it('in use is told with the flag that changes it', async () => {
    const { server, face } = await faceForTest()
    const second = startHttpFace({ server, clock: realClock, port: face.port })
    await expect(second).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      facts: { host: '127.0.0.1', port: face.port },
      hint: 'Stop that program, or choose another port with --kube-port (0 takes any free one).',
    })
    await expect(startHttpFace({ server, clock: realClock, port: face.port, portFlag: '--port' })).rejects.toThrow(
      `port ${face.port} on 127.0.0.1 is taken by another program`,
    )
  })

  it('is free again once the face is closed, with watches open and connections kept', async () => {
    const { server, face, call } = await faceForTest()
    await call('/healthz')
    const watch = await fetch(`${face.url}${configMapsPath}?watch=true`)
    const ended = watch.text()
    await face.close()
    await ended
    const again = await startHttpFace({ server, clock: realClock, port: face.port })
    await again.close()
    expect(again.port).toBe(face.port)
  })

  it('listens on loopback only, unless told otherwise', async () => {
    const { face } = await faceForTest()
    expect(face.url).toBe(`http://127.0.0.1:${face.port}`)
  })
})

it('with a certificate the face speaks TLS, and plain HTTP on the same port', async () => {
  const validity = { notBeforeMs: realClock.now() - 60_000, notAfterMs: realClock.now() + 3_600_000 }
  const authority = createCertificateAuthority({ commonName: 'test authority', ...validity })
  const issued = issueServerCertificate({ authority, commonName: 'face', hosts: ['127.0.0.1'], ...validity })
  const { face } = await faceForTest({ tls: { cert: issued.certificatePem, key: issued.privateKeyPem } })
  const agent = new Agent({ connect: { ca: authority.certificatePem } })
  expect(face.secureUrl).toBe(`https://127.0.0.1:${face.port}`)
  for (const url of [face.secureUrl, face.url]) {
    const { statusCode, body } = await request(`${url}/livez`, { dispatcher: agent })
    expect([url, statusCode, await body.text()]).toEqual([url, 200, 'ok'])
  }
  await agent.close()
})

describe('web pages are kept out', () => {
  it('a page of another origin is refused even before it is known what it wants', async () => {
    const { call } = await faceForTest()
    const refused = await call('/api/v1/secrets', { headers: { origin: 'https://evil.example' } })
    expect([refused.status, refused.json.reason]).toEqual([403, 'Forbidden'])
  })

  it('a name that somebody pointed at loopback is refused', async () => {
    const { face } = await faceForTest()
    const answer = await new Promise<string>((resolve) => {
      const socket = createConnection(face.port, '127.0.0.1', () => {
        socket.write('GET /api/v1/secrets HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n')
      })
      socket.on('data', (part) => resolve(part.toString()))
    })
    expect(answer).toMatch(/^HTTP\/1\.1 403 /)
  })
})
