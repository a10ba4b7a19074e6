import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
