import { Writable } from 'node:stream'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { createPodExec } from '@cofferdam/kubernetes/client/exec-in-pod.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { KubeConfig, Exec as OfficialExec, type V1Status } from '@kubernetes/client-node'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Exec, ExecRequest } from './exec-route.ts'
import { faceForTest, podNamed, podsPath } from './testing/face.ts'

const echo: Exec =
  ({ argv }) =>
  async () => ({ code: 0, out: argv.join(' '), err: '' })
const upgrade = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
}

async function open(exec: Exec, { phase = 'Running' }: { phase?: string } = {}) {
  const fixture = await faceForTest({ exec })
  await fixture.api.create(pods, podNamed('web-1', { nodeName: 'node-1' }))
  const status = { type: 'merge', body: { status: { phase } } } as const
  await fixture.api.patch(pods, { namespace: 'default', name: 'web-1' }, status, { subresource: 'status' })
  const pod = createPodExec({
    connection: {
      source: 'a test',
      namespace: 'default',
      server: fixture.face.url,
      insecureSkipTlsVerify: false,
      authentication: { kind: 'none' },
    },
    clock: realClock,
  })
  onTestFinished(() => pod.close())
  const run = (argv: readonly string[], { name = 'web-1', signal = new AbortController().signal } = {}) =>
    pod.exec({ namespace: 'default', pod: name }, argv, { signal, maxBytes: 10_000_000 })
  return { ...fixture, run }
}

/** What the server says to a handshake that it refuses. */
async function refusal(url: string, path: string, headers: Record<string, string> = {}) {
  const { request } = await import('node:http')
  return new Promise<{ code: number | undefined; message: string }>((resolve, reject) => {
    const asked = request(`${url}${path}`, { headers: { ...upgrade, ...headers } })
    asked.on('error', reject)
    asked.on('upgrade', (_, socket) => {
      socket.destroy()
      reject(new Error('it opened a stream'))
    })
    asked.on('response', (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => resolve({ code: response.statusCode, message: JSON.parse(text).message as string }))
    })
    asked.end()
  })
}

describe('a command in a container of the embedded cluster', () => {
  it('gets its words as they are, and gives back what it prints, however long', async () => {
    const seen: ExecRequest[] = []
    const long = 'ü'.repeat(200_000)
    const { run } = await open((request) => async () => {
      seen.push(request)
      return { code: 0, out: long, err: 'note\n' }
    })
    expect(await run(['ceph', 'osd dump', '; rm -rf &'])).toEqual({ code: 0, out: long, err: 'note\n' })
    expect(seen.map(({ pod, container, argv }) => [pod.metadata.name, container, argv])).toEqual([
      ['web-1', 'web', ['ceph', 'osd dump', '; rm -rf &']],
    ])
  })

  it('brings its exit code, and a fault of whoever runs it is no exit code', async () => {
    const { run } = await open(({ argv }) => async () => {
      if (argv[0] === 'boom') throw new Error('out of order')
      return { code: 16, out: 'busy', err: 'no' }
    })
    expect(await run(['x'])).toEqual({ code: 16, out: 'busy', err: 'no' })
    await expect(run(['boom'])).rejects.toThrow('out of order')
  })

  it('works with the official client', async () => {
    const { face } = await open(({ argv }) => async () => ({ code: 3, out: argv.join(' '), err: '' }))
    const config = new KubeConfig()
    config.loadFromOptions({
      clusters: [{ name: 'c', server: face.url, skipTLSVerify: true }],
      users: [{ name: 'u' }],
      contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
      currentContext: 'x',
    })
    let printed = ''
    const out = new Writable({
      write(chunk: Buffer, _, done) {
        printed += chunk.toString()
        done()
      },
    })
    const status = await new Promise<V1Status>((resolve, reject) => {
      new OfficialExec(config)
        .exec('default', 'web-1', 'web', ['a', 'b'], out, null, null, false, resolve)
        .catch(reject)
    })
    expect([printed, status.reason, status.details?.causes?.[0]?.message]).toEqual(['a b', 'NonZeroExitCode', '3'])
  })

  it('is told when its caller leaves', async () => {
    const leaving = new AbortController()
    let told: (() => void) | undefined
    const left = new Promise<void>((resolve) => (told = resolve))
    const { run } = await open(() => (signal) => {
      signal.addEventListener('abort', () => told?.())
      setImmediate(() => leaving.abort())
      return new Promise(() => {})
    })
    await expect(run(['sleep'], { signal: leaving.signal })).rejects.toThrow('the caller gave up')
    await left
  })

  it('does not hold up a server that closes', async () => {
    let began: (() => void) | undefined
    const running = new Promise<void>((resolve) => (began = resolve))
    const { run, face } = await open(() => () => {
      began?.()
      return new Promise(() => {})
    })
    const ended = expect(run(['sleep'])).rejects.toThrow()
    await running
    await face.close()
    await ended
  })
})

describe('a command that is refused before anything runs', () => {
  const path = (pod: string, query = 'command=x') => `${podsPath}/${pod}/exec?${query}`
  const protocol = { 'sec-websocket-protocol': 'v5.channel.k8s.io' }

  it.each([
    { what: 'the pod is not there', at: path('gone'), code: 404, says: 'pods "gone" not found' },
    {
      what: 'the pod has no such container',
      at: path('web-1', 'command=x&container=db'),
      code: 400,
      says: 'container db is not valid for pod web-1',
    },
    { what: 'no command is given', at: path('web-1', ''), code: 400, says: 'you must specify at least 1 command' },
    { what: 'the path is no exec', at: podsPath, code: 404, says: 'could not find the requested resource' },
    {
      what: 'a web page of elsewhere asks',
      at: path('web-1'),
      with: { origin: 'http://evil.example' },
      code: 403,
      says: 'web pages',
    },
    {
      what: 'the token is not known',
      at: path('web-1'),
      with: { authorization: 'Bearer odd' },
      code: 401,
      says: 'Unauthorized',
    },
    {
      what: 'the user has no right to it',
      at: path('web-1'),
      as: 'reader',
      code: 403,
      says: 'User "system:serviceaccount:default:reader" cannot get resource "pods/exec" in API group "" in the namespace "default"',
    },
    {
      what: 'the stream speaks no protocol that is known',
      at: path('web-1'),
      with: { 'sec-websocket-protocol': 'chat' },
      code: 400,
      says: 'v5.channel.k8s.io or v4.channel.k8s.io',
    },
  ])('because $what', async ({ at, with: more = {}, as, code, says }) => {
    const { face, tokenOf } = await open(echo)
    const user = as === undefined ? {} : { authorization: `Bearer ${await tokenOf(as)}` }
    const refused = await refusal(face.url, at, { ...protocol, ...user, ...more })
    expect(refused).toEqual({ code, message: expect.stringContaining(says) })
  })

  it('because nothing stands behind its container, or the pod does not run', async () => {
    const simulated = await open(() => undefined)
    const pending = await open(echo, { phase: 'Pending' })
    const older = { upgrade: 'SPDY/3.1' }
    expect((await refusal(simulated.face.url, path('web-1'), protocol)).message).toContain('is simulated')
    expect((await refusal(simulated.face.url, path('web-1'), older)).message).toContain('is simulated')
    expect((await refusal(pending.face.url, path('web-1'), protocol)).message).toContain('it is Pending')
  })
})
