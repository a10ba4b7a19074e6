import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeKubeconfig } from './kubeconfig-file.ts'

const server = 'http://127.0.0.1:7443'
let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'cofferdam-kubeconfig-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

describe('the kubeconfig of a demo', () => {
  it('is one that clients read, and that only its owner may read', async () => {
    const { path } = await writeKubeconfig(join(home, 'deep/er/kubeconfig'), server)
    const config = new KubeConfig()
    config.loadFromFile(path)
    expect(config.getCurrentCluster()?.server).toBe(server)
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('carries a token over HTTPS: without one kubectl asks for a password, and over plain HTTP it drops every token', async () => {
    const credentials = { certificateAuthority: 'pem', token: 'admin' }
    const { path } = await writeKubeconfig(join(home, 'kubeconfig'), 'https://127.0.0.1:7443', credentials)
    const config = new KubeConfig()
    config.loadFromFile(path)
    expect(config.getCurrentUser()?.token).toBe('admin')
    expect(config.getCurrentCluster()?.caData).toBe(Buffer.from('pem').toString('base64'))
  })

  it('goes with the folders that were made for it', async () => {
    const file = await writeKubeconfig(join(home, 'deep/er/kubeconfig'), server)
    await file.remove()
    expect(existsSync(join(home, 'deep'))).toBe(false)
    expect(existsSync(home)).toBe(true)
  })

  it('leaves a folder that somebody else uses by now', async () => {
    const file = await writeKubeconfig(join(home, 'deep/er/kubeconfig'), server)
    writeFileSync(join(home, 'deep/notes'), 'mine')
    await file.remove()
    expect(existsSync(join(home, 'deep/er'))).toBe(false)
    expect(readFileSync(join(home, 'deep/notes'), 'utf8')).toBe('mine')
  })

  it('leaves a folder that was there before', async () => {
    mkdirSync(join(home, 'mine'))
    const file = await writeKubeconfig(join(home, 'mine/kubeconfig'), server)
    await file.remove()
    expect(existsSync(file.path)).toBe(false)
    expect(existsSync(join(home, 'mine'))).toBe(true)
  })

  it('takes the place of one that a killed demo left, and then takes its folder away too', async () => {
    const path = join(home, '.cofferdam/kubeconfig')
    await writeKubeconfig(path, 'http://127.0.0.1:1')
    const file = await writeKubeconfig(path, server)
    expect(readFileSync(path, 'utf8')).toContain(server)
    await file.remove()
    expect(existsSync(join(home, '.cofferdam'))).toBe(false)
  })

  it('stays when another demo has written its own over it', async () => {
    const path = join(home, 'kubeconfig')
    const first = await writeKubeconfig(path, 'http://127.0.0.1:1')
    await writeKubeconfig(path, server)
    await first.remove()
    expect(readFileSync(path, 'utf8')).toContain(server)
  })

  describe('beside a demo that still runs', () => {
    let other: Server
    let otherServer: string
    beforeEach(async () => {
      other = createServer()
      await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening))
      otherServer = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    })
    afterEach(() => new Promise((closed) => other.close(closed)))

    it('is another file, and takes only that away: the first demo would be out of reach', async () => {
      const path = join(home, '.cofferdam/kubeconfig')
      const first = await writeKubeconfig(path, otherServer, { mayChoose: true })
      const second = await writeKubeconfig(path, server, { mayChoose: true })
      expect([first.path, second.path]).toEqual([path, `${path}-2`])
      expect(readFileSync(path, 'utf8')).toContain(otherServer)
      await second.remove()
      expect([existsSync(path), existsSync(`${path}-2`)]).toEqual([true, false])
      await first.remove()
      expect(existsSync(join(home, '.cofferdam'))).toBe(false)
    })

    it('is refused where its place was named, in one line that says who has it', async () => {
      const path = join(home, 'kubeconfig')
      await writeKubeconfig(path, otherServer)
      await expect(writeKubeconfig(path, server)).rejects.toMatchObject({
        code: 'USAGE',
        message: `${path} is there already and belongs to another demo, which runs at ${otherServer}; it stays as it is`,
      })
      expect(readFileSync(path, 'utf8')).toContain(otherServer)
    })

    it('takes the place of a killed one whose port it has, though that port answers', async () => {
      const path = join(home, 'kubeconfig')
      await writeKubeconfig(path, otherServer)
      expect((await writeKubeconfig(path, otherServer)).path).toBe(path)
    })
  })

  it('is another file where one of yours is in the place that was not named', async () => {
    const path = join(home, '.cofferdam/kubeconfig')
    mkdirSync(join(home, '.cofferdam'))
    writeFileSync(path, 'mine')
    const file = await writeKubeconfig(path, server, { mayChoose: true })
    await file.remove()
    expect([file.path, readFileSync(path, 'utf8')]).toEqual([`${path}-2`, 'mine'])
  })

  it('never overwrites a kubeconfig of yours', async () => {
    const path = join(home, 'config')
    writeFileSync(path, 'apiVersion: v1\nkind: Config\n')
    await expect(writeKubeconfig(path, server)).rejects.toMatchObject({
      code: 'USAGE',
      hint: 'choose another place with --kubeconfig-out',
    })
    expect(readFileSync(path, 'utf8')).toBe('apiVersion: v1\nkind: Config\n')
  })

  it('says so when it cannot be written', async () => {
    writeFileSync(join(home, 'file'), '')
    await expect(writeKubeconfig(join(home, 'file/kubeconfig'), server)).rejects.toMatchObject({
      code: expect.stringMatching(/^FILE_UN(READ|WRIT)ABLE$/),
      hint: 'choose another place with --kubeconfig-out',
    })
  })
})
