import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { dump } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { loadKubeconfig } from './load-kubeconfig.ts'
import { config, data, failure, load, pem, secret } from './testing/sample-kubeconfig.ts'
import { scratchFolder } from './testing/scratch-folder.ts'

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
