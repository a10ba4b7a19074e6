import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fetchNode } from '../parts/node-release.ts'
import type { Architecture } from '../parts/platform.ts'
import { type Entry, fileOf } from '../tar/entry.ts'

export async function nodeLayer(architecture: Architecture): Promise<Entry[]> {
  const folder = await fetchNode(architecture)
  return [
    fileOf('usr/bin/node', await readFile(join(folder, 'bin/node')), 0o755),
    fileOf('usr/share/doc/node/LICENSE', await readFile(join(folder, 'LICENSE'))),
  ]
}
