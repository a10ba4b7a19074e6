import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Entry } from './entry.ts'

/** What is in a folder, by paths from there; folders only where something wanted is in them. */
export function readFolder(folder: string, isWanted: (path: string) => boolean = () => true): Entry[] {
  // Not readdir's own recursion: that walks through links to folders, and brings what is behind them twice.
  const walk = (path: string): Entry[] =>
    readdirSync(join(folder, path), { withFileTypes: true }).flatMap((found): Entry[] => {
      const inside = join(path, found.name)
      if (found.isDirectory()) return walk(inside)
      return isWanted(inside) ? readEntry(join(folder, inside), inside) : []
    })
  return walk('')
}

function readEntry(file: string, path: string): Entry[] {
  const found = lstatSync(file)
  if (found.isSymbolicLink()) return [{ kind: 'link', path, target: readlinkSync(file) }]
  if (!found.isFile()) return []
  // Neither setuid nor the right of others to write gets into an image.
  const mode = (found.mode & 0o111) === 0 ? 0o644 : 0o755
  return [{ kind: 'file', path, mode, content: readFileSync(file) }]
}
