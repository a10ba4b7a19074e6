import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { dump } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { CofferdamError } from '../errors.ts'
import { loadKubeconfig, parseKubeconfig } from './kubeconfig.ts'
import { scratchFolder } from './testing/scratch-folder.ts'

const pem = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
const data = Buffer.from(pem).toString('base64')
/** Stands in for every secret; no message may ever contain it. */
const secret = 'Zm9yLW1lLW9ubHk'

interface Parts {
  readonly cluster?: object
  readonly user?: object
  readonly context?: object
  readonly more?: object
}

/** A kubeconfig with one of each, changed in the parts that a story is about. */
function config({
  cluster = { server: 'https://10.0.0.1:6443' },
  user = { token: secret },
  context,
  more,
}: Parts = {}) {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'main',
    clusters: [{ name: 'prod', cluster }],
    users: [{ name: 'alice', user }],
    contexts: [{ name: 'main', context: context ?? { cluster: 'prod', user: 'alice' } }],
    ...more,
  }
}

async function load(parts: Parts, options: { readonly context?: string; readonly env?: Record<string, string> } = {}) {
  const folder = await scratchFolder({ config: dump(config(parts)), 'pki/ca.crt': pem, 'pki/key.pem': pem, token: 't' })
  const path = join(folder, 'config')
  return { folder, path, connection: await loadKubeconfig({ path, env: {}, ...options }) }
}

async function failure(work: () => unknown): Promise<CofferdamError> {
  try {
    await work()
  } catch (error) {
    if (error instanceof CofferdamError) return error
    throw error
  }
  throw new Error('it should have failed')
}

describe('a kubeconfig that can be used', () => {
  it('a context gives the server, the token and the default namespace', async () => {
    const { path, connection } = await load({})
    expect(connection).toEqual({
      source: path,
      context: 'main',
      namespace: 'default',
      server: 'https://10.0.0.1:6443',
      insecureSkipTlsVerify: false,
      authentication: { kind: 'token', origin: `${path}: users[alice].tokenFile`, token: secret },
    })
  })

  it('relative paths are meant from the folder of the file', async () => {
    const { folder, path, connection } = await load({
      cluster: { server: 'https://h:1/prefix/', 'certificate-authority': 'pki/ca.crt', 'tls-server-name': 'api' },
      user: { 'client-certificate': 'pki/ca.crt', 'client-key': join('pki', 'key.pem') },
      context: { cluster: 'prod', user: 'alice', namespace: 'team-a' },
    })
    expect(connection).toEqual({
      source: path,
      context: 'main',
      namespace: 'team-a',
      server: 'https://h:1/prefix',
      insecureSkipTlsVerify: false,
      tlsServerName: 'api',
      certificateAuthority: {
        path: join(folder, 'pki/ca.crt'),
        origin: `${path}: clusters[prod].certificate-authority`,
      },
      clientCertificate: {
        certificate: { path: join(folder, 'pki/ca.crt'), origin: `${path}: users[alice].client-certificate` },
        key: { path: join(folder, 'pki/key.pem'), origin: `${path}: users[alice].client-key` },
      },
      authentication: { kind: 'none' },
    })
  })

  it('data written into the file goes before a file named beside it', async () => {
    const { path, connection } = await load({
      cluster: { server: 'http://h', 'certificate-authority': 'not/there', 'certificate-authority-data': data },
    })
    expect(connection.certificateAuthority).toEqual({
      text: pem,
      origin: `${path}: clusters[prod].certificate-authority-data`,
    })
  })

  it('a user and password, an impersonated user and a proxy are all kept', async () => {
    const { connection } = await load({
      cluster: { server: 'https://h', 'proxy-url': 'http://proxy:3128', 'insecure-skip-tls-verify': true },
      user: {
        username: 'u',
        password: secret,
        as: 'bob',
        'as-uid': '7',
        'as-groups': ['admins'],
        'as-user-extra': { scope: ['a', 'b'] },
      },
    })
    expect(connection).toMatchObject({
      insecureSkipTlsVerify: true,
      proxyUrl: 'http://proxy:3128',
      authentication: { kind: 'basic', username: 'u', password: secret },
      impersonation: { user: 'bob', uid: '7', groups: ['admins'], extra: { scope: ['a', 'b'] } },
    })
  })

  it('a plugin gets its arguments, its variables on top of ours, and what the cluster entry holds for it', async () => {
    const { folder, connection } = await load(
      {
        cluster: {
          server: 'https://h',
          extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'x' } }],
        },
        user: {
          exec: {
            apiVersion: 'client.authentication.k8s.io/v1beta1',
            command: './bin/login',
            args: ['--quiet'],
            env: [{ name: 'REGION', value: 'north' }],
            installHint: 'get it from the shelf',
            provideClusterInfo: true,
          },
        },
      },
      { env: { PATH: '/bin', REGION: 'south' } },
    )
    expect(connection.authentication).toEqual({
      kind: 'exec',
      plugin: {
        apiVersion: 'client.authentication.k8s.io/v1beta1',
        command: join(folder, 'bin/login'),
        args: ['--quiet'],
        environment: { PATH: '/bin', REGION: 'north' },
        installHint: 'get it from the shelf',
        interactiveMode: 'IfAvailable',
        provideClusterInfo: true,
        clusterConfig: { audience: 'x' },
      },
    })
  })

  it('null counts as absent, as kubectl writes it for empty lists', async () => {
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'login',
      args: null,
      env: null,
      interactiveMode: 'Never',
    }
    const { connection } = await load({ user: { exec, token: null } })
    expect(connection.authentication).toMatchObject({ kind: 'exec', plugin: { command: 'login', args: [] } })
  })

  it('--context chooses another context than the current one', async () => {
    const contexts = ['main', 'other'].map((name) => ({
      name,
      context: { cluster: 'prod', user: 'alice', namespace: name },
    }))
    const { connection } = await load({ more: { contexts } }, { context: 'other' })
    expect(connection).toMatchObject({ context: 'other', namespace: 'other' })
  })

  it('an entry nobody asks for may be as broken as it likes', async () => {
    const users = [
      { name: 'alice', user: { token: secret } },
      { name: 'old', user: { 'auth-provider': { name: 'gcp' }, token: 5 } },
    ]
    const { connection } = await load({ more: { users } })
    expect(connection.context).toBe('main')
  })
})

describe('where the configuration is found', () => {
  it('of several files in KUBECONFIG the first to name a thing wins, and missing files are passed over', async () => {
    const folder = await scratchFolder({
      one: dump({ clusters: [{ name: 'prod', cluster: { server: 'https://one' } }] }),
      two: dump(config({ cluster: { server: 'https://two', 'certificate-authority': 'ca' } })),
    })
    const KUBECONFIG = [join(folder, 'missing'), join(folder, 'one'), join(folder, 'two')].join(':')
    const connection = await loadKubeconfig({ env: { KUBECONFIG } })
    expect(connection).toMatchObject({ server: 'https://one', context: 'main' })
    expect(connection.certificateAuthority).toBeUndefined()
  })

  it('~/.kube/config is read when nothing else is said', async () => {
    const HOME = await scratchFolder({ '.kube/config': dump(config()) })
    expect(await loadKubeconfig({ env: { HOME } })).toMatchObject({ source: join(HOME, '.kube/config') })
  })

  it('inside a pod without a kubeconfig the service account is used', async () => {
    const folder = await scratchFolder({ token: secret, 'ca.crt': pem, namespace: 'storage\n' })
    const env = { HOME: folder, KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }
    expect(await loadKubeconfig({ env, serviceAccountFolder: folder })).toEqual({
      source: 'the service account of this pod',
      namespace: 'storage',
      server: 'https://[fd00::1]:443',
      insecureSkipTlsVerify: false,
      certificateAuthority: { path: join(folder, 'ca.crt'), origin: 'the service account of this pod: ca.crt' },
      authentication: {
        kind: 'token',
        origin: 'the service account of this pod: token',
        tokenFile: join(folder, 'token'),
      },
    })
  })

  it('a pod without a mounted token is told how to get one', async () => {
    const folder = await scratchFolder({ 'ca.crt': pem })
    const env = { HOME: folder, KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }
    const error = await failure(() => loadKubeconfig({ env, serviceAccountFolder: folder }))
    expect({ code: error.code, message: error.message }).toEqual({
      code: 'CREDENTIALS_UNAVAILABLE',
      message: `the service account of this pod has no token: ${join(folder, 'token')} does not exist`,
    })
    expect(error.hint).toContain('automountServiceAccountToken')
  })

  it('nothing anywhere is an error that names the places and the way out', async () => {
    const HOME = await scratchFolder()
    const error = await failure(() => loadKubeconfig({ env: { HOME } }))
    expect({ code: error.code, message: error.message }).toEqual({
      code: 'FILE_UNREADABLE',
      message: `there is no kubeconfig: looked for ${join(HOME, '.kube/config')}`,
    })
    expect(error.hint).toContain('--kubeconfig')
  })

  it('a file named by --kubeconfig must be there, even inside a pod', async () => {
    const folder = await scratchFolder()
    const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }
    const error = await failure(() => loadKubeconfig({ path: join(folder, 'nope'), env }))
    expect(error).toMatchObject({
      code: 'FILE_UNREADABLE',
      message: `the kubeconfig: ${join(folder, 'nope')} does not exist`,
    })
  })

  it('a folder in place of the file is named as one', async () => {
    const folder = await scratchFolder()
    await mkdir(join(folder, 'config'))
    const error = await failure(() => loadKubeconfig({ path: join(folder, 'config'), env: {} }))
    expect(error.message).toBe(`the kubeconfig: ${join(folder, 'config')} is a folder`)
  })
})

describe('a kubeconfig that cannot be used is refused with its field, without its secrets', () => {
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'login', interactiveMode: 'Never' }
  const cases: Record<string, { readonly given: Parts; readonly says: string }> = {
    'a list where the whole should be a mapping': {
      given: { more: { clusters: 'prod' } },
      says: 'clusters must be a list',
    },
    'another kind of file': { given: { more: { kind: 'Pod' } }, says: 'kind is not Config' },
    'an entry without a name': { given: { more: { users: [{ user: {} }] } }, says: 'users[0].name is missing' },
    'an entry that is no mapping': {
      given: { more: { users: ['alice'] } },
      says: 'users[0] must be a mapping of fields',
    },
    'a name that is there twice': {
      given: { more: { users: [{ name: 'alice' }, { name: 'alice' }] } },
      says: 'users[alice] is there twice',
    },
    'no current context': { given: { more: { 'current-context': '' } }, says: 'current-context is not set' },
    'a current context that is not there': {
      given: { more: { 'current-context': 'gone' } },
      says: 'current-context names "gone", which is not there',
    },
    'a context without a cluster': {
      given: { context: { user: 'alice' } },
      says: 'contexts[main].cluster is missing',
    },
    'a context with an unknown user': {
      given: { context: { cluster: 'prod', user: 'bob' } },
      says: 'contexts[main].user names "bob", which is not there',
    },
    'a namespace that no namespace can have': {
      given: { context: { cluster: 'prod', user: 'alice', namespace: 'Team A' } },
      says: 'contexts[main].namespace is not a namespace name',
    },
    'a cluster without a server': { given: { cluster: {} }, says: 'clusters[prod].server is missing' },
    'a server without a scheme': {
      given: { cluster: { server: 'localhost:6443' } },
      says: 'clusters[prod].server is not an http or https address',
    },
    'a server with a password in it': {
      given: { cluster: { server: `https://u:${secret}@h` } },
      says: 'clusters[prod].server holds a user name or password',
    },
    'a certificate authority that is not base64': {
      given: { cluster: { server: 'https://h', 'certificate-authority-data': `${secret}!` } },
      says: 'clusters[prod].certificate-authority-data is not base64',
    },
    'a certificate authority that is base64 of something else': {
      given: { cluster: { server: 'https://h', 'certificate-authority-data': 'aGVsbG8=' } },
      says: 'clusters[prod].certificate-authority-data is base64, but not of a PEM file',
    },
    'trusting anybody beside a certificate authority': {
      given: {
        cluster: { server: 'https://h', 'certificate-authority-data': data, 'insecure-skip-tls-verify': true },
      },
      says: 'clusters[prod].insecure-skip-tls-verify cannot be true beside a certificate-authority',
    },
    'a flag in quotes': {
      given: { cluster: { server: 'https://h', 'insecure-skip-tls-verify': 'yes' } },
      says: 'clusters[prod].insecure-skip-tls-verify must be true or false',
    },
    'a SOCKS proxy': {
      given: { cluster: { server: 'https://h', 'proxy-url': 'socks5://h:1' } },
      says: 'clusters[prod].proxy-url asks for a SOCKS proxy, which is not supported',
    },
    'a token that YAML takes for a number': {
      given: { user: { token: 12345 } },
      says: 'users[alice].token must be text',
    },
    'a token with a line end in it': {
      given: { user: { token: `${secret}\n${secret}` } },
      says: 'users[alice].token holds spaces, line ends or letters that no header may carry',
    },
    'two ways to log in': {
      given: { user: { token: secret, username: 'u' } },
      says: 'users[alice].token is there beside a username or password',
    },
    'a password without a user': {
      given: { user: { password: secret } },
      says: 'users[alice].username is missing beside a password',
    },
    'a client certificate without its key': {
      given: { user: { 'client-certificate-data': data } },
      says: 'users[alice].client-key is missing beside a client-certificate',
    },
    'a client key without its certificate': {
      given: { user: { 'client-key-data': data } },
      says: 'users[alice].client-certificate is missing beside a client-key',
    },
    'a login that Kubernetes removed': {
      given: { user: { 'auth-provider': { name: 'gcp' } } },
      says: 'users[alice].auth-provider is a way to log in that Kubernetes removed in 1.26',
    },
    'groups to act as without a user': {
      given: { user: { 'as-groups': ['x'] } },
      says: 'users[alice].as is missing, but as-uid, as-groups or as-user-extra is there',
    },
    'a plugin without a command': {
      given: { user: { exec: { ...exec, command: '' } } },
      says: 'users[alice].exec.command is missing',
    },
    'a plugin without a version': {
      given: { user: { exec: { ...exec, apiVersion: null } } },
      says: 'users[alice].exec.apiVersion is missing',
    },
    'a plugin of a version long gone': {
      given: { user: { exec: { ...exec, apiVersion: 'client.authentication.k8s.io/v1alpha1' } } },
      says: 'users[alice].exec.apiVersion must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1',
    },
    'a plugin that does not say whether it asks': {
      given: { user: { exec: { ...exec, interactiveMode: undefined } } },
      says: 'users[alice].exec.interactiveMode must be Never, IfAvailable, Always',
    },
    'a plugin with numbers as arguments': {
      given: { user: { exec: { ...exec, args: [1] } } },
      says: 'users[alice].exec.args must be a list of texts',
    },
    'a plugin variable without a name': {
      given: { user: { exec: { ...exec, env: [{ value: secret }] } } },
      says: 'users[alice].exec.env[0].name is missing',
    },
  }

  for (const [story, { given, says }] of Object.entries(cases)) {
    it(story, async () => {
      const folder = await scratchFolder({ config: dump(config(given), { skipInvalid: true }) })
      const path = join(folder, 'config')
      const error = await failure(() => loadKubeconfig({ path, env: {} }))
      expect({ code: error.code, message: error.message }).toEqual({
        code: 'KUBECONFIG_INVALID',
        message: `${path}: ${says}`,
      })
      expect(error.hint).toBeTruthy()
      expect(JSON.stringify([error.message, error.hint, error.facts])).not.toContain(secret)
    })
  }

  it('a context asked for that is not there: the ones that are', async () => {
    const error = await failure(() => load({}, { context: 'gone' }))
    expect(error.message).toMatch(/: contexts has no entry "gone"$/)
    expect(error.hint).toBe('pass --context NAME; there is main')
  })

  it('broken YAML: the line, and not what is on it', async () => {
    const error = await failure(() =>
      parseKubeconfig(`users:\n- name: a\n  user:\n    token: "${secret}\n`, { path: '/k' }),
    )
    expect(error.code).toBe('KUBECONFIG_INVALID')
    expect(error.message).toMatch(/^\/k: line \d+ is not YAML: /)
    expect(JSON.stringify([error.message, error.hint, error.facts])).not.toContain(secret)
  })

  it('an alias to nothing: the line, and not its name', async () => {
    const error = await failure(() => parseKubeconfig(`a: *${secret}\n`, { path: '/k' }))
    expect(error.message).not.toContain(secret)
  })

  it('a text in place of the file: the whole file', async () => {
    const error = await failure(() => parseKubeconfig('hello', { path: '/k' }))
    expect(error.message).toBe('/k: the whole file must be a mapping of fields')
  })

  it('an empty file has no contexts, and that is what it says', async () => {
    const folder = await scratchFolder({ config: '' })
    const error = await failure(() => loadKubeconfig({ path: join(folder, 'config'), env: {} }))
    expect(error).toMatchObject({ code: 'KUBECONFIG_INVALID', hint: 'pass --context NAME; there is none yet' })
  })

  const missing: Record<string, Parts> = {
    'clusters[prod].certificate-authority': { cluster: { server: 'https://h', 'certificate-authority': 'nope' } },
    'users[alice].client-certificate': { user: { 'client-certificate': 'nope', 'client-key-data': data } },
    'users[alice].client-key': { user: { 'client-certificate-data': data, 'client-key': 'nope' } },
    'users[alice].tokenFile': { user: { tokenFile: 'nope' } },
  }
  for (const [field, parts] of Object.entries(missing)) {
    it(`a file that is not there is told by its field: ${field}`, async () => {
      const folder = await scratchFolder()
      const path = join(folder, 'config')
      await writeFile(path, dump(config(parts)))
      const error = await failure(() => loadKubeconfig({ path, env: {} }))
      expect({ code: error.code, message: error.message }).toEqual({
        code: 'FILE_UNREADABLE',
        message: `${path}: ${field}: ${join(folder, 'nope')} does not exist`,
      })
    })
  }
})
