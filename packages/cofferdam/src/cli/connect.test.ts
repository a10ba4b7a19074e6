import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Script, startScriptedServer } from '@cofferdam/kubernetes/client/testing/scripted-server.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connect } from './connect.ts'

const kubeconfig = {
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'here',
  contexts: [{ name: 'here', context: { cluster: 'here', user: 'ann' } }],
  clusters: [{ name: 'here', cluster: { server: 'http://127.0.0.1:1' } }],
  users: [{ name: 'ann', user: {} }],
}

let folder: string
let file: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cofferdam-connect-'))
  file = join(folder, 'kubeconfig')
  await writeFile(file, JSON.stringify(kubeconfig))
})
afterEach(() => rm(folder, { recursive: true }))

describe('impersonation, as with kubectl', () => {
  it('--as and --as-group are whom every request acts as: rights would be checked against another user', async () => {
    const link = await connect({ kubeconfig: file, output: 'text', as: 'bob', asGroup: ['admins', 'staff'] })
    expect(link.connection?.impersonation).toEqual({ user: 'bob', groups: ['admins', 'staff'], extra: {} })
    await link.close()
  })

  it('without --as nobody is impersonated', async () => {
    const link = await connect({ kubeconfig: file, output: 'text' })
    expect(link.connection?.impersonation).toBeUndefined()
    await link.close()
  })

  it('a group without a user is wrong usage', async () => {
    await expect(connect({ kubeconfig: file, output: 'text', asGroup: ['admins'] })).rejects.toMatchObject({
      code: 'USAGE',
    })
  })
})

describe('what answers at the address', () => {
  const json =
    (code: number, body: object): Script =>
    (_request, response) =>
      response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body))

  async function askVersion(script: Script) {
    const { url } = await startScriptedServer(script)
    const clusters = [{ name: 'here', cluster: { server: url } }]
    await writeFile(file, JSON.stringify({ ...kubeconfig, clusters }))
    const link = await connect({ kubeconfig: file, output: 'text' })
    try {
      return await link.serverVersion?.(new AbortController().signal)
    } finally {
      await link.close()
    }
  }

  it('says which version of Kubernetes it is', async () => {
    expect(await askVersion(json(200, { gitVersion: 'v1.33.1' }))).toBe('v1.33.1')
  })

  it('may keep its version to itself: it is Kubernetes all the same', async () => {
    expect(await askVersion(json(403, { kind: 'Status', reason: 'Forbidden', code: 403 }))).toBeUndefined()
  })

  const wrong: Record<string, Script> = {
    'without /version is another program, and not an empty cluster': (_request, response) =>
      response.writeHead(404).end('404 page not found'),
    'with a /version of its own is another program': json(200, { version: '2.54.0', branch: 'HEAD' }),
  }
  it.each(Object.entries(wrong))('%s', async (_name, script) => {
    await expect(askVersion(script)).rejects.toMatchObject({ code: 'NOT_KUBERNETES' })
  })
})

it('--request-timeout bounds one request: a server that never answers does not keep a script waiting', async () => {
  const { url } = await startScriptedServer(() => undefined)
  await writeFile(file, JSON.stringify({ ...kubeconfig, clusters: [{ name: 'here', cluster: { server: url } }] }))
  const link = await connect({ kubeconfig: file, output: 'text', requestTimeout: 20 })
  await expect(link.serverVersion?.(new AbortController().signal)).rejects.toThrow('no whole answer within 0.02 s')
  await link.close()
})
