import { chmod, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { configMaps } from '../api/resources.ts'
import { CofferdamError } from '../errors.ts'
import type { Clock } from '../runtime/clock.ts'
import { seededRandom } from '../runtime/random.ts'
import { realClock } from '../runtime/real-clock.ts'
import type { ClusterConnection, ExecPlugin } from './cluster-connection.ts'
import { createHttpKubeApi } from './http-kube-api.ts'
import { scratchFolder } from './testing/scratch-folder.ts'
import { answerJson, answerStatus, type ScriptedServer, startScriptedServer } from './testing/scripted-server.ts'

const key = { namespace: 'ns', name: 'a' }
const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key }

/** A server that knows one token at a time. */
async function guardedServer(first: string) {
  const state = { token: first }
  const server = await startScriptedServer((request, response) => {
    if (request.headers.authorization === `Bearer ${state.token}`) answerJson(response, settings)
    else answerStatus(response, { code: 401, reason: 'Unauthorized', message: 'Unauthorized' })
  })
  return { state, server, tokens: () => server.requests.map((request) => request.headers.authorization?.slice(7)) }
}

function openApi(config: ClusterConnection, more: { readonly clock?: Clock; readonly execTimeoutMs?: number } = {}) {
  const api = createHttpKubeApi({ config, clock: realClock, random: seededRandom(1), ...more })
  onTestFinished(() => api.close())
  return api
}

describe('a token in a file', () => {
  const connect = (server: ScriptedServer, tokenFile: string, token?: string) =>
    server.connection({
      authentication: { kind: 'token', origin: 'k: tokenFile', tokenFile, ...(token === undefined ? {} : { token }) },
    })

  it('is used until the server no longer knows it, then the file is read again and the request goes through', async () => {
    const folder = await scratchFolder({ token: 'one\n' })
    const { state, server, tokens } = await guardedServer('one')
    const api = openApi(connect(server, join(folder, 'token')))
    await api.get(configMaps, key)
    await writeFile(join(folder, 'token'), 'two\n')
    await api.get(configMaps, key)
    state.token = 'two'
    await api.get(configMaps, key)
    expect(tokens()).toEqual(['one', 'one', 'one', 'two'])
  })

  it('is read again after a while without being asked to', async () => {
    let now = 0
    const folder = await scratchFolder({ token: 'one' })
    const { state, server, tokens } = await guardedServer('one')
    const clock = { ...realClock, now: () => now }
    const api = openApi(connect(server, join(folder, 'token')), { clock })
    await api.get(configMaps, key)
    await writeFile(join(folder, 'token'), 'two')
    state.token = 'two'
    now = 60_000
    await api.get(configMaps, key)
    expect(tokens()).toEqual(['one', 'two'])
  })

  it('that has vanished keeps its last value, and a 401 is then passed on after one attempt', async () => {
    const folder = await scratchFolder({ token: 'one' })
    const { state, server, tokens } = await guardedServer('one')
    const api = openApi(connect(server, join(folder, 'token')))
    await api.get(configMaps, key)
    await rm(join(folder, 'token'))
    state.token = 'two'
    await expect(api.get(configMaps, key)).rejects.toMatchObject({ reason: 'Unauthorized' })
    expect(tokens()).toEqual(['one', 'one'])
  })

  it('that was never there falls back on the token beside it', async () => {
    const folder = await scratchFolder()
    const { server, tokens } = await guardedServer('spare')
    await openApi(connect(server, join(folder, 'token'), 'spare')).get(configMaps, key)
    expect(tokens()).toEqual(['spare'])
  })

  it('that is empty is told by its path', async () => {
    const folder = await scratchFolder({ token: '\n' })
    const { server } = await guardedServer('x')
    await expect(openApi(connect(server, join(folder, 'token'))).get(configMaps, key)).rejects.toMatchObject({
      code: 'CREDENTIALS_UNAVAILABLE',
      message: `k: tokenFile: ${join(folder, 'token')} holds no token`,
    })
  })
})

it('a token that is written down is not tried twice', async () => {
  const { server, tokens } = await guardedServer('x')
  const api = openApi(server.connection({ authentication: { kind: 'token', origin: 'k', token: 'wrong' } }))
  await expect(api.get(configMaps, key)).rejects.toMatchObject({ code: 401 })
  expect(tokens()).toEqual(['wrong'])
})

describe('a credential plugin', () => {
  const v1 = 'client.authentication.k8s.io/v1'

  /** A plugin that hands out the text it finds in `answer`, and keeps a record of its runs and of what it was told. */
  async function plugin(answer: unknown, more: Partial<ExecPlugin> = {}) {
    const folder = await scratchFolder({ runs: '' })
    const [script, answerFile, runsFile] = ['plugin.mjs', 'answer', 'runs'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    await writeFile(
      script,
      `import { appendFileSync, readFileSync } from 'node:fs'
       appendFileSync(${JSON.stringify(runsFile)}, process.env.KUBERNETES_EXEC_INFO + '\\n')
       process.stdout.write(readFileSync(${JSON.stringify(answerFile)}, 'utf8'))`,
    )
    const say = (next: unknown) => writeFile(answerFile, typeof next === 'string' ? next : JSON.stringify(next))
    await say(answer)
    const authentication = {
      kind: 'exec',
      plugin: {
        apiVersion: v1,
        command: process.execPath,
        args: [script],
        environment: { PATH: process.env['PATH'] ?? '' },
        interactiveMode: 'IfAvailable',
        provideClusterInfo: false,
        ...more,
      },
    } as const
    const runs = async () => {
      const lines = (await readFile(runsFile, 'utf8')).split('\n').filter((line) => line !== '')
      return lines.map((line) => JSON.parse(line) as unknown)
    }
    return { say, runs, authentication, folder }
  }

  const credential = (status: object) => ({ kind: 'ExecCredential', apiVersion: v1, status })

  it('is asked once, however many wait, and its token is kept while it is good', async () => {
    const { server, tokens } = await guardedServer('one')
    const { runs, authentication } = await plugin(credential({ token: 'one' }))
    const api = openApi(server.connection({ authentication }))
    await Promise.all([api.get(configMaps, key), api.get(configMaps, key)])
    await api.get(configMaps, key)
    expect(tokens()).toEqual(['one', 'one', 'one'])
    expect(await runs()).toEqual([{ kind: 'ExecCredential', apiVersion: v1, spec: { interactive: false } }])
  })

  it('is asked again when its token has expired', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z')
    const { state, server, tokens } = await guardedServer('one')
    const { say, authentication } = await plugin(
      credential({ token: 'one', expirationTimestamp: '2026-01-01T01:00:00Z' }),
    )
    const api = openApi(server.connection({ authentication }), { clock: { ...realClock, now: () => now } })
    await api.get(configMaps, key)
    await say(credential({ token: 'two' }))
    state.token = 'two'
    now += 3_600_000
    await api.get(configMaps, key)
    expect(tokens()).toEqual(['one', 'two'])
  })

  it('is asked again when the server does not know its token, and only once for all who were refused', async () => {
    const { state, server } = await guardedServer('one')
    const { say, runs, authentication } = await plugin(credential({ token: 'one' }))
    const api = openApi(server.connection({ authentication }))
    await api.get(configMaps, key)
    await say(credential({ token: 'two' }))
    state.token = 'two'
    await Promise.all([api.get(configMaps, key), api.get(configMaps, key), api.get(configMaps, key)])
    expect(await runs()).toHaveLength(2)
  })

  it('has a time limit of its own: that of the request begins when the plugin is done', async () => {
    const { server } = await guardedServer('one')
    const { authentication } = await plugin(credential({ token: 'one' }))
    const timers: string[] = []
    const clock: Clock = {
      now: () => realClock.now(),
      after(delayMs, callback) {
        timers.push(`set ${delayMs}`)
        const cancel = realClock.after(delayMs, callback)
        return () => {
          timers.push(`cancel ${delayMs}`)
          cancel()
        }
      },
    }
    await openApi(server.connection({ authentication }), { clock, execTimeoutMs: 20_000 }).get(configMaps, key)
    expect(timers).toEqual(['set 20000', 'cancel 20000', 'set 30000', 'cancel 30000'])
  })

  it('that goes on handing out a bad token leaves the 401 to the caller', async () => {
    const { server, tokens } = await guardedServer('good')
    const { authentication } = await plugin(credential({ token: 'bad' }))
    const api = openApi(server.connection({ authentication }))
    await expect(api.get(configMaps, key)).rejects.toMatchObject({ reason: 'Unauthorized' })
    expect(tokens()).toEqual(['bad', 'bad'])
  })

  it('that asks for the cluster is told all about it', async () => {
    const { server } = await guardedServer('one')
    const { runs, authentication } = await plugin(credential({ token: 'one' }), {
      provideClusterInfo: true,
      clusterConfig: { audience: 'x' },
    })
    const connection = server.connection({ authentication, tlsServerName: 'api' })
    await openApi(connection).get(configMaps, key)
    expect(await runs()).toEqual([
      {
        kind: 'ExecCredential',
        apiVersion: v1,
        spec: {
          interactive: false,
          cluster: { server: server.url, 'tls-server-name': 'api', config: { audience: 'x' } },
        },
      },
    ])
  })

  const secret = 'hunter2'
  const failures: Record<
    string,
    { answer?: unknown; more?: Partial<ExecPlugin>; timeoutMs?: number; says: RegExp; hint?: RegExp }
  > = {
    'that is not installed: its own hint': {
      more: { command: 'no-such-login-program', installHint: 'get it from the shelf' },
      says: /the credential plugin no-such-login-program is not installed$/,
      hint: /^get it from the shelf$/,
    },
    'that fails: its code': { more: { args: ['-e', 'process.exit(3)'] }, says: /ended with 3$/ },
    'that hangs: the time it was given': {
      more: { args: ['-e', 'setInterval(() => {}, 1000)'] },
      timeoutMs: 50,
      says: /gave no answer within 0\.05 s$/,
    },
    'that wants a terminal where there is none': {
      more: { interactiveMode: 'Always' },
      says: /wants to ask somebody at a terminal, and there is none$/,
    },
    'that prints something else': {
      answer: `token: ${secret}`,
      says: /did not print an ExecCredential in JSON$/,
    },
    'that speaks another version': {
      answer: { ...credential({ token: secret }), apiVersion: 'client.authentication.k8s.io/v1beta1' },
      says: /answers in another version than client\.authentication\.k8s\.io\/v1$/,
    },
    'that prints no status': { answer: { kind: 'ExecCredential', apiVersion: v1 }, says: /printed no status$/ },
    'that prints half a key pair': {
      answer: credential({ clientKeyData: secret }),
      says: /printed a certificate or a key, but not both$/,
    },
    'that prints nothing of use': { answer: credential({}), says: /printed neither a token nor a certificate$/ },
    'that prints a token no header may carry': {
      answer: credential({ token: `${secret}\r\nx: y` }),
      says: /printed a token that no header may carry$/,
    },
  }
  for (const [scenario, { answer = credential({ token: 'x' }), more, timeoutMs, says, hint }] of Object.entries(
    failures,
  )) {
    it(scenario, async () => {
      const { server } = await guardedServer('one')
      const { authentication } = await plugin(answer, more)
      const api = openApi(server.connection({ authentication }), { execTimeoutMs: timeoutMs ?? 20_000 })
      const error = await api.get(configMaps, key).then(
        () => undefined,
        (reason: unknown) => reason,
      )
      expect(error).toBeInstanceOf(CofferdamError)
      const { code, message, hint: said } = error as CofferdamError
      expect(code).toBe('CREDENTIALS_UNAVAILABLE')
      expect(message).toMatch(says)
      expect(said).toMatch(hint ?? /./)
      expect(`${message} ${said}`).not.toContain(secret)
      expect(server.requests).toEqual([])
    })
  }

  it('that may not be started is told with the reason', async () => {
    const { server } = await guardedServer('one')
    const { authentication, folder } = await plugin('')
    await writeFile(join(folder, 'locked'), '')
    await chmod(join(folder, 'locked'), 0o600)
    const locked = { ...authentication, plugin: { ...authentication.plugin, command: join(folder, 'locked') } }
    await expect(openApi(server.connection({ authentication: locked })).get(configMaps, key)).rejects.toMatchObject({
      code: 'CREDENTIALS_UNAVAILABLE',
      message: expect.stringMatching(/cannot be started \(EACCES\)$/) as string,
    })
  })
})
