import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Say } from './parts.ts'
import { runStep, setupLog } from './run-step.ts'

const script = fileURLToPath(new URL('./unpack-debian.sh', import.meta.url))

export interface UnpackOptions {
  readonly suite: string
  readonly packages: readonly string[]
  readonly folder: string
  /** Without what they need: for what is only read, such as headers and archives of a library. */
  readonly isAlone?: boolean
  readonly say: Say
}

/**
 * Makes the folder a root that holds these packages of a Debian suite and, unless they come alone, all they need. Installs nothing.
 *
 * Assumes: nobody else unpacks into this folder, or runs programs of it, at the same time.
 */
export async function unpackDebian({ suite, packages, folder, isAlone = false, say }: UnpackOptions): Promise<void> {
  await sweep(folder)
  const log = setupLog(`unpack-${suite}`)
  await rm(log, { force: true })
  const began = performance.now()
  say(
    `unpacking ${packages.join(', ')} of Debian ${suite}${isAlone ? '' : ' with all they need'}; the output goes to ${log}`,
  )
  if (!isAlone) say('this takes one to two minutes, 140 MB of download and 500 MB of disk')
  await runStep({
    task: `unpacking ${packages.join(', ')} of Debian ${suite}`,
    command: ['bash', script, ...(isAlone ? [] : ['--with-dependencies']), suite, folder, ...packages],
    log,
  })
  say(`unpacked in ${Math.ceil((performance.now() - began) / 1_000)} s; kept in ${folder}`)
}

/** Clears away what killed runs left. */
async function sweep(folder: string): Promise<void> {
  const names = await readdir(dirname(folder)).catch(() => [])
  for (const name of names) {
    if (name.startsWith(`${basename(folder)}.unpacking-`)) await rm(join(dirname(folder), name), { recursive: true })
  }
}
