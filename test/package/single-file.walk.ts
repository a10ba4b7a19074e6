import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type InstalledPackage, useProgram } from './installed-package.ts'

const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'cofferdam-single-'))
const home = join(folder, 'home')
const built = join(folder, 'cofferdam.mjs')
const mostBytes = 8 * 2 ** 20

beforeAll(() => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/single-file.mjs', built], {
    cwd: root,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`single-file: ${stderr}`)
  mkdirSync(home)
  copyFileSync(built, join(home, 'cofferdam.mjs'))
  // As krew links it.
  symlinkSync('cofferdam.mjs', join(home, 'kubectl-cofferdam'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the one file, alone in a folder', () => {
  let program: InstalledPackage
  beforeAll(async () => {
    program = useProgram([join(home, 'kubectl-cofferdam')], home)
    await program.startDemo()
  })
  afterAll(() => program?.end())

  it('is small enough to be fetched by every user of kubectl', () => {
    expect(statSync(built).size).toBeLessThan(mostBytes)
  })

  it('knows its version, and leaves nothing on the disk for it', () => {
    const before = readdirSync(home).length
    expect(program.run('version', '--client')).toEqual({
      code: 0,
      text: expect.stringMatching(/^Client +\d+\.\d+\.\d+/),
    })
    expect(readdirSync(home).length).toBe(before)
  })

  it('has a demo with its clusters in it, and answers about it', () => {
    expect(program.run('status')).toEqual({ code: 0, text: expect.stringContaining('9 nodes, 60 pods') })
    expect(program.run('explain', 'worker-a1').text).toMatch(/^node\/worker-a1 {2}free/m)
  })

  it('names commands as the user has to type them', () => {
    expect(program.run('explain', 'worker-z9')).toMatchObject({ code: 1 })
    expect(program.run('--help').text).toContain('kubectl cofferdam explain')
  })

  it('ends with Ctrl-C, and takes what it had unpacked with it', async () => {
    expect(await program.end()).toEqual({ exitCode: 0, leavesKubeconfig: false })
    expect(readdirSync(home).filter((name) => name.startsWith('cofferdam-'))).toEqual([])
  })
})
