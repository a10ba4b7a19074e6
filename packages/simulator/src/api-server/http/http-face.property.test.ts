import { createConnection } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runsOf } from '../../../../../test/property-runs.ts'
import { faceForTest } from './testing/face.ts'

/** Sends bytes, waits for the answer or the end of the connection. */
function send(port: number, bytes: Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket = createConnection(port, '127.0.0.1', () => socket.end(bytes))
    socket.on('data', (part) => {
      text += part.toString('latin1')
      socket.destroy()
    })
    socket.on('error', () => resolve(text))
    socket.on('close', () => resolve(text))
  })
}

const segment = fc.oneof(
  fc.constantFrom(
    'api',
    'apis',
    'v1',
    'apps',
    'namespaces',
    'default',
    'pods',
    'configmaps',
    'status',
    'eviction',
    'openapi',
    'v3',
    '..',
    '%2e%2e',
    '%00',
    '__proto__',
    'constructor',
    '',
  ),
  fc.string({ maxLength: 8 }).map(encodeURIComponent),
)
const query = fc.array(
  fc.tuple(
    fc.constantFrom(
      'limit',
      'continue',
      'labelSelector',
      'fieldSelector',
      'resourceVersion',
      'dryRun',
      'fieldManager',
      'force',
      'gracePeriodSeconds',
      'timeoutSeconds',
      'pretty',
      '__proto__',
    ),
    fc.oneof(fc.constantFrom('1', '-1', 'true', 'All', 'a=b', '99999999999999999999'), fc.string({ maxLength: 10 })),
  ),
  { maxLength: 3 },
)
const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE')
const type = fc.constantFrom(
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'text/plain',
)
const accept = fc.constantFrom(
  'application/json',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/yaml',
  ';;,=',
  '*/*',
)
const hostile = fc.constantFrom(
  '{"metadata":{"name":"__proto__"}}',
  '{"__proto__":{"polluted":true},"metadata":{"name":"a"}}',
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":null}',
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":{"a":1}}}',
  '[{"op":"add","path":"/__proto__/polluted","value":true}]',
  '[{"op":"move","from":"/metadata","path":"/metadata/name"}]',
  'a: &a [*a]',
  'k8s\0\n\x02\x08\x01',
)
const body = fc.oneof(hostile, fc.json(), fc.string())

describe('whatever comes over the wire', () => {
  it('is answered with a code below 500, and the next request is served', async () => {
    const { face, call } = await faceForTest()
    const target = fc.oneof(
      fc.array(segment, { maxLength: 7 }).map((parts) => `/${parts.join('/')}`),
      fc.constantFrom(
        '/api/v1/namespaces/default/configmaps',
        '/api/v1/namespaces/default/configmaps/a',
        '/api/v1/nodes/n/status',
        '/apis/apps/v1/namespaces/default/deployments',
      ),
    )
    await fc.assert(
      fc.asyncProperty(
        target,
        query,
        method,
        type,
        accept,
        body,
        async (path, pairs, verb, contentType, wanted, sent) => {
          const hasBody = verb !== 'GET' && verb !== 'HEAD'
          const response = await fetch(`${face.url}${path}?${new URLSearchParams(pairs).toString()}`, {
            method: verb,
            headers: { accept: wanted, ...(hasBody ? { 'content-type': contentType } : {}) },
            ...(hasBody ? { body: sent } : {}),
          })
          const text = await response.text()
          expect(response.status === 504 || response.status < 500, `${response.status} ${text}`).toBe(true)
        },
      ),
      { numRuns: runsOf(300) },
    )
    expect((await call('/healthz')).text).toBe('ok')
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  it('even when it is not HTTP, ends only its own connection', async () => {
    const { face, call } = await faceForTest()
    const line = fc
      .tuple(method, fc.string({ maxLength: 20 }), fc.constantFrom('HTTP/1.1', 'HTTP/9', ''))
      .map((parts) => parts.join(' '))
    const almostHttp = fc
      .tuple(line, fc.array(fc.string({ maxLength: 20 }), { maxLength: 4 }), fc.string({ maxLength: 40 }))
      .map(([first, headers, rest]) => Buffer.from([first, ...headers, '', rest].join('\r\n'), 'latin1'))
    const noise = fc.uint8Array({ maxLength: 200 })
    await fc.assert(
      fc.asyncProperty(fc.oneof(almostHttp, noise), async (bytes) => {
        const answer = await send(face.port, bytes)
        expect(answer === '' || /^HTTP\/1\.1 [234]/.test(answer), answer).toBe(true)
      }),
      { numRuns: runsOf(200) },
    )
    expect((await call('/healthz')).text).toBe('ok')
  })
})
