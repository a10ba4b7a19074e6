import { existsSync } from 'node:fs'
import { appendFile, cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { rookPrograms, rookVersion, sourcesOf } from './build-rook.ts'
import { needsRook } from './find-rook.ts'

const module = fileURLToPath(new URL('./rook', import.meta.url))

describe("building Rook's own code", () => {
  it('every program has its source, and the version is that of the module', () => {
    for (const program of rookPrograms) expect(existsSync(join(module, program, 'main.go')), program).toBe(true)
    expect(rookVersion).toMatch(/^\d+\.\d+\.\d+$/)
  })

  it('a change of any source gives another place in the cache, so that no program of an older checkout is run', async () => {
    const copy = await mkdtemp(join(tmpdir(), 'rook-'))
    try {
      await cp(module, copy, { recursive: true })
      const before = sourcesOf(copy)
      expect(before).toBe(sourcesOf())
      await appendFile(join(copy, 'rook-osd-loop', 'main.go'), '// changed\n')
      expect(sourcesOf(copy)).not.toBe(before)
    } finally {
      await rm(copy, { recursive: true })
    }
  })

  const suites = ['ceph-drain.lab.ts', 'rook-drains.lab.ts', 'lab.ts']
  const choices: Readonly<Record<string, readonly [readonly string[], boolean]>> = {
    'all suites run, so Rook is built': [[], true],
    'a suite without Rook is named, and nobody waits for Go': [['ceph-drain'], false],
    'a suite with Rook is named by part of its name': [['rook'], true],
    'one of several named suites has Rook': [['ceph-drain', 'rook-drains'], true],
    'a suite is named by its path': [['test/lab/rook-drains.lab.ts'], true],
  }
  it.each(Object.entries(choices))('%s', (_, [chosen, needed]) => {
    expect(needsRook(chosen, suites)).toBe(needed)
  })
})
