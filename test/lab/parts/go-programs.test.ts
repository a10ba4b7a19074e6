import { existsSync } from 'node:fs'
import { appendFile, cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { longhornPrograms } from './build-longhorn.ts'
import { longhornEnginePrograms } from './build-longhorn-engine.ts'
import { rookPrograms } from './build-rook.ts'
import { type GoPrograms, sourcesOf, versionOf } from './go-programs.ts'

describe.each([rookPrograms, longhornPrograms, ofOurs(longhornEnginePrograms)])(
  "programs with $product's own code",
  ({ folder, programs, module }) => {
    it('every program has its source, and the version is that of the module', () => {
      for (const program of programs) expect(existsSync(join(folder, program, 'main.go')), program).toBe(true)
      expect(versionOf({ folder, module })).toMatch(/^\d+\.\d+\.\d+$/)
    })

    it('a change of any source gives another place in the cache, so that no program of an older checkout is run', async () => {
      const copy = await mkdtemp(join(tmpdir(), 'programs-'))
      try {
        await cp(folder, copy, { recursive: true })
        const before = sourcesOf(copy)
        expect(before).toBe(sourcesOf(folder))
        await appendFile(join(copy, programs[0] ?? '', 'main.go'), '// changed\n')
        expect(sourcesOf(copy)).not.toBe(before)
      } finally {
        await rm(copy, { recursive: true })
      }
    })
  },
)

/** Without those whose source is the project's own. */
function ofOurs(all: GoPrograms<string>): GoPrograms<string> {
  return { ...all, programs: all.programs.filter((program) => all.packages?.[program] === undefined) }
}
