import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packPackage } from './pack-package.ts'

const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'cofferdam-library-'))
const project = join(folder, 'project')

const program = `import { cephFiles, type CephState, type DrainPlan, type Known, parseCeph, parseCluster, reasons } from 'cofferdam/domain'

const ceph: Known<CephState> = parseCeph(Object.fromEntries(Object.keys(cephFiles).map((file) => [file, {}])) as never)
if (ceph.known) {
  const verdict = ceph.value.mayStop([1, 2], { reserve: 1 })
  const text: string = verdict.may === 'no' ? (verdict.troubles[0]?.pg ?? '') : verdict.may
  const rounds: readonly (readonly number[])[] = ceph.value.planRounds({ maxInParallel: '10%', order: 'by-domain' }).rounds
  console.log(text, rounds)
}
const cluster = parseCluster({})
const plan: Promise<DrainPlan> | undefined = cluster.known ? cluster.value.planDrain({ intent: 'Remove' }) : undefined
console.log(plan, reasons['AppLocked'])
// @ts-expect-error a limit is a number or a percentage
if (ceph.known) ceph.value.planRounds({ maxInParallel: 'many' })
`

beforeAll(() => {
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'somewhere', private: true, type: 'module' }))
  const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts', packPackage(folder)]
  const { status, stderr } = spawnSync('npm', install, { cwd: project, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm install: ${stderr}`)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the library in a project that knows only the package', () => {
  const run = (...argv: readonly string[]) => spawnSync(process.execPath, argv, { cwd: project, encoding: 'utf8' })

  it('has types that need no sources and no other types: a project that checks its libraries compiles', () => {
    writeFileSync(join(project, 'program.ts'), program)
    const flags = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false', '--types', '']
    const modules = ['--target', 'es2022', '--lib', 'es2022,dom', '--module', 'nodenext']
    const { stdout, status } = run(join(root, 'node_modules/typescript/bin/tsc'), ...flags, ...modules, 'program.ts')
    expect({ stdout, status }).toEqual({ stdout: '', status: 0 })
  })

  it('plans rounds with the example that comes with it', () => {
    const saved = join(root, 'packages/cofferdam/src/cli/testing/ceph-files/healthy')
    const { stdout, stderr, status } = run('node_modules/cofferdam/examples/plan-rounds.mjs', saved)
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
    expect(stdout).toMatch(/^round 1: osd [\d ]+\n(round \d+: osd [\d ]+\n)+lower bound: \d+ rounds\n$/)
  })

  it('is all that can be imported: what is not promised cannot be relied on', () => {
    const { stderr, status } = run('--input-type=module', '-e', "await import('cofferdam/dist/cofferdam.js')")
    expect(status).toBe(1)
    expect(stderr).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED')
  })
})
