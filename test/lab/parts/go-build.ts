import { mkdir, mkdtemp, readdir, rename, rm, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { askProgram } from './ask-program.ts'
import type { Say } from './parts.ts'
import { runStep, StepError, setupLog } from './run-step.ts'

/** Programs that one of the lab's Go modules makes. */
export interface GoBuild {
  /** `Kubernetes`, as errors and the log name it. */
  readonly product: string
  readonly version: string
  /** Where the go.mod is, as text and as a place. */
  readonly module: { readonly folder: string; readonly goMod: string }
  readonly programs: readonly string[]
  readonly steps: readonly GoBuildStep[]
  /** How long it takes, as the screen says. */
  readonly estimate: string
  readonly gigabytes: number
  /** Beside what every build has. */
  readonly environment?: Readonly<Record<string, string>>
  /** What else can be done where there is no Go. */
  readonly otherwise?: string
}

export interface GoBuildStep {
  readonly packages: readonly string[]
  readonly flags: string
  /** The program's name where it is not that of the package. */
  readonly name?: string
}

/**
 * Builds the programs into the folder.
 *
 * Guarantees: a program is in the folder whole or not at all. Assumes: no other build for this folder is under way.
 */
export async function buildWithGo(build: GoBuild, folder: string, say: Say): Promise<void> {
  const { product, version, programs } = build
  await requireGo(build)
  await sweep(folder)
  await mkdir(folder, { recursive: true })
  const log = setupLog(`build-${product.toLowerCase()}`)
  await rm(log, { force: true })
  const began = performance.now()
  say(`building ${programs.join(', ')} of ${product} ${version} with Go; its output goes to ${log}`)
  say(build.estimate)
  await warnWhenTight(build.gigabytes, say)
  const work = await mkdtemp(`${folder}.building-`)
  try {
    for (const step of build.steps) await runGo(build, step, { into: join(work, step.name ?? '/'), log })
    for (const program of programs) await rename(join(work, program), join(folder, program))
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  say(`built ${product} ${version} in ${Math.ceil((performance.now() - began) / 1_000)} s; kept in ${folder}`)
}

/** The Go that is here builds or refuses: it never fetches another one. */
const goEnvironment = { CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOWORK: 'off' }

interface Target {
  readonly into: string
  readonly log: string
}

async function runGo(build: GoBuild, { packages, flags }: GoBuildStep, { into, log }: Target): Promise<void> {
  const { product, gigabytes } = build
  const options = ['-mod=readonly', '-buildvcs=false', '-trimpath', '-ldflags', flags, '-o', into]
  try {
    await runStep({
      task: `building ${product}`,
      command: ['go', 'build', ...options, ...packages],
      log,
      folder: build.module.folder,
      environment: { ...goEnvironment, ...build.environment },
    })
  } catch (error) {
    if (!(error instanceof StepError) || !error.tail.includes('no space left on device')) throw error
    const wanted = `free about ${gigabytes} GB, or set GOCACHE, GOMODCACHE, GOTMPDIR and XDG_CACHE_HOME to folders with room`
    throw new Error(`there is no room to build ${product}: ${wanted}`, { cause: error })
  }
}

async function requireGo({ product, version, module, otherwise }: GoBuild): Promise<void> {
  const oldest = lineOf(module.goMod, /^go (\S+)/m)
  const answer = await askProgram(['go', 'env', 'GOVERSION'], { environment: goEnvironment })
  const remedy = [`install Go ${oldest} or newer`, ...(otherwise === undefined ? [] : [otherwise])].join(', or ')
  if (answer === undefined) throw new Error(`building ${product} needs Go, and there is no go in PATH: ${remedy}`)
  if (!isAtLeast(answer, oldest)) throw new Error(`${product} ${version} cannot be built with ${answer}: ${remedy}`)
}

/** Compares `go1.26.8` with `1.26.0`. A Go that gives no number, such as a development one, is let through. */
export function isAtLeast(answer: string, oldest: string): boolean {
  const found = /^go(\d+)\.(\d+)(?:\.(\d+))?/.exec(answer)
  if (found === null) return true
  const numbers = found.slice(1).map((part) => Number(part ?? 0))
  for (const [index, wanted] of oldest.split('.').map(Number).entries()) {
    const number = numbers[index] ?? 0
    if (number !== wanted) return number > wanted
  }
  return true
}

async function warnWhenTight(gigabytes: number, say: Say): Promise<void> {
  const cache = await askProgram(['go', 'env', 'GOCACHE'], { environment: goEnvironment })
  const room = cache === undefined ? undefined : await statfs(cache).catch(() => undefined)
  if (room === undefined) return
  const free = (room.bavail * room.bsize) / 1e9
  if (free < gigabytes)
    say(`only ${free.toFixed(1)} GB are free at ${cache}; if that is too little, set GOCACHE to another folder`)
}

/** Clears away what killed builds left. */
async function sweep(folder: string): Promise<void> {
  const names = await readdir(dirname(folder)).catch(() => [])
  for (const name of names) {
    if (name.startsWith(`${basename(folder)}.building-`)) await rm(join(dirname(folder), name), { recursive: true })
  }
}

/** What the first group of the pattern matches in a go.mod. */
export function lineOf(goMod: string, pattern: RegExp): string {
  const value = pattern.exec(goMod)?.[1]
  if (value === undefined) throw new Error(`the go.mod has no line like ${pattern}`)
  return value
}
