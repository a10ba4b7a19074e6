// Declares the types of the library in dist/domain.d.ts. They are all in the file that exports them, so nothing else is kept of what the compiler prints.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = mkdtempSync(join(tmpdir(), 'cofferdam-types-'))
try {
  const compiler = 'node_modules/typescript/bin/tsc'
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.library.json', '--outDir', folder], {
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) process.exit(1)
  const types = join(folder, 'cofferdam/src/library/domain.d.ts')
  if (/^import |\bimport\(/m.test(readFileSync(types, 'utf8'))) {
    console.error('The types of the library name types of other files, which are not published.')
    process.exit(1)
  }
  mkdirSync('dist', { recursive: true })
  // At once: another npm pack may be reading it.
  const whole = `.domain.d.ts.${process.pid}`
  copyFileSync(types, whole)
  renameSync(whole, 'dist/domain.d.ts')
} finally {
  rmSync(folder, { recursive: true, force: true })
}
