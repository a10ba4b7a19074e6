import { readFileSync } from 'node:fs'
import { type Entry, fileOf } from '../tar/entry.ts'
import { readFolder } from '../tar/read-folder.ts'

const place = 'usr/lib/cofferdam'

/** How the program is started in the image. */
export const entrypoint: readonly string[] = ['/usr/bin/node', `/${place}/cofferdam.js`]

/** The operator with what it starts and serves, from the folder that `scripts/image.mjs` has bundled it into. */
export function programLayer(bundled: string): Entry[] {
  return [
    ...readFolder(bundled).map((entry) => ({ ...entry, path: `${place}/${entry.path}` })),
    fileOf(`${place}/package.json`, `${JSON.stringify({ name: 'cofferdam', type: 'module' })}\n`),
    fileOf('usr/share/doc/cofferdam/LICENSE', readFileSync('LICENSE')),
  ]
}
