import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type InstalledPackage, installPackage } from './installed-package.ts'
import { packPackage } from './pack-package.ts'

/** With commas, as in 22.23.3; without it the one that runs this. */
const releases = (process.env['COFFERDAM_NODES'] ?? 'own').split(',')
const folder = mkdtempSync(join(tmpdir(), 'cofferdam-package-'))
let packed: string

beforeAll(() => {
  packed = packPackage(folder)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(releases)('the package on a machine without the sources, Node.js %s', (release) => {
  let installed: InstalledPackage
  beforeAll(async () => {
    installed = installPackage(packed, { folder: join(folder, release), release })
    await installed.startDemo()
  })
  afterAll(() => installed?.end())

  const answers: Readonly<Record<string, { readonly argv: readonly string[]; readonly says: RegExp; code?: number }>> =
    {
      'has a demo whose nodes are all there': { argv: ['status'], says: /9 nodes, 60 pods/ },
      'explains a node': { argv: ['explain', 'worker-a1'], says: /^node\/worker-a1 {2}free/m },
      'plans the drains of all nodes': { argv: ['plan', 'drain', '--all'], says: /wave 1/ },
      'drains a node, and says when it is drained': {
        argv: ['drain', 'worker-a1', '--timeout', '10m'],
        says: /worker-a1.* drained/i,
      },
      'says in one line what is not there': { argv: ['explain', 'no/other'], says: /^error: .*other/m, code: 1 },
    }
  for (const [says, { argv, says: expected, code = 0 }] of Object.entries(answers)) {
    it(says, () => {
      const answer = installed.run(...argv)
      expect(answer.text).toMatch(expected)
      expect(answer.code).toBe(code)
    })
  }

  it('ends with Ctrl-C and leaves nothing behind', async () => {
    expect(await installed.end()).toEqual({ exitCode: 0, leavesKubeconfig: false })
  })
})
