import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Entry } from './entry.ts'

/** Puts the entries into a folder, as a builder does that has its own way to make layers. */
export function writeFolder(entries: Iterable<Entry>, folder: string): void {
  for (const entry of entries) {
    const path = join(folder, entry.path)
    if (entry.kind === 'folder') {
      mkdirSync(path, { recursive: true })
      chmodSync(path, entry.mode)
    } else if (entry.kind === 'link') {
      rmSync(path, { force: true })
      symlinkSync(entry.target, path)
    } else {
      writeFileSync(path, entry.content)
      chmodSync(path, entry.mode)
    }
  }
}
