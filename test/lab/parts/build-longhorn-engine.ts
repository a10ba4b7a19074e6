import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { askProgram } from './ask-program.ts'
import { cacheFolder } from './cache-folder.ts'
import { type GoPrograms, versionOf } from './go-programs.ts'
import { installPackages } from './install-packages.ts'
import type { Say } from './parts.ts'
import { unpackDebian } from './unpack-debian.ts'

/** Longhorn's engine as it is, and a program that reads and writes through it. */
export const longhornEnginePrograms: GoPrograms<'longhorn-engine' | 'longhorn-io'> = {
  product: 'Longhorn-engine',
  folder: fileURLToPath(new URL('./longhorn-engine', import.meta.url)),
  programs: ['longhorn-engine', 'longhorn-io'],
  packages: { 'longhorn-engine': 'github.com/longhorn/longhorn-engine' },
  module: 'github.com/longhorn/longhorn-engine',
  estimate: 'the first time takes 2 to 3 minutes on two cores and about 1 GB of disk; with a warm Go cache seconds',
  gigabytes: 1,
  environment: compilerSettings,
}

export const longhornEngineVersion = versionOf(longhornEnginePrograms)

/** The engine is partly C, and there is nothing here to compile that with. */
export class NoCompilerError extends Error {}

/**
 * Debian's libqcow and zlib, of which the engine reads backing images with the former. They are unpacked, not installed; libqcow comes without
 * what it shares, so that it becomes part of the program.
 */
async function compilerSettings(say: Say): Promise<Readonly<Record<string, string>>> {
  await requireCompiler(say)
  const folder = cacheFolder('longhorn-engine-libraries')
  const libraries = async () => (await readdir(join(folder, 'usr/lib')).catch(() => []))[0]
  const packages = ['libqcow-dev', 'zlib1g-dev']
  if ((await libraries()) === undefined) await unpackDebian({ suite: 'bookworm', packages, folder, isAlone: true, say })
  const triplet = (await libraries()) ?? ''
  return {
    CGO_ENABLED: '1',
    CGO_CFLAGS: `-O2 -I${join(folder, 'usr/include')}`,
    CGO_LDFLAGS: `-L${join(folder, 'usr/lib', triplet)}`,
  }
}

async function requireCompiler(say: Say): Promise<void> {
  if (await canCompile()) return
  const packages = ['gcc', 'libc6-dev']
  if (process.getuid?.() === 0) await installPackages(packages, say)
  if (await canCompile()) return
  throw new NoCompilerError(`there is no C compiler; as root, run: apt-get install -y ${packages.join(' ')}`)
}

async function canCompile(): Promise<boolean> {
  const attempt = 'echo "#include <stdlib.h>" | "$0" -E - > /dev/null'
  return (await askProgram(['sh', '-c', attempt, process.env['CC'] || 'gcc'])) !== undefined
}
