import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildWithGo, lineOf } from './go-build.ts'
import type { Say } from './parts.ts'

const folder = fileURLToPath(new URL('./rook', import.meta.url))
const goMod = readFileSync(join(folder, 'go.mod'), 'utf8')

/** Folders of rook/, each with one program that calls Rook's code. */
export const rookPrograms = ['rook-disruption', 'rook-osd-loop'] as const
export type RookProgram = (typeof rookPrograms)[number]

/** `1.12.11`: the version that rook/go.mod asks for. */
export const rookVersion = lineOf(goMod, /^\s*(?:require )?github\.com\/rook\/rook v(\S+)/m)

/** Of everything that the programs are made from: those of an older checkout are not taken for ours. */
export function sourcesOf(place: string = folder): string {
  const hash = createHash('sha256')
  const names = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(go|mod|sum)$/.test(name))
  for (const name of names.sort())
    hash
      .update(`${name}\0`)
      .update(readFileSync(join(place, name)))
      .update('\0')
  return hash.digest('hex').slice(0, 12)
}

/** Builds the programs from Rook's Go module into the folder; with the guarantees of buildWithGo. */
export async function buildRook(programs: readonly RookProgram[], into: string, say: Say): Promise<void> {
  const build = {
    product: 'Rook',
    version: rookVersion,
    module: { folder, goMod },
    programs,
    steps: [{ packages: programs.map((program) => `./${program}`), flags: '-s -w' }],
    estimate: 'the first time takes 2 to 3 minutes on two cores and about 3 GB of disk; with a warm Go cache seconds',
    gigabytes: 3,
  }
  await buildWithGo(build, into, say)
}
