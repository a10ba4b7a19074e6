import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from './cache-folder.ts'
import { locate } from './find-kubernetes.ts'
import { buildWithGo, lineOf } from './go-build.ts'
import type { Say } from './parts.ts'
import { withLock } from './with-lock.ts'

/** A Go module of ours whose programs run the code of another project. */
export interface GoPrograms<Program extends string> {
  /** `Rook`, as errors and the log name it. */
  readonly product: string
  /** Where the go.mod is. Each program is a folder there, or else the project's own. */
  readonly folder: string
  readonly programs: readonly Program[]
  /** Packages of the programs that are the project's own. */
  readonly packages?: Readonly<Partial<Record<Program, string>>>
  /** The project's module in the go.mod, which says the version. */
  readonly module: string
  /** How long the first build takes, as the screen says. */
  readonly estimate: string
  readonly gigabytes: number
  /** Gets what the compiler needs beside Go, and says where it is. */
  readonly environment?: (say: Say) => Promise<Readonly<Record<string, string>>>
}

/** `1.12.11`: the version that the go.mod asks for. */
export function versionOf({ folder, module }: Pick<GoPrograms<string>, 'folder' | 'module'>): string {
  const name = module.replaceAll(/[.]/g, '\\.')
  return lineOf(goModOf(folder), new RegExp(`^\\s*(?:require )?${name} v(\\S+)`, 'm'))
}

/** Of everything that the programs are made from: those of an older checkout are not taken for ours. */
export function sourcesOf(folder: string): string {
  const hash = createHash('sha256')
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(go|s|mod|sum)$/.test(name),
  )
  for (const name of names.sort())
    hash
      .update(`${name}\0`)
      .update(readFileSync(join(folder, name)))
      .update('\0')
  return hash.digest('hex').slice(0, 12)
}

/** The programs' paths: those kept from an earlier run, else built now; with the guarantees of buildWithGo. */
export async function findGoPrograms<Program extends string>(
  asked: GoPrograms<Program>,
  say: Say,
): Promise<Readonly<Record<Program, string>>> {
  const { product, programs } = asked
  const into = cacheFolder(`${product.toLowerCase()}-${versionOf(asked)}-${sourcesOf(asked.folder)}`)
  const missing = async () => {
    const found = await locate(programs, [into])
    return programs.filter((program) => !found.has(program))
  }
  if ((await missing()).length > 0) {
    const waiting = () => say(`another process is building ${product}; waiting for it`)
    await withLock(`${into}.lock`, waiting, async () => {
      const wanted = await missing()
      if (wanted.length > 0) await build(asked, wanted, { into, say })
    })
  }
  const lost = await missing()
  if (lost.length > 0) throw new Error(`${lost.join(', ')} was built and is not in ${into}`)
  const places = await locate(programs, [into])
  return Object.fromEntries(places) as Record<Program, string>
}

async function build(
  asked: GoPrograms<string>,
  programs: readonly string[],
  { into, say }: { readonly into: string; readonly say: Say },
): Promise<void> {
  const { product, folder, packages = {}, estimate, gigabytes, environment } = asked
  const one = {
    product,
    version: versionOf(asked),
    module: { folder, goMod: goModOf(folder) },
    programs,
    steps: [{ packages: programs.map((program) => packages[program] ?? `./${program}`), flags: '-s -w' }],
    estimate,
    gigabytes,
    ...(environment === undefined ? {} : { environment: await environment(say) }),
  }
  await buildWithGo(one, into, say)
}

function goModOf(folder: string): string {
  return readFileSync(join(folder, 'go.mod'), 'utf8')
}
