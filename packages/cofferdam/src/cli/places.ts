import { fileURLToPath } from 'node:url'

/** Where the files are that belong to the program. */
export interface Places {
  readonly launcher: string
  readonly pageDirectory: string
  readonly defaultClusterFile: string
}

/** What the build puts beside the program; `scripts/single-file.mjs` has another file in place of this one, which carries them in itself. */
export function findPlaces(): Places {
  const beside = (path: string) => fileURLToPath(new URL(path, import.meta.url))
  return {
    launcher: beside('../bin/cofferdam.js'),
    pageDirectory: beside('./page'),
    defaultClusterFile: beside('./clusters/default.yaml'),
  }
}
