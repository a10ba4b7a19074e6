import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DebianPackage } from '../parts/debian-packages.ts'
import { run } from '../parts/run.ts'
import { type Entry, fileOf } from '../tar/entry.ts'
import { readFolder } from '../tar/read-folder.ts'

/** What programs load, and the licences: no shell, no tools, no tables of character sets. */
export function isNeededAtRunTime(path: string): boolean {
  if (/^usr\/share\/doc\/[^/]+(\/copyright)?$/.test(path)) return true
  if (/^usr\/bin\/python3(\.\d+)?$/.test(path)) return true
  if (!/^(usr\/)?lib(64)?\//.test(path)) return false
  return !/\/(gconv|systemd|audit|__pycache__|ensurepip|idlelib|tkinter|pydoc_data|unittest)\//.test(path)
}

/** The files of packages, and the list of them that scanners for vulnerabilities read. */
export async function debianLayer(packages: readonly DebianPackage[]): Promise<Entry[]> {
  const work = await mkdtemp(join(tmpdir(), 'cofferdam-image-'))
  try {
    const entries: Entry[] = []
    for (const { name, file, control } of packages) {
      const folder = join(work, name)
      await run('dpkg-deb', ['--extract', file, folder])
      entries.push(...readFolder(folder, isNeededAtRunTime).map(intoUsr))
      entries.push(fileOf(`var/lib/dpkg/status.d/${name}`, control))
    }
    return entries
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** /lib is a link into /usr in an image, as it is in Debian: a layer that brought it as a folder would hide the link. */
function intoUsr(entry: Entry): Entry {
  return entry.path.startsWith('lib') ? { ...entry, path: `usr/${entry.path}` } : entry
}
