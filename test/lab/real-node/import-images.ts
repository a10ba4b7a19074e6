import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeLayout } from '../../../image/oci/write-layout.ts'
import { architectureOf } from '../../../image/parts/platform.ts'
import { run } from '../../../image/parts/run.ts'
import { fileOf } from '../../../image/tar/entry.ts'

/** An image as one file, with the name that its tags are put behind. */
export interface ImageArchive {
  readonly file: string
  readonly name: string
}

/** Packs an image layout as containerd reads it. */
export async function packLayout(layout: string, name: string): Promise<ImageArchive> {
  const file = `${layout}.tar`
  await run('tar', ['-C', layout, '-cf', file, '.'])
  return { file, name }
}

/** The image that every pod begins with: one program. */
export async function packPause(program: string, folder: string): Promise<ImageArchive> {
  const layout = join(folder, 'pause')
  const layers = [{ brings: 'pause', entries: [fileOf('pause', await readFile(program), 0o755)] }]
  const images = [{ tag: 'lab', entrypoint: ['/pause'], layers }]
  await writeLayout({ folder: layout, version: 'lab', architecture: architectureOf(process.arch), images })
  return packLayout(layout, 'localhost/pause')
}
