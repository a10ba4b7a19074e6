import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { dump } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { parseKubeconfig } from './kubeconfig.ts'
import { loadKubeconfig } from './load-kubeconfig.ts'
import { config, data, failure, load, type Parts, secret } from './testing/sample-kubeconfig.ts'
import { scratchFolder } from './testing/scratch-folder.ts'

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

  for (const [scenario, { given, says }] of Object.entries(cases)) {
    it(scenario, async () => {
      const folder = await scratchFolder({ config: dump(config(given), { skipInvalid: true }) })
      const path = join(folder, 'config')
      const error = await failure(() => loadKubeconfig({ path, env: {} }))
      expect({ code: error.code, message: error.message }).toEqual({
        code: 'KUBECONFIG_INVALID',
        message: `${path}: ${says}`,
      })
      expect(error.hint).toMatch(/\w{3}/)
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
