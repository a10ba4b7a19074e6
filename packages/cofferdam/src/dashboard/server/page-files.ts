import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'

export interface PageFile {
  readonly contentType: string
  readonly body: Buffer
}

const served: Readonly<Record<string, { readonly file: string; readonly contentType: string }>> = {
  '/': { file: 'index.html', contentType: 'text/html; charset=utf-8' },
  '/page.js': { file: 'page.js', contentType: 'text/javascript; charset=utf-8' },
  '/page.css': { file: 'page.css', contentType: 'text/css; charset=utf-8' },
  '/favicon.svg': { file: 'favicon.svg', contentType: 'image/svg+xml' },
}

/** The page's few files by path, read once: no request ever reaches the file system. */
export async function readPageFiles(directory: string): Promise<ReadonlyMap<string, PageFile>> {
  try {
    const entries = Object.entries(served).map(async ([path, { file, contentType }]) => {
      const body = await readFile(join(directory, file))
      return [path, { contentType, body }] as const
    })
    return new Map(await Promise.all(entries))
  } catch (cause) {
    throw new CofferdamError('FILE_UNREADABLE', `cannot read the dashboard's page in ${directory}`, {
      facts: { path: directory },
      hint: 'build it with `npm run build`',
      cause,
    })
  }
}
