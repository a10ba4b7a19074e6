import { join } from 'node:path'
import { helmPrograms, helmVersion } from './build-helm.ts'
import { cacheFolder } from './cache-folder.ts'
import { isOneChosen, namedSuite } from './chosen-suites.ts'
import { findGoPrograms } from './go-programs.ts'
import { isExecutable } from './is-executable.ts'
import type { HelmParts, Say } from './parts.ts'
import { unpackDebian } from './unpack-debian.ts'
import { withLock } from './with-lock.ts'

/** Helm from its Go module, and promtool of Debian's Prometheus, which is unpacked and not installed. */
export async function findHelm(say: Say): Promise<HelmParts> {
  const { helm } = await findGoPrograms(helmPrograms, say)
  const folder = cacheFolder('prometheus')
  const promtool = join(folder, 'usr/bin/promtool')
  if (!(await isExecutable(promtool))) {
    const waiting = () => say('another process is unpacking Prometheus; waiting for it')
    await withLock(`${folder}.lock`, waiting, async () => {
      const packages = ['prometheus']
      if (!(await isExecutable(promtool)))
        await unpackDebian({ suite: 'bookworm', packages, folder, isAlone: true, say })
    })
  }
  return { version: helmVersion, helm, promtool }
}

export function needsHelm(chosen: readonly string[]): boolean {
  return (
    namedSuite(chosen) === 'real-node' ||
    isOneChosen(chosen, ['helm.lab.ts', 'install-page.lab.ts', 'uninstall.lab.ts'])
  )
}
